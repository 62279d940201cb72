use crate::{
    Alphabet as A,
    family::{Family, Part::Of, ShapeCheck, checked, prefixed, shape},
};

pub(super) const FAMILIES: &[Family] = &[
    prefixed("npm-token", "npm access token", &[checked("npm_", &[Of(A::ALNUM, 36, 36)], ShapeCheck::Crc32)]),
    prefixed("pypi-token", "PyPI API token", &[shape("pypi-AgE", &[Of(A::WORD, 50, 1000)])]),
    prefixed("crates-io-token", "crates.io API token", &[shape("cio", &[Of(A::ALNUM, 32, 32)])]),
    prefixed("rubygems-key", "RubyGems API key", &[shape("rubygems_", &[Of(A::HEX, 48, 48)])]),
    prefixed("nuget-key", "NuGet API key", &[shape("oy2", &[Of(A::LOWER, 43, 43)])]),
    prefixed(
        "docker-token",
        "Docker Hub token",
        &[shape("dckr_pat_", &[Of(A::WORD, 27, 27)]), shape("dckr_oat_", &[Of(A::WORD, 27, 64)])],
    ),
    prefixed("clojars-token", "Clojars deploy token", &[shape("CLOJARS_", &[Of(A::LOWER, 60, 60)])]),
    prefixed(
        "jfrog-token",
        "JFrog Artifactory key",
        &[shape("AKCp", &[Of(A::ALNUM, 69, 69)]), shape("cmVmdGtu", &[Of(A::ALNUM, 56, 56)])],
    ),
];

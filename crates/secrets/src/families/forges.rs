use crate::{
    Alphabet as A,
    family::{Family, Part::Of, Part::Text, ShapeCheck, checked, prefixed, shape},
};

pub(super) const FAMILIES: &[Family] = &[
    prefixed(
        "github-token",
        "GitHub personal access token",
        &[checked("ghp_", &[Of(A::ALNUM, 36, 36)], ShapeCheck::Crc32)],
    ),
    prefixed(
        "github-oauth-token",
        "GitHub OAuth token",
        &[checked("gho_", &[Of(A::ALNUM, 36, 36)], ShapeCheck::Crc32)],
    ),
    prefixed(
        "github-app-token",
        "GitHub App token",
        &[
            checked("ghu_", &[Of(A::ALNUM, 36, 36)], ShapeCheck::Crc32),
            checked("ghs_", &[Of(A::ALNUM, 36, 36)], ShapeCheck::Crc32),
            shape("ghs_", &[Of(A::DOTTED, 80, 1024)]),
        ],
    ),
    prefixed(
        "github-refresh-token",
        "GitHub refresh token",
        &[checked("ghr_", &[Of(A::ALNUM, 36, 36)], ShapeCheck::Crc32), shape("ghr_", &[Of(A::ALNUM, 76, 76)])],
    ),
    prefixed(
        "github-fine-grained-token",
        "GitHub fine-grained personal access token",
        &[shape("github_pat_", &[Of(A::ALNUM, 22, 22), Text("_"), Of(A::ALNUM, 59, 59)])],
    ),
    prefixed(
        "gitlab-token",
        "GitLab personal, project or group access token",
        &[shape("glpat-", &[Of(A::DOTTED, 20, 300)])],
    ),
    prefixed("gitlab-deploy-token", "GitLab deploy token", &[shape("gldt-", &[Of(A::DOTTED, 20, 64)])]),
    prefixed(
        "gitlab-runner-token",
        "GitLab runner token",
        &[
            shape("glrt-", &[Of(A::DOTTED, 20, 64)]),
            shape("glrtr-", &[Of(A::DOTTED, 20, 64)]),
            shape("GR1348941", &[Of(A::WORD, 20, 50)]),
        ],
    ),
    prefixed(
        "gitlab-other-token",
        "GitLab job, trigger, feed, mail, agent, SCIM or OAuth token",
        &[
            shape("glcbt-", &[Of(A::DOTTED, 20, 1024)]),
            shape("glptt-", &[Of(A::HEX, 40, 40)]),
            shape("glft-", &[Of(A::WORD, 20, 90)]),
            shape("glimt-", &[Of(A::WORD, 20, 64)]),
            shape("glagent-", &[Of(A::WORD, 50, 64)]),
            shape("gloas-", &[Of(A::HEX, 64, 64)]),
            shape("glsoat-", &[Of(A::WORD, 20, 64)]),
            shape("glffct-", &[Of(A::WORD, 20, 64)]),
            shape("glwt-", &[Of(A::WORD, 20, 64)]),
        ],
    ),
    prefixed(
        "bitbucket-token",
        "Bitbucket app password or access token",
        &[shape("ATBB", &[Of(A::ALNUM, 32, 32)]), shape("ATCTT3xFfG", &[Of(A::PADDED_WORD, 100, 250)])],
    ),
    prefixed(
        "circleci-token",
        "CircleCI token",
        &[
            shape("CCIPAT_", &[Of(A::ALNUM, 22, 22), Text("_"), Of(A::HEX, 40, 40)]),
            shape("CCIPRJ_", &[Of(A::ALNUM, 22, 22), Text("_"), Of(A::HEX, 40, 40)]),
        ],
    ),
    prefixed(
        "buildkite-token",
        "Buildkite token",
        &[shape("bkua_", &[Of(A::HEX, 40, 40)]), shape("bkct_", &[Of(A::ALNUM, 40, 64)])],
    ),
    prefixed(
        "sonarqube-token",
        "SonarQube token",
        &[
            shape("sqp_", &[Of(A::HEX, 40, 40)]),
            shape("squ_", &[Of(A::HEX, 40, 40)]),
            shape("sqa_", &[Of(A::HEX, 40, 40)]),
        ],
    ),
    prefixed("snyk-token", "Snyk token", &[shape("snyk_", &[Of(A::LOWER, 3, 4), Text("."), Of(A::DOTTED, 40, 200)])]),
    prefixed(
        "sourcegraph-token",
        "Sourcegraph token",
        &[
            shape("sgp_", &[Of(A::HEX, 40, 40)]),
            shape("sgp_", &[Of(A::HEX, 16, 16), Text("_"), Of(A::HEX, 40, 40)]),
            shape("sgd_", &[Of(A::HEX, 64, 64)]),
        ],
    ),
    prefixed("octopus-key", "Octopus Deploy API key", &[shape("API-", &[Of(A::UPPER, 26, 31)])]),
    prefixed(
        "harness-token",
        "Harness token",
        &[
            shape("pat.", &[Of(A::WORD, 22, 22), Text("."), Of(A::HEX, 24, 24), Text("."), Of(A::ALNUM, 20, 20)]),
            shape("sat.", &[Of(A::WORD, 22, 22), Text("."), Of(A::HEX, 24, 24), Text("."), Of(A::ALNUM, 20, 20)]),
        ],
    ),
    prefixed(
        "prefect-key",
        "Prefect API key",
        &[shape("pnu_", &[Of(A::ALNUM, 36, 36)]), shape("pnb_", &[Of(A::ALNUM, 36, 36)])],
    ),
];

use crate::{
    Alphabet as A,
    family::{Family, Part::Of, Part::Text, prefixed, shape},
};

pub(super) const FAMILIES: &[Family] = &[
    prefixed(
        "aws-access-key-id",
        "AWS access key id",
        &[
            shape("AKIA", &[Of(A::BASE32, 16, 16)]),
            shape("ASIA", &[Of(A::BASE32, 16, 16)]),
            shape("ABIA", &[Of(A::BASE32, 16, 16)]),
            shape("ACCA", &[Of(A::BASE32, 16, 16)]),
        ],
    ),
    prefixed("aws-bedrock-key", "Amazon Bedrock API key", &[shape("ABSK", &[Of(A::BASE64, 109, 280)])]),
    prefixed("aws-mws-token", "Amazon MWS token", &[shape("amzn.mws.", &[Of(A::UUID, 36, 36)])]),
    prefixed("gcp-api-key", "Google API key", &[shape("AIza", &[Of(A::WORD, 35, 35)])]),
    prefixed("gcp-oauth-secret", "Google OAuth client secret", &[shape("GOCSPX-", &[Of(A::WORD, 28, 28)])]),
    prefixed("gcp-oauth-token", "Google OAuth access token", &[shape("ya29.", &[Of(A::DOTTED, 40, 2048)])]),
    prefixed(
        "digitalocean-token",
        "DigitalOcean token",
        &[
            shape("dop_v1_", &[Of(A::HEX, 64, 64)]),
            shape("doo_v1_", &[Of(A::HEX, 64, 64)]),
            shape("dor_v1_", &[Of(A::HEX, 64, 64)]),
        ],
    ),
    prefixed("alibaba-access-key-id", "Alibaba Cloud access key id", &[shape("LTAI", &[Of(A::ALNUM, 16, 26)])]),
    prefixed("tencent-secret-id", "Tencent Cloud secret id", &[shape("AKID", &[Of(A::ALNUM, 32, 32)])]),
    prefixed(
        "yandex-cloud-key",
        "Yandex Cloud API key",
        &[shape("AQVN", &[Of(A::WORD, 35, 38)]), shape("y0_", &[Of(A::WORD, 40, 80)])],
    ),
    prefixed(
        "cloudflare-origin-ca-key",
        "Cloudflare Origin CA key",
        &[shape("v1.0-", &[Of(A::HEX, 24, 24), Text("-"), Of(A::HEX, 146, 146)])],
    ),
    prefixed("heroku-token", "Heroku token", &[shape("HRKU-", &[Of(A::WORD, 36, 60)])]),
    prefixed(
        "fly-token",
        "Fly.io token",
        &[
            shape("fm2_", &[Of(A::BASE64, 80, 2048)]),
            shape("fm1_", &[Of(A::BASE64, 80, 2048)]),
            shape("fo1_", &[Of(A::WORD, 43, 43)]),
        ],
    ),
    prefixed(
        "vercel-token",
        "Vercel token",
        &[
            shape("vck_", &[Of(A::ALNUM, 24, 80)]),
            shape("vcp_", &[Of(A::ALNUM, 24, 80)]),
            shape("vca_", &[Of(A::ALNUM, 24, 80)]),
            shape("vcr_", &[Of(A::ALNUM, 24, 80)]),
            shape("vercel_blob_rw_", &[Of(A::ALNUM, 16, 16), Text("_"), Of(A::ALNUM, 28, 48)]),
        ],
    ),
    prefixed(
        "netlify-token",
        "Netlify token",
        &[
            shape("nfp_", &[Of(A::ALNUM, 36, 48)]),
            shape("nfc_", &[Of(A::ALNUM, 36, 48)]),
            shape("nfo_", &[Of(A::ALNUM, 36, 48)]),
        ],
    ),
    prefixed(
        "supabase-key",
        "Supabase token or secret key",
        &[shape("sbp_", &[Of(A::HEX, 40, 40)]), shape("sb_secret_", &[Of(A::WORD, 24, 64)])],
    ),
    prefixed(
        "databricks-token",
        "Databricks token",
        &[
            shape("dapi", &[Of(A::HEX, 32, 32)]),
            shape("dkea", &[Of(A::HEX, 32, 32)]),
            shape("dose", &[Of(A::HEX, 32, 32)]),
        ],
    ),
    prefixed(
        "planetscale-token",
        "PlanetScale token or password",
        &[
            shape("pscale_tkn_", &[Of(A::PADDED_WORD, 32, 64)]),
            shape("pscale_pw_", &[Of(A::PADDED_WORD, 32, 64)]),
            shape("pscale_oauth_", &[Of(A::PADDED_WORD, 32, 64)]),
        ],
    ),
    prefixed("neon-key", "Neon API key", &[shape("napi_", &[Of(A::LOWER, 48, 80)])]),
    prefixed("render-key", "Render API key", &[shape("rnd_", &[Of(A::ALNUM, 28, 40)])]),
    prefixed(
        "mongodb-atlas-secret",
        "MongoDB Atlas service account secret",
        &[shape("mdb_sa_sk_", &[Of(A::WORD, 40, 40)])],
    ),
    prefixed(
        "tailscale-key",
        "Tailscale key",
        &[
            shape("tskey-auth-", &[Of(A::ALNUM, 8, 32), Text("-"), Of(A::ALNUM, 24, 64)]),
            shape("tskey-api-", &[Of(A::ALNUM, 8, 32), Text("-"), Of(A::ALNUM, 24, 64)]),
            shape("tskey-client-", &[Of(A::ALNUM, 8, 32), Text("-"), Of(A::ALNUM, 24, 64)]),
            shape("tskey-scim-", &[Of(A::ALNUM, 8, 32), Text("-"), Of(A::ALNUM, 24, 64)]),
            shape("tskey-webhook-", &[Of(A::ALNUM, 8, 32), Text("-"), Of(A::ALNUM, 24, 64)]),
        ],
    ),
    prefixed("pulumi-token", "Pulumi token", &[shape("pul-", &[Of(A::HEX, 40, 40)])]),
    prefixed("scalingo-token", "Scalingo token", &[shape("tk-us-", &[Of(A::WORD, 48, 48)])]),
    prefixed("infracost-key", "Infracost API key", &[shape("ico-", &[Of(A::ALNUM, 32, 32)])]),
    prefixed(
        "defined-networking-key",
        "Defined Networking key",
        &[shape("dnkey-", &[Of(A::PADDED_WORD, 26, 26), Text("-"), Of(A::PADDED_WORD, 52, 52)])],
    ),
];

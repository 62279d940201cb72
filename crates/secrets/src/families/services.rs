use crate::{
    Alphabet as A,
    family::{Family, Part::Of, Part::Text, ShapeCheck, checked, prefixed, shape},
};

pub(super) const FAMILIES: &[Family] = &[
    prefixed(
        "sendgrid-key",
        "SendGrid API key",
        &[shape("SG.", &[Of(A::WORD, 22, 22), Text("."), Of(A::WORD, 43, 43)])],
    ),
    prefixed("mailgun-key", "Mailgun API key", &[shape("key-", &[Of(A::HEX, 32, 32)])]),
    prefixed(
        "newrelic-key",
        "New Relic key",
        &[
            shape("NRAK-", &[Of(A::UPPER, 27, 27)]),
            shape("NRII-", &[Of(A::WORD, 32, 32)]),
            shape("NRRA-", &[Of(A::HEX, 42, 42)]),
        ],
    ),
    prefixed(
        "sentry-token",
        "Sentry token",
        &[
            shape("sntrys_eyJ", &[Of(A::BASE64, 40, 400), Text("_"), Of(A::BASE64, 40, 44)]),
            shape("sntryu_", &[Of(A::HEX, 64, 64)]),
            shape("sntrya_", &[Of(A::HEX, 64, 64)]),
        ],
    ),
    prefixed(
        "grafana-token",
        "Grafana token",
        &[
            shape("glsa_", &[Of(A::ALNUM, 32, 32), Text("_"), Of(A::HEX, 8, 8)]),
            shape("glc_", &[Of(A::BASE64, 32, 400)]),
        ],
    ),
    prefixed("posthog-key", "PostHog personal API key", &[shape("phx_", &[Of(A::ALNUM, 40, 60)])]),
    prefixed(
        "linear-key",
        "Linear API key",
        &[shape("lin_api_", &[Of(A::ALNUM, 40, 40)]), shape("lin_oauth_", &[Of(A::HEX, 64, 64)])],
    ),
    prefixed(
        "notion-token",
        "Notion token",
        &[shape("ntn_", &[Of(A::ALNUM, 40, 50)]), shape("secret_", &[Of(A::ALNUM, 43, 43)])],
    ),
    prefixed(
        "atlassian-token",
        "Atlassian API token",
        &[shape("ATATT3", &[Of(A::PADDED_WORD, 150, 250)]), shape("ATSTT3", &[Of(A::PADDED_WORD, 150, 250)])],
    ),
    prefixed("trello-token", "Trello token", &[shape("ATTA", &[Of(A::HEX, 64, 72)])]),
    prefixed(
        "figma-token",
        "Figma token",
        &[
            shape("figd_", &[Of(A::WORD, 38, 60)]),
            shape("figo_", &[Of(A::WORD, 38, 60)]),
            shape("figor_", &[Of(A::WORD, 38, 60)]),
        ],
    ),
    prefixed(
        "airtable-token",
        "Airtable personal access token",
        &[shape("pat", &[Of(A::ALNUM, 14, 14), Text("."), Of(A::HEX, 64, 64)])],
    ),
    prefixed("postman-key", "Postman API key", &[shape("PMAK-", &[Of(A::HEX, 24, 24), Text("-"), Of(A::HEX, 34, 34)])]),
    prefixed(
        "vault-token",
        "HashiCorp Vault token",
        &[
            shape("hvs.", &[Of(A::WORD, 24, 250)]),
            shape("hvb.", &[Of(A::WORD, 100, 400)]),
            shape("hvr.", &[Of(A::WORD, 24, 250)]),
        ],
    ),
    prefixed("terraform-token", "HCP Terraform token", &[shape("atlasv1.", &[Of(A::PADDED_WORD, 60, 70)])]),
    prefixed(
        "doppler-token",
        "Doppler token",
        &[
            shape("dp.pt.", &[Of(A::ALNUM, 40, 44)]),
            shape("dp.st.", &[Of(A::DOTTED, 40, 80)]),
            shape("dp.ct.", &[Of(A::ALNUM, 40, 44)]),
            shape("dp.sa.", &[Of(A::ALNUM, 40, 44)]),
            shape("dp.scim.", &[Of(A::ALNUM, 40, 44)]),
            shape("dp.audit.", &[Of(A::ALNUM, 40, 44)]),
        ],
    ),
    prefixed("1password-token", "1Password service account token", &[shape("ops_eyJ", &[Of(A::BASE64, 250, 1200)])]),
    prefixed(
        "1password-secret-key",
        "1Password secret key",
        &[shape(
            "A3-",
            &[
                Of(A::UPPER, 6, 6),
                Text("-"),
                Of(A::UPPER, 6, 6),
                Text("-"),
                Of(A::UPPER, 5, 5),
                Text("-"),
                Of(A::UPPER, 5, 5),
                Text("-"),
                Of(A::UPPER, 5, 5),
            ],
        )],
    ),
    prefixed("age-key", "age secret key", &[shape("AGE-SECRET-KEY-1", &[Of(A::UPPER, 58, 58)])]),
    prefixed("databento-key", "Databento API key", &[shape("db-", &[Of(A::ALNUM, 29, 29)])]),
    prefixed(
        "dynatrace-token",
        "Dynatrace token",
        &[
            shape("dt0c01.", &[Of(A::BASE32, 24, 24), Text("."), Of(A::BASE32, 64, 64)]),
            shape("dt0s16.", &[Of(A::BASE32, 8, 24), Text("."), Of(A::BASE32, 64, 64)]),
        ],
    ),
    prefixed("typeform-token", "Typeform token", &[shape("tfp_", &[Of(A::DOTTED, 44, 60)])]),
    prefixed("contentful-token", "Contentful token", &[shape("CFPAT-", &[Of(A::WORD, 43, 43)])]),
    prefixed("readme-key", "ReadMe API key", &[shape("rdme_", &[Of(A::LOWER, 70, 70)])]),
    prefixed(
        "brevo-key",
        "Brevo API key",
        &[
            shape("xkeysib-", &[Of(A::HEX, 64, 64), Text("-"), Of(A::ALNUM, 16, 16)]),
            shape("xsmtpsib-", &[Of(A::HEX, 64, 64), Text("-"), Of(A::ALNUM, 16, 16)]),
        ],
    ),
    prefixed("resend-key", "Resend API key", &[shape("re_", &[Of(A::ALNUM, 8, 8), Text("_"), Of(A::ALNUM, 24, 24)])]),
    prefixed(
        "mapbox-token",
        "Mapbox secret token",
        &[shape("sk.eyJ", &[Of(A::WORD, 50, 150), Text("."), Of(A::WORD, 22, 22)])],
    ),
    prefixed(
        "hubspot-token",
        "HubSpot private app token",
        &[
            shape("pat-na1-", &[Of(A::UUID, 36, 36)]),
            shape("pat-na2-", &[Of(A::UUID, 36, 36)]),
            shape("pat-eu1-", &[Of(A::UUID, 36, 36)]),
        ],
    ),
    prefixed("segment-token", "Segment token", &[shape("sgp_", &[Of(A::ALNUM, 64, 64)])]),
    prefixed(
        "launchdarkly-key",
        "LaunchDarkly key",
        &[shape("sdk-", &[Of(A::UUID, 36, 36)]), shape("api-", &[Of(A::UUID, 36, 36)])],
    ),
    prefixed(
        "honeycomb-key",
        "Honeycomb key",
        &[
            shape("hcaik_", &[Of(A::LOWER, 58, 64)]),
            shape("hcxik_", &[Of(A::LOWER, 58, 64)]),
            shape("hcamk_", &[Of(A::LOWER, 58, 64)]),
        ],
    ),
    prefixed(
        "axiom-token",
        "Axiom token",
        &[shape("xaat-", &[Of(A::UUID, 36, 36)]), shape("xapt-", &[Of(A::UUID, 36, 36)])],
    ),
    prefixed("checkly-key", "Checkly API key", &[shape("cu_", &[Of(A::HEX, 32, 32)])]),
    prefixed("dropbox-token", "Dropbox token", &[shape("sl.", &[Of(A::WORD, 130, 2048)])]),
    prefixed("zuplo-key", "Zuplo API key", &[shape("zpka_", &[Of(A::WORD, 32, 80)])]),
    prefixed(
        "ory-token",
        "Ory token",
        &[
            shape("ory_at_", &[Of(A::DOTTED, 60, 120)]),
            shape("ory_pat_", &[Of(A::ALNUM, 30, 60)]),
            shape("ory_rt_", &[Of(A::DOTTED, 60, 120)]),
        ],
    ),
    prefixed(
        "stytch-secret",
        "Stytch secret",
        &[shape("secret-live-", &[Of(A::PADDED_WORD, 32, 40)]), shape("secret-test-", &[Of(A::PADDED_WORD, 32, 40)])],
    ),
    prefixed("frameio-token", "Frame.io token", &[shape("fio-u-", &[Of(A::PADDED_WORD, 64, 64)])]),
    prefixed("lichess-token", "Lichess token", &[shape("lip_", &[Of(A::ALNUM, 20, 20)])]),
    prefixed("wakatime-key", "WakaTime API key", &[shape("waka_", &[Of(A::UUID, 36, 36)])]),
    prefixed("adobe-secret", "Adobe client secret", &[shape("p8e-", &[Of(A::ALNUM, 32, 32)])]),
    prefixed("adafruit-key", "Adafruit IO key", &[shape("aio_", &[Of(A::ALNUM, 28, 28)])]),
    prefixed("nylas-key", "Nylas API key", &[shape("nyk_v0_", &[Of(A::ALNUM, 60, 70)])]),
    prefixed("riot-key", "Riot Games API key", &[shape("RGAPI-", &[Of(A::UUID, 36, 36)])]),
    prefixed("facebook-token", "Facebook access token", &[shape("EAA", &[Of(A::ALNUM, 100, 400)])]),
    prefixed(
        "twitter-bearer-token",
        "X bearer token",
        &[shape("AAAAAAAAAAAAAAAAAAAA", &[Of(A::ALNUM, 8, 40), Text("%"), Of(A::ALNUM, 30, 100)])],
    ),
    prefixed(
        "settlemint-token",
        "SettleMint token",
        &[shape("sm_pat_", &[Of(A::ALNUM, 16, 16)]), shape("sm_aat_", &[Of(A::ALNUM, 16, 16)])],
    ),
    prefixed("rootly-key", "Rootly API key", &[shape("rootly_", &[Of(A::HEX, 64, 64)])]),
    prefixed(
        "json-web-token",
        "JSON web token, whoever signed it",
        &[checked(
            "eyJ",
            &[Of(A::WORD, 12, 4096), Text("."), Of(A::WORD, 12, 16384), Text("."), Of(A::WORD, 16, 1400)],
            ShapeCheck::JsonWebToken,
        )],
    ),
];

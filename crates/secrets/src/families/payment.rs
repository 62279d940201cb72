use crate::{
    Alphabet as A,
    family::{Family, Part::Of, Part::Text, prefixed, shape},
};

pub(super) const FAMILIES: &[Family] = &[
    prefixed(
        "stripe-key",
        "Stripe secret or restricted key, or one of those who write theirs alike (Clerk, Paystack, WorkOS)",
        &[
            shape("sk_live_", &[Of(A::ALNUM, 24, 247)]),
            shape("sk_test_", &[Of(A::ALNUM, 24, 247)]),
            shape("rk_live_", &[Of(A::ALNUM, 24, 247)]),
            shape("rk_test_", &[Of(A::ALNUM, 24, 247)]),
            shape("sk_prod_", &[Of(A::ALNUM, 24, 247)]),
        ],
    ),
    prefixed("stripe-webhook-secret", "Stripe webhook secret", &[shape("whsec_", &[Of(A::BASE64, 32, 64)])]),
    prefixed(
        "square-token",
        "Square token or secret",
        &[
            shape("sq0atp-", &[Of(A::WORD, 22, 22)]),
            shape("sq0csp-", &[Of(A::WORD, 43, 43)]),
            shape("EAAA", &[Of(A::WORD, 60, 60)]),
        ],
    ),
    prefixed(
        "adyen-key",
        "Adyen API key",
        &[shape("AQE", &[Of(A::BASE64, 70, 160), Text("-"), Of(A::BASE64, 20, 64)])],
    ),
    prefixed(
        "shopify-token",
        "Shopify token or shared secret",
        &[
            shape("shpat_", &[Of(A::HEX, 32, 32)]),
            shape("shpca_", &[Of(A::HEX, 32, 32)]),
            shape("shppa_", &[Of(A::HEX, 32, 32)]),
            shape("shpss_", &[Of(A::HEX, 32, 32)]),
        ],
    ),
    prefixed("razorpay-key-id", "Razorpay key id", &[shape("rzp_live_", &[Of(A::ALNUM, 14, 14)])]),
    prefixed(
        "flutterwave-key",
        "Flutterwave secret key",
        &[
            shape("FLWSECK-", &[Of(A::LOWER, 32, 44), Text("-X")]),
            shape("FLWSECK_TEST-", &[Of(A::LOWER, 32, 44), Text("-X")]),
        ],
    ),
    prefixed(
        "plaid-token",
        "Plaid access token",
        &[shape("access-production-", &[Of(A::UUID, 36, 36)]), shape("access-sandbox-", &[Of(A::UUID, 36, 36)])],
    ),
    prefixed("paddle-key", "Paddle API key", &[shape("pdl_live_apikey_", &[Of(A::WORD, 40, 60)])]),
    prefixed("polar-token", "Polar token", &[shape("polar_oat_", &[Of(A::ALNUM, 36, 64)])]),
    prefixed("xendit-key", "Xendit secret key", &[shape("xnd_production_", &[Of(A::ALNUM, 32, 80)])]),
    prefixed(
        "mercadopago-token",
        "Mercado Pago token",
        &[shape("APP_USR-", &[Of(A::DIGITS, 14, 18), Text("-"), Of(A::WORD, 40, 60)])],
    ),
    prefixed(
        "easypost-key",
        "EasyPost API key",
        &[shape("EZAK", &[Of(A::ALNUM, 54, 54)]), shape("EZTK", &[Of(A::ALNUM, 54, 54)])],
    ),
    prefixed(
        "shippo-token",
        "Shippo token",
        &[shape("shippo_live_", &[Of(A::HEX, 40, 40)]), shape("shippo_test_", &[Of(A::HEX, 40, 40)])],
    ),
    prefixed(
        "duffel-token",
        "Duffel token",
        &[shape("duffel_live_", &[Of(A::PADDED_WORD, 43, 43)]), shape("duffel_test_", &[Of(A::PADDED_WORD, 43, 43)])],
    ),
];

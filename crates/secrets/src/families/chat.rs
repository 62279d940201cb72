use crate::{
    Alphabet as A,
    family::{Family, Part::Of, Part::Text, prefixed, shape},
};

pub(super) const FAMILIES: &[Family] = &[
    prefixed(
        "slack-token",
        "Slack token",
        &[
            shape("xoxb-", &[Of(A::WORD, 30, 200)]),
            shape("xoxp-", &[Of(A::WORD, 30, 200)]),
            shape("xoxa-", &[Of(A::WORD, 30, 200)]),
            shape("xoxr-", &[Of(A::WORD, 30, 200)]),
            shape("xoxs-", &[Of(A::WORD, 30, 200)]),
            shape("xoxo-", &[Of(A::WORD, 30, 200)]),
            shape("xoxc-", &[Of(A::WORD, 30, 200)]),
            shape("xoxe-", &[Of(A::WORD, 30, 250)]),
            shape("xoxe.", &[Text("xox"), Of(A::WORD, 30, 250)]),
        ],
    ),
    prefixed(
        "slack-app-token",
        "Slack app-level token",
        &[shape(
            "xapp-",
            &[
                Of(A::DIGITS, 1, 1),
                Text("-"),
                Of(A::UPPER, 8, 16),
                Text("-"),
                Of(A::DIGITS, 8, 16),
                Text("-"),
                Of(A::LOWER, 40, 80),
            ],
        )],
    ),
];

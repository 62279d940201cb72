//! What holds for every recipe and every text.

use contexture_assembly::{
    Priority, counters,
    recipe::{
        BudgetLimits, BudgetSpec, IfMissing, OVERFLOW_STRATEGIES, Recipe, RecipeRefusal, Rendering, RequiredOverflow,
        SegmentSpec, Since, SourceInput, SourceSpec, Stability, Syntax, TargetSpec, TopicEnd, TopicMark,
    },
    standard::{Audience, ContextKind, ContextScope, OverflowStrategy},
};
use contexture_core::Timestamp;
use proptest::{collection, option, prelude::*, sample};
use serde_json::{Map, Value};

use crate::read;

const MAX_NUMBER: u64 = (1 << 53) - 1;

fn name() -> impl Strategy<Value = String> {
    line().prop_map(|line| line.trim().to_owned())
}

fn line() -> impl Strategy<Value = String> {
    "[^\\p{Cc}]{0,8}[\\PC&&[^ ]]".prop_filter("more than white space", |line| !line.trim().is_empty())
}

/// Texts with everything that is hard to quote.
fn words() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("'''".to_owned()),
        Just("\"\"\"".to_owned()),
        Just("\\".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n".to_owned()),
        any::<String>(),
    ];
    collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat() + "x")
}

fn one_of<T: Copy + std::fmt::Debug + 'static>(all: &'static [T]) -> impl Strategy<Value = T> {
    sample::select(all)
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![1..5u64, 1..=MAX_NUMBER]
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    collection::btree_set(line(), 1..4).prop_map(|lines| lines.into_iter().collect())
}

fn target_list() -> impl Strategy<Value = Vec<Audience>> {
    sample::subsequence(Audience::ALL, 1..Audience::ALL.len())
}

/// Inputs of which there may be several, in any segment.
fn input() -> impl Strategy<Value = SourceInput> {
    let since = prop_oneof![
        one_of(TopicMark::ALL).prop_map(Since::Mark),
        (0..4_000_000_000_000_000_i64).prop_map(|micros| Since::Time(Timestamp::from_micros(micros).unwrap())),
    ];
    let topic = (line(), option::of(line()), option::of(since), one_of(TopicEnd::ALL), option::of(number()));
    prop_oneof![
        lines().prop_map(|files| SourceInput::Instructions { files }),
        (words(), option::of(words()), any::<bool>()).prop_map(|(text, compact, instruction)| SourceInput::Text {
            text,
            compact,
            instruction
        }),
        (option::of(words()), 1..=1000u64).prop_map(|(query, limit)| SourceInput::Retrieval { query, limit }),
        (topic, one_of(TopicEnd::ALL), number(), one_of(IfMissing::ALL)).prop_map(
            |((topic, sender, since, strategy, amount), compact_strategy, compact_amount, if_missing)| {
                SourceInput::Topic {
                    topic,
                    sender,
                    since,
                    strategy,
                    amount,
                    compact_strategy,
                    compact_amount,
                    if_missing,
                }
            }
        ),
    ]
}

fn source(input: impl Strategy<Value = SourceInput>) -> impl Strategy<Value = SourceSpec> {
    let about =
        (option::of(one_of(ContextKind::ALL)), option::of(line()), option::of(target_list()), option::of(line()));
    (input, one_of(Priority::ALL), about).prop_map(|(input, priority, (kind, title, visibility, trust))| {
        // More strategies here would not fit on the stack of a test.
        let sensitivity = trust.clone();
        SourceSpec { input, priority, kind, title, visibility, trust, sensitivity }
    })
}

fn segment(stability: Stability) -> impl Strategy<Value = SegmentSpec> {
    let sources = collection::vec(source(input()), 1..4);
    let limits = (0..1000u64, option::of(1000..=MAX_NUMBER), option::of(sample::select(&OVERFLOW_STRATEGIES[..])));
    (sources, limits).prop_map(move |(sources, (reserve, max_tokens, overflow))| SegmentSpec {
        name: String::new(),
        stability,
        reserve,
        max_tokens,
        overflow,
        sources,
    })
}

fn limits() -> impl Strategy<Value = BudgetLimits> {
    let tokens = (option::of(1_000_000..=MAX_NUMBER), option::of(0..1000u64));
    (tokens, option::of(number()), option::of(number()), option::of(number())).prop_map(
        |((max_tokens, reserved_tokens), max_bytes, max_items, max_chars)| BudgetLimits {
            max_tokens,
            reserved_tokens,
            max_bytes,
            max_items,
            max_chars,
        },
    )
}

/// Tells whether a recipe has two topic sources that take the same messages, which is no good recipe.
fn repeats_messages(segments: &[SegmentSpec]) -> bool {
    let selections: Vec<_> = segments
        .iter()
        .flat_map(|segment| &segment.sources)
        .filter_map(|source| match source.input.clone() {
            SourceInput::Topic { topic, sender, since, strategy, amount, .. } => {
                Some((topic, sender, since, strategy, amount))
            }
            _ => None,
        })
        .collect();
    selections.iter().enumerate().any(|(index, selection)| selections[..index].contains(selection))
}

prop_compose! {
    fn good_segments()(
        stable in collection::vec(segment(Stability::Stable), 0..3),
        append in collection::vec(segment(Stability::Append), 1..3),
        volatile in collection::vec(segment(Stability::Volatile), 1..3),
        channel in option::of(source(option::of(number()).prop_map(|max_messages| SourceInput::Channel { max_messages }))),
        history in option::of(source((any::<bool>(), any::<bool>(), option::of(number())).prop_map(
            |(beyond_compaction, thinking, max_turns)| SourceInput::History { beyond_compaction, thinking, max_turns }
        ))),
        system in option::of(source(prop_oneof![
            words().prop_map(|text| SourceInput::System { text: Some(text), file: None }),
            line().prop_map(|file| SourceInput::System { text: None, file: Some(file) }),
        ])),
        files in option::of(source(
            prop_oneof![lines(), Just(Vec::new())].prop_map(|files| SourceInput::Files { files })
        )),
        items in option::of(source(Just(SourceInput::Items))),
        missing in option::of(source(prop_oneof![Just(SourceInput::Missing), Just(SourceInput::SkipHints)])),
        trigger in option::of(source(Just(SourceInput::Trigger))),
    ) -> Vec<SegmentSpec> {
        let (mut stable, mut append, mut volatile) = (stable, append, volatile);
        if let Some(segment) = stable.last_mut() {
            segment.sources.extend(system);
        }
        // Each conversation has a segment of its own.
        let last = append.len() - 1;
        append[last].sources.extend(channel.filter(|_| history.is_none() || last > 0));
        append[0].sources.extend(history);
        volatile[0].sources.extend(files.into_iter().chain(items).chain(missing));
        volatile.last_mut().unwrap().sources.extend(trigger);
        let mut segments = [stable, append, volatile].concat();
        for (index, segment) in segments.iter_mut().enumerate() {
            segment.name = format!("{index}");
        }
        segments
    }
}

prop_compose! {
    fn good_recipe()(
        name in name(),
        description in any::<String>(),
        scope in one_of(ContextScope::ALL),
        counter in option::of(sample::select(counters().iter().map(|counter| counter.name()).collect::<Vec<_>>())),
        targets in collection::btree_set((one_of(Audience::ALL), one_of(Rendering::ALL)), 1..4),
        limits in limits(),
        own in collection::btree_map(one_of(Audience::ALL), limits(), 0..3),
        overflow in sample::select(&OVERFLOW_STRATEGIES[..]),
        required in one_of(RequiredOverflow::ALL),
        segments in good_segments().prop_filter("no messages twice", |segments| !repeats_messages(segments)),
    ) -> Recipe {
        let targets = targets.into_iter().map(|(audience, rendering)| TargetSpec { audience, rendering }).collect();
        // More strategies here would not fit on the stack of a test.
        let (model, max_search_ms) = (counter.map(str::to_uppercase), limits.max_bytes);
        let max_output = limits.max_items.filter(|number| *number > 0);
        let budget = BudgetSpec { limits, targets: own, overflow, required, max_search_ms };
        Recipe { name, description, scope, model, max_output, counter: counter.map(str::to_owned), targets, budget, segments }
    }
}

/// Documents with the names and words of recipes in all the wrong places.
fn nearly_recipes() -> impl Strategy<Value = Value> {
    let word = sample::select(vec![
        "name",
        "segments",
        "sources",
        "source",
        "system",
        "history",
        "trigger",
        "topic",
        "text",
        "file",
        "files",
        "budget",
        "targets",
        "target",
        "tool",
        "max_tokens",
        "reserve",
        "overflow",
        "custom",
        "stability",
        "stable",
        "append",
        "contextStrategy",
        "since",
        "amount",
        "visibility",
        "model",
        "priority",
        "prompt",
        "cluster_start",
        "",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, move |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            collection::vec((word.clone(), inner), 0..6)
                .prop_map(|fields| fields
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect::<Map<_, _>>())
                .prop_map(Value::from),
        ]
    })
}

/// Returns what is wrong with the mistakes of a refusal, if anything: there is none, or one is reported twice.
fn flaw(read: &Result<Recipe, RecipeRefusal>) -> Option<String> {
    let Err(RecipeRefusal::Mistakes { mistakes }) = read else { return None };
    let twice = mistakes.iter().enumerate().find(|(index, mistake)| mistakes[..*index].contains(mistake));
    if mistakes.is_empty() {
        Some("refused without a mistake".to_owned())
    } else {
        twice.map(|twice| format!("{twice:?}"))
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back_the_same(recipe in good_recipe()) {
        let toml = recipe.to_toml().unwrap();
        let again = read(Syntax::Toml, &toml);
        prop_assert_eq!(&again, &recipe, "\n{}", toml);
        prop_assert_eq!(again.to_toml().unwrap(), toml);
        prop_assert_eq!(again.digest(), recipe.digest());
        prop_assert_eq!(read(Syntax::Json, &serde_json::to_string(&recipe).unwrap()), recipe);
    }

    #[test]
    fn whatever_a_file_is_called_its_recipe_can_be_written(name in any::<String>()) {
        let text = b"segments = [{ name = \"all\", sources = [{ source = \"items\" }] }]";
        let recipe = Recipe::parse(Syntax::Toml, text, &name).unwrap();
        prop_assert_eq!(read(Syntax::Toml, &recipe.to_toml().unwrap()), recipe);
    }

    #[test]
    fn recipes_that_differ_have_digests_that_differ(one in good_recipe(), other in good_recipe()) {
        prop_assert_eq!(one == other, one.digest() == other.digest());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in collection::vec(any::<u8>(), 0..200), text in "[a-z=\\[\\]{}\"'.\n# 0-9]{0,80}") {
        for syntax in [Syntax::Toml, Syntax::Json] {
            let _read = Recipe::parse(syntax, &bytes, "file");
            let _read = Recipe::parse(syntax, text.as_bytes(), "file");
        }
    }

    #[test]
    fn no_document_makes_the_reader_panic_and_no_mistake_is_reported_twice(document in nearly_recipes()) {
        let read = Recipe::parse(Syntax::Json, document.to_string().as_bytes(), "file");
        prop_assert_eq!(flaw(&read), None);
        if let Ok(toml) = toml::to_string(&document) {
            prop_assert_eq!(flaw(&Recipe::parse(Syntax::Toml, toml.as_bytes(), "file")), None);
        }
    }

    #[test]
    fn a_recipe_with_one_field_replaced_is_read_or_refused_with_reasons(
        recipe in good_recipe(),
        place in any::<sample::Index>(),
        replacement in nearly_recipes(),
    ) {
        let mut document = serde_json::to_value(&recipe).unwrap();
        let object = document.as_object_mut().unwrap();
        let name = object.keys().nth(place.index(object.len())).unwrap().clone();
        object.insert(name, replacement);
        let read = Recipe::parse(Syntax::Json, document.to_string().as_bytes(), "file");
        prop_assert_eq!(flaw(&read), None);
    }
}

#[test]
fn every_strategy_is_done_or_refused() {
    let refused: Vec<_> =
        OverflowStrategy::ALL.iter().filter(|strategy| !OVERFLOW_STRATEGIES.contains(strategy)).collect();
    assert_eq!(refused, [&OverflowStrategy::AskForChoice, &OverflowStrategy::PolicyBlock, &OverflowStrategy::Custom]);
}

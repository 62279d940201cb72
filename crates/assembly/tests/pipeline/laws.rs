//! Laws of the whole pipeline, over random histories.

use contexture_assembly::{
    Chars4, Item, ItemContent, Priority, RunPart, TokenCounts,
    envelope::{Fate, Inputs},
    pipeline::{self, AssembledTarget, PreparedItems},
    recipe::{BudgetLimits, OVERFLOW_STRATEGIES, Recipe, Rendering},
    standard::OverflowStrategy,
};
use contexture_core::{BlobSource, Entry, EntryPart, Role, ToolInput};
use contexture_testkit::requests::{
    assert_anthropic, assert_openai_chat, assert_openai_responses, assert_sendable_to_anthropic,
    assert_sendable_to_openai_chat, assert_sendable_to_openai_responses,
};
use proptest::prelude::*;

use crate::sample::{self, inputs, item, one, recipe, system, target, text, trigger, turn};

/// Calls and words of each turn.
type Turns = Vec<(usize, usize)>;

fn turns() -> impl Strategy<Value = Turns> {
    proptest::collection::vec((0usize..4, 0usize..20), 0..12)
}

fn rendering() -> impl Strategy<Value = Rendering> {
    proptest::sample::select(Rendering::ALL)
}

/// Limits of every kind, set or not.
fn limits() -> impl Strategy<Value = BudgetLimits> {
    let limit = |max: u64| proptest::option::of(0..max);
    (limit(900), limit(3000), limit(12), limit(3000)).prop_map(|(max_tokens, max_bytes, max_items, max_chars)| {
        BudgetLimits { max_tokens, max_bytes, max_items, max_chars, ..BudgetLimits::default() }
    })
}

fn overflow() -> impl Strategy<Value = OverflowStrategy> {
    proptest::sample::select(&OVERFLOW_STRATEGIES[..])
}

fn items(turns: &Turns, summaries: bool) -> Vec<Item> {
    let mut items = vec![system("system", "You help."), trigger("Go on.")];
    for (number, (calls, words)) in (0u64..).zip(turns) {
        items.extend(turn(number, *calls, *words));
        items.extend(summaries.then(|| sample::summary(number)));
    }
    items
}

fn sampled(turns: &Turns, summaries: bool, rendering: Rendering, max: u64) -> Inputs {
    inputs(recipe(vec![target(rendering)], Some(max)), items(turns, summaries))
}

/// Digests of the blocks that are said to last.
fn lasting(assembled: &AssembledTarget) -> Vec<String> {
    let count = usize::try_from(assembled.outcome.window.lasting_blocks).unwrap();
    assembled.outcome.blocks[..count].iter().map(|block| block.digest.to_string()).collect()
}

fn all(assembled: &AssembledTarget) -> Vec<String> {
    assembled.outcome.blocks.iter().map(|block| block.digest.to_string()).collect()
}

fn tokens(item: &Item, rendering: Rendering) -> u64 {
    let alone = inputs(recipe(vec![target(rendering)], None), vec![item.clone()]);
    one(&alone).outcome.total.tokens
}

/// Anything that a runtime may have written: calls without results, results without calls, pictures, thoughts.
fn part() -> impl Strategy<Value = EntryPart> {
    let id = "[ab]";
    prop_oneof![
        "[a-z \n]{0,30}".prop_map(EntryPart::text),
        (id, "[a-z.]{1,8}").prop_map(|(id, name)| {
            EntryPart::ToolCall { id, name, input: ToolInput::Json(serde_json::json!({"n": 1.5})) }
        }),
        (id, "[a-z]{0,9}").prop_map(|(call, text)| {
            EntryPart::ToolResult { call, content: vec![EntryPart::text(text)], is_error: None }
        }),
        "[a-z]{0,9}".prop_map(|text| EntryPart::Thinking { text, seal: None }),
        "[a-z]{1,9}".prop_map(|text| EntryPart::Summary { text }),
        Just(EntryPart::Blob { media_type: "image/png".into(), source: BlobSource::Base64("AA==".into()) }),
        Just(EntryPart::Native { kind: "k".into(), value: serde_json::Value::Null }),
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    let role = proptest::sample::select(&[Role::User, Role::Assistant, Role::Tool, Role::System][..]);
    (role, proptest::collection::vec(part(), 0..4)).prop_map(|(role, parts)| Entry::new(role, parts))
}

/// Prepares some items, forgets some of these again, and prepares all.
fn prepared_in_steps(inputs: &Inputs, first: usize, kept: usize) -> PreparedItems {
    let some = Inputs { items: inputs.items[..first].to_vec(), ..inputs.clone() };
    let mut prepared = PreparedItems::of(&some);
    prepared.truncate(kept);
    prepared.update(inputs);
    prepared
}

#[test]
fn a_word_that_is_forged_no_more_is_taken_again() {
    let inputs = sampled(&vec![(1, 3)], true, Rendering::Prompt, 1000);
    let said = String::from_utf8(one(&inputs).bytes).unwrap();
    let word = said.split("<<").nth(1).unwrap().split(' ').next().unwrap();
    let mut forged = inputs.clone();
    forged.items.push(system("forger", word));
    let mut prepared = PreparedItems::of(&forged);
    let counts = TokenCounts::new(&Chars4);
    let other = pipeline::run_prepared(&forged, &mut prepared, &counts).unwrap();
    assert!(!String::from_utf8_lossy(&other[0].bytes).contains(&format!("<<{word}")));
    let mut prepared = prepared_in_steps(&forged, forged.items.len(), inputs.items.len());
    prepared.truncate(inputs.items.len());
    assert_eq!(pipeline::run_prepared(&inputs, &mut prepared, &counts), pipeline::run(&inputs, &counts));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1200))]

    #[test]
    fn what_is_prepared_in_steps_is_what_is_prepared_at_once(
        turns in turns(), summaries: bool, rendering in rendering(), max in 10u64..3000, first: prop::sample::Index,
        kept: prop::sample::Index,
    ) {
        let inputs = sampled(&turns, summaries, rendering, max);
        let first = first.index(inputs.items.len() + 1);
        let mut prepared = prepared_in_steps(&inputs, first, kept.index(first + 1));
        prop_assert_eq!(prepared.to_json(&inputs), serde_json::to_vec(&inputs).unwrap());
        let counts = TokenCounts::new(&Chars4);
        prop_assert_eq!(pipeline::run_prepared(&inputs, &mut prepared, &counts), pipeline::run(&inputs, &counts));
    }

    #[test]
    fn whatever_was_said_becomes_a_valid_request(
        steps in proptest::collection::vec(proptest::collection::vec(entry(), 1..4), 0..8), max in 0u64..600,
    ) {
        let mut items = vec![system("system", "You help."), trigger("Go on.")];
        for (number, entries) in (0u64..).zip(steps) {
            let order = number.cast_signed() << 20;
            items.push(Item {
                part: RunPart::Step(number),
                ..item(&format!("t{number}"), sample::HISTORY, order, Priority::Medium, ItemContent::Entries(entries))
            });
        }
        let request = |rendering| one(&inputs(recipe(vec![target(rendering)], Some(max)), items.clone())).bytes;
        let sendable = |rendering| {
            let recipe = Recipe { model: Some("m".into()), ..recipe(vec![target(rendering)], Some(max)) };
            one(&inputs(recipe, items.clone())).bytes
        };
        assert_sendable_to_anthropic(&sendable(Rendering::Anthropic));
        assert_sendable_to_openai_chat(&sendable(Rendering::OpenaiChat));
        assert_sendable_to_openai_responses(&sendable(Rendering::OpenaiResponses));
        assert_anthropic(&request(Rendering::Anthropic));
        assert_openai_chat(&request(Rendering::OpenaiChat));
        assert_openai_responses(&request(Rendering::OpenaiResponses));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_providers_ask_for_is_given(turns in turns(), summaries: bool, max in 0u64..1500) {
        assert_anthropic(&one(&sampled(&turns, summaries, Rendering::Anthropic, max)).bytes);
        assert_openai_chat(&one(&sampled(&turns, summaries, Rendering::OpenaiChat, max)).bytes);
        assert_openai_responses(&one(&sampled(&turns, summaries, Rendering::OpenaiResponses, max)).bytes);
    }

    #[test]
    fn a_budget_is_exceeded_by_required_items_only(turns in turns(), summaries: bool, rendering in rendering(), max in 0u64..1500) {
        let assembled = one(&sampled(&turns, summaries, rendering, max));
        let outcome = &assembled.outcome;
        prop_assert_eq!(outcome.over_budget_tokens, outcome.total.tokens.saturating_sub(max));
        if outcome.over_budget_tokens > 0 {
            let inside = outcome.decisions.iter().filter(|decision| matches!(decision.fate, Fate::Included { .. }));
            let ids: Vec<_> = inside.map(|decision| decision.item.as_str()).collect();
            prop_assert!(ids.iter().all(|id| ["system", "trigger"].contains(id)), "{ids:?}");
            prop_assert!(!assembled.gaps.is_empty());
        }
        prop_assert_eq!(outcome.blocks.iter().map(|block| block.tokens).sum::<u64>(), outcome.total.tokens);
        prop_assert!(outcome.blocks.iter().all(|block| block.bytes > 0));
    }

    #[test]
    fn every_item_is_in_or_out_once(turns in turns(), summaries: bool, rendering in rendering(), max in 0u64..1500) {
        let inputs = sampled(&turns, summaries, rendering, max);
        let mut decided: Vec<_> = one(&inputs).outcome.decisions.into_iter().map(|decision| decision.item).collect();
        let mut given: Vec<_> = inputs.items.iter().map(|item| item.id.clone()).collect();
        decided.sort();
        given.sort();
        prop_assert_eq!(decided, given);
    }

    #[test]
    fn no_number_is_told_that_nobody_set(
        turns in turns(), summaries: bool, rendering in rendering(), limits in limits(), overflow in overflow(),
    ) {
        let mut inputs = sampled(&turns, summaries, rendering, 0);
        inputs.recipe.budget.limits = limits;
        inputs.recipe.budget.overflow = overflow;
        inputs.items.push(item("note", sample::TAIL, 0, Priority::Low, text(&"word ".repeat(60))));
        let said = match sample::assembled(&inputs) {
            Ok(assembled) => {
                let AssembledTarget { outcome, bytes, gaps, .. } = &assembled[0];
                serde_json::to_string(&(outcome, gaps)).unwrap() + &String::from_utf8_lossy(bytes)
            }
            Err(rejected) => rejected.to_string(),
        };
        let words = said.split(|c: char| !c.is_ascii_alphanumeric());
        let numbers: Vec<u128> = words.filter_map(|word| word.parse().ok()).filter(|number| *number > 1 << 40).collect();
        prop_assert!(numbers.is_empty(), "{numbers:?}");
    }

    #[test]
    fn a_replay_is_equal(turns in turns(), summaries: bool, rendering in rendering(), max in 0u64..1500) {
        let inputs = sampled(&turns, summaries, rendering, max);
        let stored: Inputs = serde_json::from_slice(&serde_json::to_vec(&inputs).unwrap()).unwrap();
        prop_assert_eq!(&stored, &inputs);
        prop_assert_eq!(one(&stored), one(&inputs));
    }

    #[test]
    fn the_order_of_the_list_does_not_matter(
        turns in turns(), summaries: bool, rendering in rendering(), max in 0u64..1500, seed in any::<u64>(),
    ) {
        let inputs = sampled(&turns, summaries, rendering, max);
        let mut shuffled = inputs.clone();
        shuffled.items.sort_by_key(|item| contexture_assembly::Digest::of(format!("{seed}{}", item.id.as_str()).as_bytes()));
        prop_assert_eq!(one(&shuffled), one(&inputs));
    }

    #[test]
    fn what_lasts_stays_when_something_is_added(
        turns in turns(), summaries: bool, rendering in rendering(), max in 100u64..1500, added in (0usize..3, 0usize..9),
        note in "[a-z ]{1,40}", question in "[a-z ]{1,40}",
    ) {
        let before = sampled(&turns, summaries, rendering, max);
        let lasting = lasting(&one(&before));
        // Another question.
        let mut asked = before.clone();
        asked.items.retain(|item| item.id.as_str() != "trigger");
        asked.items.push(trigger(&format!("x{question}")));
        prop_assert!(all(&one(&asked)).starts_with(&lasting), "another trigger");
        // An item in the tail.
        let mut noted = before.clone();
        noted.items.push(item("note", sample::TAIL, 0, Priority::Low, text(&format!("x{note}"))));
        prop_assert!(all(&one(&noted)).starts_with(&lasting), "an item in the tail");
        // A turn.
        let more = turn(turns.len() as u64, added.0, added.1);
        let cost: u64 = more.iter().map(|item| tokens(item, rendering)).sum();
        if one(&before).outcome.window.holds_for_tokens.is_none_or(|holds| cost <= holds) {
            let mut longer = before.clone();
            longer.items.extend(more);
            prop_assert!(all(&one(&longer)).starts_with(&lasting), "a turn");
        }
    }

    #[test]
    fn no_content_can_pass_for_a_fence(words in "[a-f0-9<> ]{0,60}", turns in turns()) {
        let mut items = items(&turns, false);
        let plain = one(&inputs(recipe(vec![target(Rendering::Prompt)], None), items.clone()));
        let forged = format!("{words}{}", String::from_utf8(plain.bytes).unwrap());
        items.push(item("forged", sample::TAIL, 0, Priority::Required, text(&forged)));
        let bytes = one(&inputs(recipe(vec![target(Rendering::Prompt)], None), items)).bytes;
        let prompt = String::from_utf8(bytes).unwrap();
        let fence = prompt.lines().find_map(|line| line.strip_prefix("<<")?.strip_suffix(" manual_note forged>>")).unwrap();
        prop_assert!(!forged.contains(fence));
    }
}

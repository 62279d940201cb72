//! Single cases at the edges.

use contexture_assembly::{
    Item, ItemContent, Priority, Voice,
    envelope::{Fate, GapKind},
    pipeline::Rejected,
    recipe::{BudgetLimits, Rendering, RequiredOverflow, TargetSpec},
    standard::{Audience, OmissionReason, OverflowStrategy},
};
use contexture_testkit::requests::assert_anthropic;
use serde_json::Value;

use crate::sample::{TAIL, assembled, inputs, item, one, recipe, system, target, text, trigger, turn};

fn reason_of(outcome: &contexture_assembly::envelope::TargetOutcome, id: &str) -> Option<OmissionReason> {
    let decision = outcome.decisions.iter().find(|decision| decision.item.as_str() == id)?;
    match &decision.fate {
        Fate::Omitted { reason, .. } => Some(*reason),
        Fate::Included { .. } => None,
    }
}

#[test]
fn nothing_gives_nothing_and_says_so() {
    for rendering in Rendering::ALL {
        let assembled = one(&inputs(recipe(vec![target(*rendering)], Some(100)), Vec::new()));
        assert!(assembled.outcome.blocks.is_empty());
        assert_eq!(assembled.gaps.len(), 1);
        assert_eq!(assembled.gaps[0].kind, GapKind::NothingVisible);
    }
}

#[test]
fn a_budget_of_zero_keeps_what_is_required() {
    let mut items = vec![system("system", "You help."), trigger("Go on.")];
    items.extend(turn(0, 1, 3));
    let assembled = one(&inputs(recipe(vec![target(Rendering::Anthropic)], Some(0)), items));
    assert!(assembled.outcome.over_budget_tokens > 0);
    assert_eq!(assembled.outcome.total.items, 2, "the two that are required, and not the mark");
    assert!(assembled.gaps.iter().all(|gap| gap.kind == GapKind::RequiredTooLarge));
    assert_anthropic(&assembled.bytes);
}

#[test]
fn what_is_required_and_too_large_is_rejected_or_cut() {
    let long = || vec![item("long", TAIL, 0, Priority::Required, text(&"word ".repeat(500))), trigger("Go on.")];
    let under = |overflow| {
        let mut recipe = recipe(vec![target(Rendering::Prompt)], Some(200));
        recipe.budget.overflow = overflow;
        assembled(&inputs(recipe, long()))
    };
    let rejected = under(OverflowStrategy::Reject).unwrap_err();
    let required = |required, limits: BudgetLimits| {
        let mut recipe = recipe(vec![target(Rendering::Prompt)], None);
        recipe.budget.required = required;
        recipe.budget.limits = limits;
        assembled(&inputs(recipe, long())).map_err(|rejected| rejected.to_string())
    };
    let tokens = BudgetLimits { max_tokens: Some(200), ..BudgetLimits::default() };
    let refusal = required(RequiredOverflow::Reject, tokens).unwrap_err();
    let size = "what is required has 641 tokens for model:prompt, and there is room for 200; the largest item is long with 639";
    assert!(refusal.starts_with(size), "{refusal}");
    let bytes = BudgetLimits { max_bytes: Some(200), ..BudgetLimits::default() };
    assert!(required(RequiredOverflow::Reject, bytes).unwrap_err().contains("there is room for 200"));
    let items = BudgetLimits { max_items: Some(1), ..BudgetLimits::default() };
    assert!(required(RequiredOverflow::Reject, items).unwrap_err().contains("has 2 items"));
    assert!(required(RequiredOverflow::Include, tokens).unwrap()[0].outcome.over_budget_tokens > 0);
    assert!(matches!(&rejected, Rejected::Overflow { first, .. } if first == "long"), "{rejected}");
    for overflow in [OverflowStrategy::TruncateTail, OverflowStrategy::TruncateMiddle] {
        let cut = under(overflow).unwrap().remove(0);
        assert_eq!(cut.outcome.over_budget_tokens, 0);
        assert!(cut.outcome.total.tokens > 150, "the room is used: {}", cut.outcome.total.tokens);
        assert_eq!(cut.gaps.iter().map(|gap| gap.kind).collect::<Vec<_>>(), [GapKind::RequiredCut]);
        let prompt = String::from_utf8(cut.bytes).unwrap();
        assert!(prompt.contains("characters left out]"));
        assert_eq!(prompt.contains("word \n<<"), overflow == OverflowStrategy::TruncateMiddle, "{prompt}");
    }
    let whole = under(OverflowStrategy::SummarizeLowPriority).unwrap().remove(0);
    assert!(whole.outcome.over_budget_tokens > 300);
}

#[test]
fn each_target_sees_what_it_may() {
    let secret = Item {
        visibility: Some(vec![Audience::Tool, Audience::Reviewer]),
        ..item("secret", TAIL, 0, Priority::High, text("for tools only"))
    };
    let tool = TargetSpec { audience: Audience::Tool, rendering: Rendering::Prompt };
    let mut recipe = recipe(vec![target(Rendering::Anthropic), tool], Some(1000));
    recipe.budget.targets.insert(Audience::Tool, BudgetLimits { max_tokens: Some(500), ..BudgetLimits::default() });
    let assembled = assembled(&inputs(recipe, vec![secret, trigger("Go on.")])).unwrap();
    let [model, tool] = assembled.as_slice() else { panic!("two targets") };
    assert!(!String::from_utf8_lossy(&model.bytes).contains("tools only"));
    assert_eq!(reason_of(&model.outcome, "secret"), Some(OmissionReason::NotVisibleToTarget));
    assert!(String::from_utf8_lossy(&tool.bytes).contains("tools only"));
    assert_eq!((model.outcome.limits.max_tokens, tool.outcome.limits.max_tokens), (Some(1000), Some(500)));
}

#[test]
fn what_says_the_same_is_there_once() {
    let items = vec![
        item("low", TAIL, 0, Priority::Low, text("same")),
        item("high", TAIL, 1, Priority::High, text("same")),
        trigger("Go on."),
    ];
    let outcome = one(&inputs(recipe(vec![target(Rendering::Prompt)], None), items)).outcome;
    assert_eq!(reason_of(&outcome, "low"), Some(OmissionReason::Duplicate));
    assert_eq!(reason_of(&outcome, "high"), None);
}

#[test]
fn a_step_that_is_too_long_by_itself_is_cut() {
    let mut items = vec![trigger("Go on.")];
    items.extend(turn(0, 1, 2000).into_iter().take(2));
    let assembled = one(&inputs(recipe(vec![target(Rendering::Anthropic)], Some(400)), items));
    assert_eq!(assembled.outcome.over_budget_tokens, 0);
    let said = String::from_utf8_lossy(&assembled.bytes).into_owned();
    assert!(said.contains("tool_result") && said.contains("characters left out"), "{said}");
    assert_anthropic(&assembled.bytes);
}

#[test]
fn items_are_a_limit_too() {
    let notes = (0..5).map(|n| item(&format!("n{n}"), TAIL, n, Priority::Medium, text(&format!("note {n}"))));
    let mut recipe = recipe(vec![target(Rendering::Prompt)], None);
    recipe.budget.limits.max_items = Some(3);
    let outcome = one(&inputs(recipe, notes.collect())).outcome;
    assert_eq!(outcome.total.items, 3);
    let omitted: Vec<_> = (0..5).map(|n| reason_of(&outcome, &format!("n{n}"))).collect();
    let limit = Some(OmissionReason::BudgetLimit);
    assert_eq!(omitted, [None, None, None, limit, limit]);
}

#[test]
fn a_cache_is_told_where_the_lasting_part_ends() {
    let mut items = vec![system("system", "You help."), trigger("Go on.")];
    items.extend(turn(0, 1, 3));
    let assembled = one(&inputs(recipe(vec![target(Rendering::Anthropic)], None), items));
    let request: Value = serde_json::from_slice(&assembled.bytes).unwrap();
    let mark = serde_json::json!({"type": "ephemeral"});
    assert_eq!(request["system"][0]["cache_control"], mark);
    let messages = request["messages"].as_array().unwrap();
    assert_eq!(messages[messages.len() - 2]["content"][0]["cache_control"], mark, "{request:#}");
    assert_eq!(request.to_string().matches("cache_control").count(), 2);
}

#[test]
fn a_limit_of_characters_cuts_what_is_required() {
    let mut recipe = recipe(vec![target(Rendering::Anthropic)], None);
    recipe.budget.limits.max_chars = Some(400);
    let items = vec![item("long", TAIL, 0, Priority::Required, text(&"word ".repeat(500))), trigger("Go on.")];
    let refused = assembled(&inputs(recipe.clone(), items));
    let cut = refused.unwrap().remove(0);
    assert!(cut.outcome.total.bytes <= 400);
    recipe.budget.limits.max_chars = Some(10);
    let content = ItemContent::Text { text: "x".repeat(50), voice: Voice::User, fenced: false };
    let refused = assembled(&inputs(recipe, vec![item("short", TAIL, 0, Priority::Required, content)]));
    assert!(matches!(refused, Err(Rejected::TooLong { max: 10, .. })), "{refused:?}");
}

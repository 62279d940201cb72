//! Laws of the budget stage, over candidates of every kind.

use std::collections::BTreeMap;

use contexture_assembly::{
    Candidate, CandidateId, CandidateOutcome, CharCount, Chars4, Decision, Limits, Measured, Omission, Priority,
    PromptPlace, RunPart, Selection, TokenCount, select,
};
use proptest::prelude::*;

const UNGUARDED: CharCount = CharCount::new(u64::MAX);

/// What a candidate is made of, beside its id and place.
type Parts = (Priority, bool, String, Option<String>);

fn parts() -> impl Strategy<Value = Parts> {
    let priority = proptest::sample::select(Priority::ALL);
    (priority, any::<bool>(), "[a😀é]{0,60}", proptest::option::of("[a😀é]{0,30}"))
}

/// Candidates with places of their own, which are not those of the list.
fn candidates() -> impl Strategy<Value = Vec<Candidate>> {
    proptest::collection::vec(parts(), 0..9).prop_flat_map(|parts| {
        let orders: Vec<i64> = (0..).take(parts.len()).collect();
        (Just(parts), Just(orders).prop_shuffle()).prop_map(|(parts, orders)| {
            parts.into_iter().zip(orders).map(|(parts, order)| candidate(parts, order)).collect()
        })
    })
}

fn candidate((priority, preserve, full, compact): Parts, order: i64) -> Candidate {
    Candidate {
        id: CandidateId::new(format!("c{order}")).unwrap(),
        priority,
        place: PromptPlace { order, tie: 0 },
        preserve,
        segment: 0,
        part: RunPart::Alone,
        full: Measured::new(&Chars4, full),
        compact: compact.and_then(|compact| Measured::new(&Chars4, compact)),
    }
}

fn within(max_tokens: u64, max_chars: CharCount, candidates: &[Candidate]) -> Selection<'_> {
    select(&Chars4, Limits { max_tokens: Some(TokenCount::new(max_tokens)), max_chars }, candidates)
}

fn tokens(decision: &Decision) -> TokenCount {
    decision.outcome.inclusion().map_or(TokenCount::ZERO, |inclusion| inclusion.text.tokens())
}

fn required_chars(selection: &Selection) -> CharCount {
    let required = selection.decisions.iter().filter(|decision| decision.candidate.priority == Priority::Required);
    required.filter_map(|decision| Some(decision.outcome.inclusion()?.text.chars())).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn only_required_candidates_exceed_the_budget(candidates in candidates(), max in 0u64..60) {
        let selection = within(max, UNGUARDED, &candidates);
        prop_assert!(selection.tokens() <= TokenCount::new(max) || !selection.has_optional());
    }

    #[test]
    fn what_a_larger_budget_drops_made_way_for_what_matters_more(
        candidates in candidates(), max in 0u64..60, more in 1u64..20,
    ) {
        let (small, large) = (within(max, UNGUARDED, &candidates), within(max + more, UNGUARDED, &candidates));
        let mut pairs: Vec<_> = small.decisions.iter().zip(&large.decisions).collect();
        pairs.sort_by_key(|(small, _)| small.candidate.priority);
        let mut grew = false;
        for (before, after) in pairs {
            if tokens(before) > TokenCount::ZERO && tokens(after) == TokenCount::ZERO {
                prop_assert!(grew && before.candidate.priority != Priority::Required, "{}", before.candidate.id);
            }
            grew |= tokens(after) > tokens(before);
        }
    }

    #[test]
    fn the_order_of_the_list_does_not_matter(
        (listed, shuffled) in candidates().prop_flat_map(|listed| (Just(listed.clone()), Just(listed).prop_shuffle())),
        max in 0u64..60, max_chars in 0u64..200,
    ) {
        let max_chars = CharCount::new(max_chars);
        prop_assert_eq!(within(max, max_chars, &listed), within(max, max_chars, &shuffled));
    }

    #[test]
    fn every_candidate_is_in_with_a_text_or_out_for_a_reason(
        candidates in candidates(), max in 0u64..60, max_chars in 0u64..200,
    ) {
        let selection = within(max, CharCount::new(max_chars), &candidates);
        let mut left: BTreeMap<_, _> = candidates.iter().map(|candidate| (&candidate.id, candidate)).collect();
        for Decision { candidate, outcome } in &selection.decisions {
            prop_assert_eq!(left.remove(&candidate.id), Some(*candidate));
            let is_required = candidate.priority == Priority::Required;
            match outcome {
                CandidateOutcome::Included(inclusion) => prop_assert!(!inclusion.text.text().is_empty()),
                CandidateOutcome::Omitted(Omission::Empty) => {
                    prop_assert!(candidate.full.is_none() && candidate.compact.is_none());
                }
                CandidateOutcome::Omitted(Omission::Budget { needed, left }) => {
                    prop_assert!(!is_required);
                    let mut texts = candidate.full.iter().chain(&candidate.compact);
                    prop_assert!(texts.all(|text| text.tokens() > left.tokens) && needed.tokens > left.tokens);
                }
                CandidateOutcome::Omitted(Omission::MaxChars) => prop_assert!(selection.guard.is_applied()),
                CandidateOutcome::Omitted(Omission::Summarized | Omission::Needless) => prop_assert!(false, "there is no run"),
            }
        }
        prop_assert!(left.is_empty());
    }

    #[test]
    fn the_limit_of_characters_always_holds(candidates in candidates(), max in 0u64..200, max_chars in 0u64..200) {
        let max_chars = CharCount::new(max_chars);
        let (free, held) = (within(max, UNGUARDED, &candidates), within(max, max_chars, &candidates));
        let text = held.to_text();
        prop_assert!(CharCount::of(&text) <= max_chars);
        prop_assert_eq!((held.guard.before, held.guard.after), (free.guard.after, CharCount::of(&text)));
        prop_assert_eq!(held.guard.is_applied(), free.guard.after > max_chars);
        prop_assert!(held.tokens() <= free.tokens());
    }

    #[test]
    fn the_limit_of_characters_takes_nothing_that_would_fit(
        candidates in candidates(), max in 0u64..200, max_chars in 0u64..200,
    ) {
        let max_chars = CharCount::new(max_chars);
        let (free, held) = (within(max, UNGUARDED, &candidates), within(max, max_chars, &candidates));
        // A cut may stop short of a character that is two units long; that gap is nobody's.
        prop_assume!(required_chars(&free) <= max_chars);
        for Decision { candidate, outcome } in &held.decisions {
            if *outcome == CandidateOutcome::Omitted(Omission::MaxChars) && candidate.priority != Priority::Required {
                let shortest = candidate.full.iter().chain(&candidate.compact).map(Measured::chars).min();
                prop_assert!(held.guard.after + shortest.unwrap_or_default() > max_chars, "{}", candidate.id);
            }
        }
    }

    #[test]
    fn required_texts_are_cut_only_when_nothing_else_is_left(
        candidates in candidates(), max in 0u64..200, max_chars in 0u64..200,
    ) {
        let held = within(max, CharCount::new(max_chars), &candidates);
        let free = within(max, UNGUARDED, &candidates);
        let is_changed = held.decisions.iter().zip(&free.decisions)
            .any(|(held, free)| held.candidate.priority == Priority::Required && held.outcome != free.outcome);
        prop_assert!(!is_changed || !held.has_optional());
    }
}

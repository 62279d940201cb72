//! Laws of runs: the newest end of a conversation under a budget.

use contexture_assembly::{
    Budget, Candidate, CandidateId, CandidateOutcome, CharCount, Chars4, Measured, Omission, Priority, PromptPlace,
    RunPart, RunRule, SegmentRule, Selection, Size, TokenCount, select_in,
};
use proptest::prelude::*;

/// Steps of turns: so many tokens each.
type Turns = Vec<Vec<u64>>;

fn turns() -> impl Strategy<Value = Turns> {
    proptest::collection::vec(proptest::collection::vec(1u64..40, 1..5), 1..30)
}

fn text(tokens: u64) -> Option<Measured> {
    Measured::new(&Chars4, "abcd".repeat(usize::try_from(tokens).unwrap()))
}

fn candidate(id: String, order: i64, part: RunPart, segment: usize, tokens: u64) -> Candidate {
    let place = PromptPlace { order, tie: 0 };
    let priority = if part == RunPart::Alone { Priority::Required } else { Priority::Medium };
    let id = CandidateId::new(id).unwrap();
    Candidate { id, priority, place, preserve: false, segment, part, full: text(tokens), compact: None }
}

/// A run in the first segment, and a required tail in the second.
fn candidates(turns: &Turns, summaries: bool, tail: u64) -> Vec<Candidate> {
    let mut all = Vec::new();
    for (turn, steps) in (0u64..).zip(turns) {
        let order = turn.cast_signed() << 20;
        if summaries {
            all.push(candidate(format!("s{turn}"), order, RunPart::Summary(turn), 0, 2));
        }
        for (step, tokens) in (0i64..).zip(steps) {
            all.push(candidate(format!("{turn}.{step}"), order | step, RunPart::Step(turn), 0, *tokens));
        }
    }
    all.push(candidate("tail".into(), 0, RunPart::Alone, 1, tail));
    all
}

fn selected(all: &[Candidate], max: u64, reserve: u64) -> Selection<'_> {
    let mark = Size { tokens: TokenCount::new(3), chars: CharCount::new(12), bytes: 12, items: 0 };
    let segments = [
        SegmentRule { run: Some(RunRule { mark, is_cut: false, mark_may_go: false }), ..SegmentRule::default() },
        SegmentRule { reserve: TokenCount::new(reserve), ..SegmentRule::default() },
    ];
    let room = Size { tokens: TokenCount::new(max), ..Size::MAX };
    select_in(&Chars4, &Budget { room, max_chars: Size::MAX.chars, segments: &segments }, all)
}

/// Ids of what is in, without the tail.
fn kept(selection: &Selection) -> Vec<String> {
    let included = selection.decisions.iter().filter(|decision| decision.outcome.inclusion().is_some());
    included.map(|decision| decision.candidate.id.to_string()).filter(|id| id != "tail").collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn what_is_kept_is_the_newest_end(turns in turns(), max in 0u64..400, summaries: bool) {
        let all = candidates(&turns, summaries, 1);
        let selection = selected(&all, max, 0);
        let is_step = |part| matches!(part, RunPart::Step(_));
        let steps = selection.decisions.iter().filter(|decision| is_step(decision.candidate.part));
        let inside: Vec<bool> = steps.map(|decision| decision.outcome.inclusion().is_some()).collect();
        prop_assert!(inside.is_sorted(), "{inside:?}");
        prop_assert!(selection.tokens() <= TokenCount::new(max.max(1)));
        let is_whole = inside.iter().all(|inside| *inside);
        prop_assert_eq!(selection.runs[&0].is_cut, !is_whole);
        for decision in &selection.decisions {
            match (decision.candidate.part, &decision.outcome) {
                (RunPart::Summary(turn), CandidateOutcome::Included(_)) => {
                    let mut of_turn = selection.decisions.iter().filter(|d| d.candidate.part == RunPart::Step(turn));
                    prop_assert!(of_turn.any(|decision| decision.outcome.inclusion().is_none()));
                }
                (RunPart::Step(turn), CandidateOutcome::Omitted(Omission::Summarized)) => {
                    let mut of_turn = selection.decisions.iter().filter(|d| d.candidate.part == RunPart::Summary(turn));
                    prop_assert!(of_turn.all(|decision| decision.outcome.inclusion().is_some()));
                }
                _ => {}
            }
        }
    }

    #[test]
    fn more_room_drops_no_step(turns in turns(), max in 0u64..400, more in 1u64..60, summaries: bool) {
        let all = candidates(&turns, summaries, 1);
        let (small, large) = (kept(&selected(&all, max, 0)), kept(&selected(&all, max + more, 0)));
        // Summaries make way for what they stand for.
        let dropped: Vec<_> = small.iter().filter(|id| !id.starts_with('s') && !large.contains(id)).collect();
        prop_assert!(dropped.is_empty(), "{dropped:?}");
    }

    #[test]
    fn what_is_kept_holds_as_long_as_it_says(
        turns in turns(), max in 20u64..400, added in proptest::collection::vec(1u64..20, 1..6), summaries: bool,
    ) {
        let all = candidates(&turns, summaries, 1);
        let before = selected(&all, max, 0);
        let mut more = turns.clone();
        more.push(added.clone());
        let longer = candidates(&more, summaries, 1);
        let after = selected(&longer, max, 0);
        if TokenCount::new(added.iter().sum()) <= before.runs[&0].holds_for {
            prop_assert!(kept(&after).starts_with(&kept(&before)));
        }
    }

    #[test]
    fn a_tail_inside_its_reserve_changes_nothing(
        turns in turns(), max in 0u64..400, tails in (1u64..20, 1u64..20), summaries: bool,
    ) {
        let (one, other) = (candidates(&turns, summaries, tails.0), candidates(&turns, summaries, tails.1));
        prop_assert_eq!(kept(&selected(&one, max, 20)), kept(&selected(&other, max, 20)));
    }
}

#[test]
fn a_cut_stays_while_the_run_grows() {
    let mut all: Turns = Vec::new();
    let mut cuts = Vec::new();
    for turn in 0u64..200 {
        all.push(vec![3 + turn % 5, 5]);
        let candidates = candidates(&all, false, 1);
        let kept = kept(&selected(&candidates, 400, 0));
        cuts.push(kept.first().cloned());
    }
    let moves = cuts.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert!(moves <= 50, "the cut moved {moves} times in 200 turns");
}

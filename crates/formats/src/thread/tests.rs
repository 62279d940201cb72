use super::*;
use crate::codec::Facts;

#[test]
fn a_turn_that_others_go_back_to_is_known_after_one_of_many_records() {
    let calls: Vec<String> = (0..2000).map(|number| format!("a2x{number}")).collect();
    let script = |back: &str| threaded(&format!("u1 b1 x1 y1 z1 u2 {} u3<{back}", calls.join(" ")));
    for back in ["u1", "x1", "z1"] {
        assert_eq!(script(back).last().unwrap(), "0 after 1: | u3", "after {back}");
    }
}

#[test]
fn what_was_seen_is_read_in_both_forms() {
    let state = |seen: &str| {
        let text = format!(r#"{{"lanes":[],"current":0,"seen":{seen},"opened":null}}"#);
        serde_json::from_str::<ThreadState>(&text).map(|state| Threader::resume(state).state())
    };
    let packed = state(r#"[[0,5,"AQAAAAAAAAACAAAAAAAAAA"],[1,2,"AwAAAAAAAAA"]]"#).unwrap();
    assert_eq!(packed, state("[[1,0,5],[2,0,5],[3,1,2]]").unwrap());
    assert_eq!(packed, serde_json::from_str(&serde_json::to_string(&packed).unwrap()).unwrap());
    assert!(state(r#"[[0,5,"AQAAAA"]]"#).is_err());
}

/// Threads records written as `id<parent`: `u` prompts, `a` answers, `c` compacts, `s` sums up; `@key` is a side
/// lane, `!n` takes n turns back, `:s` names the session, and `=x` says that the session is at x. Returns lanes with their records, cuts as `|` and starts in brackets.
fn threaded<'s>(script: &'s str) -> Vec<String> {
    let mut threader = Threader::default();
    let mut lanes: Vec<String> = Vec::new();
    let split = |word: &'s str, at: char| -> (&'s str, Option<String>) {
        word.split_once(at).map_or((word, None), |(word, rest)| (word, Some(rest.to_owned())))
    };
    for word in script.split_whitespace() {
        let (word, leaf) = split(word, '=');
        let (word, session) = split(word, ':');
        let (word, key) = split(word, '@');
        let (id, link) = match word.split_once('<') {
            None => (word, Link::Previous),
            Some((id, "")) => (id, Link::Root),
            Some((id, parent)) => (id, Link::To(parent.to_owned())),
        };
        let mark = match id.as_bytes()[0] {
            b'u' if key.is_none() => RecordMark::Turn(None),
            b'c' => RecordMark::Compaction { after: None },
            b'!' => RecordMark::Rewind(Rewind::Turns(id[1..].parse().unwrap())),
            _ => RecordMark::None,
        };
        let outline = Outline {
            id: Some(id.to_owned()),
            link,
            lane: key,
            mark,
            has_summary: id.starts_with('s'),
            is_answer: id.starts_with('a'),
            leaf,
            facts: Facts { session, ..Facts::default() },
            ..Outline::default()
        };
        let Placement::Lane(place) = threader.place(&outline) else {
            continue;
        };
        if let Some(start) = place.start {
            lanes.push(match start {
                Start::Root => "root:".to_owned(),
                Start::Side { key } => format!("side {key}:"),
                Start::Branch { lane, turn, with_prompt } => {
                    format!("{lane} after {turn}{}:", if with_prompt { " with prompt" } else { "" })
                }
            });
        }
        let lane = &mut lanes[place.lane];
        let compaction = if place.is_compaction { "*" } else { "" };
        let (before, after) = (if place.cut_before { " |" } else { "" }, if place.cut_after { " |" } else { "" });
        let leaf = place.leaf.map_or_else(String::new, |leaf| format!("={leaf}"));
        *lane = format!("{lane}{before} {compaction}{id}{leaf}{after}");
        threader = Threader::resume(threader.state());
    }
    lanes
}

#[test]
fn a_plain_conversation_is_cut_where_somebody_asks() {
    assert_eq!(threaded("m1 u1 a1 a2 u2 a3"), ["root: m1 u1 a1 a2 | u2 a3"]);
}

#[test]
fn parallel_answers_stay_together() {
    assert_eq!(threaded("u1< a1<u1 a2<a1 r1<a1 r2<a2 a3<r2 u2<a3"), ["root: u1 a1 a2 r1 r2 a3 | u2"]);
}

#[test]
fn going_back_makes_a_branch() {
    let lanes = ["root: u1 a1 | u2 a2", "0 after 1: | u3 a3 | u4"];
    assert_eq!(threaded("u1< a1<u1 u2<a1 a2<u2 u3<a1 a3<u3 u4<a3"), lanes);
    assert_eq!(threaded("u1< a1<u1 u2< a2<u2"), ["root: u1 a1", "root: u2 a2"]);
}

#[test]
fn a_prompt_after_an_answered_prompt_shares_only_the_prompt() {
    let lanes = ["root: u1 a1 | u2 a2", "0 after 1 with prompt: | u3 a3"];
    assert_eq!(threaded("u1< a1<u1 u2<a1 a2<u2 u3<u2 a3<u3"), lanes);
}

#[test]
fn two_who_write_at_once_get_a_lane_each() {
    let lanes = ["root: u1 a1 | u2 a2 | u4", "0 after 1: | u3 a3 | u5"];
    assert_eq!(threaded("u1< a1<u1 u2<a1 u3<a1 a2<u2 a3<u3 u4<a2 u5<a3"), lanes);
}

#[test]
fn side_chains_have_lanes_of_their_own() {
    let lanes = ["root: u1 a1 r1 a2", "side x: b1 b2"];
    assert_eq!(threaded("u1< a1<u1 b1<@x b2<b1@x r1<a1 a2<r1"), lanes);
    // Old versions do not name them.
    assert_eq!(threaded("u1< a1<u1 b1<@ b2<b1@ r1<a1"), ["root: u1 a1 r1", "side b1: b1 b2"]);
}

#[test]
fn a_compaction_is_a_step_of_its_own() {
    assert_eq!(threaded("u1< a1<u1 c1< s1<c1 a2<s1 u2<a2"), ["root: u1 a1 | *c1 s1 | a2 | u2"]);
    assert_eq!(threaded("u1 a1 s1 a2"), ["root: u1 a1 | *s1 | a2"]);
}

#[test]
fn what_follows_a_compaction_without_a_summary_is_a_step_of_its_own() {
    assert_eq!(threaded("u1 a1 c1 n1 a2 n2 a3 u2"), ["root: u1 a1 | *c1 n1 | a2 n2 a3 | u2"]);
    assert_eq!(threaded("u1 a1 c1 n1 s1 a2"), ["root: u1 a1 | *c1 n1 s1 | a2"]);
}

#[test]
fn a_session_that_begins_after_another_has_a_lane_of_its_own() {
    let two = ["root: n1 u1 a1", "root: n2 u2 a2 | u3"];
    assert_eq!(threaded("n1<:A u1:A a1:A n2<:B u2:B a2 u3:B"), two);
    // A copy names what it was copied from, first or in between, and goes on with it.
    assert_eq!(threaded("n1<:B n2<:A u1 a1 n3<:A u2 a2"), ["root: n1 n2 u1 a1 n3 | u2 a2"]);
    assert_eq!(threaded("u1<:A a1<u1:A u2<a1:B a2<u2:B n1<:A"), ["root: u1 a1 | u2 a2 n1"]);
    // A compaction begins nothing, whatever session it names.
    assert_eq!(threaded("u1<:A a1:A c1<:B s1<c1:B"), ["root: u1 a1 | *c1 s1 |"]);
}

#[test]
fn the_record_that_a_session_is_at_tells_its_lane() {
    let lanes = ["root: u1 a1 | u2 a2", "0 after 1: | u3 n1=0 n2=1 n3"];
    assert_eq!(threaded("u1< a1<u1 u2<a1 a2<u2 u3<a1 n1=a2 n2=u3 n3=nobody"), lanes);
}

#[test]
fn turns_that_are_taken_back_stay_behind() {
    assert_eq!(threaded("u1 a1 u2 a2 !1 u3 a3"), ["root: u1 a1 | u2 a2", "0 after 1: | u3 a3"]);
    assert_eq!(threaded("u1 a1 !5 u3"), ["root: u1 a1", "0 after 0: u3"]);
}

#[test]
fn who_follows_somebody_unknown_follows_the_record_before() {
    assert_eq!(threaded("u1< a1<u1 a2<nobody u2<a2"), ["root: u1 a1 a2 | u2"]);
}

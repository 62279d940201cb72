//! Who is told what, by when they come to a channel.

use contexture_assembly::channel_view::{ChannelCompaction, HANDOFF_TOPIC, ViewOmissionReason, ViewPart};
use contexture_core::{ConversationPhase, SummaryText};
use serde_json::json;

use crate::room::{Room, at, in_thread, is_raw, lines, only_to};

const BEGIN: &str = "note: === MESSAGES WHILE YOU WERE AWAY ===";
const END: &str = "note: === END OF HISTORY ===";

#[test]
fn whoever_is_mentioned_at_the_start_begins_fresh() {
    let mut room = Room::new();
    room.tell("ada", &["dev"], "Build it.");
    assert_eq!(lines(&room.view("dev")), ["trigger user: Build it."]);
}

#[test]
fn two_who_are_mentioned_at_the_start_both_have_the_text_and_no_block() {
    let mut room = Room::new();
    room.tell("ada", &["dev", "planner"], "Build it.");
    room.say("dev", "I begin.");
    assert_eq!(lines(&room.view_of("dev", 1, 1)), ["trigger user: Build it."]);
    assert_eq!(lines(&room.view_of("planner", 2, 1)), ["other [💬 Dev]: I begin.", "trigger user: Build it."]);
}

#[test]
fn whoever_is_mentioned_in_the_middle_finds_all_as_history_and_no_block() {
    let mut room = Room::new();
    room.say("ada", "Let's build a new feature");
    room.say("planner", "I'll help you with that feature");
    room.tell("ada", &["dev"], "@dev can you implement this?");
    assert_eq!(
        lines(&room.view("dev")),
        [
            "user: Let's build a new feature",
            "other [💬 Planner]: I'll help you with that feature",
            "trigger user: @dev can you implement this?",
        ]
    );
}

#[test]
fn whoever_is_not_mentioned_finds_all_as_history_too() {
    let mut room = Room::new();
    room.say("ada", "Hello.");
    room.say("planner", "Hello!");
    room.say("ada", "What is next?");
    assert_eq!(
        lines(&room.view("tester")),
        ["user: Hello.", "other [💬 Planner]: Hello!", "trigger user: What is next?"]
    );
}

#[test]
fn a_user_who_goes_on_with_nobody_else_speaking_leaves_no_block() {
    let mut room = Room::new();
    room.say("ada", "Shall we?");
    room.say("planner", "I offer my help.");
    room.say("ada", "Yes, let's do it.");
    room.done(None, 1, 1);
    assert_eq!(
        lines(&room.view("planner")),
        ["user: Shall we?", "assistant: I offer my help.", "trigger user: Yes, let's do it."]
    );
}

#[test]
fn whoever_returns_is_told_what_was_missed_in_one_block_before_the_message_to_answer() {
    let mut room = Room::new();
    room.say("ada", "Plan it.");
    room.say("planner", "Here is the plan.");
    room.tell("ada", &["dev"], "Build it.");
    room.tell("dev", &["planner"], "Done.");
    room.tell("ada", &["planner"], "Is it good?");
    room.done(None, 1, 1);
    let viewed = room.view("planner");
    assert_eq!(
        lines(&viewed),
        [
            "user: Plan it.".to_owned(),
            "assistant: Here is the plan.".to_owned(),
            format!("away {BEGIN}"),
            "away user [🟢 USER → @Dev]: Build it.".to_owned(),
            "away other [💬 Dev → you]: Done.".to_owned(),
            format!("away {END}"),
            "trigger user: Is it good?".to_owned(),
        ]
    );
    let end = viewed.entries[5].text();
    assert!(end.ends_with("Respond to the message below, considering the context."), "{end}");
}

#[test]
fn a_block_stays_as_it_was_told_in_the_turns_that_follow() {
    let mut room = Room::new();
    room.say("ada", "One.");
    room.say("dev", "Two.");
    room.say("ada", "Three.");
    room.done(Some(1), 3, 3);
    room.say("planner", "Four.");
    room.say("tester", "Five.");
    room.say("ada", "Six.");
    assert_eq!(
        lines(&room.view("planner")),
        [
            "user: One.".to_owned(),
            BEGIN.to_owned(),
            "other [💬 Dev]: Two.".to_owned(),
            END.to_owned(),
            "user: Three.".to_owned(),
            "assistant: Four.".to_owned(),
            format!("away {BEGIN}"),
            "away other [💬 Tester]: Five.".to_owned(),
            format!("away {END}"),
            "trigger user: Six.".to_owned(),
        ]
    );
}

#[test]
fn what_comes_after_the_message_to_answer_is_told_before_it_and_not_lost() {
    let mut room = Room::new();
    room.say("ada", "One.");
    room.tell("ada", &["planner"], "Two.");
    room.say("dev", "Three.");
    room.done(None, 1, 1);
    assert_eq!(
        lines(&room.view_of("planner", 3, 2)),
        [
            "user: One.".to_owned(),
            format!("away {BEGIN}"),
            "away other [💬 Dev]: Three.".to_owned(),
            format!("away {END}"),
            "trigger user: Two.".to_owned(),
        ]
    );
}

#[test]
fn a_handoff_tells_what_was_before_and_may_say_its_message_in_its_data() {
    let mut room = Room::new();
    room.say("ada", "Plan it.");
    room.say("tester", "I looked.");
    room.data(
        "dev",
        HANDOFF_TOPIC,
        None,
        json!({"summary": "The plan stands.", "message": "Check it.", "to": "planner"}),
    );
    room.done(None, 1, 1);
    let viewed = room.view("planner");
    assert!(viewed.entries[1].text().ends_with("\n\n**Previous context**: The plan stands."));
    assert_eq!(viewed.entries.last().unwrap().text(), "Check it.\n\nData: {\n  \"to\": \"planner\"\n}");
    // Without a block the summary is told with the message.
    room.turns = Vec::new();
    let text = room.view("planner").entries.last().unwrap().text();
    assert!(text.starts_with("**Previous context**: The plan stands.\n\nCheck it."), "{text}");
}

#[test]
fn the_data_of_the_message_to_answer_is_told() {
    let mut room = Room::new();
    room.data("ada", "VALIDATION_RESULT", Some("Rejected."), json!({"errors": ["it panics"]}));
    assert_eq!(room.view("dev").entries[0].text(), "Rejected.\n\nData: {\n  \"errors\": [\n    \"it panics\"\n  ]\n}");
}

#[test]
fn a_change_of_phase_is_told_once_where_it_happens() {
    let mut room = Room::new();
    for (text, phase) in [("One.", "plan"), ("Two.", "plan"), ("Three.", "execute")] {
        room.say("ada", text).record.header.phase = Some(ConversationPhase::new(phase).unwrap());
    }
    let viewed = room.view("dev");
    assert_eq!(
        lines(&viewed),
        [
            "note: === CURRENT PHASE: plan ===",
            "user: One.",
            "user: Two.",
            "trigger note: === PHASE TRANSITION ===",
            "trigger user: Three.",
        ]
    );
    assert_eq!(viewed.entries[3].text(), "=== PHASE TRANSITION ===\nplan → execute");
}

#[test]
fn raw_output_and_what_is_said_to_others_alone_are_left_out() {
    let mut room = Room::new();
    is_raw(room.say("dev", "10,000 lines"));
    only_to(room.say("ada", "Between us."), "tester");
    room.say("ada", "  ");
    room.say("ada", "Now.");
    let viewed = room.view("planner");
    assert_eq!(lines(&viewed), ["trigger user: Now."]);
    let omitted: Vec<_> = viewed.omitted.iter().map(|omission| (omission.sequence.get(), omission.reason)).collect();
    assert_eq!(
        omitted,
        [(1, ViewOmissionReason::Raw), (2, ViewOmissionReason::NotVisible), (3, ViewOmissionReason::Empty)]
    );
}

#[test]
fn a_delegate_is_told_its_thread_alone() {
    let mut room = Room::new();
    room.limit_to("dev", "t1");
    room.say("ada", "Not for dev.");
    in_thread(room.say("planner", "Write the parser."), "t1");
    in_thread(room.say("tester", "Mind the tests."), "t2");
    in_thread(room.say("planner", "Go on."), "t1");
    assert_eq!(
        lines(&room.view("dev")),
        ["other [💬 Planner]: Write the parser.", "trigger other [💬 Planner]: Go on."]
    );
}

#[test]
fn others_are_told_the_result_of_a_delegation_with_as_much_of_it_as_there_is_room_for() {
    let mut room = Room::new();
    room.limit_to("dev", "t1");
    in_thread(room.say("planner", "Write the parser."), "t1");
    in_thread(room.say("dev", &"x".repeat(5000)), "t1");
    in_thread(room.say("dev", "I test it."), "t1");
    in_thread(room.data("dev", "COMPLETION", Some("It parses."), json!(null)), "t1");
    room.say("ada", "Well?");
    let viewed = room.view("tester");
    assert_eq!(lines(&viewed), ["other [💬 Dev]: # DELEGATION COMPLETED", "trigger user: Well?"]);
    assert_eq!(
        viewed.entries[0].text(),
        "# DELEGATION COMPLETED\n[Delegation to 💬 Dev in t1]\nIt parses.\n\n### Transcript:\n\
         [2 earlier messages of this delegation left out]\n💬 Dev: I test it."
    );
    assert_eq!(viewed.entries[0].sequences(), [at(4), at(3)]);
    // Whoever gave the work keeps what it said itself.
    room.done(None, 1, 1);
    assert_eq!(viewed.omitted.len(), 3);
    let viewed = room.view("planner");
    assert_eq!(viewed.entries[0].text(), "Write the parser.");
}

#[test]
fn an_aborted_delegation_says_why() {
    let mut room = Room::new();
    room.limit_to("dev", "t1");
    in_thread(room.data("dev", "ABORTED", Some("I stop."), json!({"reason": "no access"})), "t1");
    room.say("ada", "Well?");
    let text = room.view("tester").entries[0].text();
    assert!(
        text.starts_with("# DELEGATION ABORTED\n[Delegation to 💬 Dev in t1]\n**Reason:** no access\nI stop."),
        "{text}"
    );
}

#[test]
fn a_summary_stands_for_what_was_compacted_and_nothing_else_changes() {
    let mut room = Room::new();
    for text in ["One.", "Two.", "Three.", "Four."] {
        room.say("ada", text);
    }
    room.compactions.push(ChannelCompaction {
        first: at(1),
        last: at(2),
        author: "planner".to_owned(),
        summary: SummaryText::new("They counted.").unwrap(),
    });
    let viewed = room.view("dev");
    assert_eq!(
        lines(&viewed),
        ["note: Messages #1 to #2, summed up by planner:", "user: Three.", "trigger user: Four."]
    );
    assert_eq!(viewed.omitted.len(), 2);
    // A later summary takes the place of those that it contains.
    room.compactions.push(ChannelCompaction { last: at(3), ..room.compactions[0].clone() });
    assert_eq!(lines(&room.view("dev")), ["note: Messages #1 to #3, summed up by planner:", "trigger user: Four."]);
}

#[test]
fn a_turn_that_was_set_back_is_told_anew() {
    let mut room = Room::new();
    for text in ["One.", "Two.", "Three."] {
        room.say("ada", text);
    }
    room.done(None, 1, 1).done(Some(1), 3, 3);
    room.say("ada", "Four.");
    // The cursor is back at 1: the second turn counts no more.
    room.turns.swap(0, 1);
    assert_eq!(
        lines(&room.view("dev")),
        [
            "user: One.".to_owned(),
            format!("away {BEGIN}"),
            "away user [🟢 USER]: Two.".to_owned(),
            "away user [🟢 USER]: Three.".to_owned(),
            format!("away {END}"),
            "trigger user: Four.".to_owned(),
        ]
    );
}

#[test]
fn the_message_to_answer_is_the_last_entry_and_has_the_part_of_its_own() {
    let mut room = Room::new();
    room.say("ada", "One.");
    room.tell("planner", &["dev"], "Two.");
    let viewed = room.view("dev");
    let triggers: Vec<_> = viewed.entries.iter().filter(|entry| entry.part == ViewPart::Trigger).collect();
    assert_eq!(triggers, [viewed.entries.last().unwrap()]);
    assert_eq!(triggers[0].title().unwrap(), "💬 Planner → you, #2 at 1970-01-01T00:00:02.000000Z");
}

#[test]
fn a_summary_stands_where_its_messages_stood() {
    let mut room = Room::new();
    for (sender, text) in
        [("ada", "One."), ("ada", "Two."), ("ada", "Three."), ("dev", "Four."), ("planner", "Five."), ("ada", "Six.")]
    {
        room.say(sender, text);
    }
    let compaction = |first, last| ChannelCompaction {
        first: at(first),
        last: at(last),
        author: "planner".to_owned(),
        summary: SummaryText::new("They counted.").unwrap(),
    };
    room.done(None, 3, 3);
    room.compactions = vec![compaction(2, 2), compaction(5, 5)];
    assert_eq!(
        lines(&room.view("dev")),
        [
            "user: One.",
            "note: Messages #2 to #2, summed up by planner:",
            "user: Three.",
            "assistant: Four.",
            "note: Messages #5 to #5, summed up by planner:",
            "trigger user: Six.",
        ]
    );
    let viewed = room.view("dev");
    assert!(viewed.entries.is_sorted_by(|one, two| one.position < two.position), "{viewed:?}");
    // One between which and what is told lies something unread would hide a hole.
    assert_eq!(lines(&room.view_from("dev", 4, 6, 6)).len(), 3);
}

//! What an orchestrator is told.

use contexture_assembly::channel_view::{ROUTING_TOPIC, RoutingView};
use serde_json::json;

use crate::room::{Room, at};

fn routing(room: &Room) -> RoutingView {
    let orchestrator = room.participants.iter().find(|known| known.slug.as_str() == "planner").unwrap();
    let through = at(room.messages.len().max(1) as u64);
    RoutingView::of(orchestrator, &room.participants, &room.messages, through)
}

fn send(room: &mut Room, agents: &[&str]) {
    room.data("planner", ROUTING_TOPIC, None, json!({"agents": agents, "phase": "execute", "reason": "as planned"}));
}

fn complete(room: &mut Room, agent: &str, text: &str) {
    room.data(agent, "COMPLETION", Some(text), json!(null));
}

#[test]
fn an_empty_channel_has_no_history_and_no_current_routing() {
    assert_eq!(routing(&Room::new()), RoutingView::default());
}

#[test]
fn what_the_user_said_last_is_the_request_and_else_what_the_channel_begins_with() {
    let mut room = Room::new();
    room.say("dev", "A task.");
    assert_eq!(routing(&room).user_request.as_deref(), Some("A task."));
    room.say("ada", "Build it.");
    room.say("ada", "Faster.");
    room.say("dev", "Yes.");
    assert_eq!(routing(&room).user_request.as_deref(), Some("Faster."));
}

#[test]
fn a_step_is_current_until_all_its_agents_are_done() {
    let mut room = Room::new();
    room.say("ada", "Build it.");
    send(&mut room, &["dev", "tester"]);
    complete(&mut room, "dev", "Built.");
    let view = routing(&room);
    let current = view.current_routing.unwrap();
    assert_eq!(
        (current.turn_id.as_str(), current.phase.as_deref(), current.completions.len()),
        ("m2", Some("execute"), 1)
    );
    assert_eq!(view.routing_history, []);
    // The completion that triggers the orchestrator is counted, and the last one ends the step.
    complete(&mut room, "tester", "Tested.");
    let view = routing(&room);
    assert_eq!((view.current_routing, view.routing_history.len()), (None, 1));
    let said: Vec<_> = view.routing_history[0].completions.iter().map(|done| (&*done.agent, &*done.message)).collect();
    assert_eq!(said, [("dev", "Built."), ("tester", "Tested.")]);
}

#[test]
fn a_completion_counts_once_and_for_the_newest_step_that_has_the_agent() {
    let mut room = Room::new();
    send(&mut room, &["dev"]);
    send(&mut room, &["dev", "tester"]);
    complete(&mut room, "dev", "Second.");
    complete(&mut room, "dev", "Again.");
    complete(&mut room, "ghost", "Who?");
    let view = routing(&room);
    assert_eq!(view.routing_history[0].completions, []);
    let current = view.current_routing.unwrap();
    let said: Vec<_> = current.completions.iter().map(|done| done.message.as_str()).collect();
    assert_eq!((current.turn_id.as_str(), said), ("m2", vec!["Second."]));
}

#[test]
fn only_the_orchestrator_sends_agents_to_work() {
    let mut room = Room::new();
    room.data("dev", ROUTING_TOPIC, None, json!({"agents": ["tester"]}));
    room.data("planner", ROUTING_TOPIC, None, json!({"agents": []}));
    assert_eq!((routing(&room).current_routing, routing(&room).routing_history), (None, Vec::new()));
}

#[test]
fn looking_again_gives_the_same() {
    let mut room = Room::new();
    send(&mut room, &["dev"]);
    complete(&mut room, "dev", "Done.");
    assert_eq!(routing(&room), routing(&room));
}

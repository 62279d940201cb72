//! Lives without events.

use super::*;

#[test]
fn a_life_without_events_is_named() {
    let traced = Some(Level::TurnTrace);
    let export = example::value();
    let events: Vec<_> =
        export["records"].as_array().unwrap().iter().filter(|entry| entry["type"] == "context_event").collect();
    assert_eq!(events.len(), 9);
    for event in events {
        let mut without = export.clone();
        without["records"].as_array_mut().unwrap().retain(|entry| entry != event);
        let report = checked(&without);
        assert_eq!(report.level, traced);
        let fault = format!("no event {} names it", event["record"]["event_type"].as_str().unwrap());
        assert!(lines_of(&report).iter().all(|line| line.ends_with(&fault)), "{:?}", lines_of(&report));
    }
    falls(Object::Compaction, |c| remove(c, "summary_ref"), (traced, "L2 @.summary_ref: it is missing"));
    let mut export = example::value();
    for object in [Object::Compaction, Object::Summary] {
        let place = place(&export, object);
        remove(&mut export["records"][place]["record"], "loss_notes");
    }
    let report = checked(&export);
    assert_eq!(report.level, traced);
    assert!(lines_of(&report)[0].ends_with(".loss_notes: neither the compaction nor its summary says what was lost"));

    let mut export = example::value();
    let mut again = export["records"][place(&export, Object::Selection)].clone();
    export["records"].as_array_mut().unwrap().push(again.clone());
    assert_eq!(checked(&export).level, Some(Level::Replayable), "the same again is no change");
    again["record"]["rationale"] = json!("on second thought");
    let (first, last) = (place(&export, Object::Selection), export["records"].as_array().unwrap().len() - 1);
    export["records"][last] = again;
    let report = checked(&export);
    let fault = format!("L2 records[{last}].record: records[{first}].record has the same id with other content");
    assert_eq!((report.level, lines_of(&report)), (traced, vec![fault]));

    let completed = "a record of context must not declare that a turn, a task or a run is completed or failed";
    for (object, field, value, what) in [
        (Object::Envelope, "task_status", json!("running"), completed),
        (Object::Envelope, "metadata", json!({"turn": {"status": "completed"}}), completed),
        (
            Object::Item,
            "metadata",
            json!({"success": true}),
            "a record of context must not declare that a tool succeeded",
        ),
        (
            Object::MissingContext,
            "metadata",
            json!({"approved": false}),
            "a record of context must not declare an approval or a permission",
        ),
    ] {
        let mut export = example::value();
        let place = place(&export, object);
        export["records"][place]["record"][field] = value;
        let report = checked(&export);
        assert_eq!(report.level, traced);
        assert!(lines_of(&report)[0].ends_with(what), "{:?}", lines_of(&report));
    }
    for (kind, level) in [
        ("turn.completed", traced),
        ("context.completed", traced),
        ("tool.call.succeeded", traced),
        ("permission.granted", traced),
        // A failure of our own is ours to tell; the word is not one of the standard's, so types cannot read it.
        ("context.compaction.failed", Some(Level::Lifecycle)),
    ] {
        let mut export = example::value();
        let mut event = export["records"][place(&export, Object::Event)].clone();
        event["record"]["event_id"] = json!("evt-x");
        event["record"]["event_type"] = json!(kind);
        export["records"].as_array_mut().unwrap().push(event);
        assert_eq!(checked(&export).level, level, "{kind}");
    }
}

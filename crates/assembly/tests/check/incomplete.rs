//! Turns that are not whole.

use super::*;

#[test]
fn a_turn_that_is_not_whole_is_named() {
    let read = Some(Level::Readable);
    for (field, object) in [
        ("surface_refs", Object::Surface),
        ("selection_refs", Object::Selection),
        ("budget_ref", Object::Budget),
        ("assembly_refs", Object::Assembly),
        ("injection_refs", Object::Injection),
    ] {
        let fault = format!("L1 @.{field}: the envelope names no {object}");
        falls(Object::Envelope, |e| remove(e, field), (read, Box::leak(fault.into_boxed_str())));
        let mut export = example::value();
        export["records"].as_array_mut().unwrap().retain(|entry| entry["type"] != object.as_str());
        let report = checked(&export);
        let fault = format!(" is not the id of any {object} here");
        assert!(lines_of(&report)[0].ends_with(&fault), "{:?}", lines_of(&report));
        assert_eq!(report.level, read);
    }
    let mut export = example::value();
    export["records"].as_array_mut().unwrap().retain(|entry| entry["type"] == "context_item");
    let report = checked(&export);
    for object in ["envelope", "surface", "selection", "budget", "assembly", "injection"] {
        assert!(lines_of(&report).contains(&format!("L1 $: there is no context_{object}")), "{:?}", lines_of(&report));
    }
    falls(
        Object::Selection,
        |s| drop(s["selected_item_refs"].as_array_mut().unwrap().remove(1)),
        (read, "L1 @.candidate_item_refs[1]: \"item-main\" was neither selected nor omitted"),
    );
    falls(
        Object::Selection,
        |s| s["omitted_item_refs"][0] = json!("item-log"),
        (read, "L1 @.omitted_item_refs[0]: it was left out without a reason"),
    );
    falls(
        Object::Selection,
        |s| s["selected_item_refs"][0] = json!("item-log"),
        (read, "L1 @.omitted_item_refs[0]: \"item-log\" was both selected and omitted"),
    );
    falls(
        Object::Selection,
        |s| remove(s, "candidate_item_refs"),
        (read, "L1 @.selected_item_refs[0]: \"item-system\" is not among the candidates"),
    );
    falls(
        Object::Selection,
        |s| s["surface_id"] = json!("sur-2"),
        (read, "L1 @.surface_id: \"sur-2\" is not the id of any context_surface here"),
    );
    falls(
        Object::Assembly,
        |a| a["ordered_blocks"][1]["item_refs"][0] = json!({"kind": "turn", "id": "turn-1"}),
        (read, "L1 @.ordered_blocks[1].item_refs[0]: \"turn-1\" is not the id of any context_item here"),
    );
    falls(
        Object::Injection,
        |i| i["assembly_id"] = json!("asm-9"),
        (read, "L1 @.assembly_id: \"asm-9\" is not the id of any context_assembly here"),
    );
    falls(
        Object::Envelope,
        |e| e["policy_refs"][0] = json!("pol-1"),
        (read, "L1 @.policy_refs[0]: what lies outside is named by an object with kind and id"),
    );
    falls(
        Object::Window,
        |w| w["segments"][0] = json!("seg-2"),
        (read, "L1 @.segments[0]: \"seg-2\" is not the id of any segment here"),
    );
    falls(
        Object::Compaction,
        |c| c["source_item_refs"][0] = json!("turn-1"),
        (read, "L1 @.source_item_refs[0]: \"turn-1\" is not the id of any context_item here"),
    );
    falls(
        Object::Compaction,
        |c| c["summary_ref"] = json!({}),
        (read, "L1 @.summary_ref: it names nothing: expected an id, or an object with one"),
    );
    falls(
        Object::Event,
        |e| e["context_id"] = json!("env-2"),
        (read, "L1 @.context_id: \"env-2\" is not the id of any context_envelope here"),
    );
}

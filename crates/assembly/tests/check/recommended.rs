//! What is only recommended.

use super::*;

#[test]
fn what_is_only_recommended_is_noted_and_counts_when_checked_strictly() {
    let mut export = example::value();
    let (item, selection) = (place(&export, Object::Item), place(&export, Object::Selection));
    let (injection, assembly) = (place(&export, Object::Injection), place(&export, Object::Assembly));
    export["records"][item]["record"]["context_kind"] = json!("custom");
    export["records"][item]["record"]["titel"] = json!("x");
    remove(&mut export["records"][item]["record"], "content");
    export["records"][selection]["record"]["ranking_signals"]["item-main"]["luck"] = json!(1);
    export["records"][selection]["record"]["schema_version"] = json!("7");
    remove(&mut export["records"][injection]["record"], "visibility");
    export["records"][assembly]["record"]["ordered_blocks"][0]["hsh"] = json!(1);
    let json = serde_json::to_vec(&export).unwrap();
    let report = check(&json, Strictness::Demanded);
    let mut notes: Vec<_> = report.notes.iter().map(ToString::to_string).collect();
    notes.sort();
    let mut expected = [
        format!(
            "records[{item}].record.context_kind: it is custom, and metadata.context_kind does not say what that is"
        ),
        format!(
            "records[{item}].record.titel: the standard has no such field; what is your own belongs into metadata; did you mean `title`?"
        ),
        format!("records[{item}].record.content: it should be there, because content_mode is inline"),
        format!(
            "records[{selection}].record.ranking_signals[\"item-main\"].luck: \"luck\" is not one of relevance, recency, authority, user_pin, policy_allow, freshness, coverage, dedupe_score, token_cost, sensitivity, tool_visibility, runtime_need"
        ),
        format!("records[{selection}].record.schema_version: version \"7\" is not known; it was checked as 0.1.1"),
        format!("records[{injection}].record.visibility: the standard recommends it, and it is not there"),
        format!(
            "records[{assembly}].record.ordered_blocks[0].hsh: the standard has no such field; what is your own belongs into metadata; did you mean `hash`?"
        ),
    ];
    expected.sort();
    assert_eq!(notes, expected);
    assert!(report.level >= Some(Level::Lifecycle));
    let strict = check(&json, Strictness::Recommended);
    assert_eq!((strict.level, strict.notes), (None, vec![]));
    assert_eq!(strict.faults.iter().filter(|fault| fault.level == Level::Readable).count(), 7);

    export["records"][item]["record"]["metadata"] = json!({"context_kind": "poem"});
    let named = checked(&export);
    assert_eq!(named.notes.len(), 6);
}

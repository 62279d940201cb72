//! Canonical JSON against the golden vectors that lie beside the project, where they are there.

use std::path::Path;

use contexture_core::canonical;
use serde_json::Value;

#[test]
fn canonical_json_equals_the_golden_vectors() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors/ssot-hashes.json");
    let Ok(text) = std::fs::read(&path) else {
        eprintln!("skipped: no golden vectors beside the project");
        return;
    };
    let vectors: Value = serde_json::from_slice(&text).expect("the vectors are JSON");
    let group = vectors["A_stable_stringify"].as_array().expect("group A");
    assert!(!group.is_empty());
    for case in group {
        let canonical = canonical::to_vec(&case["input"]).expect("every input has a canonical form");
        assert_eq!(String::from_utf8(canonical).unwrap(), case["canonical"].as_str().unwrap(), "{}", case["name"]);
    }
}

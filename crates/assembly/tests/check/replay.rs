//! Bytes that cannot be made again.

use super::*;

#[test]
fn bytes_that_cannot_be_made_again_are_named() {
    let lived = Some(Level::Lifecycle);
    let zeros = format!("blake3:{}", "0".repeat(64));
    falls(
        Object::Assembly,
        |a| remove(&mut a["ordered_blocks"][1], "hash"),
        (lived, "L3 @.ordered_blocks[1].hash: it is missing"),
    );
    falls(
        Object::Assembly,
        |a| a["ordered_blocks"][1]["hash"] = json!(zeros),
        (lived, "L3 @.ordered_blocks[1].hash: no content here has this digest"),
    );
    falls(
        Object::Assembly,
        |a| a["ordered_blocks"][1]["hash"] = a["ordered_blocks"][0]["hash"].clone(),
        (lived, "L3 @.ordered_blocks[1].content_ref: it names other bytes than hash does"),
    );
    falls(
        Object::Assembly,
        |a| a["ordered_blocks"][2]["position"] = json!(1),
        (lived, "L3 @.ordered_blocks[2].position: it stands after position 1"),
    );
    falls(
        Object::Injection,
        |i| i["hash"] = json!(zeros),
        (lived, "L3 @.hash: neither the blocks one after another nor any content here has this digest"),
    );
    falls(
        Object::Injection,
        |i| i["final_ref"] = json!(zeros),
        (lived, "L3 @.final_ref: it names other bytes than hash does"),
    );
    falls(Object::Injection, |i| remove(i, "hash"), (lived, "L3 @.hash: it is missing"));
    falls(
        Object::SourceRef,
        |s| s["digest"] = json!("sha256:example"),
        (lived, "L3 @.digest: \"sha256:example\" is no digest: expected blake3: or sha256: and 64 hexadecimal digits"),
    );
    falls(
        Object::SourceRef,
        |s| remove(s, "metadata"),
        (lived, "L3 @.metadata.binding: it must say whether the source is pinned or live"),
    );
    falls(
        Object::Event,
        |e| e["time"] = json!("2026-11-15T20:10:00.1234567Z"),
        (
            lived,
            "L3 @.time: it is not the same after it was read and written: it became \"2026-11-15T20:10:00.123456Z\"",
        ),
    );
    falls(
        Object::Item,
        |i| i["context_kind"] = json!("poem"),
        (lived, "L3 @: it is not the same after it was read and written: unknown variant `poem`"),
    );

    let export = example::value();
    let digests: Vec<String> = export["contents"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(digests.len(), 4);
    for digest in &digests {
        let mut without = export.clone();
        without["contents"].as_object_mut().unwrap().remove(digest);
        assert_eq!(checked(&without).level, lived);
        for content in
            [json!({"text": "forged"}), json!({"base64": "a"}), json!("text"), json!({"text": "a", "base64": "YQ=="})]
        {
            let mut forged = export.clone();
            forged["contents"][digest] = content;
            let report = checked(&forged);
            assert_eq!(report.level, lived);
            let path = format!("L3 contents[{digest:?}]: ");
            assert!(lines_of(&report)[0].starts_with(&path), "{:?}", lines_of(&report));
        }
    }
    let mut renamed = export;
    renamed["contents"]["md5:00"] = json!({"text": "a"});
    assert_eq!(
        lines_of(&checked(&renamed)),
        ["L3 contents[\"md5:00\"]: \"md5:00\" is no digest: expected blake3: or sha256: and 64 hexadecimal digits"]
    );
}

//! Values of any kind.

use proptest::prelude::*;

use super::*;

/// Values that look like records, more or less.
fn values() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just("custom".to_owned()),
        Just("item-main".to_owned()),
        Just("context_item".to_owned()),
        Just("2026-11-15T20:10:00Z".to_owned()),
        "\\PC{0,4}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    let names: Vec<String> = {
        let mut names: Vec<String> =
            ["records", "record", "type", "contents", "agent_context_export", "id", "kind"].map(str::to_owned).to_vec();
        for entry in example::value()["records"].as_array().unwrap() {
            names.extend(entry["record"].as_object().unwrap().keys().cloned());
        }
        names.push("text".to_owned());
        names
    };
    leaf.prop_recursive(4, 60, 6, move |inner| {
        let name = proptest::sample::select(names.clone());
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(name, inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Puts a value in place of another, anywhere in a document, by counting through it.
fn replace(value: &mut Value, count: &mut usize, with: &Value) {
    if *count == 0 {
        *value = with.clone();
    }
    *count = count.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, count, with)),
        Value::Object(fields) => fields.values_mut().for_each(|field| replace(field, count, with)),
        _ => {}
    }
}

/// Tells whether the faults of a report are against no level that it says was reached.
fn is_sound(report: &CheckReport) -> bool {
    let reached = |fault: &contexture_assembly::check::Fault| report.level.is_some_and(|level| fault.level <= level);
    let is_lowest = report.faults.iter().map(|fault| fault.level).min()
        == report.level.map_or(Some(Level::Readable), |level| Level::ALL.iter().copied().find(|next| *next > level));
    !report.faults.iter().any(reached) && is_lowest && report.faults.iter().all(|fault| !fault.path.is_empty())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn any_bytes_have_a_report(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let report = check(&bytes, Strictness::Demanded);
        prop_assert!(is_sound(&report), "{:?}", report);
    }

    #[test]
    fn any_json_has_a_report_and_strict_is_never_higher(value in values()) {
        let json = serde_json::to_vec(&value).unwrap();
        let (demanded, recommended) = (check(&json, Strictness::Demanded), check(&json, Strictness::Recommended));
        prop_assert!(is_sound(&demanded) && is_sound(&recommended), "{:?}", demanded);
        prop_assert!(recommended.level <= demanded.level);
        prop_assert!(recommended.faults.len() >= demanded.faults.len());
    }

    #[test]
    fn a_value_in_the_wrong_place_never_panics(value in values(), place in 0usize..900, cut in 0usize..20_000) {
        let mut export = example::value();
        replace(&mut export, &mut place.clone(), &value);
        let json = serde_json::to_vec(&export).unwrap();
        for bytes in [&json[..], &json[..cut.min(json.len())]] {
            for strictness in [Strictness::Demanded, Strictness::Recommended] {
                let report = check(bytes, strictness);
                prop_assert!(is_sound(&report), "{:?}", report);
            }
        }
    }
}

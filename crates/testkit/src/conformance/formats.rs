//! Materialize: how the parts of each format become one conversation.

use std::collections::BTreeSet;

use contexture::{Contexture, Error, Stop};
use contexture_core::{CommitId, CommitKind, Format};

use crate::{Backend, Harness, materialized, write};

/// Checks in parts one after the other and returns the last commit.
async fn chain(store: &Contexture, format: &str, parts: &[&[u8]]) -> CommitId {
    let mut tip = None;
    for part in parts {
        let mut draft = write(format, *part);
        draft.request.parent = tip;
        tip = Some(draft.commit(store).await);
    }
    tip.expect("a chain has a part")
}

async fn assert_joined<B: Backend>(format: &str, parts: &[&[u8]], expected: &[u8], messages: Option<u64>) {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let tip = chain(&store, format, parts).await;
    let (bytes, counted) = materialized(&store, tip, Stop::Compaction).await;
    assert_eq!(bytes, expected, "{}", String::from_utf8_lossy(&bytes));
    assert_eq!((counted.messages, counted.bytes), (messages, expected.len() as u64));
    assert_eq!(counted.format, Some(Format::new(format).unwrap()));
}

pub async fn lines_join_also_where_the_last_line_feed_is_missing<B: Backend>() {
    for format in ["claude-code-v1", "codex-v1", "jsonl", "goose-jsonl"] {
        assert_joined::<B>(
            format,
            &[b"{\"a\":1}", b"{\"b\":2}\n{\"c\":3}\n", b"\n", b"{\"d\":4}"],
            b"{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n\n{\"d\":4}",
            Some(4),
        )
        .await;
    }
}

pub async fn one_part_comes_out_as_it_went_in<B: Backend>() {
    assert_joined::<B>("anthropic-messages-v1", &[b" [ 1 , 2 ]\n"], b" [ 1 , 2 ]\n", Some(2)).await;
    assert_joined::<B>("bureau-agent-v1", &[b"\x9f\x01\x02\xff"], b"\x9f\x01\x02\xff", Some(2)).await;
    assert_joined::<B>("claude-code-v1", &[b"{\"a\":1}"], b"{\"a\":1}", Some(1)).await;
}

pub async fn json_arrays_become_one_array<B: Backend>() {
    for format in ["anthropic-messages-v1", "openai-chat-v1", "openai-responses-v1"] {
        assert_joined::<B>(
            format,
            &[b"[1]", b"[]", b"[\"]\", [2]]", b"[ {\"a\":[3]} ]"],
            b"[1,\"]\", [2],{\"a\":[3]} ]",
            Some(4),
        )
        .await;
    }
    assert_joined::<B>("openai-chat-v1", &[b"[]", b"[]"], b"[]", Some(0)).await;
}

pub async fn cbor_arrays_become_one_array<B: Backend>() {
    assert_joined::<B>(
        "bureau-agent-v1",
        &[b"\x81\x01", b"\x80", b"\x9f\x02\x41\xff\xff", b"\x98\x01\xa1\x01\x02"],
        b"\x84\x01\x02\x41\xff\xa1\x01\x02",
        Some(4),
    )
    .await;
    let twenty = [b"\x94".as_slice(), &[0; 20]].concat();
    let joined = [b"\x98\x28".as_slice(), &[0; 40]].concat();
    assert_joined::<B>("bureau-agent-v1", &[&twenty, &twenty], &joined, Some(40)).await;
}

pub async fn bytes_of_other_formats_are_appended<B: Backend>() {
    for format in ["text", "opencode-v1", "somebody-elses-v9"] {
        assert_joined::<B>(format, &[b"a", b"\xff\n", b"[1]", b"[2]"], b"a\xff\n[1][2]", None).await;
    }
}

pub async fn large_parts_join_like_small_ones<B: Backend>() {
    let elements = 60_000;
    let many = format!("[{}]", vec!["[\"element\"]"; 60_000].join(","));
    let expected = format!("[1,{},2]", &many[1..many.len() - 1]);
    let parts: [&[u8]; 3] = [b"[1]", many.as_bytes(), b"[2]"];
    assert_joined::<B>("anthropic-messages-v1", &parts, expected.as_bytes(), Some(elements + 2)).await;
    let line = b"{\"line\":true}\n".repeat(60_000);
    let open_line = line.strip_suffix(b"\n").unwrap();
    let expected = line.repeat(2);
    assert_joined::<B>("jsonl", &[open_line, &line], &expected, Some(elements * 2)).await;
    let many = [b"\x9a\x00\x04\x93\xe0".as_slice(), &vec![0; 300_000]].concat();
    let expected = [b"\x9a\x00\x09\x27\xc0".as_slice(), &vec![0; 600_000]].concat();
    assert_joined::<B>("bureau-agent-v1", &[&many, &many], &expected, Some(600_000)).await;
}

pub async fn a_chain_of_several_formats_is_not_guessed_at<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    let lines = chain(&store, "claude-code-v1", &[b"{}\n", b"{}\n"]).await;
    let array = write("anthropic-messages-v1", "[1]").after(lines).commit(&store).await;
    let sum = write("text", "sum").kind(CommitKind::Compaction).after(array).commit(&store).await;
    let text = write("text", "more").after(sum).commit(&store).await;
    let error = store.materialize(Some(array), Stop::Compaction, None).await.err().unwrap();
    match error {
        Error::Mixed { commit, found } => {
            let found: BTreeSet<_> = found.iter().map(Format::as_str).collect();
            assert_eq!((commit, found), (array, ["claude-code-v1", "anthropic-messages-v1"].into()));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(materialized(&store, text, Stop::Compaction).await.0, b"summore");
    assert_eq!(materialized(&store, array, Stop::At(array)).await.0, b"[1]");
    assert_eq!(materialized(&store, lines, Stop::Root).await.0, b"{}\n{}\n");
}

pub async fn a_part_that_is_no_array_cannot_be_joined<B: Backend>() {
    let harness = Harness::<B>::new().await;
    let store = harness.open().await;
    for (format, good) in [("anthropic-messages-v1", b"[1]".as_slice()), ("bureau-agent-v1", b"\x81\x01")] {
        let root = chain(&store, format, &[good]).await;
        let bad = write(format, "no array").unchecked().after(root).commit(&store).await;
        let tip = write(format, good).after(bad).commit(&store).await;
        let materialization = store.materialize(Some(tip), Stop::Root, None).await;
        let error = match materialization {
            Err(error) => error,
            Ok(materialization) => materialization.write_to(&mut Vec::new()).await.unwrap_err(),
        };
        assert!(matches!(error, Error::Unjoinable { commit, .. } if commit == bad), "{error:?}");
    }
}

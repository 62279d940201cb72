//! A disk that fails under a writer.

use std::{fs, path::Path, process::Command};

use contexture_core::CommitId;
use contexture_testkit::block_on;

use crate::{
    check,
    preload::{Fault, Faults},
    writer::{Answer, Writer},
};

const FAILED_SYNC: Fault = Fault { kind: "sync-eio", path: "contexture.db-wal$" };
const FULL_DISK: Fault = Fault { kind: "write-enospc", path: "contexture.db" };
const FAILED_WRITE: Fault = Fault { kind: "write-eio", path: "contexture.db-wal$" };
const TORN_WRITE: Fault = Fault { kind: "write-torn", path: "contexture.db-wal$" };

/// Opens the store on a disk that works.
fn assert_recovers(store: &Path, acknowledged: &[CommitId]) {
    block_on(async {
        check::assert_kept(store, "main", acknowledged).await;
        check::assert_whole(store).await;
    });
}

/// Writes, lets the disk fail, and asks on: the first answer must be the failure, all later ones a refusal.
fn assert_poisons(fault: Fault, failure: &str) {
    let Some(faults) = Faults::build() else {
        return;
    };
    let mut writer = faults.start(fault, &["serve"]);
    let mut acknowledged: Vec<CommitId> = Vec::new();
    for bytes in ["1000", "300000", "5000"] {
        let answer = writer.ask(format!("checkpoint {bytes}"));
        acknowledged.push(answer.ack().unwrap_or_else(|| panic!("{answer:?}")));
    }
    faults.strike();
    assert_eq!(writer.ask("checkpoint 1000"), Answer::failed(failure));
    for command in ["checkpoint 1000", "checkpoint 300000", "expect absent", "snapshot", "checkpoint 1000"] {
        assert_eq!(writer.ask(command), Answer::failed("Poisoned"), "{command}");
    }
    assert_eq!(writer.ask("read"), Answer::Done(3), "what is there can still be read");
    assert!(writer.ends_well());
    assert_recovers(&faults.store(), &acknowledged);
}

#[test]
fn a_failed_fsync_poisons_the_handle_and_loses_nothing() {
    assert_poisons(FAILED_SYNC, "Disk");
}

#[test]
fn a_full_disk_poisons_the_handle_and_loses_nothing() {
    assert_poisons(FULL_DISK, "DiskFull");
}

#[test]
fn a_failed_write_poisons_the_handle_and_loses_nothing() {
    assert_poisons(FAILED_WRITE, "Disk");
}

#[test]
fn a_torn_write_poisons_the_handle_and_loses_nothing() {
    assert_poisons(TORN_WRITE, "Disk");
}

#[test]
fn all_who_wait_for_a_failed_fsync_are_refused() {
    let Some(faults) = Faults::build() else {
        return;
    };
    let mut writer = faults.start(FAILED_SYNC, &["loop", "400", "8", "1000"]);
    let mut answers: Vec<_> = (0..100).map_while(|_| writer.answer()).collect();
    faults.strike();
    answers.extend(writer.rest());
    assert_eq!(answers.len(), 400 * 8);
    let struck = answers.iter().position(|answer| answer.ack().is_none()).expect("the disk failed");
    // A refusal is there at once and may be reported before what others were told a moment earlier.
    let late = answers[struck..].iter().filter(|answer| answer.ack().is_some()).count();
    let refused = answers.len() - struck - late;
    let failed = answers.iter().filter(|answer| **answer == Answer::failed("Disk")).count();
    let poisoned = answers.iter().filter(|answer| **answer == Answer::failed("Poisoned")).count();
    assert_eq!(failed + poisoned, refused, "nothing but the failure is told");
    assert!(late < 8, "nothing is acknowledged after a failure: {late} of 8 who waited");
    assert!((1..=8).contains(&failed), "those who waited together fail together: {failed}");
    let acknowledged: Vec<_> = answers.iter().filter_map(Answer::ack).collect();
    assert_recovers(&faults.store(), &acknowledged);
}

#[test]
fn what_is_there_already_is_acknowledged_only_after_a_sync() {
    let Some(faults) = Faults::build() else {
        return;
    };
    let mut writer = faults.start(FAILED_SYNC, &["serve"]);
    let first = writer.ask("keyed once");
    assert!(first.ack().is_some(), "{first:?}");
    assert_eq!(writer.ask("keyed once"), first);
    faults.strike();
    // Another program may have written it and not synced it yet.
    assert_eq!(writer.ask("keyed once"), Answer::failed("Disk"));
    assert_eq!(writer.ask("keyed once"), Answer::failed("Poisoned"));
}

/// The log is folded into the database file only now and then; that this fails must not cost what the log holds.
fn assert_survives(fault: Fault) {
    let Some(faults) = Faults::build() else {
        return;
    };
    faults.strike();
    let opened = Writer::start(&faults.store(), "main", &["serve"]).ends_well();
    assert!(opened, "the store is made while the disk works");
    // Enough that the log is due to be folded in.
    let mut writer = faults.start(fault, &["loop", "60", "1", "400000"]);
    let acknowledged: Vec<_> =
        writer.rest().iter().map(|answer| answer.ack().expect("the log can be written")).collect();
    assert!(writer.ends_well());
    let log = faults.store().join("contexture.db-wal").metadata().unwrap().len();
    assert!(log > 60 * 400_000, "the log was folded into a file that fails");
    assert_recovers(&faults.store(), &acknowledged);
}

#[test]
fn a_database_file_that_cannot_be_synced_loses_nothing() {
    assert_survives(Fault { kind: "sync-eio", path: "contexture.db$" });
}

#[test]
fn a_database_file_that_cannot_grow_loses_nothing() {
    assert_survives(Fault { kind: "write-enospc", path: "contexture.db$" });
}

#[test]
fn a_database_file_that_is_torn_loses_nothing() {
    assert_survives(Fault { kind: "write-torn", path: "contexture.db$" });
}

#[test]
fn a_snapshot_that_cannot_be_stored_says_why() {
    let Some(faults) = Faults::build() else {
        return;
    };
    let mut writer = faults.start(FAILED_SYNC, &["serve"]);
    // More than waits between reading and storing, so that reading notices that storing has failed.
    for _ in 0..40 {
        assert!(writer.ask("checkpoint 400000").ack().is_some());
    }
    faults.strike();
    assert_eq!(writer.ask("snapshot"), Answer::failed("Disk"));
}

/// Fills a disk of a few megabytes that only a mount namespace sees, then copies what is on it to where there is room.
const FILL: &str = r#"
    mount -t tmpfs -o size=4m tmpfs "$1/disk" || exit 77
    "$2" "$1/disk/store" main loop 200 1 100000
    cp -R "$1/disk/store" "$1/store"
"#;

#[test]
fn a_disk_that_is_really_full_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("disk")).unwrap();
    let writer = Path::new(env!("CARGO_BIN_EXE_ctx-test-writer"));
    let mut filling = Command::new("unshare");
    filling.args(["--user", "--map-root-user", "--mount", "sh", "-c", FILL, "fill"]);
    let Ok(output) = filling.arg(directory.path()).arg(writer).output() else {
        eprintln!("skipped: there is no unshare to mount a small disk with");
        return;
    };
    let said = String::from_utf8(output.stdout).unwrap();
    if said.is_empty() {
        eprintln!("skipped: a small disk cannot be mounted: {}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let acknowledged: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("ack ")).collect();
    let refused: Vec<_> = said.lines().skip(acknowledged.len()).collect();
    assert!(refused[0].starts_with("failed DiskFull"), "{}", refused[0]);
    assert!(refused[1..].iter().all(|line| line.starts_with("failed Poisoned")), "{refused:?}");
    let acknowledged: Vec<_> = acknowledged.iter().map(|id| id.parse().unwrap()).collect();
    assert_recovers(&directory.path().join("store"), &acknowledged);
}

//! `ctx demo`.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn the_walk_shows_real_commands_and_can_be_kept() {
    let user = User::new();
    assert_snapshot!(user.run(&["--store", "directory", "demo", "--keep", "kept"]), @"
    Contexture keeps what an agent knows as commits. This walk has a store of its own.

    1. An agent hunts a flaky test. Each turn of its transcript becomes a commit.
      $ ctx checkpoint --format claude-code-v1 --head main --summary 'The client connects too early' turn-1.jsonl
        ctx-0f73dc73f66711397078670ebfaeefce
      $ ctx checkpoint --head main --summary 'The test sleeps 50 ms and hopes' turn-2.jsonl
        ctx-609b232c604bdd5653fede795d54150c
      $ ctx checkpoint --head main turn-3.jsonl
        ctx-0eb39e4e6616ddb7e05a132e255d4def

    2. What was not said then can be said later. The commit itself never changes.
      $ ctx annotate main --summary 'Sleeps longer: green, but slower' --tag needs-review
        Annotated ctx-0eb39e4e66 with 2 statements.

    3. A reviewer wants another fix and goes on from before this one. Nothing is copied.
      $ ctx fork main~1 --head review
        Head review starts at ctx-609b232c60
      $ ctx checkpoint --head review --principal grace@desk --summary 'Waits for the port: no slower' review.jsonl
        ctx-638830c002b719587036c68981c0803e

    4. A summary takes the place of the long history, and the reviewer's fix is brought back.
      $ ctx compact main --summary summary.txt --loss 'the output of the 20 runs'
        ctx-7f1671a3cb9c1ee7bfd2c3632ac7c832
      $ ctx checkpoint --head main --merge review --summary 'Takes the fix of the review' turn-4.jsonl
        ctx-a67f265368dbbff10add6ffc214acbae

    5. The graph: ○ is a turn, ◆ a compaction.
      $ ctx log --graph
        ○    ctx-a67f265368 (main)
        ├─╮  ada@laptop, 6 minutes ago, 4 messages
        │ │  Takes the fix of the review
        │ │  brings back ctx-638830c002
        │ │
        ◆ │  ctx-7f1671a3cb compaction
        │ │  ada@laptop, 12 minutes ago, 1 message
        │ │  The test's client connects before the restarted server listens (resume.rs:38).
        │ │
        │ ○  ctx-638830c002 (review)
        │ │  grace@desk, 19 minutes ago, 4 messages
        │ │  Waits for the port: no slower
        │ │
        ○ │  ctx-0eb39e4e66
        ├─╯  ada@laptop, 33 minutes ago, 4 messages
        │    Sleeps longer: green, but slower
        │
        ○  ctx-609b232c60
        │  ada@laptop, 41 minutes ago, 4 messages
        │  The test sleeps 50 ms and hopes
        │
        ○  ctx-0f73dc73f6
           ada@laptop, 48 minutes ago, 4 messages
           The client connects too early

    6. To go on from main, an agent reads what came since the compaction.
      $ ctx materialize main -o resume.jsonl
        Materialized 2 commits, 5 messages, 1.7 kB, about 440 tokens.
        | user: The test's client connects before the restarted server listens (resume.rs:38).
        | user: Take the fix of the review and drop the sleep.
        | assistant: (calls Bash)
        | user: (result) test result: ok. 61 passed; 0 failed
        | assistant: Done: the test waits for the port, the sleep is gone, and all 61 tests p…
      The turns before it are all still there:
      $ ctx materialize main --stop root -o everything.jsonl
        Materialized 5 commits, 16 messages, 5.8 kB, about 1,500 tokens.

    7. What did ada's agent know half an hour ago?
      $ ctx resolve ada@laptop --at '30 minutes ago'
        ctx-0eb39e4e6616ddb7e05a132e255d4def

    8. The chains move to another store as one file. Ids are digests, so they stay the same.
      $ ctx export --all -o chains.bundle
        Exported 6 commits, 6 artifacts (7.7 kB), 8 annotations and 2 heads to chains.bundle.
      $ ctx --store copy import-bundle chains.bundle
        Took in 6 of 6 commits and 8 annotations.
        2 heads made or moved:
          main
          review
      $ ctx --store copy resolve ada@laptop
        ctx-a67f265368dbbff10add6ffc214acbae
      $ ctx --store copy materialize main -o again.jsonl
        Materialized 2 commits, 5 messages, 1.7 kB, about 440 tokens.
      That is the id of step 4, and again.jsonl equals resume.jsonl byte for byte.

    9. Every byte and every link in the copy is checked.
      $ ctx --store copy fsck
        Checked 6 commits, 6 artifacts (7.7 kB), 2 heads, 8 annotations and 17 journal records: nothing is wrong.

    Now with a conversation of your own:
      $ ctx checkpoint --format claude-code-v1 --head main TRANSCRIPT.jsonl
      $ ctx log --graph
      $ ctx --help

    The store and the files are in kept
    ");
    assert_eq!(user.done(&["--store", "kept/store", "log", "--oneline"]).lines().count(), 6);
    assert_snapshot!(user.run(&["demo", "--keep", "kept"]), @"
    [exit 1]
    [stderr]
    error: kept is not empty
      hint: name a new directory
    ");
}

#[test]
fn the_walk_leaves_nothing_behind() {
    let user = User::new();
    let ran = user.command(&["demo"]).env("TMPDIR", user.path("")).output().unwrap();
    assert!(ran.status.success());
    assert_eq!(std::fs::read_dir(user.path("")).unwrap().count(), 0);
}

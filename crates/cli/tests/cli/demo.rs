//! `ctx demo`.

use std::collections::HashMap;

use insta::assert_snapshot;

use crate::cli::harness::User;

/// Hides where the walk was made, which its session tells, and what follows from that: ids and sizes.
pub(crate) fn steady(place: &str, shown: &str) -> String {
    let mut ids: HashMap<String, String> = HashMap::new();
    let mut steady = String::new();
    let mut rest = &*shown.replace(place, "/kept");
    while let Some(start) = rest.find(|letter: char| letter.is_ascii_alphanumeric()) {
        let is_inside = |letter: char| letter.is_ascii_alphanumeric() || "-.,".contains(letter);
        let end = rest[start..].find(|letter| !is_inside(letter)).map_or(rest.len(), |end| start + end);
        let word = rest[start..end].trim_end_matches(['.', ',', '-']);
        steady.push_str(&rest[..start]);
        let digits = ["ctx-", "env-", "art-"].iter().find_map(|kind| word.strip_prefix(kind)).unwrap_or(word);
        let is_hex = digits.chars().all(|letter| letter.is_ascii_hexdigit() || letter == '-');
        let is_count = digits.chars().all(|letter| letter.is_ascii_digit() || ".,".contains(letter));
        if is_hex && digits.len() >= 10 && !digits.starts_with("0b9d6c1a-") && !digits.starts_with("2026-") {
            let next = format!("#{}", ids.len() + 1);
            let number = ids.entry(digits[..10].to_owned()).or_insert(next);
            steady.push_str(&word[..word.len() - digits.len()]);
            steady.push_str(number);
        } else if word.starts_with("rollout-") {
            steady.push_str("FILE");
        } else if is_count && word.len() > 1 && !rest[end..].starts_with(" minute") {
            steady.push('N');
        } else {
            steady.push_str(word);
        }
        rest = &rest[start + word.len()..];
    }
    let plain = (steady + rest).replace(['█', '·'], "");
    plain
        .lines()
        .map(|line| line.split_whitespace().fold(indent(line), |text, word| text + word + " "))
        .fold(String::new(), |text, line| text + line.trim_end() + "\n")
}

/// Returns where a walk is kept, as its session tells it.
fn kept(user: &User) -> String {
    std::fs::canonicalize(user.path("kept")).unwrap().to_str().unwrap().to_owned()
}

fn indent(line: &str) -> String {
    line[..line.len() - line.trim_start().len()].to_owned()
}

#[expect(clippy::too_many_lines, reason = "it is the snapshot of all that is shown")]
#[test]
fn the_walk_shows_real_commands_and_can_be_kept() {
    let user = User::new();
    let walk = user.run(&["--store", "directory", "demo", "--keep", "kept"]);
    assert_eq!((walk.code, &*walk.stderr), (0, ""));
    assert_snapshot!(steady(&kept(&user), &walk.stdout), @"
    Contexture keeps what agents know as commits. This walk has a store, a home and a
    repository of its own.

    1. An agent hunts a flaky test. What it writes down is taken in, a commit for each turn.
      $ ctx import
        runtime files new grown commits read branches
        claude-code 1 1 0 3 N kB 0
        `ctx log --graph --all` shows what is there.
      `ctx init` has your agents do so by themselves, while they work.

    2. What did it do, and what was said?
      $ ctx sessions
          1 resume_after_restart fails about one run in five on CI. Find out why.
             0b9d6c1a 1 minute ago claude-code ended /kept 3 turns N kB
      $ ctx log last
        ctx-#1 1m Make it pass. ▸ 1 call resume.rs Raised the sleep to N ms. N of N run…
        ctx-#2 9m Where does the test wait for the server? ▸ 1 call It does not: line 6 sleep…
        ctx-#3 16m resume_after_restart fails about one run in f… ▸ 1 call 4 of N runs fail, …
      $ ctx cat last -n 4
        User (ada@laptop) 2026-11-15 N:N:00Z ctx-#2
          Where does the test wait for the server?

        Assistant 2026-11-15 N:N:00Z ctx-#2
          ▸ Read /kept/tests/resume.rs
            │ 4 server.restart();
            │ 5 // Give it a moment.
            │ 6 thread::sleep(Duration::from_millis(N));
            │ 7 Client::connect(server.address()).unwrap();

          It does not: line 6 sleeps N ms and hopes. On a loaded CI machine the restart takes up to N ms.

        User (ada@laptop) 2026-11-15 N:N:00Z ctx-#1
          Make it pass.

        Assistant 2026-11-15 N:N:00Z ctx-#1
          ▸ Edit /kept/tests/resume.rs
            │ - thread::sleep(Duration::from_millis(N));
            │ + thread::sleep(Duration::from_millis(N));
            │ The file has been updated. N of N runs pass.

          Raised the sleep to N ms. N of N runs pass, each N ms slower than before.

    3. Why is this line there? The answer is the conversation that wrote it.
      $ ctx blame tests/resume.rs:6
        tests/resume.rs:6
          6 │ thread::sleep(Duration::from_millis(N));

          git #4, Ada, 2026-11-15 N:N:00Z
                    Give the server more time
          context ctx-#1, edit found: a call there wrote this text
          agent claude-code/N, session 0b9d6c1a-8f0e-4a55-9c53-6d1f6b1d2f10
          by ada@laptop, 2026-11-15 N:N:00Z (3 minutes ago)
          asked Make it pass.
          edit ▸ Edit /kept/tests/resume.rs
                      │ - thread::sleep(Duration::from_millis(N));
                      │ + thread::sleep(Duration::from_millis(N));
          next ctx resume ctx-#1 goes on from there
                    ctx cat ctx-#1 shows the conversation up to there

    4. The conversation goes on in another agent: the same text, calls and results.
      $ ctx resume last --in codex --print
        Session #5 of Codex is at home/.codex/sessions/N/N/N/FILE
        Materialized 3 commits, N messages, N kB, about N tokens.
        Translated 3 commits of claude-code-v1 (mapped).
        cd /kept && codex resume #5

    5. A reviewer wants another fix and goes on from before this one. Nothing is copied.
      $ ctx fork last~1 --head review
        Head review starts at ctx-#2
      $ ctx checkpoint --head review --principal grace@desk --summary 'Waits for the port: no slower' review.jsonl
        ctx-#6

    6. A summary takes the place of a long history, which stays. ○ is a turn, ◆ a compaction.
      $ ctx compact review --summary summary.txt --loss 'the output of the N runs'
        ctx-#7
      $ ctx log --graph --all
        ◆ ctx-#7 compaction (review)
        │ ada@laptop, 12 minutes ago, 1 message
        │ The test's client connects before the restarted server listens (resume.rs:6). …
        │
        ○ ctx-#6
        │ grace@desk, 19 minutes ago, 4 messages
        │ Waits for the port: no slower
        │ ▸ Edit resume.rs The test now polls the port, at most 5 s. N of N runs pass, and none is sl…
        │
        │ ○ ctx-#1 (session/0b9d6c1a-8f0e-4a55-9c53-6d1f6b1d2f10)
        ├─╯ ada@laptop, 33 minutes ago, 4 messages
        │ Make it pass.
        │ ▸ Edit resume.rs Raised the sleep to N ms. N of N runs pass, each N ms slower than before.
        │
        ○ ctx-#2
        │ ada@laptop, 41 minutes ago, 4 messages
        │ Where does the test wait for the server?
        │ ▸ Read It does not: line 6 sleeps N ms and hopes. On a loaded CI machine the restart takes up to…
        │
        ○ ctx-#3
           ada@laptop, 48 minutes ago, 4 messages
           resume_after_restart fails about one run in five on CI. Find out why.
           ▸ Bash 4 of N runs fail, always with `connection refused` at tests/resume.rs:7. The client conne…

    7. A model is given what fits a budget, and an envelope says what and why.
      $ ctx assemble resume --commit last --trigger 'Go on.' --max-tokens N -o request.json
        model:anthropic [] N of N tokens by claude-estimate (N kept for the answer), 2 turns left out
        env-#8; `ctx envelope show env-#8` tells all
      $ ctx envelope show last
        env-#8 now
        recipe resume, art-#9, built in
        stream ctx-#1 resume
        counter claude-estimate version 1
        history ctx-#1

        model:anthropic
        [] N of N tokens by claude-estimate (N kept for the answer)
        6 items in N kB, blake3:#10
          system [] N stable
          history [] N append, N reserved, 7 items out, 2 turns left out
          now [] N volatile, N reserved

        In
          system N required full
          ctx-#2#2 assistant: It does not: line 6… N medium full
          ctx-#1#0 user: Make it pass. N medium full
          ctx-#1#1 assistant calls Edit N medium full
          ctx-#1#2 assistant: Raised the sleep to… N medium full
          trigger N required full

        Out
          ctx-#3#summary N budget_limit: a newer summary did not fit, and without that one there would be a hole
          ctx-#3#0 user: resume_after_restart fai… N budget_limit: older than what fits: the conversation had room for N tokens
          ctx-#3#1 assistant calls Bash N budget_limit: older than what fits: the conversation had room for N tokens
          ctx-#3#2 assistant: 4 of N runs fail, … N budget_limit: older than what fits: the conversation had room for N tokens
          ctx-#2#summary N budget_limit: has N tokens; N were left
          ctx-#2#0 user: Where does the test wait… N budget_limit: older than what fits: the conversation had room for N tokens
          ctx-#2#1 assistant calls Read N budget_limit: older than what fits: the conversation had room for N tokens

    8. The chains move to another store as one file. Ids are digests, so they stay the same.
      $ ctx export --all -o chains.bundle
        Exported 5 commits, 8 artifacts (N kB), 7 annotations, 1 envelope and 2 heads to chains.bundle.
      $ ctx --store copy import-bundle chains.bundle
        Took in 5 of 5 commits and 7 annotations.
        Took in 1 of 1 envelope.
        2 heads made or moved:
          review
          session/0b9d6c1a-8f0e-4a55-9c53-6d1f6b1d2f10
      $ ctx resolve grace@desk
        ctx-#6
      $ ctx --store copy resolve grace@desk
        ctx-#6

    9. Every byte and every link in the copy is checked.
      $ ctx --store copy fsck
        Checked 5 commits, 8 artifacts (N kB), 2 heads, 7 annotations, 1 envelope and N journal records: nothing is wrong.

    Now with your own agents:
      $ ctx init
      $ ctx sessions
      $ ctx --help

    The store and the files are in kept
    ");
    assert_eq!(user.done(&["--store", "kept/store", "log", "--oneline", "--all"]).lines().count(), 5);
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

//! `ctx blame` and `ctx why-commit`, in repositories of git itself.

use std::{fs, process::Command};

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::cli::harness::{Ran, User};

/// A user with a repository. What agents did there is checked in with the times that are said.
pub(super) struct Developer {
    pub(super) user: User,
}

impl Developer {
    pub(super) fn new() -> Self {
        let developer = Self { user: User::new() };
        fs::create_dir_all(developer.user.path("repo/src")).unwrap();
        developer.git("19:00", &["init", "--quiet", "--initial-branch", "main"]);
        developer
    }

    /// Runs git at a time, as Ada and with no settings but the repository's.
    pub(super) fn git(&self, clock: &str, arguments: &[&str]) -> String {
        self.git_in(clock, &[], arguments)
    }

    /// Does the same with variables that an agent has set.
    pub(super) fn git_in(&self, clock: &str, variables: &[(&str, &str)], arguments: &[&str]) -> String {
        let time = format!("2026-11-15T{clock}:00Z");
        let settings = ["-c", "user.name=Ada Lovelace", "-c", "user.email=ada@example.com"];
        let ended = Command::new("git")
            .args(settings)
            .args(arguments)
            .current_dir(self.user.path("repo"))
            .env("HOME", self.user.path("."))
            .envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")])
            .envs([("GIT_AUTHOR_DATE", &time), ("GIT_COMMITTER_DATE", &time)])
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        assert!(ended.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8(ended.stdout).unwrap().trim().to_owned()
    }

    /// Writes a file of the repository.
    pub(super) fn file(&self, name: &str, content: &str) {
        fs::create_dir_all(self.user.path(format!("repo/{name}")).parent().unwrap()).unwrap();
        self.user.file(format!("repo/{name}"), content);
    }

    /// Commits everything with a message.
    pub(super) fn commit(&self, clock: &str, message: &str) {
        self.git(clock, &["add", "--all"]);
        self.git(clock, &["commit", "--quiet", "--message", message]);
    }

    /// Checks in a turn of Claude Code that edits a file, and returns its commit.
    fn turn(&self, clock: &str, request: &str, call: (&str, &Value)) -> String {
        self.turn_of(("main", "s-1"), clock, request, call)
    }

    /// Checks in a turn of a session of its own.
    pub(super) fn turn_in(&self, session: &str, clock: &str, request: &str, call: (&str, &Value)) -> String {
        self.turn_of((session, session), clock, request, call)
    }

    fn turn_of(
        &self,
        (head, session): (&str, &str),
        clock: &str,
        request: &str,
        (tool, input): (&str, &Value),
    ) -> String {
        let line = |role: &str, second: u32, content: &Value| {
            let at = format!("2026-11-15T{clock}:{second:02}.000Z");
            let uuid = format!("{clock}:{second:02}");
            let message = json!({"role": role, "content": content});
            json!({"type": role, "uuid": uuid, "timestamp": at, "message": message}).to_string() + "\n"
        };
        let call = json!({"type": "tool_use", "id": format!("call-{clock}"), "name": tool, "input": input});
        let result = json!({"type": "tool_result", "tool_use_id": format!("call-{clock}"), "content": "done"});
        let turn = [
            line("user", 0, &json!(request)),
            line("assistant", 1, &json!([{"type": "text", "text": "I see what\u{1b}[31m to do."}, call])),
            line("user", 2, &json!([result])),
        ];
        self.user.file("turn.jsonl", turn.concat());
        let arguments =
            ["checkpoint", "--format", "claude-code-v1", "--head", head, "--session", session, "turn.jsonl"];
        let time = format!("2026-11-15T{clock}:10Z");
        let ran = self.user.ran(self.user.command(&arguments).env("CTX_TIME", time).output());
        assert_eq!(ran.code, 0, "{ran}");
        ran.stdout.trim().to_owned()
    }

    /// Runs the program in the repository.
    pub(super) fn run(&self, arguments: &[&str]) -> Ran {
        self.user.ran(self.command(arguments).output())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.user.command(arguments);
        command.current_dir(self.user.path("repo")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("CTX_STORE", self.store());
        command
    }

    /// Returns the store, as it is named from any directory.
    pub(super) fn store(&self) -> String {
        let place = self.user.place.url();
        if place.contains("://") { place } else { self.user.path(place).to_string_lossy().into_owned() }
    }

    pub(super) fn documents(&self, arguments: &[&str]) -> Vec<Value> {
        let ran = self.run(&[arguments, &["--json"]].concat());
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Returns a developer with two commits: one without a context, one that records it.
fn two_commits() -> Developer {
    let developer = Developer::new();
    let first = "pub fn connect() {\n    open();\n}\n";
    developer.turn("19:00", "Write a client.", ("Write", &json!({"file_path": "src/a.rs", "content": first})));
    developer.file("src/a.rs", first);
    developer.commit("19:05", "Add a client");
    let edit = json!({"file_path": "src/a.rs", "old_string": "    open();", "new_string": "    retry(open);"});
    developer.turn("19:10", "The test fails.\nMake it retry.", ("Edit", &edit));
    let note = json!({"file_path": "src/notes.md", "content": "Retries.\n"});
    let tip = developer.turn("19:12", "Note it.", ("Write", &note));
    developer.file("src/a.rs", "pub fn connect() {\n    retry(open);\n}\n");
    developer.commit("19:15", &format!("Retry\n\nContext-Id: {tip}"));
    developer
}

#[test]
fn a_line_leads_to_the_edit_before_the_context_that_its_commit_records() {
    let developer = two_commits();
    assert_snapshot!(developer.run(&["blame", "src/a.rs:2"]), @"
    src/a.rs:2
      2 │     retry(open);

      git       300652b695, Ada Lovelace, 2026-11-15 19:15:00Z
                Retry
      records   ctx-b48905df00
      context   ctx-1f0782a657, edit found in the chain that the git commit records
      agent     claude-code-v1, session s-1
      by        ada@laptop, 2026-11-15 19:10:01Z (59 minutes ago)
      asked     The test fails.
                Make it retry.
      said      I see what to do.
      edit      ▸ Edit src/a.rs
                  │ -     open();
                  │ +     retry(open);
      next      ctx resume ctx-1f0782a657 goes on from there
                ctx cat ctx-1f0782a657 shows the conversation up to there
    ");
}

#[test]
fn a_file_is_shown_in_runs() {
    let developer = two_commits();
    developer.file("src/a.rs", "pub fn connect() {\n    retry(open);\n}\n// by hand\n");
    assert_snapshot!(developer.run(&["blame", "src/a.rs"]), @"
    1  ctx-21ff2bce78  edit found   7bd401ccd2 Ada Lovelace      Write a client.
    2  ctx-1f0782a657  recorded     300652b695 Ada Lovelace      The test fails.
    3  ctx-21ff2bce78  edit found   7bd401ccd2 Ada Lovelace      Write a client.
    4  no context known             not committed
    ");
    let colours = developer.run(&["blame", "src/a.rs:1-2", "--color", "always"]).stdout;
    assert!(colours.contains("\u{1b}[32m+     retry(open);\u{1b}[0m"), "{colours}");
}

#[test]
fn lines_that_are_not_committed_and_files_outside_git_are_found_by_their_edits() {
    let developer = two_commits();
    let path = developer.user.path("repo/src/a.rs").canonicalize().unwrap();
    let edit = json!({"file_path": path, "old_string": "}", "new_string": "}\n\nfn close() {}"});
    let id = developer.turn("19:20", "Close it.", ("Edit", &edit));
    developer.file("src/a.rs", "pub fn connect() {\n    retry(open);\n}\n\nfn close() {}\n");
    let found = &developer.documents(&["blame", "src/a.rs:5"])[0];
    assert_eq!(
        json!([found["certainty"], found["context"]["id"], found["git"], found["edit"]["nearness"], found["lines"]]),
        json!(["edit-found", id, null, "same", ["fn close() {}"]])
    );
    let odd = developer.user.path("odd:7").canonicalize().unwrap_or_else(|_| developer.user.path("odd:7"));
    let id = developer.turn("19:30", "Note.", ("Write", &json!({"path": odd, "content": "a thought\n"})));
    developer.user.file("odd:7", "a thought\n");
    let arguments = ["blame", "../odd:7", "--json"];
    let found: Value = serde_json::from_str(&developer.run(&arguments).stdout).unwrap();
    assert_eq!(json!([found["certainty"], found["context"]["id"]]), json!(["edit-found", id]));
}

#[test]
fn author_and_time_alone_are_no_evidence() {
    let developer = Developer::new();
    developer.turn("19:10", "Look around.", ("Read", &json!({"file_path": "src/a.rs"})));
    developer.file("a.txt", "one\n");
    developer.commit("19:11", "By hand");
    let ran = developer.run(&["blame", "a.txt"]);
    assert_eq!(ran.code, 1, "{ran}");
    assert!(ran.stdout.contains("no context known"), "{ran}");
    assert_eq!(developer.run(&["why-commit"]).code, 1);
}

#[test]
fn a_commit_that_names_several_contexts_says_which_only_by_what_was_written() {
    let developer = Developer::new();
    let first = json!({"file_path": "src/a.rs", "content": "fn first_of_all() {}\n"});
    let second = json!({"file_path": "src/b.rs", "content": "fn second_to_none() {}\n"});
    let one = developer.turn_in("s-1", "19:10", "Write one.", ("Write", &first));
    let two = developer.turn_in("s-2", "19:12", "Write another.", ("Write", &second));
    developer.file("src/a.rs", "fn first_of_all() {}\n");
    developer.file("src/b.rs", "fn second_to_none() {}\n");
    developer.file("by-hand.txt", "written by nobody's agent\n");
    for trailer in ["Context-Id", "Context-Ambiguous"] {
        developer.commit("19:20", &format!("Both\n\n{trailer}: {one}\n{trailer}: {two}"));
        let origin = |file: &str| {
            let found = &developer.documents(&["blame", file])[0];
            let candidates = found["candidates"].as_array().map(Vec::len);
            json!([found["certainty"], found["context"]["session"], candidates])
        };
        let certainty = if trailer == "Context-Id" { "recorded" } else { "edit-found" };
        assert_eq!(origin("src/a.rs"), json!([certainty, "s-1", null]));
        assert_eq!(origin("src/b.rs"), json!([certainty, "s-2", null]));
        assert_eq!(origin("by-hand.txt"), json!([null, null, 2]));
        developer.git("19:21", &["reset", "--quiet", "--soft", "HEAD"]);
        developer.git("19:21", &["update-ref", "-d", "HEAD"]);
    }
    developer.git("19:22", &["rm", "--quiet", "--cached", "-r", "src"]);
    developer
        .git("19:22", &["commit", "--quiet", "--message", &format!("Hand\n\nContext-Id: {one}\nContext-Id: {two}")]);
    assert_snapshot!(developer.run(&["why-commit"]), @"
    git       f8981c47ca, Ada Lovelace, 2026-11-15 19:22:00Z
              Hand
    records   ctx-293498d093
              ctx-abf53624ba
    files     by-hand.txt  +1 -0

    lines     1 line
    context   ambiguous: one of these 2, and nothing says which

    context   ctx-293498d093, possible: the git commit names it
    agent     claude-code-v1, session s-1
    by        ada@laptop, 2026-11-15 19:10:10Z (59 minutes ago)
    asked     Write one.
    said      I see what to do.
    next      ctx resume ctx-293498d093 goes on from there
              ctx cat ctx-293498d093 shows the conversation up to there

    context   ctx-abf53624ba, possible: the git commit names it
    agent     claude-code-v1, session s-2
    by        ada@laptop, 2026-11-15 19:12:10Z (57 minutes ago)
    asked     Write another.
    said      I see what to do.
    next      ctx resume ctx-abf53624ba goes on from there
              ctx cat ctx-abf53624ba shows the conversation up to there
    ");
    assert_snapshot!(developer.run(&["blame", "by-hand.txt"]), @"1  ambiguous                    f8981c47ca Ada Lovelace      ctx-293498d093 or ctx-abf53624ba");
}

#[test]
fn a_commit_leads_to_its_context() {
    let developer = two_commits();
    assert_snapshot!(developer.run(&["why-commit"]), @"
    git       300652b695, Ada Lovelace, 2026-11-15 19:15:00Z
              Retry
    records   ctx-b48905df00
    files     src/a.rs  +1 -1  ctx-1f0782a657

    context   ctx-1f0782a657, edit found in the chain that the git commit records
    agent     claude-code-v1, session s-1
    by        ada@laptop, 2026-11-15 19:10:01Z (59 minutes ago)
    asked     The test fails.
              Make it retry.
    said      I see what to do.
    edit      ▸ Edit src/a.rs
                │ -     open();
                │ +     retry(open);
    next      ctx resume ctx-1f0782a657 goes on from there
              ctx cat ctx-1f0782a657 shows the conversation up to there
    ");
    let found = &developer.documents(&["why-commit", "HEAD~1"])[0];
    let context = &found["contexts"][0];
    assert_eq!(
        json!([found["files"], context["certainty"], context["lines"], context["request"]["text"]]),
        json!([[{"path": "src/a.rs", "added": 3, "removed": 0}], "edit-found", 3, "Write a client."])
    );
}

#[test]
fn a_context_that_is_not_here_is_named() {
    let developer = Developer::new();
    developer.file("a.txt", "one\n");
    developer.commit("12:00", "From elsewhere\n\nContext-Id: ctx-00000000000000000000000000000007");
    assert_snapshot!(developer.run(&["why-commit"]), @"
    [exit 1]
      git       17444ab471, Ada Lovelace, 2026-11-15 12:00:00Z
                From elsewhere
      records   ctx-00000000000000000000000000000007, which is not in this store
      files     a.txt  +1 -0
    [stderr]
    error: no context is known that made git commit 17444ab471
      hint: `ctx import` takes in what your agents have kept; then ask again
    ");
}

#[test]
fn what_cannot_be_traced_is_reported() {
    let developer = two_commits();
    developer.git("19:30", &["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    developer.file("b.txt", "b\n");
    developer.commit("12:00", "Beside");
    developer.git("12:01", &["merge", "--quiet", "--no-edit", "main"]);
    let mut refusals = Vec::new();
    for arguments in [
        &["why-commit"][..],
        &["why-commit", "nonsense"],
        &["why-commit", "--", "--help"],
        &["blame", "src/a.rs:4"],
        &["blame", "src/a.rs:0"],
        &["blame", "src/a.rs:3-2"],
        &["blame", "src"],
        &["blame", "absent.rs:2"],
    ] {
        let ran = developer.run(arguments);
        refusals.push(format!("$ ctx {}\n[exit {}]\n{}", arguments.join(" "), ran.code, ran.stderr));
    }
    let outside = developer.user.ran(developer.command(&["why-commit"]).current_dir(developer.user.path(".")).output());
    refusals.push(format!("outside\n{}", outside.stderr));
    let mut without = developer.command(&["blame", "src/a.rs"]);
    refusals.push(format!("without git\n{}", developer.user.ran(without.env("PATH", "/nowhere").output()).stderr));
    assert_snapshot!(refusals.concat(), @r#"
    $ ctx why-commit
    [exit 1]
    error: git commit 4eb883404c is a merge and records no context
      hint: ask for what it merges: `ctx why-commit 4eb883404c^2`
    $ ctx why-commit nonsense
    [exit 2]
    error: "nonsense" names no git commit
      hint: `git log --oneline` shows the commits
    $ ctx why-commit -- --help
    [exit 2]
    error: "--help" names no git commit
      hint: `git log --oneline` shows the commits
    $ ctx blame src/a.rs:4
    [exit 2]
    error: src/a.rs has 3 lines, so there is no line 4
      hint: `ctx blame src/a.rs` shows all of them
    $ ctx blame src/a.rs:0
    [exit 2]
    error: "0" names no lines: they count from 1, as in FILE:7 or FILE:7-9
    $ ctx blame src/a.rs:3-2
    [exit 2]
    error: "3-2" names no lines: they count from 1, as in FILE:7 or FILE:7-9
    $ ctx blame src
    [exit 1]
    error: cannot read src: it is a directory
    $ ctx blame absent.rs:2
    [exit 1]
    error: cannot read absent.rs
      because: No such file or directory (os error 2)
    outside
    error: this directory is in no git repository
      hint: `git init` makes one
    without git
    error: cannot ask git
      because: No such file or directory (os error 2)
      hint: install git; `git --version` says whether it is there
    "#);
}

#[expect(clippy::too_many_lines, reason = "it is the snapshot of a whole record")]
#[test]
fn a_file_is_told_as_agent_trace() {
    let developer = two_commits();
    developer.file("src/a.rs", "pub fn connect() {\n    retry(open);\n}\n// by hand\n");
    let ran = developer.run(&["blame", "src/a.rs", "--format", "agent-trace"]);
    let trace: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{ran}"));
    assert_snapshot!(serde_json::to_string_pretty(&trace).unwrap(), @r#"
    {
      "files": [
        {
          "conversations": [
            {
              "contributor": {
                "type": "ai"
              },
              "ranges": [
                {
                  "content_hash": "blake3:2b288d3d542d1824305a1fe3f401f163144650782b278760adc71e68fbc6a835",
                  "end_line": 1,
                  "start_line": 1
                },
                {
                  "content_hash": "blake3:9f7fe02a9a020411bf275190c717a7eb0234ce21fe712f910f01207008bf5a86",
                  "end_line": 3,
                  "start_line": 3
                }
              ],
              "related": [
                {
                  "type": "session",
                  "url": "ctx:session/s-1"
                }
              ],
              "url": "ctx:ctx-21ff2bce786ac670ade509c607b1225a"
            },
            {
              "contributor": {
                "type": "ai"
              },
              "ranges": [
                {
                  "content_hash": "blake3:f5f986bd9a2c07e29af3d6ad9f145a01b71b05bb640d90eb1d431e7b6b40ba20",
                  "end_line": 2,
                  "start_line": 2
                }
              ],
              "related": [
                {
                  "type": "session",
                  "url": "ctx:session/s-1"
                }
              ],
              "url": "ctx:ctx-1f0782a657c2df39d1429e55927611fd"
            }
          ],
          "path": "src/a.rs"
        }
      ],
      "id": "f2dc5c69-c7c4-8b8b-befb-5fa6a44a8b20",
      "metadata": {
        "dev.contexture": [
          {
            "certainty": "edit-found",
            "contexts": [
              "ctx-21ff2bce786ac670ade509c607b1225a"
            ],
            "end_line": 1,
            "grade": "exact",
            "path": "src/a.rs",
            "start_line": 1
          },
          {
            "certainty": "recorded",
            "contexts": [
              "ctx-1f0782a657c2df39d1429e55927611fd"
            ],
            "end_line": 2,
            "grade": "exact",
            "path": "src/a.rs",
            "start_line": 2
          },
          {
            "certainty": "edit-found",
            "contexts": [
              "ctx-21ff2bce786ac670ade509c607b1225a"
            ],
            "end_line": 3,
            "grade": "exact",
            "path": "src/a.rs",
            "start_line": 3
          }
        ]
      },
      "timestamp": "2026-11-15T20:10:00.000000Z",
      "tool": {
        "name": "contexture",
        "version": "0.1.0"
      },
      "vcs": {
        "revision": "300652b6956207400d321a040a3f7cec8f68ad16",
        "type": "git"
      },
      "version": "0.1.0"
    }
    "#);
    // The same lines have the same digest wherever they are.
    developer.file("src/a.rs", "// by hand\npub fn connect() {\n    retry(open);\n}\n");
    let moved = developer.run(&["blame", "src/a.rs", "--format", "agent-trace"]);
    let moved: Value = serde_json::from_str(&moved.stdout).unwrap();
    let digest = |trace: &Value| trace["files"][0]["conversations"][0]["ranges"][0]["content_hash"].clone();
    assert_eq!(digest(&trace), digest(&moved));
    assert_ne!(trace["id"], moved["id"]);
}

#[test]
fn a_program_around_the_library_prints_the_same() {
    let developer = two_commits();
    let file = developer.user.path("repo/src/a.rs");
    let asked = contexture_embedding::why_lines(developer.user.options(), file.as_os_str());
    let lines = contexture::block_on(asked).unwrap().unwrap();
    let ran = developer.run(&["blame", file.to_str().unwrap(), "--json"]);
    assert_eq!(lines.join("\n") + "\n", ran.stdout);
    let repository = developer.user.path("repo");
    let asked = contexture_embedding::why_commit(developer.user.options(), &repository, "HEAD");
    let origin = contexture::block_on(asked).unwrap().unwrap();
    assert_eq!(origin + "\n", developer.run(&["why-commit", "--json"]).stdout);
}

//! The cases: of every command, runs that do it and runs that are refused, each with something hostile in it or before it.
//!
//! A new command needs a case. `%E` is a hostile text, `%L` one without a line feed, `%B` a name in no encoding, `%T` the
//! file of a session, `%A` an artifact, `%G` a gap and `%U` a turn of an agent.

/// A command and its runs.
pub(super) struct Case {
    pub(super) command: &'static str,
    pub(super) runs: &'static [&'static [&'static str]],
    pub(super) printed: Printed,
}

/// What goes to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Printed {
    /// Text for people.
    Text,
    /// Bytes that are exact in a pipe, and cleaned on a terminal.
    Exact,
}

const fn text(command: &'static str, runs: &'static [&'static [&'static str]]) -> Case {
    Case { command, runs, printed: Printed::Text }
}

const fn exact(command: &'static str, runs: &'static [&'static [&'static str]]) -> Case {
    Case { command, runs, printed: Printed::Exact }
}

pub(super) const CASES: &[Case] = &[
    text("annotate", &[&["main", "--label", "k=%L"], &["main", "--tag", "%E"], &["%E", "--summary", "x"]]),
    exact("artifact get", &[&["%A"], &["art-%E"], &["%A", "-o", "absent/%E/x"]]),
    text("artifact put", &[&["%E.txt"], &["absent%E"], &["%B"]]),
    text("artifact stat", &[&["%A"], &["%A", "--json"], &["%E"]]),
    exact(
        "assemble",
        &[
            &["./recipe.toml", "--head", "main", "--trigger", "%E", "--items", "items.json", "--file", "%E.txt"],
            &["./recipe.toml", "--file", "absent%L", "--stream", "%L", "--id", "turn=%L", "-o", "out.txt"],
            &["./recipe.toml", "--head", "%E"],
            &["./bad.toml"],
            &["%E"],
            &["--packs", "packs.json"],
            &["./recipe.toml", "--target", "%E"],
        ],
    ),
    text("blame", &[&["repo/%E"], &["repo/%E:1", "--full"], &["repo/%E:99"], &["absent%E"], &["repo/%E", "--json"]]),
    text("cat", &[&["main"], &["other"], &["%E"], &["main", "--json"]]),
    text("channel archive", &[&["closed"], &["%E"]]),
    text("channel close", &[&["closed"], &["closed", "--json"], &["%E"]]),
    text(
        "channel create",
        &[&["new"], &["newer", "--user", "ada", "--agent", "evil\u{202e}"], &["new", "--agent", "%E"], &["%L"]],
    ),
    text("channel follow", &[&["room", "--after", "0", "-n", "1"], &["room", "--topic", "%E"], &["%E"]]),
    text("channel list", &[&[], &["--json"]]),
    text("channel open", &[&["closed"], &["%E"]]),
    text(
        "channel participants",
        &[&["room"], &["room", "--add", "evil", "--name", "%L", "--role", "%L"], &["room", "--add", "%E"], &["%E"]],
    ),
    text(
        "channel post",
        &[
            &["room", "--from", "ada", "--text", "%E"],
            &["room", "--from", "ada", "--text", "x", "--phase", "%L"],
            &["room", "--from", "ada", "--text", "x", "--topic", "%E"],
            &["room", "--from", "%E", "--text", "x"],
            &["room", "--from", "ada", "--data", "%E.txt"],
            &["room", "--from", "ada", "--text", "x", "--reply-to", "%L"],
        ],
    ),
    text("channel read", &[&["room"], &["room", "1"], &["room", "%E"], &["%E"], &["room", "--json"]]),
    text("channel show", &[&["room"], &["%E"]]),
    text(
        "channel turn begin",
        &[
            &["room", "--agent", "qa"],
            &["room", "--agent", "qa", "--trigger", "%E"],
            &["room", "--agent", "%E"],
            &["%E"],
        ],
    ),
    text("channel turn injected", &[&["%U", "last"], &["%U", "%E"], &["%E", "last"]]),
    text("channel turn show", &[&["%U"], &["%U", "--json"], &["%E"]]),
    text("channel turn finish", &[&["%U", "--fail", "%L", "--ack"], &["%U", "--ack"], &["%E", "--ack"]]),
    text(
        "channel rewind",
        &[
            &["room", "--agent", "dev", "--to", "0", "--reason", "%L"],
            &["room", "--agent", "%E", "--to", "0", "--reason", "x"],
        ],
    ),
    text("check", &[&["context.json"], &["records.json"], &["%E.txt"], &["records.json", "--level", "%E"]]),
    text(
        "checkpoint",
        &[
            &["%T", "--format", "claude-code-v1", "--head", "again", "--summary", "%E"],
            &["%E.txt", "--format", "claude-code-v1", "--head", "main"],
            &["%B", "--head", "main"],
            &["%T", "--format", "%E"],
            &["%T", "--session", "%L", "--head", "%L"],
            &["%T", "--key", "%E", "--parent", "%E"],
        ],
    ),
    text("children", &[&["main"], &["%E"], &["main", "--json"]]),
    text("compact", &[&["other", "--summary", "summary.txt", "--loss", "%E"], &["other", "--summary", "%B"]]),
    text("complete", &[&["--", "show", ""], &["--", "cat", "%E"], &["%E", "--", "%B"]]),
    text("completions", &[&["fish"], &["%E"]]),
    text("current", &[&[], &["--session", "%E"], &["--json"]]),
    text("demo", &[&[], &["%E"]]),
    text(
        "diff",
        &[
            &["main", "other"],
            &["main~1", "main"],
            &["main", "main~1", "--json"],
            &["%E"],
            &["--envelopes", "last", "%E"],
        ],
    ),
    text("doctor", &[&[], &["--quick"], &["--fix"], &["--json"], &["--runtime", "claude-code"]]),
    text("envelope diff", &[&["last", "last"], &["%E", "last"]]),
    exact("envelope export", &[&["last"], &["%E"], &["last", "-o", "absent/%E"]]),
    text("envelope inject", &[&["last", "--native-id", "%L"], &["last", "--target", "%E"], &["%E"]]),
    text("envelope list", &[&[], &["--stream", "%E"], &["--json"]]),
    text("envelope replay", &[&["--all"], &["%E"]]),
    exact("envelope show", &[&["last"], &["last", "--all"], &["last", "--bytes"], &["last", "--json"], &["%E"]]),
    text("envelope why", &[&["last", "file:%E.txt"], &["last", "%E"], &["%E", "x"]]),
    exact(
        "export",
        &[&["main", "-o", "-"], &["--all", "-o", "%E.ctxb"], &["%E", "-o", "-"], &["main", "-o", "absent/%E"]],
    ),
    text("fork", &[&["main", "--head", "fork\u{202e}"], &["main", "--head", "plain"], &["%E", "--head", "x"]]),
    text("formats", &[&[]]),
    text("fsck", &[&[], &["--json"]]),
    text("gc", &[&["--dry-run"], &["--grace", "%E"], &["--json"]]),
    text("git-hook post-commit", &[&[]]),
    text("git-hook prepare-commit-msg", &[&["%E.txt"]]),
    text("head delete", &[&["again"], &["evil\u{202e}\u{200b}"], &["other"], &["%E"]]),
    text("head list", &[&[], &["--json"]]),
    text("head log", &[&["main"], &["evil\u{202e}\u{200b}"], &["%E"]]),
    text("head move", &[&["evil\u{202e}\u{200b}", "main~1"], &["main", "main"], &["%E", "main"]]),
    text(
        "head set",
        &[&["evil\u{202e}\u{200b}", "main"], &["set", "main"], &["%E", "main"], &["main", "main", "--expect", "%E"]],
    ),
    text("hook", &[&["claude-code"], &["%E"]]),
    text(
        "import",
        &[
            &[],
            &["--dry-run"],
            &["--verify"],
            &["%E.jsonl"],
            &["%B"],
            &["absent%E"],
            &["."],
            &["--runtime", "%E"],
            &["--json"],
        ],
    ),
    text("import-bundle", &[&["all.ctxb"], &["%E.txt"], &["%B"]]),
    text("init", &[&["--dry-run"], &["--yes", "--project"], &["--remove", "--yes"], &["--runtime", "%E"]]),
    text("journal", &[&[], &["--json"], &["--since", "%E"]]),
    text("list", &[&[], &["--principal", "%E"], &["--session", "%L"], &["--json"]]),
    text(
        "log",
        &[
            &["--all"],
            &["--all", "--steps"],
            &["--all", "--turns", "--json"],
            &["--graph", "--all"],
            &["--oneline", "--all"],
            &["%E"],
            &["--json", "--all"],
        ],
    ),
    exact("man", &[&[], &["absent/%E"]]),
    exact(
        "materialize",
        &[&["main"], &["main", "--as", "anthropic-messages-v1"], &["main", "-o", "absent/%E"], &["%E"]],
    ),
    text("missing list", &[&[], &["--all"], &["--json"], &["--status", "%E"]]),
    text("missing resolve", &[&["%G", "--note", "%E", "--with", "%E"], &["%E"]]),
    text("purge", &[&["main", "--dry-run"], &["%E"], &["main~1", "--reason", "evil\u{202e}\u{1b}[2J", "--yes"]]),
    text("recipe check", &[&["./recipe.toml"], &["./bad.toml"], &[".ctx/recipes/%E.toml"], &["%E"], &["%B"]]),
    text("recipe list", &[&[], &["--json"]]),
    exact("recipe show", &[&["./recipe.toml"], &["resume"], &["./bad.toml"], &["%E"]]),
    text("resolve", &[&["ada@laptop"], &["%E"], &["ada@laptop", "--at", "%E"]]),
    text("resume", &[&["main", "--print", "--in", "claude-code"], &["main", "--in", "codex"], &["%E"]]),
    text(
        "run",
        &[&["--", "true"], &["--", "absent%E"], &["--from", "%E", "--", "true"], &["--in", "%E", "--", "true"]],
    ),
    text("schema", &[&[], &["failure"], &["%E"]]),
    text("search", &[&["evil"], &["evil", "--json"], &["absent%E"], &["evil", "--label", "%E"], &["\"%E"]]),
    text("secrets key", &[&["--install", "%E.txt"], &["--install", "absent%E"], &["--help"]]),
    text("secrets list", &[&[], &["--json"]]),
    text("secrets mark", &[&[]]),
    text("secrets policy", &[&[], &["--json"]]),
    text("secrets rules", &[&[], &["%E.txt"], &["absent%E"]]),
    text("secrets scan", &[&[], &["--since", "%E"]]),
    text("secrets seal", &[&["--key", "%E.txt"], &[]]),
    text("secrets where", &[&["0123456789abcdef"], &["%E"]]),
    text("sessions", &[&[], &["--all", "--json"], &["%E"], &["--here", "--sub-agents"], &["--since", "%E"]]),
    text("show", &[&["main"], &["other"], &["main", "--json"], &["%E"]]),
    text("snapshot", &[&["other"], &["other", "--session", "%L"], &["%E"]]),
    text("spaces", &[&[], &["--json"]]),
    text("stats", &[&[], &["--json"]]),
    text("store check", &[&[], &["evil%L"], &["postgres://%E"]]),
    exact("store path", &[&[], &["--store", "evil%L"]]),
    text("trust", &[&["--dry-run"], &["%E"], &["--list"], &["--revoke"]]),
    text("watch", &[&["--once"], &["--once", "--json"], &["--every", "%E"]]),
    text("why-commit", &[&[], &["%E"]]),
];

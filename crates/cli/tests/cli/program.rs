//! Commands about the program itself.

use insta::assert_snapshot;

use crate::cli::harness::User;

#[test]
fn formats_are_listed() {
    let user = User::new();
    assert_snapshot!(user.run(&["formats"]), @"
    claude-code-v1         lines       Claude Code transcript (JSONL)
    claude-stream-v1       lines       Claude Code's stream-json output (JSONL)
    codex-v1               lines       Codex rollout (JSONL)
    codex-exec-v1          lines       output of codex exec --json (JSONL)
    gemini-v1              lines       Gemini CLI session (JSONL)
    gemini-stream-v1       lines       Gemini CLI's stream-json output (JSONL)
    pi-v1                  lines       pi session (JSONL)
    pi-stream-v1           lines       pi's event stream (JSONL)
    copilot-v1             lines       GitHub Copilot CLI's log of events (JSONL)
    cursor-v1              lines       Cursor's transcript of an agent (JSONL)
    cursor-chat-v1         bytes       chat in Cursor's database, one JSON object
    droid-v1               lines       Factory Droid session (JSONL)
    dsh-v1                 lines       DeepSeek Harness session (JSONL)
    dsh-stream-v1          lines       what DeepSeek Harness prints as it works (JSONL)
    kiro-v1                lines       Kiro CLI session (JSONL)
    kiro-chat-v1           bytes       conversation of an older Kiro CLI, one JSON object
    crush-v1               bytes       Crush session, one JSON object
    aider-v1               bytes       Aider's chat history (Markdown)
    entire-condensed-v1    lines       transcript as Entire condenses it (JSONL)
    specstory-v1           bytes       session as SpecStory writes it (Markdown)
    swe-agent-v1           bytes       SWE-agent's trajectory, one JSON object
    opencode-v1            bytes       OpenCode export, one JSON object
    events-v1              lines       Contexture's own capture (JSONL)
    bureau-agent-v1        CBOR array  Bureau's agent messages, a CBOR array
    anthropic-messages-v1  JSON array  messages of Anthropic's API, a JSON array
    openai-chat-v1         JSON array  messages of OpenAI's Chat Completions, a JSON array
    openai-responses-v1    JSON array  items of OpenAI's Responses API, a JSON array
    atif-v1                bytes       Harbor's trajectory (ATIF), one JSON object
    jsonl                  lines       JSON objects, one a line; so is every name that ends in -jsonl
    text                   bytes       plain text
    ");
    assert_eq!(user.done(&["formats", "--json"]).lines().count(), user.done(&["formats"]).lines().count());
}

#[test]
fn every_shell_gets_its_completions() {
    let user = User::new();
    for (shell, sign) in [("bash", "complete -o"), ("zsh", "#compdef ctx"), ("fish", "complete --command ctx")] {
        let script = user.done(&["completions", shell]);
        assert!(script.contains(sign) && script.contains("ctx complete --"), "{shell}");
    }
    assert!(user.done(&["completions", "elvish"]).contains("materialize"));
    assert_snapshot!(user.run(&["completions", "tcsh"]), @"
    [exit 2]
    [stderr]
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    ");
}

#[test]
fn manual_pages_are_printed_or_written_for_every_command() {
    let user = User::new();
    assert!(user.done(&["man"]).contains(".TH ctx 1"));
    assert_snapshot!(user.run(&["man", "pages"]), @"
    [stderr]
    Wrote the manual pages to pages.
    ");
    for name in ["ctx.1", "ctx-checkpoint.1", "ctx-head-move.1", "ctx-store-check.1"] {
        assert!(user.read(format!("pages/{name}")).contains(".SH NAME"), "{name}");
    }
}

/// Returns what the program says of itself, up to its options and from there on.
fn help() -> (String, String) {
    let help = User::new().run(&["--help"]).to_string();
    let (commands, rest) = help.split_once("\nOptions:\n").unwrap();
    (commands.to_owned(), rest.to_owned())
}

#[test]
fn help_lists_the_commands() {
    assert_snapshot!(help().0, @"
    Version control for what LLM agents know.

    What your agents say and do becomes chains of commits, a turn each: see it, lead a line of code back
    to the conversation that wrote it, go on from any turn in any agent, and get back the exact bytes,
    on any machine.

    Usage: ctx [OPTIONS] <COMMAND>

    See what agents did:
      sessions       Lists the sessions of agents, newest first: what was asked, where, how far it came
      log            Shows history turn by turn, newest first
      diff           Shows what one chain has that another has not
      show           Shows a commit: every field, what was said about it, and what points to it
      cat            Shows a conversation to be read
      search         Finds where something was said
      list           Lists commits that pass a filter, newest first by the time they carry
      blame          Shows which context made the lines of a file
      why-commit     Shows which context made a git commit
      demo           Walks through the important commands in a throw-away store

    Resume from any point:
      resume         Goes on with a conversation in an agent
      fork           Starts a branch: a new head at a commit
      compact        Records a summary that replaces a history from here on
      snapshot       Stores the whole conversation of a commit in one new commit

    Capture what agents do:
      init           Has every turn of your agents kept from now on
      import         Takes in the sessions that agents have kept
      run            Runs an agent and captures what it says
      watch          Takes in sessions as agents write them
      doctor         Proves that all that agents have said is in the store, or says what to do
      current        Prints the commit that is the caller's understanding now

    Assemble what a model is given:
      assemble       Assembles a context under a budget, and keeps an envelope that proves it
      recipe         Lists, checks and shows recipes: declared ways to build a context
      trust          Trusts the recipes of a project, so that they count by their names
      envelope       Shows, explains and replays what was assembled
      missing        Lists and settles what assemblies could not find or fit
      check          Checks records of the Agent Context standard and says which level they reach

    Let agents work together:
      channel        Lets users and agents talk in one ordered log, and tells each agent what is new

    Store: name, move, protect and check what is kept:
      head           Lists, points, deletes heads and shows where they were
      annotate       Adds a summary, tags or labels to a commit
      export         Writes commits with all that leads to them as one self-verifying file
      import-bundle  Takes in a file that `ctx export` wrote
      secrets        Lists what was found secret, says where it was, and sets what becomes of it
      purge          Removes content for good: a turn, a head, a session, an artifact or one secret
      gc             Removes what nothing refers to
      fsck           Checks everything in the space and says what is damaged
      stats          Shows how much the space holds and what storing it costs
      store          Tells about the store itself
      spaces         Lists the spaces of the store: tenants that see nothing of each other

    Plumbing, for scripts and agents:
      checkpoint     Checks in content as a commit and prints its id
      materialize    Writes the conversation of a commit
      resolve        Prints the last commit that a principal had made at a time
      children       Lists the commits whose parent is the given one, in the order they were made
      artifact       Stores, writes and measures artifacts: immutable bytes named by their BLAKE3
      journal        Shows every change of the space in order
      hook           Takes in what has just happened in an agent's session
      formats        Lists the formats that are known by name, and how their parts are joined
      schema         Prints the JSON schemas of what commands print with --json
      completions    Prints the completion script of a shell
      man            Prints the manual page, or writes the pages of all commands to a directory
    ");
}

#[test]
fn help_is_a_short_manual() {
    assert_snapshot!(help().1, @"
          --store <URL>
              Where the store is: a directory or postgres://USER@HOST/DATABASE [env: CTX_STORE]
              [default: the user's data directory]

          --space <NAME>
              The tenant to work in [env: CTX_SPACE] [default: default]

          --json
              Prints JSON documents, one a line

          --color <WHEN>
              When to use colours
              
              [default: auto]

      -q, --quiet
              Leaves out what is not data: status lines and progress

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    First steps:
      ctx init
          has every turn of your agents kept from now on, and takes in their earlier sessions
      ctx sessions
          shows what they did, once there is something
      ctx resume
          goes on with a session that you choose
      ctx demo
          shows all of it at work in a throw-away store

    Naming things:
      A commit is named by its id, by the first digits of its id (4 at least), or by a head.
      A session is named by its number in `ctx sessions`, by the first letters of its id (4 at
      least) or by `last`, and stands for its newest commit.
      HEAD~3 is three steps before it. `-` stands for standard input or output.
      Times are written 2026-11-15T20:10:00Z, 2026-11-15, `now`, `2h ago` or `-2h`.

    Stores:
      A store is a directory of this machine, or a schema of a PostgreSQL database that many
      machines share: postgres://USER@HOST/DATABASE. `ctx store check` says whether it can be used,
      `ctx store --help` says more, and where to keep a password.

    Exit codes:
      0  done
      1  failed
      2  the command line was not understood
      3  conflict: a head or key was used by somebody else; read again and retry
      4  the store is damaged

    Environment:
      CTX_STORE      the store, as --store
      CTX_SPACE      the space, as --space
      CTX_PRINCIPAL  who runs the agent (default: user@host)
      CTX_MACHINE    where the agent runs (default: the host's name)
      CTX_TICKET     the ticket that captured sessions belong to
      CTX_THREAD     the thread that captured sessions belong to
      CTX_TEMPLATE   the role that the agent has, such as `reviewer`
      CTX_EVERY      how often sessions are captured, such as `turn`; `ctx hook --help` says more
      CTX_ACTOR      who asks for changes, as the journal records it (default: the principal)
      CTX_CONTEXT_METRICS
                     with `1`, shows the figures of each assembly on standard error; docs/assembly.md
      CTX_LOG        shows operations on standard error as they end, such as `debug`; docs/tracing.md
      PGPASSWORD     lets the user in at a PostgreSQL server when the URL holds no password;
                     PGPASSFILE, PGSERVICE, PGSERVICEFILE, PGSSLMODE and PGSSLROOTCERT are read too
      PAGER          shows `ctx log` and `ctx cat` page by page (default: less -FRX)
      NO_COLOR       set to anything, turns colours off
    ");
}

#[test]
fn help_of_every_command_teaches_with_examples() {
    let user = User::new();
    let commands = "demo import checkpoint materialize log show children list resolve assemble recipe check annotate fork compact \
                    snapshot head artifact journal export import-bundle fsck stats store spaces formats schema completions man";
    for command in commands.split_whitespace() {
        assert!(user.done(&[command, "--help"]).contains("Examples:"), "{command}");
    }
    let store = user.done(&["store", "--help"]);
    assert!(store.contains("postgres://USER@HOST[:PORT]/DATABASE") && store.contains("ctx store check"));
}

//! The words by which programs tell failures apart, in one table.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A failure that has a code.
///
/// Every error that an operation may give its caller implements it, in the library and around it; whoever tells programs
/// of failures calls it. An implementation must not give what callers handle differently the same code, and must never
/// give a failure another code than it had.
pub trait Coded {
    /// Returns the word that tells programs what failed.
    fn code(&self) -> ErrorCode;
}

macro_rules! codes {
    ($($(#[doc = $meaning:literal])+ $name:ident = $word:literal, $remedy:literal;)+) => {
        /// A word that programs may rely on to tell failures apart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum ErrorCode {
            $($(#[doc = $meaning])+ #[serde(rename = $word)] $name,)+
        }

        impl ErrorCode {
            /// Every code, in the order of their words.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// Returns the word.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),+ }
            }

            /// Returns what has happened, in whole sentences.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => concat!($($meaning),+).trim_ascii()),+ }
            }

            /// Returns what to do about it, in whole sentences.
            pub const fn remedy(self) -> &'static str {
                match self { $(Self::$name => $remedy),+ }
            }
        }
    };
}

// Programs rely on the words: a row may be added, or its sentences be written better, but no word may change or go.
codes! {
    /// The bytes of a commit are not in the store.
    AbsentArtifact = "absent-artifact", "Restore them from a bundle or a backup; `ctx fsck` says what else is damaged.";
    /// An agent that was started has ended badly.
    AgentFailed = "agent-failed", "Read what it said; the session is written, and it can be started again.";
    /// Several ids start with what was given.
    Ambiguous = "ambiguous", "Give more digits of the one that is meant.";
    /// A text is too long to be kept as an annotation.
    AnnotationTooLong = "annotation-too-long", "Shorten it, or keep it as content: `ctx artifact put FILE`.";
    /// Something that was given for an assembly cannot be used, or one that was made cannot be read.
    BadAssembly = "bad-assembly", "Mend what the message names; `ctx assemble --help` shows what it takes.";
    /// A file is not a bundle, is cut off, or is damaged. Nothing of it was taken in.
    BadBundle = "bad-bundle", "Copy it again from where it was made, or export it anew.";
    /// The user's configuration file, or a variable that counts more, is not as expected, or others may change the file.
    BadConfiguration = "bad-configuration", "Mend it; the message or `ctx store --help` shows what it may say.";
    /// What was given to go with a trigger is not JSON.
    BadData = "bad-data", "Give a file with one JSON value.";
    /// A text is no fingerprint of a secret.
    BadFingerprint = "bad-fingerprint", "Take one that `ctx secrets list` shows; `-` reads the secret itself.";
    /// A text names no lines of a file.
    BadLines = "bad-lines", "Count lines from 1, as in `FILE:7` or `FILE:7-9`.";
    /// A text cannot be a name.
    BadName = "bad-name", "Choose another; the message says which rule it breaks.";
    /// A file does not hold packs, or is too large for them.
    BadPacks = "bad-packs", "Mend what the message lists; `ctx assemble --help` shows what packs look like.";
    /// A text cannot be searched for.
    BadQuery = "bad-query", "Give a word that must be there; `ctx search --help` shows what a query may be.";
    /// A file does not hold a recipe, or is too large for one.
    BadRecipe = "bad-recipe", "Mend what the message lists; `ctx recipe --help` shows what a recipe looks like.";
    /// Some of the recipes that were checked are not good.
    BadRecipes = "bad-recipes", "Mend what was printed for each; `ctx recipe --help` shows what a recipe looks like.";
    /// A record that was to be kept is not JSON, or too long.
    BadRecord = "bad-record", "Give one JSON value within the length that the message names.";
    /// A text names neither a commit nor a head.
    BadReference = "bad-reference", "Take an id from `ctx log --all` or a name from `ctx head list`.";
    /// A file does not hold the key of a sealed space.
    BadSealKey = "bad-seal-key", "Have it printed again by `ctx secrets key` on a machine that has it.";
    /// Rules for secrets are not what they should be.
    BadSecretRules = "bad-secret-rules", "Mend the lines that the message names; docs/secrets.md shows what rules look like.";
    /// The settings of an agent are not as expected, so hooks cannot be put in or taken out.
    BadSettings = "bad-settings", "Change the file by hand, or name other agents with `--runtime`.";
    /// A text does not say where a store is.
    BadStore = "bad-store", "Name a directory, or `postgres://USER@HOST/DATABASE`.";
    /// A text is not a time, or one outside the years -9999 to 9999.
    BadTime = "bad-time", "Write it like `2026-11-15T20:10:00Z`, with an offset, or as a date.";
    /// Records do not reach the level that was demanded.
    BelowLevel = "below-level", "Mend what was printed, or demand less with `--level`.";
    /// What was given as a summary is not UTF-8.
    BinarySummary = "binary-summary", "Give it as text.";
    /// Another program has kept the store locked for too long. Nothing was written.
    Busy = "busy", "Try again.";
    /// What live capture remembers of sessions cannot be written.
    CannotKeepState = "cannot-keep-state", "`ctx doctor` says where it is; make room or give write access there.";
    /// The directory of a store cannot be made or entered.
    CannotOpen = "cannot-open", "Name a directory that may be written, with `--store DIR`.";
    /// A file or standard input cannot be read.
    CannotRead = "cannot-read", "See that it is there and may be read.";
    /// The program could not start its own threads.
    CannotStart = "cannot-start", "Free memory or raise the limit of processes, and try again.";
    /// An agent cannot be started; its session is written.
    CannotStartAgent = "cannot-start-agent", "Install the agent, or start it yourself with the command in the hint.";
    /// A program that was to be run cannot be started.
    CannotStartProgram = "cannot-start-program", "See that it is on the `PATH` and may be executed.";
    /// A file or standard output cannot be written.
    CannotWrite = "cannot-write", "Make room, or name a place that may be written.";
    /// Nothing more can be said in a channel.
    ChannelClosed = "channel-closed", "Look at it with `ctx channel show`; say it in another, or open it again.";
    /// There is a channel of this name already.
    ChannelExists = "channel-exists", "Use that one, or choose another name.";
    /// A channel does not end where the caller thought. Nothing was appended.
    ChannelMoved = "channel-moved", "Read what came since with `ctx channel read`, then retry from its last message.";
    /// The store was closed while something was under way.
    Closed = "closed", "Open it again and retry.";
    /// What is stored contradicts itself.
    Damaged = "damaged", "`ctx fsck` says what is hit; restore that part from a bundle or a backup.";
    /// The bytes of an artifact are not those that its id names.
    DamagedArtifact = "damaged-artifact", "`ctx fsck` says what is hit; restore that part from a bundle or a backup.";
    /// The search index contradicts itself or the journal.
    DamagedIndex = "damaged-index", "`ctx search --rebuild` makes it anew; if that fails, `ctx export --all -o FILE` saves the rest for a new store.";
    /// The database could not do what was asked of it.
    Database = "database", "Read what it said; `ctx store check` looks at the store.";
    /// The user has too few rights in the database.
    Denied = "denied", "Have its owner type the `GRANT` that the hint shows.";
    /// The disk failed during a write. Whether the change was kept is not known.
    Disk = "disk", "Look after the disk, then `ctx fsck` checks what it kept.";
    /// The disk is full. Nothing of the change was kept.
    DiskFull = "disk-full", "Make room and try again.";
    /// There is nothing in what was given.
    Empty = "empty", "Give content, or make a commit of nothing with `--allow-empty`.";
    /// Others can read or change a file that holds a password.
    ExposedPassword = "exposed-password", "Type the `chmod` that the hint shows, and change the password.";
    /// A file or schema holds something else than a store.
    ForeignStore = "foreign-store", "Name another directory, or another schema with `?schema=NAME`.";
    /// Git cannot be asked.
    GitFailed = "git-failed", "Install git; `git --version` says whether it is there.";
    /// Git did not do what was asked of it.
    GitRefused = "git-refused", "Read what it said.";
    /// A head is not where the caller thought. Nothing was moved.
    HeadConflict = "head-conflict", "See who moved it with `ctx head log NAME`, then retry from where it is.";
    /// Something could not be read or written on the way.
    InputOutput = "input-output", "Read what the system said, and try again.";
    /// A directory stands where a file belongs.
    IsADirectory = "is-a-directory", "Name a file in it.";
    /// Content and its description cannot share standard output.
    JsonBesideContent = "json-beside-content", "Send the content to a file with `-o FILE`.";
    /// An idempotency key was used for another request before.
    KeyConflict = "key-conflict", "Use a new key; the hint names the commit that the earlier request made.";
    /// A file is larger than what it is for may be.
    LargeInput = "large-input", "Give less; the message names the limit.";
    /// A message, or what is to be appended at once, is too large.
    LargeMessage = "large-message", "Give less at once, or keep it as content and send its id: `ctx artifact put FILE`.";
    /// A file is too large to be checked.
    LargeRecords = "large-records", "Check it in parts; the message names the limit.";
    /// A text is too large to be a summary.
    LargeSummary = "large-summary", "Shorten it; the message names the limit.";
    /// The PostgreSQL server does not let the user in.
    Login = "login",
        "Name the user as `postgres://USER@HOST/DATABASE`; `ctx store --help` says where a password can be kept.";
    /// The connection to the server broke and did not come back. The change was made whole or not at all.
    Lost = "lost", "Retry with the same `--key`: that makes it once.";
    /// The content is not what its format promises.
    Malformed = "malformed", "Mend it at the place in the message, or store it as it is with `--no-check`.";
    /// Another message of the channel has the id, and says something else. Nothing was appended.
    MessageConflict = "message-conflict", "Give the message an id of its own; `ctx channel read` shows the other one.";
    /// A chain mixes formats, and none was asked for.
    MixedFormats = "mixed-formats", "Ask for one with `--format`, which translates all of it.";
    /// A commit of this kind continues another, and none is named.
    NeedsParent = "needs-parent", "Name it with `--parent ID`.";
    /// A newer program wrote the bundle.
    NewerBundle = "newer-bundle", "Upgrade.";
    /// A newer program wrote the commit.
    NewerRecord = "newer-record", "Upgrade.";
    /// A newer program wrote the store.
    NewerStore = "newer-store", "Upgrade.";
    /// A program is no agent that could go on from a commit.
    NoAgent = "no-agent", "Name the agent that it starts with `--in`.";
    /// No agent was found on this machine.
    NoAgents = "no-agents", "Name one with `--runtime`.";
    /// A commit does not have that many ancestors.
    NoAncestor = "no-ancestor", "Go back fewer steps; the message says how many there are.";
    /// There is no such artifact in the store.
    NoArtifact = "no-artifact", "Check the id, and that `--store` names the right store.";
    /// Something was no candidate for an envelope, because no source of its recipe gave it.
    NoCandidate = "no-candidate", "See all there was with `ctx envelope show ID --all`.";
    /// There is no such channel.
    NoChannel = "no-channel", "`ctx channel list` shows those that there are.";
    /// There is no such commit in the store.
    NoCommit = "no-commit", "`ctx log --all` shows the commits.";
    /// No context is known that made something.
    NoContext = "no-context", "Take in what your agents have kept with `ctx import`, then ask again.";
    /// The PostgreSQL server has no such database.
    NoDatabase = "no-database", "Make it with `createdb`, or name another.";
    /// There is no such envelope in the store.
    NoEnvelope = "no-envelope", "`ctx envelope list` shows the envelopes.";
    /// Nothing was assembled yet.
    NoEnvelopes = "no-envelopes", "`ctx assemble --help` says how.";
    /// Nothing tells in which format content is.
    NoFormat = "no-format", "Name it with `--format`.";
    /// There is no head of this name.
    NoHead = "no-head", "`ctx head list` shows the heads.";
    /// There are no heads that could be exported.
    NoHeads = "no-heads", "Name commits instead; `ctx log --all` shows them.";
    /// There is no home directory to keep a store in.
    NoHome = "no-home", "Name a directory with `--store DIR`.";
    /// A file has fewer lines than that.
    NoLine = "no-line", "`ctx blame FILE` shows all of them.";
    /// No id starts with what was given.
    NoMatch = "no-match", "Check the digits; `ctx log --all` shows the commits.";
    /// A commit that is to be merged is not in the store.
    NoMerged = "no-merged", "`ctx log --all` shows the commits.";
    /// A channel has no such message.
    NoMessage = "no-message", "`ctx channel read` shows the messages with their places and ids.";
    /// No missing context has this id.
    NoMissing = "no-missing", "`ctx missing list` shows what is missing.";
    /// The parent of a new commit is not in the store.
    NoParent = "no-parent", "`ctx log --all` shows the commits.";
    /// Nobody of this name takes part as an agent in a channel.
    NoParticipant = "no-participant", "`ctx channel participants CHANNEL` shows who does, and registers others.";
    /// It is not known where an agent keeps its sessions.
    NoPlace = "no-place", "Set `HOME`, or the variable of the agent.";
    /// The program cannot tell where it is itself.
    NoProgram = "no-program", "Start it by its full path.";
    /// There is no recipe of this name.
    NoRecipe = "no-recipe", "Take one that the hint lists, or name a file by its path.";
    /// The directory is in no git repository.
    NoRepository = "no-repository", "Go into one, or make one with `git init`.";
    /// A text names no git commit.
    NoRevision = "no-revision", "`git log --oneline` shows the commits.";
    /// A commit comes from no agent that can go on with it.
    NoRuntime = "no-runtime", "Name one with `--in`.";
    /// The secrets of the space are sealed to a key that is not on this machine.
    NoSealKey = "no-seal-key", "Copy the key, or its writing part, from a machine that has it; `ctx secrets key --help` says how.";
    /// There is no session of this name.
    NoSession = "no-session", "`ctx sessions --all` shows the sessions there are.";
    /// There is no home directory with the settings of an agent.
    NoSettings = "no-settings", "Set `HOME`, or use `--project`.";
    /// Something was given that the recipe has no source for.
    NoSource = "no-source", "Add such a source to a segment of the recipe.";
    /// There is no store, and none can be made there.
    NoStore = "no-store", "Do what the hint says, or name another place with `--store`.";
    /// Plain text cannot be a summary in this format.
    NoSummaryEntry = "no-summary-entry", "Give the summary in that format.";
    /// An envelope was not made for this target.
    NoTarget = "no-target", "Ask for one that the message lists.";
    /// There is no such turn.
    NoTurn = "no-turn", "`ctx channel turn begin` prints the id of each.";
    /// What was named is a pipe, a socket, a device or the like, and no regular file.
    NotAFile = "not-a-file", "Name a regular file, or hand the content over on standard input.";
    /// Where to stop is not an ancestor of where to start.
    NotAnAncestor = "not-an-ancestor", "`ctx log ID` shows the ancestors.";
    /// A directory that is to be filled holds something already.
    NotEmpty = "not-empty", "Name a new directory.";
    /// What was purged is gone, but files of the store hold it still.
    NotErased = "not-erased", "Have the others leave the store, or its owner run it, then `ctx purge --finish`.";
    /// A message is kept from the agent that was to answer it.
    NotForAgent = "not-for-agent", "Begin the turn for another message, or register the agent without a thread.";
    /// A chain is not in the format that was asked for, and a translation was not allowed.
    NotNative = "not-native", "Allow one with `--tier mapped`, or leave `--tier` away.";
    /// A cursor would go where it cannot: beyond what was offered, or forward without a turn.
    NotOffered = "not-offered", "The message says what was offered; only finishing turns moves a cursor forward.";
    /// A file that is to be written has the name of somebody else's.
    NotOurs = "not-ours", "Give that file another name.";
    /// An envelope came out differently when it was made again.
    NotReplayed = "not-replayed", "`ctx fsck` says whether the store is damaged.";
    /// The store does not give back some files as they are.
    NotReproduced = "not-reproduced", "Take in what is new with `ctx import`, then compare again.";
    /// The space has no key, because nothing is sealed there.
    NotSealed = "not-sealed", "`ctx secrets seal` makes a key and has secrets sealed.";
    /// A session cannot be stored now; it is kept in the spool.
    NotStored = "not-stored", "`ctx doctor` says what is wrong.";
    /// Files that were named are no sessions, or cannot be read. What else was named was taken in.
    NotTakenIn = "not-taken-in", "Name session files; `--runtime` says what one is that is not recognised.";
    /// Something that belongs into settings is not UTF-8.
    NotText = "not-text", "Give it a name in UTF-8.";
    /// Nothing of a session is written down yet.
    NothingCaptured = "nothing-captured", "Ask again after the first answer.";
    /// Nothing matches a query.
    NothingFound = "nothing-found", "Use other words, or `*` for words that start so, and fewer filters.";
    /// Somebody had made no commit by then.
    NothingKnown = "nothing-known", "`ctx list --principal P` shows all there is.";
    /// Nothing in the channel is new to the agent.
    NothingToAnswer = "nothing-to-answer", "Wait for something with `ctx channel follow`.";
    /// A file cannot be moved aside, because there is one already.
    Occupied = "occupied", "Remove one of them, or join them by hand.";
    /// The bytes of an artifact are not those that were announced.
    OtherContent = "other-content", "Send the bytes that the id names, or the id that the bytes have.";
    /// A file of a project leads out of it by a link, and is not read.
    OutsideProject = "outside-project", "Name the file itself, if you trust what it holds.";
    /// Another program changed the same thing at the same time.
    Overtaken = "overtaken", "Try again.";
    /// Content that was being stored was taken for what a killed program left, and parts of it were removed.
    PartRemoved = "part-removed", "Do it again, and let `ctx gc` have a longer `--grace` than storing takes.";
    /// Another participant of the channel has the slug or the key.
    ParticipantConflict = "participant-conflict", "Choose another slug; `ctx channel participants CHANNEL` shows those that are taken.";
    /// The address of a store holds a password, and would be written down.
    PasswordInAddress = "password-in-address", "Keep the password where the hint says, and leave it out of the address.";
    /// An earlier failure of the disk has closed the store for writing.
    Poisoned = "poisoned", "Look after the disk, then open the store again.";
    /// How secrets are treated was changed while something was about to be stored.
    PolicyChanged = "policy-changed", "Try again; what is stored then is treated as the space says now.";
    /// A program that was run has ended badly, and has said why itself.
    ProgramFailed = "program-failed", "Read what it said; the exit code is its own.";
    /// The store can only be read.
    ReadOnly = "read-only", "`ctx store check` says why.";
    /// What was to be assembled does not fit, and the recipe rejects that.
    Rejected = "rejected", "Raise the budget with `--max-tokens`, or let the recipe cut.";
    /// A file of the store was removed or replaced while the store was open. What was under way is not in the store.
    Replaced = "replaced", "See what became of the store's directory; then run the same command again.";
    /// What is about to leave has secrets in it.
    SecretsInside = "secrets-inside", "Choose: `--masked` leaves them out, `--reveal` hands them out as they are.";
    /// A session belongs to another agent, channel or directory.
    SessionElsewhere = "session-elsewhere", "Begin without `--session`, or where the session belongs.";
    /// Several sessions may be the caller's, and nothing says which; the message names all of them.
    SeveralSessions = "several-sessions", "Name one with `ctx current --session S`.";
    /// An envelope has more artifacts than one may have.
    TooManyArtifacts = "too-many-artifacts", "Assemble less at once; the message names the limit.";
    /// The agent is in another turn. Nothing was begun.
    TurnHeld = "turn-held", "Wait for it with `--wait TIME`, or finish it if whoever began it is gone.";
    /// A turn is over, or what it was to answer is done with. Nothing was changed.
    TurnOver = "turn-over", "`ctx channel turn show trn-8d3f` shows how such a one ended; `ctx channel rewind` has messages offered again.";
    /// Settings would be changed, and nobody can be asked.
    Unconfirmed = "unconfirmed", "Confirm with `--yes`, or look first with `--dry-run`.";
    /// A copy is not equal to its original.
    Unequal = "unequal", "Do not use the copy; make it again.";
    /// The bytes of a commit cannot be joined with the rest of its chain.
    Unjoinable = "unjoinable", "See where the commit came from with `ctx show ID`.";
    /// A PostgreSQL server does not prove that it is the one that was named.
    UnprovenServer = "unproven-server", "Name an authority that vouches for it with `sslrootcert=FILE`, or ask for less with `sslmode`.";
    /// The PostgreSQL server does not answer.
    Unreachable = "unreachable", "`pg_isready` asks whether a server is there; check address and network.";
    /// A check found the store damaged.
    Unsound = "unsound", "Restore what was printed from a bundle or a backup.";
    /// A name is only that of a recipe of the project, which you do not trust, or not as it is now.
    UntrustedRecipe = "untrusted-recipe", "Look at it and trust it with `ctx trust`, or name another.";
    /// Not everything that was looked at is well.
    Unwell = "unwell", "Do what was printed for each problem.";
    /// No conversation can be written in the format that was asked for.
    Unwritable = "unwritable", "Ask for one that the message lists.";
    /// The command line was not understood.
    Usage = "usage", "Read the command's `--help`.";
    /// Content was purged, or did not come along with a bundle. It is not here, and that is known.
    Withheld = "withheld", "The message says why, when and by whom; what did not come along is taken in when it comes.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_in_the_table_once_and_in_its_place() {
        let words: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        assert!(words.is_sorted_by(|one, next| one < next), "{words:?}");
        let is_plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        assert_eq!(words.into_iter().find(|word| !is_plain(word)), None);
    }

    #[test]
    fn every_code_says_in_sentences_what_it_means_and_what_to_do() {
        for code in ErrorCode::ALL {
            for text in [code.meaning(), code.remedy()] {
                assert!(text.ends_with('.') && !text.contains(['|', '\n']), "{code}: {text:?}");
                assert!(text.starts_with(|first: char| first.is_uppercase() || first == '`'), "{code}: {text:?}");
            }
        }
    }
}

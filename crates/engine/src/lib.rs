//! Contexture: version control and assembly for what LLM agents know.
//!
//! [`Contexture`] is a handle on one space of a store; every operation of the product is one of its methods.

mod error;
mod handle;
mod raw_content;
mod reference;

mod annotate;
mod artifact;
mod assemble;
mod block_on;
mod bundle;
mod chain;
mod channel;
mod checkpoint;
mod collect;
mod compact;
mod confined;
mod difference;
mod edits;
mod entries;
mod envelope;
mod event;
mod excerpt;
mod head;
mod health;
mod history;
mod injection;
mod journal;
mod lines;
mod materialize;
mod missing;
mod native_prefix;
mod piece_reader;
mod project_scope;
mod purge;
mod renderings;
mod reveal;
mod search;
mod secrets;
mod sessions;
mod step_reader;
mod token_count;
mod translate;
mod turns;
pub mod wire;

pub use assemble::{
    Answer, Assemble, AssembledContext, ChannelContext, ContextExport, GivenItem, GivenItems, Injected, Replayed,
    ReplayedTarget, TriggerMessage, Why,
};
pub use block_on::block_on;
pub use bundle::{ExportSummary, ImportSummary, verify_bundle};
pub use channel::{Channel, Channels, Following, MessagePage, SeenBy};
pub use checkpoint::{Check, Checkpoint, CheckpointContent, Checkpointed, CreateOutcome};
pub use compact::{Compaction, Snapshot};
pub use confined::{
    ConfinedDirectory, FileKind, FileRefusal, ProjectDirectory, open_found, open_named, read_found, read_named,
};
pub use contexture_assembly as assembly;
pub use contexture_core as core;
pub use contexture_formats as formats;
pub use contexture_secrets::UserRules;
pub use contexture_store::{
    AddressDefaults, Disclosure, DurableFile, Erasure, Error as StoreError, FileAccess, JsonText, JsonTextError,
    Location, LocationError, NameTaken, Password, PasswordFile, PostgresService, PostgresUrl,
    artifact::{ArtifactStat, Encoding, StoredArtifact, WithheldCause, WithheldContent},
    channel::{
        AppendedMessage, ChannelError, ChannelFilter, ChannelSummary, ExpectLast, MessageFilter, MessageOrder,
        MessageQuery, MessageReference, NewTurn, StoredChannel,
    },
    collect::{CollectMode, CollectPhase, CollectProgress, Collected, Collection, KeptUnreferenced},
    commit::{Filter, Inserted, Moment, PageAfter, StoredCommit},
    envelope::{Filter as EnvelopeFilter, StoredEnvelope},
    event::{Event, StoredEvent},
    finding::FoundSecret,
    fsck,
    head::{Expect, Head, HeadMove},
    injection::{Injection, StoredInjection},
    inspect,
    missing::{Filter as MissingFilter, Missing, MissingChange, StoredMissing},
    private,
    search::{Filter as SearchFilter, PassageKind, Query, QueryError, SearchRequest},
    session::{SessionCommit, SessionMeasures, StoredSession},
    spaces::Space,
    stats,
    token_count::TextDigest,
};
pub use difference::{ChainDifference, ChainSide};
pub use edits::{
    CallContext, FoundEdit, LineFinding, MatchGrade, Nearness, Reasoning, Request, Thought, Trace, Traced, TracedFile,
    TracedLine, Within,
};
pub use entries::{CommitContent, ContentMeaning, Entries};
pub use envelope::{Attachment, Envelopes, KeptEnvelope, NewEnvelope, NewEvent, NewMissing};
pub use error::{AssemblyProblem, BundleProblem, Coded, Error, ErrorCode, FrameProblem, GivenItemsProblem, Result};
pub use handle::{Clock, Contexture, Options};
pub use history::{LogStart, Walk};
pub use materialize::{Materialization, Materialized, MaterializedPiece, Stop, Stretch, Tier, TranslationLoss};
pub use native_prefix::WrittenSession;
pub use piece_reader::PieceReader;
pub use project_scope::ProjectScope;
pub use purge::{HeadReach, PurgePlan, PurgeTarget, PurgedFile, Purging};
pub use raw_content::{RawArtifact, RawContent};
pub use reference::Reference;
pub use search::{FoundCommit, FoundPassage, Indexed, Indexing, Snippet};
pub use secrets::{
    Entropy, Keyring, Reveal, ScannedSecrets, ScreenedContent, SealKey, SealKeyError, SealRecipient, SecretCommit,
    SecretGuard, SecretMeans, SecretPlaces, SecretPolicy, SecretRecord, SecretTreatment, Secrets,
};
pub use sessions::ListedSession;
pub use translate::Translation;
pub use turns::{LoggedTurn, ToolUse, TurnOutcome, TurnWalk};

//! Pure types of Contexture.
//!
//! Nothing here does I/O or reads a clock, and everything fails only because of its input.

mod annotation;
pub mod canonical;
mod channel;
mod commit;
mod entry;
mod id;
mod journal;
mod name;
pub mod packed;
mod secret;
mod session_id;
mod time;
mod vocabulary;

pub use annotation::{Annotation, AnnotationError, Annotations, Coverage, LossNote, Noted, SummaryText};
pub use channel::{
    AgentCursor, AgentTurn, BegunTurn, ChannelMessage, ChannelRecord, ChannelState, CursorRewind, ForkPoint,
    InjectedTurn, MAX_MESSAGE_BYTES, Mentions, MentionsError, MessageBody, MessageDraft, MessageHeader,
    MessageReceiver, MessageRecord, MessageSequence, MessageSession, Participant, ParticipantKind,
    ParticipantVisibility, ReplayPolicy, SequenceError, SessionBinding, TurnBeginning, TurnEnding, TurnMarks,
    TurnPlace, TurnRefusal, TurnState,
};
pub use commit::{Commit, CommitKind, Count, Provenance, RECORD_VERSION, RecordError, Trigger};
pub use entry::{BlobSource, Entry, EntryPart, Flags, Role, Seal, SealScheme, ToolInput, Usage};
pub use id::{
    ArtifactId, ArtifactPrefix, ChannelId, ChannelPrefix, CommitId, CommitPrefix, EnvelopeId, EnvelopePrefix, IdError,
    InjectionId, InjectionPrefix, MissingId, MissingPrefix, TurnId, TurnPrefix,
};
pub use journal::{ChainDigest, EventKind, JournalKind, JournalRecord, Mutation};
pub use name::{
    Actor, ChannelName, ConversationPhase, CounterName, DisplayName, Format, GapSeverity, GapStatus, HeadName,
    IdempotencyKey, LabelKey, Machine, MessageId, NameError, ParticipantKey, ParticipantRole, ParticipantSlug,
    Principal, RecipeName, RuntimeName, RuntimeSessionId, SpaceName, Stream, Subject, Tag, Template, Thread, Ticket,
    Topic,
};
pub use secret::{
    ByteReplacement, Fingerprint, FingerprintError, FingerprintKey, Placeholder, PlaceholderError, RuleId, RuleIdError,
    SecretCover, SecretFinding, SecretMask,
};
pub use session_id::GivenSessionId;
pub use time::{TimeError, Timestamp};
pub use vocabulary::{UnknownWord, Word};

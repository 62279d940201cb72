//! `ctx channel`: one ordered log for many agents.

mod filter;
mod manage;
mod message_text;
mod post;
mod read;
mod turn;

use clap::{Args, Subcommand};
use contexture::{
    Contexture, StoredChannel,
    core::{ChannelName, MessageSequence, ParticipantKey, SummaryText},
};

use crate::{error::Result, invocation::Invocation, output::Output, values};

const EXAMPLES: &str = "\
Examples:
  ctx channel create release --user ada --agent planner --agent dev
      a channel with its participants
  ctx channel post release --from ada --mention planner --text 'Plan the release.'
  ctx channel follow release
      what is said, as it is said, and who has seen it
  ctx channel turn begin release --agent planner
      what is new to the planner, and the message to answer; prints the turn's id
  ctx channel turn finish trn-8d3f --ack
      all of that is done with; `--fail REASON` has it offered again

docs/channels.md tells a story of three agents.";

/// Lets users and agents talk in one ordered log, and tells each agent what is new
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Channel {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Makes a channel, with participants if they are named
    Create {
        /// What to call it
        name: ChannelName,
        /// A user who takes part; may be repeated
        #[arg(long, value_name = "WHO")]
        user: Vec<ParticipantKey>,
        /// An agent that takes part; may be repeated
        #[arg(long, value_name = "WHO")]
        agent: Vec<ParticipantKey>,
    },
    /// Lists channels, those made last first
    List {
        /// Archived ones too
        #[arg(long)]
        all: bool,
    },
    /// Shows a channel and its participants
    Show {
        /// Its name or id
        #[arg(value_name = "CHANNEL")]
        channel: String,
    },
    /// Ends what can be said in a channel; all stays readable
    Close {
        /// Its name or id
        #[arg(value_name = "CHANNEL")]
        channel: String,
    },
    /// Closes a channel and leaves it out of lists
    Archive {
        /// Its name or id
        #[arg(value_name = "CHANNEL")]
        channel: String,
    },
    /// Opens a channel again that was closed or archived
    Open {
        /// Its name or id
        #[arg(value_name = "CHANNEL")]
        channel: String,
    },
    /// Says something in a channel
    Post(Box<post::Post>),
    /// Shows messages; no cursor moves
    Read(Box<read::Read>),
    /// Shows messages as they come, until it is interrupted; no cursor moves
    Follow(Box<read::Follow>),
    /// Lists the participants of a channel, or registers one
    Participants(manage::Participants),
    /// Begins and ends the turns of agents
    Turn(turn::Turn),
    /// Sets the cursor of an agent back, so that what comes after is offered to it again
    Rewind {
        /// The channel's name or id
        #[arg(value_name = "CHANNEL")]
        channel: String,
        /// Whose cursor
        #[arg(long, value_name = "WHO")]
        agent: ParticipantKey,
        /// The last message that counts as acknowledged then, or 0 for none
        #[arg(long, value_name = "SEQUENCE")]
        to: u64,
        /// Why; the journal tells of it
        #[arg(long, value_name = "TEXT", value_parser = values::text)]
        reason: SummaryText,
    },
}

impl Channel {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        match self.action {
            Action::Create { name, user, agent } => manage::create(&engine, name, user, agent, output).await,
            Action::List { all } => manage::list(&engine, all, output).await,
            Action::Show { channel } => manage::show(&engine, &channel, output).await,
            Action::Close { channel } => manage::close(&engine, &channel, output).await,
            Action::Archive { channel } => manage::archive(&engine, &channel, output).await,
            Action::Open { channel } => manage::open(&engine, &channel, output).await,
            Action::Post(post) => post.run(&engine, output).await,
            Action::Read(read) => {
                output.page(invocation.environment.pager().as_ref());
                read.run(&engine, output).await
            }
            Action::Follow(follow) => follow.run(&engine, output).await,
            Action::Participants(participants) => participants.run(&engine, output).await,
            Action::Turn(turn) => turn.run(&engine, output).await,
            Action::Rewind { channel, agent, to, reason } => {
                turn::rewind(&engine, &channel, &agent, MessageSequence::new(to), &reason, output).await
            }
        }
    }
}

/// The participants of a channel by what people type.
struct Names {
    channel: StoredChannel,
    participants: Vec<contexture::core::Participant>,
}

impl Names {
    /// Finds a channel and its participants.
    async fn find(engine: &Contexture, channel: &str) -> Result<Self> {
        let channel = engine.channels().find(channel).await?;
        let participants = engine.channel(channel.id).participants().await?;
        Ok(Self { channel, participants })
    }

    /// Returns the key of whoever is typed: a slug or a key. One that nobody has is a key all the same.
    fn key(&self, typed: &ParticipantKey) -> ParticipantKey {
        let is_it = |one: &&contexture::core::Participant| one.key == *typed || one.slug.as_str() == typed.as_str();
        self.participants.iter().find(is_it).map_or_else(|| typed.clone(), |one| one.key.clone())
    }

    /// Tells whether a key is registered.
    fn knows(&self, key: &ParticipantKey) -> bool {
        self.participants.iter().any(|one| one.key == *key)
    }

    /// Returns the word by which a key is shown.
    fn shown<'n>(&'n self, key: &'n ParticipantKey) -> &'n str {
        let known = self.participants.iter().find(|one| one.key == *key);
        known.map_or(key.as_str(), |one| one.slug.as_str())
    }
}

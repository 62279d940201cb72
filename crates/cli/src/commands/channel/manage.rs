//! Channels themselves and who takes part in them.

use clap::Args;
use contexture::{
    ChannelFilter, Contexture,
    core::{
        ChannelName, ChannelState, DisplayName, Participant, ParticipantKey, ParticipantKind, ParticipantRole,
        ParticipantSlug, ParticipantVisibility, Thread,
    },
    wire::ChannelDocument,
};

use super::Names;
use crate::{
    error::{Error, Result},
    output::{self, Output, Shape},
};

/// Channels that are read at once.
const PER_PAGE: u32 = 500;

/// Who takes part in a channel.
#[derive(Debug, Args)]
pub(super) struct Participants {
    /// Its name or id
    #[arg(value_name = "CHANNEL")]
    channel: String,
    /// Registers somebody by this slug, or changes what is known of whoever has the key
    #[arg(long, value_name = "SLUG")]
    add: Option<ParticipantSlug>,
    /// What messages call it, such as a public key [default: the slug]
    #[arg(long, value_name = "KEY", requires = "add")]
    key: Option<ParticipantKey>,
    /// The name that is shown
    #[arg(long, value_name = "NAME", requires = "add")]
    name: Option<DisplayName>,
    /// Whether a person or a program answers
    #[arg(long, value_name = "user|agent", requires = "add", default_value = "agent")]
    kind: ParticipantKind,
    /// What it does here, such as `validator`
    #[arg(long, value_name = "ROLE", requires = "add")]
    role: Option<ParticipantRole>,
    /// Shows it, of what is said to everybody, this thread only
    #[arg(long, value_name = "THREAD", requires = "add")]
    thread: Option<Thread>,
}

impl Participants {
    pub(super) async fn run(self, engine: &Contexture, output: &mut Output) -> Result<()> {
        let Self { channel, add, key, name, kind, role, thread } = self;
        let stored = engine.channels().find(&channel).await?;
        let channel = engine.channel(stored.id);
        let Some(slug) = add else {
            return listed(&channel.participants().await?, output);
        };
        let key = match key {
            Some(key) => key,
            None => key_of(&slug)?,
        };
        let sees = thread.map_or(ParticipantVisibility::All, ParticipantVisibility::Thread);
        let participant = Participant { key, slug, name, kind, role, sees };
        let is_new = channel.register(participant.clone()).await?;
        if output.shape() == Shape::Json {
            return output.document(participant);
        }
        let (slug, kind, name) = (&participant.slug, participant.kind, &stored.record.name);
        let how = if is_new { "takes part in" } else { "took part already in" };
        output.status(format_args!("{slug} {how} {name} as {}.", article(kind)));
        Ok(())
    }
}

pub(super) async fn create(
    engine: &Contexture,
    name: ChannelName,
    users: Vec<ParticipantKey>,
    agents: Vec<ParticipantKey>,
    output: &mut Output,
) -> Result<()> {
    let mut participants = Vec::new();
    for (kind, keys) in [(ParticipantKind::User, users), (ParticipantKind::Agent, agents)] {
        for key in keys {
            let slug = ParticipantSlug::new(key.as_str())
                .map_err(|source| Error::Name { origin: "the name of a participant", source })?;
            participants.push(Participant {
                key,
                slug,
                name: None,
                kind,
                role: None,
                sees: ParticipantVisibility::All,
            });
        }
    }
    let made = engine.channels().create(name).await?;
    for participant in participants {
        engine.channel(made.id).register(participant).await?;
    }
    if output.shape() == Shape::Json {
        return output.document(ChannelDocument::new(made, None));
    }
    output.line(made.id)
}

pub(super) async fn list(engine: &Contexture, all: bool, output: &mut Output) -> Result<()> {
    let (now, mut before) = (engine.now(), None);
    loop {
        let page = engine.channels().list(ChannelFilter { with_archived: all }, before, PER_PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        before = Some(last.channel.seq);
        for summary in page {
            if output.shape() == Shape::Json {
                output.document(ChannelDocument::from(summary))?;
                continue;
            }
            let (name, id) = (&summary.channel.record.name, summary.channel.id.short());
            let messages = summary.last.map_or(0, contexture::core::MessageSequence::get);
            let state = match summary.channel.state {
                ChannelState::Open => String::new(),
                state @ (ChannelState::Closed | ChannelState::Archived) => format!(", {state}"),
            };
            let at = summary.last_at.unwrap_or(summary.channel.record.created_at);
            let (green, faint) = (output.palette.head, output.palette.faint);
            let when = output::relative(now, at);
            let messages = output::counted(messages, "message");
            output.line(format_args!("{green}{name}{green:#}  {id}  {faint}{messages}{state}, {when}{faint:#}"))?;
        }
    }
}

pub(super) async fn show(engine: &Contexture, channel: &str, output: &mut Output) -> Result<()> {
    let Names { channel, participants } = Names::find(engine, channel).await?;
    let last = engine.channel(channel.id).last_sequence().await?;
    if output.shape() == Shape::Json {
        output.document(ChannelDocument::new(channel, last))?;
        for participant in participants {
            output.document(participant)?;
        }
        return Ok(());
    }
    let record = &channel.record;
    let when = output::relative(engine.now(), record.created_at);
    output.line(format_args!("channel   {}", record.name))?;
    output.line(format_args!("id        {}", channel.id))?;
    output.line(format_args!("state     {}", channel.state))?;
    output.line(format_args!("made      {when} by {}", record.created_by))?;
    if let Some(fork) = record.fork {
        output.line(format_args!("forks     {} at message {}", fork.channel, fork.through))?;
    }
    output.line(format_args!("messages  {}", last.map_or(0, contexture::core::MessageSequence::get)))?;
    listed(&participants, output)
}

pub(super) async fn close(engine: &Contexture, channel: &str, output: &mut Output) -> Result<()> {
    set_state(engine, channel, ChannelState::Closed, output).await
}

pub(super) async fn archive(engine: &Contexture, channel: &str, output: &mut Output) -> Result<()> {
    set_state(engine, channel, ChannelState::Archived, output).await
}

pub(super) async fn open(engine: &Contexture, channel: &str, output: &mut Output) -> Result<()> {
    set_state(engine, channel, ChannelState::Open, output).await
}

async fn set_state(engine: &Contexture, channel: &str, state: ChannelState, output: &mut Output) -> Result<()> {
    let found = engine.channels().find(channel).await?;
    let channel = engine.channel(found.id);
    channel.set_state(state).await?;
    if output.shape() == Shape::Json {
        let last = channel.last_sequence().await?;
        return output.document(ChannelDocument::new(channel.get().await?, last));
    }
    output.status(format_args!("Channel {} is {state}.", found.record.name));
    Ok(())
}

fn listed(participants: &[Participant], output: &mut Output) -> Result<()> {
    for participant in participants {
        if output.shape() == Shape::Json {
            output.document(participant)?;
            continue;
        }
        let Participant { key, slug, kind, role, sees, .. } = participant;
        let role = role.as_ref().map(|role| format!(", {role}")).unwrap_or_default();
        let other_key = if key.as_str() == slug.as_str() { String::new() } else { format!(", key {key}") };
        let sees = match sees {
            ParticipantVisibility::Thread(thread) => format!(", sees thread {thread}"),
            ParticipantVisibility::All => String::new(),
        };
        output.line(format_args!("{slug}  {}{role}{other_key}{sees}", article(*kind)))?;
    }
    Ok(())
}

fn key_of(slug: &ParticipantSlug) -> Result<ParticipantKey> {
    ParticipantKey::new(slug.as_str()).map_err(|source| Error::Name { origin: "--add", source })
}

fn article(kind: ParticipantKind) -> &'static str {
    match kind {
        ParticipantKind::User => "a user",
        ParticipantKind::Agent => "an agent",
    }
}

//! Saying something in a channel.

use clap::Args;
use contexture::{
    Contexture, ExpectLast,
    core::{
        ConversationPhase, MAX_MESSAGE_BYTES, Mentions, MessageBody, MessageDraft, MessageHeader, MessageId,
        MessageReceiver, MessageSequence, MessageSession, ParticipantKey, ReplayPolicy, RuntimeName, RuntimeSessionId,
        Thread, Topic,
    },
    wire::PostedMessage,
};
use contexture_capture::Runtime;

use super::Names;
use crate::{
    error::{Error, Result},
    input::Input,
    output::{Output, Shape},
    values::StartPoint,
};

/// Where text comes from that is not typed as a flag.
const STDIN: &str = "-";

/// A message.
#[derive(Debug, Args)]
pub(super) struct Post {
    /// The channel's name or id
    #[arg(value_name = "CHANNEL")]
    channel: String,
    /// Who says it
    #[arg(long, value_name = "WHO")]
    from: ParticipantKey,
    /// What it is about, such as `PLAN_READY`
    #[arg(long, default_value = "chat")]
    topic: Topic,
    /// What is said; `-` reads standard input
    #[arg(long, value_name = "TEXT|-")]
    text: Option<String>,
    /// JSON for programs, from a file; `-` reads standard input
    #[arg(long, value_name = "FILE|-", value_parser = Input::parser())]
    data: Option<Input>,
    /// The only one it is for [default: everybody]
    #[arg(long, value_name = "WHO")]
    to: Option<ParticipantKey>,
    /// Somebody whom it names; may be repeated
    #[arg(long, value_name = "WHO")]
    mention: Vec<ParticipantKey>,
    /// The id of the message that it answers
    #[arg(long, value_name = "ID")]
    reply_to: Option<MessageId>,
    /// The thread that it belongs to
    #[arg(long)]
    thread: Option<Thread>,
    /// The phase in which it is said
    #[arg(long)]
    phase: Option<ConversationPhase>,
    /// What to call it, so that saying it again changes nothing
    #[arg(long, value_name = "ID")]
    id: Option<MessageId>,
    /// Keeps it out of what models are told: raw output
    #[arg(long)]
    raw: bool,
    /// The commit that the sender is at, or `none`
    #[arg(long, value_name = "ID|HEAD|none", default_value = "none", hide_default_value = true)]
    context: StartPoint,
    /// The Claude Code session that whoever it triggers goes on with
    #[arg(long, value_name = "SESSION")]
    claude_session: Option<RuntimeSessionId>,
    /// The message that must be the last, or 0 for none; elsewhere is a conflict (exit code 3)
    #[arg(long, value_name = "SEQUENCE")]
    expect: Option<u64>,
}

impl Post {
    pub(super) async fn run(self, engine: &Contexture, output: &mut Output) -> Result<()> {
        let names = Names::find(engine, &self.channel).await?;
        let sender = names.key(&self.from);
        let context_id = match &self.context {
            StartPoint::Nothing => None,
            StartPoint::At(reference) => Some(engine.find(reference).await?),
        };
        let runtime = || {
            RuntimeName::new(Runtime::CLAUDE_CODE.to_string())
                .map_err(|source| Error::Name { origin: "the runtime", source })
        };
        let session = match &self.claude_session {
            Some(id) => Some(MessageSession { runtime: runtime()?, id: id.clone() }),
            None => None,
        };
        let mentions = Mentions::new(self.mention.iter().map(|typed| names.key(typed)).collect())
            .map_err(contexture::Error::from)?;
        let header = MessageHeader {
            receiver: MessageReceiver::from(self.to.as_ref().map(|typed| names.key(typed))),
            mentions,
            reply_to: self.reply_to.clone(),
            thread: self.thread.clone(),
            phase: self.phase.clone(),
            replay: if self.raw { ReplayPolicy::Raw } else { ReplayPolicy::Replayable },
            session,
            context_id,
            ..MessageHeader::new(sender.clone(), self.topic.clone())
        };
        let draft = MessageDraft { id: self.id.clone(), at: None, header, body: self.body()? };
        let expect = match self.expect {
            None => ExpectLast::Anything,
            Some(number) => MessageSequence::new(number).map_or(ExpectLast::Nothing, ExpectLast::At),
        };
        let appended = engine.channel(names.channel.id).append(vec![draft], expect).await?;
        for posted in appended.into_iter().map(PostedMessage::from) {
            if output.shape() == Shape::Json {
                output.document(posted)?;
                continue;
            }
            let (sequence, id, name) = (posted.record.sequence, &posted.record.id, &names.channel.record.name);
            let is = if posted.created { "is" } else { "was already" };
            output.status(format_args!("Message {sequence} of {name} {is} {id}"));
        }
        if !names.knows(&sender) {
            let name = &names.channel.record.name;
            output.status(format_args!(
                "{sender} is no participant of {name}, so others see somebody unknown; `ctx channel participants {name} --add {sender}` registers an agent."
            ));
        }
        Ok(())
    }

    fn body(&self) -> Result<MessageBody> {
        let read = |input: &Input| -> Result<Vec<u8>> {
            let most = MAX_MESSAGE_BYTES as u64;
            input.read_up_to(most)?.ok_or_else(|| Error::LargeInput { input: input.clone(), max_mebibytes: most >> 20 })
        };
        let text = match self.text.as_deref() {
            Some(STDIN) => Some(String::from_utf8_lossy(&read(&Input::Stdin)?).into_owned()),
            text => text.map(str::to_owned),
        };
        let data = match &self.data {
            None => None,
            Some(input) => {
                let json = serde_json::from_slice(&read(input)?);
                Some(json.map_err(|source| Error::TriggerData { input: input.clone(), source })?)
            }
        };
        Ok(MessageBody { text, data, ..MessageBody::default() })
    }
}

//! Appending messages: what is said becomes content, and messages get their places, in one transaction.

use contexture_core::{
    ChannelId, MAX_MESSAGE_BYTES, MessageBody, MessageDraft, MessageHeader, MessageSession, RuntimeName,
    RuntimeSessionId,
};
use contexture_formats::Concatenation;
use contexture_store::{
    Error as StoreError, Tx,
    artifact::{self, Hot, MAX_HOT_BYTES, PreparedContent},
    channel::{self, AppendedMessage, ChannelError, ExpectLast, NewMessage},
};
use futures_util::FutureExt as _;
use serde_json::Value;
use tracing::{Instrument as _, debug_span};

use super::Channel;
use crate::{Error, Result, ScreenedContent, SecretGuard, SecretRecord};

/// Most messages that are appended at once.
const MAX_BATCH: usize = 1000;
/// Most bytes of content that are appended at once.
const MAX_BATCH_BYTES: usize = 32 * 1024 * 1024;
/// The tag by which messages of others name a session, and the runtime whose session it is.
const SESSION_TAG: (&str, &str) = ("claude-session", "claude-code");
/// Where messages that came from elsewhere keep their tags.
const TAGS: &str = "tags";

/// Messages that are ready for their transaction.
struct Prepared {
    channel: ChannelId,
    messages: Vec<NewMessage>,
    contents: Vec<(PreparedContent, SecretRecord)>,
    expect: ExpectLast,
}

impl Channel<'_> {
    /// Appends messages in their order, all or none, durable when this returns.
    ///
    /// A message whose id is in the channel already is not appended again, and the first one is returned; when it says
    /// something else, nothing is appended.
    pub async fn append(&self, drafts: Vec<MessageDraft>, expect: ExpectLast) -> Result<Vec<AppendedMessage>> {
        let span = debug_span!("append_messages", channel = %self.id, messages = drafts.len());
        let appending = async {
            let engine = self.engine;
            let guard = engine.guard().await?;
            let prepared = self.prepare(drafts, expect, &guard)?;
            let writing = engine
                .store
                .write(engine.scope(), (prepared, guard), |tx, (prepared, guard)| write(tx, prepared, guard).boxed());
            engine.heeding_policy(writing).await
        };
        let appended = appending.instrument(span).await?;
        self.engine.channel_news().tell();
        Ok(appended)
    }

    fn prepare(&self, drafts: Vec<MessageDraft>, expect: ExpectLast, guard: &SecretGuard) -> Result<Prepared> {
        let (count, mut bytes) = (drafts.len(), 0);
        let mut prepared = Prepared {
            channel: self.id,
            messages: Vec::with_capacity(count),
            contents: Vec::with_capacity(count),
            expect,
        };
        for MessageDraft { id, at, mut header, body } in drafts {
            let encoded = body.encode();
            bytes += encoded.len();
            if encoded.len() > MAX_MESSAGE_BYTES {
                return Err(refused(ChannelError::LargeMessage { bytes: encoded.len() }));
            }
            if count > MAX_BATCH || bytes > MAX_BATCH_BYTES {
                let (most_messages, most_bytes) = (MAX_BATCH, MAX_BATCH_BYTES);
                return Err(refused(ChannelError::LargeBatch { messages: count, bytes, most_messages, most_bytes }));
            }
            header.session = header.session.or_else(|| tagged_session(&body));
            let ScreenedContent { bytes: screened, record } = guard.screen(encoded, Concatenation::Bytes);
            // Most are small, and long strings are looked for only in what is not.
            let content = if screened.len() > MAX_HOT_BYTES {
                PreparedContent::of(screened)
            } else {
                PreparedContent::Row(Hot::encode(screened))
            };
            let header: MessageHeader = header;
            prepared.messages.push(NewMessage { id, at, header, content: *content.id() });
            prepared.contents.push((content, record));
        }
        Ok(prepared)
    }
}

async fn write(tx: &mut Tx<'_>, prepared: &Prepared, guard: &SecretGuard) -> Result<Vec<AppendedMessage>> {
    guard.settle(tx).await?;
    for (content, record) in &prepared.contents {
        artifact::put_content(tx, content).await?;
        guard.keep(tx, content.id(), record).await?;
    }
    Ok(channel::append(tx, &prepared.channel, &prepared.messages, prepared.expect).await?)
}

fn refused(error: ChannelError) -> Error {
    Error::Store(StoreError::Channel(error))
}

/// Returns the session that a message names in a tag, as messages of others do.
fn tagged_session(body: &MessageBody) -> Option<MessageSession> {
    let (tag, runtime) = SESSION_TAG;
    let in_tags = || {
        let tags = body.metadata.get(TAGS)?.as_array()?;
        tags.iter().find(|tags| tags.get(0).and_then(Value::as_str) == Some(tag))?.get(1)
    };
    let id = body.metadata.get(tag).or_else(in_tags)?.as_str()?;
    let runtime = RuntimeName::new(runtime).expect("it is written as a name");
    // What cannot be a session is left in the metadata and bound to nothing.
    Some(MessageSession { runtime, id: RuntimeSessionId::new(id).ok()? })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_session_is_found_in_the_metadata_and_among_tags() {
        let named = |metadata: Value| {
            let body = MessageBody { metadata: metadata.as_object().unwrap().clone(), ..MessageBody::default() };
            tagged_session(&body).map(|session| session.id.as_str().to_owned())
        };
        assert_eq!(named(json!({"claude-session": "s1"})).as_deref(), Some("s1"));
        assert_eq!(named(json!({"tags": [["p", "x"], ["claude-session", "s2"]]})).as_deref(), Some("s2"));
        for nothing in [
            json!({}),
            json!({"claude-session": 7}),
            json!({"tags": [["claude-session"]]}),
            json!({"claude-session": "a\nb"}),
        ] {
            assert_eq!(named(nothing), None);
        }
    }
}

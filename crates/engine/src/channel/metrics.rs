//! Figures of assemblies in the channel that they were made for.

use contexture_assembly::metrics::{ContextMetrics, METRICS_TOPIC};
use contexture_core::{MessageBody, MessageDraft, MessageHeader, MessageReceiver, ParticipantKey, ReplayPolicy, Topic};
use contexture_store::channel::{AppendedMessage, ExpectLast};

use super::Channel;
use crate::Result;

/// Whom figures are for.
const RECEIVER: &str = "system";

impl Channel<'_> {
    /// Publishes the figures of a context that was made for an agent, for whoever watches. No prompt ever holds them.
    pub async fn publish_metrics(&self, agent: ParticipantKey, metrics: &ContextMetrics) -> Result<AppendedMessage> {
        let topic = Topic::new(METRICS_TOPIC).expect("it is written as a topic");
        let receiver = ParticipantKey::new(RECEIVER).expect("it is written as a key");
        let header = MessageHeader {
            receiver: MessageReceiver::Participant(receiver),
            replay: ReplayPolicy::Raw,
            ..MessageHeader::new(agent, topic)
        };
        let data = serde_json::to_value(metrics).expect("figures have text keys");
        let body = MessageBody { data: Some(data), ..MessageBody::default() };
        let mut appended =
            self.append(vec![MessageDraft { id: None, at: None, header, body }], ExpectLast::Anything).await?;
        Ok(appended.remove(0))
    }
}

//! Messages as people read them: what others wrote is indented, so no text can pass for another speaker.

use contexture::{
    SeenBy,
    core::{ChannelMessage, MessageReceiver, ParticipantKey, Timestamp},
};

use super::Names;
use crate::{
    error::Result,
    output::{self, Output},
};

/// Writes a message.
pub(super) fn write(
    names: &Names,
    message: &ChannelMessage,
    seen: &SeenBy,
    now: Timestamp,
    output: &mut Output,
) -> Result<()> {
    let ChannelMessage { record, body } = message;
    let header = &record.header;
    let (bold, faint) = (output.palette.head, output.palette.faint);
    let sender = names.shown(&header.sender);
    let unknown = if names.knows(&header.sender) { "" } else { " (unknown)" };
    let to = match &header.receiver {
        MessageReceiver::Broadcast => String::new(),
        MessageReceiver::Participant(key) => format!(" -> {}", names.shown(key)),
    };
    let mentions: Vec<String> =
        header.mentions.as_slice().iter().map(|key| format!(" @{}", names.shown(key))).collect();
    let mentions = mentions.concat();
    let seen = [("offered to", &seen.offered_to), ("done with by", &seen.acknowledged_by)];
    let seen = seen.into_iter().filter(|(_, keys)| !keys.is_empty());
    let seen: Vec<String> = seen.map(|(word, keys)| format!("; {word} {}", listed(names, keys))).collect();
    let about = format!("{}, {}{}", header.topic, output::relative(now, record.at), seen.concat());
    let sequence = record.sequence;
    output
        .line(format_args!("{sequence:>5}  {bold}{sender}{bold:#}{unknown}{to}{mentions}  {faint}{about}{faint:#}"))?;
    let Some(body) = body else {
        return output.line("       [purged]");
    };
    for line in body.text.iter().flat_map(|text| text.lines()) {
        output.line(format_args!("       {line}"))?;
    }
    if let Some(data) = &body.data {
        output.line(format_args!("       {faint}data: {data}{faint:#}"))?;
    }
    Ok(())
}

fn listed(names: &Names, keys: &[ParticipantKey]) -> String {
    keys.iter().map(|key| names.shown(key)).collect::<Vec<_>>().join(", ")
}

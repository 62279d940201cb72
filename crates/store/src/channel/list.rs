//! Lists of channels, for which no message is read.

use contexture_core::{ChannelState, MessageSequence, Timestamp};

use super::{StoredChannel, sequence};
use crate::{
    Result,
    space::time,
    sql::{Param, Row, Tx},
    table::TableRow as _,
};

/// Which channels to list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelFilter {
    /// Whether those are listed too that are archived.
    pub with_archived: bool,
}

/// A channel as lists show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelSummary {
    /// The channel.
    pub channel: StoredChannel,
    /// Its last message.
    pub last: Option<MessageSequence>,
    /// When that was sent, if it was said in this channel.
    pub last_at: Option<Timestamp>,
}

/// Returns up to `limit` channels, those made last first, those made before a record of the journal.
pub async fn list(
    tx: &mut Tx<'_>,
    filter: ChannelFilter,
    before: Option<u64>,
    limit: u32,
) -> Result<Vec<ChannelSummary>> {
    let columns = StoredChannel::columns_of("c");
    let last = |column| {
        format!("(SELECT m.{column} FROM messages m WHERE m.channel = c.key ORDER BY m.sequence DESC LIMIT 1)")
    };
    let (place, at) = (last("sequence"), last("at"));
    let sql = format!(
        "SELECT {columns}, {place}, {at} FROM channels c \
         WHERE c.space = ?1 AND c.seq < ?2 AND c.state <> ?3 ORDER BY c.seq DESC LIMIT ?4"
    );
    let before = before.map_or(i64::MAX, |before| i64::try_from(before).unwrap_or(i64::MAX));
    let left_out = if filter.with_archived { "" } else { ChannelState::Archived.as_str() };
    let params: [Param<'_>; 4] = [tx.space.into(), before.into(), left_out.into(), i64::from(limit).into()];
    tx.rows(&sql, &params).await?.iter_mut().map(summary).collect()
}

fn summary(row: &mut Row) -> Result<ChannelSummary> {
    let channel = StoredChannel::of(row)?;
    let place = StoredChannel::COLUMNS.len();
    let own = row.optional_integer(place)?.map(sequence).transpose()?;
    let last = own.or(channel.record.fork.map(|fork| fork.through));
    Ok(ChannelSummary { channel, last, last_at: row.optional_integer(place + 1)?.map(time).transpose()? })
}

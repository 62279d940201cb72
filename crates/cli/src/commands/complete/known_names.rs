//! Names that a store knows.

use contexture::{
    ChannelFilter, ChannelSummary, Contexture, Filter, Reference, StoreError,
    core::{MessageSequence, Timestamp},
    inspect::{Inspection, Presence},
};

use super::{Candidate, typed_line::NameKind};
use crate::{commit_text, error::Result, invocation::Invocation, output};

/// Most names that are offered at once.
const MAX_OFFERED: usize = 200;
/// Most heads that are read to find the newest.
const MAX_HEADS: u32 = 5000;
/// The newest commits, which are offered before anything of an id is typed.
const NEWEST: u32 = 30;
/// What the heads of sessions begin with.
const SESSION: &str = "session/";
/// Names the newest session of a project.
const LAST: &str = "last";

/// Returns the names that begin so. A store that is not there is not made, and an old one not brought up to date.
pub(super) async fn find(invocation: &Invocation, kind: NameKind, start: &str) -> Result<Vec<Candidate>> {
    let condition = match Contexture::inspect(&invocation.location()?, &invocation.environment.clock()?).await? {
        Inspection::Sqlite(condition) => condition,
        Inspection::Postgres(database) => database.place,
    };
    let is_ready = matches!(condition.store, Presence::Present(it) if it.version == it.known_version);
    if !is_ready {
        return Ok(Vec::new());
    }
    let (engine, now) = (invocation.open_alone().await?, invocation.now()?);
    match kind {
        NameKind::Channel => channels(&engine, start, now).await,
        NameKind::Head => heads(&engine, start, "", now).await,
        NameKind::Session => heads(&engine, &format!("{SESSION}{start}"), SESSION, now).await,
        NameKind::Commit if start.starts_with("ctx") => commits(&engine, start, now).await,
        NameKind::Commit => {
            let mut found = heads(&engine, start, "", now).await?;
            if found.is_empty() && !start.is_empty() {
                // The beginning of a session's id, or the digits of a commit's, without what goes before them.
                found = heads(&engine, &format!("{SESSION}{start}"), SESSION, now).await?;
                found.extend(commits(&engine, start, now).await?);
            }
            // A head of this name is offered as a head.
            if LAST.starts_with(start) && found.iter().all(|head| head.value != LAST) {
                found.splice(0..0, last(&engine, now).await);
            }
            Ok(found)
        }
    }
}

/// Returns the name of the last session of the project; nothing where there is none.
async fn last(engine: &Contexture, now: Timestamp) -> Option<Candidate> {
    let session = engine.last_session().await.ok()?;
    let when = output::relative(now, session.tip.at);
    let request = engine.measure_session(&session).await.ok()?.request;
    let request = request.map(|text| format!(": {}", output::first_line(text.as_str()))).unwrap_or_default();
    Some(Candidate { value: LAST.to_owned(), about: format!("the last session here, {when}{request}") })
}

/// Returns channels by name, and by id once somebody types one, those made last first.
async fn channels(engine: &Contexture, start: &str, now: Timestamp) -> Result<Vec<Candidate>> {
    let newest = engine.channels().list(ChannelFilter::default(), None, MAX_HEADS).await?;
    let candidate = |summary: ChannelSummary| {
        let ChannelSummary { channel, last, last_at } = summary;
        let (name, id) = (channel.record.name.as_str().to_owned(), channel.id.to_string());
        let value = if start.starts_with("chn-") { id } else { name };
        let messages = output::counted(MessageSequence::number(last), "message");
        let when = output::relative(now, last_at.unwrap_or(channel.record.created_at));
        Candidate { value, about: format!("{messages}, {when}") }
    };
    let found = newest.into_iter().map(candidate).filter(|one| one.value.starts_with(start));
    Ok(found.take(MAX_OFFERED).collect())
}

/// Returns heads, the one that moved last first, without what all their names begin with.
async fn heads(engine: &Contexture, start: &str, shared: &str, now: Timestamp) -> Result<Vec<Candidate>> {
    let mut heads = engine.heads(start, None, MAX_HEADS).await?;
    heads.sort_by_key(|head| std::cmp::Reverse(head.moved_at));
    let candidate = |head: &contexture::Head| Candidate {
        value: head.name.as_str().trim_start_matches(shared).to_owned(),
        about: format!("{}, {}", head.commit.short(), output::relative(now, head.moved_at)),
    };
    Ok(heads.iter().take(MAX_OFFERED).map(candidate).collect())
}

/// Returns commits whose ids begin so, the newest first.
async fn commits(engine: &Contexture, start: &str, now: Timestamp) -> Result<Vec<Candidate>> {
    let newest = engine.list(&Filter::default(), None, NEWEST).await?;
    let is_meant = |id: &str| id.starts_with(start) || id.trim_start_matches("ctx-").starts_with(start);
    let mut found: Vec<Candidate> = Vec::new();
    for stored in newest {
        let id = stored.id.to_string();
        if is_meant(&id) {
            let when = output::relative(now, stored.commit.created_at);
            let about = commit_text::summary(&stored).map_or(when.clone(), |summary| format!("{when}: {summary}"));
            found.push(Candidate { value: written(&id, start), about });
        }
    }
    // What is older is found by the digits that were typed, once they are enough.
    let others = match start.parse::<Reference>().map(|reference| (engine, reference)) {
        Ok((engine, reference)) => match engine.find(&reference).await {
            Ok(id) => vec![id.to_string()],
            Err(contexture::Error::Store(StoreError::Ambiguous { candidates, .. })) => candidates,
            Err(_) => Vec::new(),
        },
        Err(_) => Vec::new(),
    };
    let others = others.iter().filter(|id| is_meant(id)).map(|id| written(id, start));
    for value in others {
        if found.iter().all(|known| known.value != value) {
            found.push(Candidate { value, about: String::new() });
        }
    }
    Ok(found)
}

/// Writes an id as it was begun, with or without what all ids begin with.
fn written(id: &str, start: &str) -> String {
    if id.starts_with(start) { id.to_owned() } else { id.trim_start_matches("ctx-").to_owned() }
}

//! Sessions: runs of agents, as the commits that carry their ids tell of them.
//!
//! There is no table of them. A list asks the index of commits by session for every id there is, and looks at the first and
//! the newest commit of each; nothing goes over the commits between.

use contexture_core::{
    Annotation, CommitId, Format, GivenSessionId, HeadName, Machine, Principal, RuntimeSessionId, SummaryText,
    Template, Timestamp,
};

use crate::{
    Error, Result, annotation,
    commit::{self, CommitPlace, LineSegment, commit_id, place},
    space::{stored, time},
    sql::{Row, Tx},
};

/// The most commits of a session that are counted for a list.
pub const MAX_COUNTED_COMMITS: u64 = 10_000;

/// Label of the first commit of a session that another one started.
const PARENT_SESSION: &str = "parent-session";
/// Label of the first commit of a session that continues one that is not in the store.
const FORKED_FROM: &str = "forked-from";
/// Label of the last commit of a session that was ended.
const SESSION_END: &str = "session-end";
/// Label of a commit that was made in another directory than the one before.
const DIRECTORY: &str = "cwd";

/// A session, as far as a list needs to know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSession {
    /// Its id.
    pub id: RuntimeSessionId,
    /// The head that stands for it, if there is one. It may have moved on, with a session that went on from this one.
    pub head: Option<HeadName>,
    /// Its newest commit.
    pub tip: SessionCommit,
    /// Its first commit on the way to the newest.
    pub first: SessionCommit,
    /// How the newest commit is written.
    pub format: Format,
    /// The kind of agent.
    pub template: Option<Template>,
    /// Who ran it.
    pub principal: Option<Principal>,
    /// Where it ran.
    pub machine: Option<Machine>,
    /// The directory that it was begun in.
    pub directory: Option<String>,
    /// The session that started it, when it is that of a sub-agent.
    pub parent: Option<GivenSessionId>,
}

/// One end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCommit {
    /// The commit.
    pub id: CommitId,
    /// Where it lies.
    pub place: CommitPlace,
    /// When it was made.
    pub at: Timestamp,
    /// How many commits come before it.
    pub depth: u64,
}

/// What a session came to, in its own commits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionMeasures {
    /// What was asked first.
    pub request: Option<SummaryText>,
    /// Commits that begin with a request.
    pub turns: u64,
    /// Commits.
    pub commits: u64,
    /// Messages, as far as the commits count them.
    pub messages: u64,
    /// Tokens, as far as the commits count them.
    pub tokens: Option<u64>,
    /// Bytes of content.
    pub bytes: u64,
    /// Whether more commits were there than are counted; the oldest are not counted then.
    pub is_cut: bool,
    /// The commit that it went on from, and that commit's session.
    pub origin: Option<(CommitId, Option<RuntimeSessionId>)>,
    /// The session that it went on from, where that is not here.
    pub absent_origin: Option<GivenSessionId>,
    /// How it ended, in its runtime's words.
    pub ending: Option<SummaryText>,
    /// The branch that it worked on last.
    pub branch: Option<SummaryText>,
    /// The model that answered last.
    pub model: Option<SummaryText>,
}

/// Returns up to `limit` sessions, the one with the newest commit first.
pub async fn list(tx: &mut Tx<'_>, limit: u32) -> Result<Vec<StoredSession>> {
    let space = tx.space;
    // Each step of the recursion is one look into the index of commits by session.
    let sql = "WITH RECURSIVE names (session) AS (\
               SELECT min(c.session) FROM commits c WHERE c.space = ?1 AND c.session IS NOT NULL \
               UNION ALL SELECT (SELECT min(c.session) FROM commits c WHERE c.space = ?1 AND c.session > n.session) \
               FROM names n WHERE n.session IS NOT NULL) \
               SELECT n.session, h.name, t.id, t.line, t.position, t.created_at, t.depth, t.format, t.template, \
               t.principal, t.machine, f.id, f.line, f.position, f.created_at, f.depth, \
               (SELECT a.annotation FROM annotations a WHERE a.line = f.line AND a.position = f.position \
               AND a.annotation LIKE '{\"kind\":\"label\",\"key\":\"cwd\",%' ORDER BY a.seq DESC LIMIT 1), \
               (SELECT a.annotation FROM annotations a WHERE a.line = f.line AND a.position = f.position \
               AND a.annotation LIKE '{\"kind\":\"label\",\"key\":\"parent-session\",%' ORDER BY a.seq DESC LIMIT 1) \
               FROM names n \
               LEFT JOIN heads h ON h.space = ?1 AND h.name = 'session/' || n.session AND h.commit_id IS NOT NULL \
               LEFT JOIN commits o ON o.space = ?1 AND o.id = h.commit_id AND o.session = n.session \
               JOIN commits t ON t.space = ?1 AND t.id = coalesce(o.id, (SELECT c.id FROM commits c \
               WHERE c.space = ?1 AND c.session = n.session ORDER BY c.created_at DESC, c.seq DESC LIMIT 1)) \
               JOIN commits f ON f.space = ?1 AND f.id = (SELECT c.id FROM commits c \
               WHERE c.space = ?1 AND c.session = n.session ORDER BY c.created_at, c.seq LIMIT 1) \
               ORDER BY t.created_at DESC, t.seq DESC LIMIT ?2";
    let rows = tx.rows(sql, &[space.into(), i64::from(limit).into()]).await?;
    let mut sessions = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut session = decode(row)?;
        settle(tx, &mut session).await?;
        sessions.push(session);
    }
    Ok(sessions)
}

/// Returns the sessions whose ids begin with a text, at most `limit`.
pub async fn beginning_with(tx: &mut Tx<'_>, beginning: &str, limit: u32) -> Result<Vec<RuntimeSessionId>> {
    let space = tx.space;
    let sql = "WITH RECURSIVE names (session, number) AS (\
               SELECT min(c.session), 1 FROM commits c WHERE c.space = ?1 AND c.session >= ?2 \
               UNION ALL SELECT (SELECT min(c.session) FROM commits c WHERE c.space = ?1 AND c.session > n.session), \
               n.number + 1 FROM names n WHERE n.number < ?3 AND substr(n.session, 1, length(?2)) = ?2) \
               SELECT n.session FROM names n WHERE substr(n.session, 1, length(?2)) = ?2";
    let rows = tx.rows(sql, &[space.into(), beginning.into(), i64::from(limit).into()]).await?;
    rows.iter().map(|row| stored::<RuntimeSessionId>(row.text(0)?)).collect()
}

/// Returns the newest commit of a session: that of its head, else the one that was made last.
pub async fn newest(tx: &mut Tx<'_>, session: &RuntimeSessionId) -> Result<Option<(CommitId, Option<HeadName>)>> {
    let space = tx.space;
    let sql = "SELECT h.name, coalesce(h.commit_id, (SELECT c.id FROM commits c WHERE c.space = ?1 AND c.session = ?2 \
               ORDER BY c.created_at DESC, c.seq DESC LIMIT 1)) \
               FROM spaces s LEFT JOIN heads h ON h.space = ?1 AND h.name = ?3 AND h.commit_id IS NOT NULL \
               WHERE s.key = ?1";
    let head = format!("session/{session}");
    let row = tx.one(sql, &[space.into(), session.as_str().into(), head.as_str().into()]).await?;
    let head = row.optional_text(0)?.map(stored::<HeadName>).transpose()?;
    Ok(row.optional_blob(1)?.map(commit_id).transpose()?.map(|commit| (commit, head)))
}

/// Returns the directory that was worked in at a commit: what it or the nearest commit before it is labelled with.
pub async fn directory_at(tx: &mut Tx<'_>, commit: &CommitId) -> Result<Option<String>> {
    Ok(label_before(tx, commit, DIRECTORY).await?.map(|directory| directory.as_str().to_owned()))
}

/// Returns what a commit, or the nearest one before it, is labelled with under a key.
pub async fn label_before(tx: &mut Tx<'_>, commit: &CommitId, key: &str) -> Result<Option<SummaryText>> {
    let place = commit::require(tx, commit).await?;
    for stretch in commit::segments(tx, place).await? {
        if let Some(value) = label_in(tx, stretch, key).await? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Measures a session. What is read of it is bounded.
pub async fn measure(tx: &mut Tx<'_>, session: &StoredSession) -> Result<SessionMeasures> {
    let mut measures = SessionMeasures::default();
    let mut left = MAX_COUNTED_COMMITS.cast_signed();
    let mut tokens = None;
    for own in own_stretches(tx, session).await? {
        if left <= 0 {
            measures.is_cut = true;
            break;
        }
        let first = own.first.max(own.last - left + 1);
        measures.is_cut |= first > own.first;
        left -= own.last - first + 1;
        let stretch = LineSegment { first, ..own };
        let totals = commit::totals(tx, stretch).await?;
        measures.commits += totals.commits;
        measures.messages += totals.messages;
        measures.bytes += totals.bytes;
        if let Some(counted) = tokens_in(tx, stretch).await? {
            *tokens.get_or_insert(0) += counted;
        }
        let (turns, _) = requests(tx, stretch).await?;
        measures.turns += turns;
        for (key, value) in annotation::labels(tx, stretch).await? {
            let place = match key.as_str() {
                "branch" => &mut measures.branch,
                "model" => &mut measures.model,
                _ => continue,
            };
            place.get_or_insert(value);
        }
    }
    measures.tokens = tokens;
    let last = LineSegment {
        line: session.tip.place.line,
        first: session.tip.place.position,
        last: session.tip.place.position,
    };
    measures.ending = label_in(tx, last, SESSION_END).await?;
    measures.request = first_request(tx, session).await?;
    measures.absent_origin = label_at(tx, session.first.place, FORKED_FROM).await?.as_ref().map(given);
    let first = commit::at(tx, session.first.place).await?;
    if let Some(parent) = first.commit.parent {
        let parent = commit::show(tx, &parent).await?;
        measures.origin = Some((parent.id, parent.commit.provenance.session));
    }
    Ok(measures)
}

/// Returns what was asked first in a session.
pub async fn first_request(tx: &mut Tx<'_>, session: &StoredSession) -> Result<Option<SummaryText>> {
    let mut found = None;
    for stretch in own_stretches(tx, session).await? {
        let (_, first) = requests(tx, stretch).await?;
        found = first.or(found);
    }
    Ok(found)
}

/// Returns the stretches of a session's own commits on the way to its newest, newest first.
async fn own_stretches(tx: &mut Tx<'_>, session: &StoredSession) -> Result<Vec<LineSegment>> {
    let (first, tip) = (session.first.place, session.tip.place);
    if first.line == tip.line {
        return Ok(vec![LineSegment { line: tip.line, first: first.position, last: tip.position }]);
    }
    Ok(commit::ancestry(tx, tip, first).await?.unwrap_or_default())
}

/// Finds the first commit of a session on the way to its newest, and what is said of it.
///
/// The first that carries its id can lie beside that way: sub-agents carry the id of the session that they work for, and who
/// goes back in a conversation leaves a branch behind.
async fn settle(tx: &mut Tx<'_>, session: &mut StoredSession) -> Result<()> {
    let is_on_line = session.first.place.line == session.tip.place.line
        && session.first.place.position <= session.tip.place.position;
    if !is_on_line {
        session.first = first_on_way(tx, session).await?;
        session.parent = label_at(tx, session.first.place, PARENT_SESSION).await?.as_ref().map(given);
        session.directory = None;
    }
    if session.directory.is_none() {
        session.directory = directory_at(tx, &session.first.id).await?;
    }
    Ok(())
}

async fn first_on_way(tx: &mut Tx<'_>, session: &StoredSession) -> Result<SessionCommit> {
    let mut first = session.tip;
    for stretch in commit::segments(tx, session.tip.place).await? {
        let sql = "SELECT id, line, position, created_at, depth FROM commits \
                   WHERE line = ?1 AND position <= ?2 AND session = ?3 ORDER BY position LIMIT 1";
        let params = [stretch.line.into(), stretch.last.into(), session.id.as_str().into()];
        let Some(row) = tx.row(sql, &params).await? else { break };
        first = end(&row, 0)?;
        // Before its first commit on a line, there is none of it on the lines that this one forks off.
        if first.place.position > 0 {
            break;
        }
    }
    Ok(first)
}

/// Returns how many commits of a stretch begin with a request, and the first of them.
async fn requests(tx: &mut Tx<'_>, stretch: LineSegment) -> Result<(u64, Option<SummaryText>)> {
    let sql = "SELECT count(DISTINCT a.position), \
               (SELECT b.annotation FROM annotations b WHERE b.line = ?1 AND b.position BETWEEN ?2 AND ?3 \
               AND b.annotation LIKE '{\"kind\":\"summary\",%' AND b.annotation <> '{\"kind\":\"summary\",\"text\":\"\"}' \
               ORDER BY b.position, b.seq LIMIT 1) \
               FROM annotations a WHERE a.line = ?1 AND a.position BETWEEN ?2 AND ?3 \
               AND a.annotation LIKE '{\"kind\":\"summary\",%'";
    let row = tx.one(sql, &[stretch.line.into(), stretch.first.into(), stretch.last.into()]).await?;
    let first = row.optional_text(1)?.map(annotation).transpose()?.and_then(|said| match said {
        Annotation::Summary { text } => Some(text),
        Annotation::Label { .. } | Annotation::Tag { .. } | Annotation::Untag { .. } | Annotation::Coverage { .. } => {
            None
        }
    });
    Ok((row.integer(0)?.cast_unsigned(), first))
}

/// Adds up the tokens of a stretch, where every commit counts them.
async fn tokens_in(tx: &mut Tx<'_>, stretch: LineSegment) -> Result<Option<u64>> {
    let sql = "SELECT CAST(sum(token_count) AS BIGINT) FROM commits WHERE line = ?1 AND position BETWEEN ?2 AND ?3";
    let row = tx.one(sql, &[stretch.line.into(), stretch.first.into(), stretch.last.into()]).await?;
    Ok(row.optional_integer(0)?.map(i64::cast_unsigned))
}

/// Returns a label of one commit.
async fn label_at(tx: &mut Tx<'_>, at: CommitPlace, key: &str) -> Result<Option<SummaryText>> {
    label_in(tx, LineSegment { line: at.line, first: at.position, last: at.position }, key).await
}

/// Returns the newest label of a stretch under a key.
async fn label_in(tx: &mut Tx<'_>, stretch: LineSegment, key: &str) -> Result<Option<SummaryText>> {
    let sql = "SELECT annotation FROM annotations WHERE line = ?1 AND position BETWEEN ?2 AND ?3 \
               AND annotation LIKE ?4 ORDER BY position DESC, seq DESC LIMIT 1";
    let pattern = format!("{{\"kind\":\"label\",\"key\":\"{key}\",%");
    let params = [stretch.line.into(), stretch.first.into(), stretch.last.into(), pattern.as_str().into()];
    let Some(row) = tx.row(sql, &params).await? else { return Ok(None) };
    label(row.text(0)?)
}

fn label(text: &str) -> Result<Option<SummaryText>> {
    Ok(match annotation(text)? {
        Annotation::Label { value, .. } => Some(value),
        Annotation::Summary { .. }
        | Annotation::Tag { .. }
        | Annotation::Untag { .. }
        | Annotation::Coverage { .. } => None,
    })
}

fn annotation(text: &str) -> Result<Annotation> {
    serde_json::from_str(text).map_err(|error| Error::damaged(format!("an annotation cannot be read: {error}")))
}

fn given(text: &SummaryText) -> GivenSessionId {
    GivenSessionId::new(text.as_str())
}

fn decode(row: &Row) -> Result<StoredSession> {
    Ok(StoredSession {
        id: stored::<RuntimeSessionId>(row.text(0)?)?,
        head: row.optional_text(1)?.map(stored::<HeadName>).transpose()?,
        tip: end(row, 2)?,
        format: stored::<Format>(row.text(7)?)?,
        template: row.optional_text(8)?.map(stored::<Template>).transpose()?,
        principal: row.optional_text(9)?.map(stored::<Principal>).transpose()?,
        machine: row.optional_text(10)?.map(stored::<Machine>).transpose()?,
        first: end(row, 11)?,
        directory: row.optional_text(16)?.map(label).transpose()?.flatten().map(|text| text.as_str().to_owned()),
        parent: row.optional_text(17)?.map(label).transpose()?.flatten().as_ref().map(given),
    })
}

fn end(row: &Row, column: usize) -> Result<SessionCommit> {
    let place = place(row, column + 1)?.ok_or_else(|| Error::damaged("a commit of a session lies nowhere"))?;
    Ok(SessionCommit {
        id: commit_id(row.blob(column)?)?,
        place,
        at: time(row.integer(column + 3)?)?,
        depth: row.integer(column + 4)?.cast_unsigned(),
    })
}

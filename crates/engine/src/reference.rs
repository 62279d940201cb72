//! How people name a commit, with `~N` for N steps back:
//!
//! - by a head, which goes before everything else that a text could be;
//! - by a session, which stands for its newest commit: `last`, a number of the list of sessions, or the beginning of its id;
//! - by an abbreviated id.
//!
//! A text that several of them fit is refused, and the answer says which.

use std::{fmt, str::FromStr};

use contexture_core::{ArtifactId, ArtifactPrefix, CommitId, CommitPrefix, HeadName, RuntimeSessionId};
use contexture_store::{Error as StoreError, Tx, artifact, commit, head, session};
use futures_util::FutureExt as _;

use crate::{Contexture, Error, ProjectScope, Result, sessions};

/// Ids that an ambiguous abbreviation is answered with.
pub(crate) const MAX_CANDIDATES: u32 = 8;

/// Fewest letters that are taken for the beginning of a session's id.
const MIN_SESSION_LETTERS: usize = 4;
/// Most digits of a number in the list of sessions: four can be the beginning of an id.
const MAX_NUMBER_DIGITS: usize = 3;
/// What stands before the ids of sessions in their heads.
const SESSION_HEADS: &str = "session/";
/// The word for the last session.
const LAST: &str = "last";

/// A commit as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    text: String,
    head: Option<HeadName>,
    prefix: Option<CommitPrefix>,
    session: Option<NamedSession>,
    back: u64,
}

/// A session as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NamedSession {
    /// By its number in the list, from 1, which is the last one.
    Number(u32),
    /// By the beginning of its id.
    Beginning(String),
}

impl NamedSession {
    fn of(name: &str) -> Option<Self> {
        if name == LAST {
            return Some(Self::Number(1));
        }
        if name.len() <= MAX_NUMBER_DIGITS && name.bytes().all(|byte| byte.is_ascii_digit()) {
            return name.parse().ok().filter(|number| *number > 0).map(Self::Number);
        }
        let beginning = name.strip_prefix(SESSION_HEADS).unwrap_or(name);
        (beginning.chars().count() >= MIN_SESSION_LETTERS).then(|| Self::Beginning(beginning.to_owned()))
    }
}

impl Reference {
    /// Names a session by its whole id.
    pub fn of_session(id: &RuntimeSessionId) -> Self {
        let session = Some(NamedSession::Beginning(id.as_str().to_owned()));
        Self { text: format!("{SESSION_HEADS}{id}"), head: None, prefix: None, session, back: 0 }
    }

    /// Returns the head when it is one by its form and nothing is added to it.
    ///
    /// A text such as `beef` can be both a head and an abbreviated id; the head goes first.
    pub fn as_head(&self) -> Option<&HeadName> {
        self.head.as_ref().filter(|_| self.back == 0)
    }
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = || Error::Reference { text: text.to_owned() };
        let (name, back) = match text.split_once('~') {
            None => (text, 0),
            Some((name, "")) => (name, 1),
            Some((name, steps)) => (name, steps.parse().map_err(|_| unknown())?),
        };
        let (head, prefix) = (HeadName::new(name).ok(), name.parse().ok());
        if head.is_none() && prefix.is_none() {
            return Err(unknown());
        }
        Ok(Self { text: text.to_owned(), head, prefix, session: NamedSession::of(name), back })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<CommitId> for Reference {
    fn from(id: CommitId) -> Self {
        Self { text: id.to_string(), head: None, prefix: Some(id.into()), session: None, back: 0 }
    }
}

impl Contexture {
    /// Returns the commit that a reference names.
    pub async fn find(&self, reference: &Reference) -> Result<CommitId> {
        Ok(self.locate(reference).await?.0)
    }

    /// Does the same, and returns the head too if the reference is the name of one, or of a session that has one.
    pub async fn find_with_head(&self, reference: &Reference) -> Result<(CommitId, Option<HeadName>)> {
        let (commit, head) = self.locate(reference).await?;
        Ok((commit, head.filter(|_| reference.back == 0)))
    }

    async fn locate(&self, reference: &Reference) -> Result<(CommitId, Option<HeadName>)> {
        let asked = (reference.clone(), self.project_scope());
        self.store
            .glance(self.scope(), asked, |tx, (reference, project)| find(tx, reference, project.as_deref()).boxed())
            .await
    }

    /// Returns the artifact that an abbreviated id names.
    pub async fn find_artifact(&self, prefix: &ArtifactPrefix) -> Result<ArtifactId> {
        let finding = self.store.glance(self.scope(), (prefix.first(), prefix.last()), |tx, (first, last)| {
            artifact::ids_between(tx, first, last, MAX_CANDIDATES).boxed()
        });
        Ok(only("artifact", prefix, &finding.await?)?)
    }
}

/// Returns the commit that is named, and the head that it was named by.
async fn find(
    tx: &mut Tx<'_>,
    reference: &Reference,
    project: Option<&ProjectScope>,
) -> Result<(CommitId, Option<HeadName>)> {
    let named = match &reference.head {
        Some(name) => head::find(tx, name).await?.map(|commit| (commit, Some(name.clone()))),
        None => None,
    };
    let (id, head) = match (named, &reference.session) {
        (Some(named), _) => named,
        (None, Some(NamedSession::Number(number))) => {
            let session = sessions::numbered(tx, project, *number).await?;
            newest(tx, &session).await?
        }
        (None, Some(NamedSession::Beginning(beginning))) => by_beginning(tx, reference, beginning).await?,
        (None, None) => by_beginning(tx, reference, "").await?,
    };
    let id = if reference.back == 0 { id } else { ancestor(tx, id, reference.back).await? };
    Ok((id, head))
}

/// Returns the only commit or session whose id begins so.
async fn by_beginning(tx: &mut Tx<'_>, reference: &Reference, beginning: &str) -> Result<(CommitId, Option<HeadName>)> {
    let commits = match &reference.prefix {
        Some(prefix) => commit::ids_between(tx, &prefix.first(), &prefix.last(), MAX_CANDIDATES).await?,
        None => Vec::new(),
    };
    let sessions = match beginning {
        "" => Vec::new(),
        beginning => session::beginning_with(tx, beginning, MAX_CANDIDATES).await?,
    };
    // A whole id is no beginning of another.
    let whole = sessions.iter().find(|session| session.as_str() == beginning);
    match (commits.as_slice(), sessions.as_slice(), whole) {
        (_, _, Some(session)) | ([], [session], None) => newest(tx, session).await,
        ([], [], None) => Err(match (&reference.prefix, &reference.head) {
            (Some(prefix), _) => StoreError::NoMatch { noun: "commit", prefix: prefix.to_string() }.into(),
            (None, Some(name)) => StoreError::NoHead(name.clone()).into(),
            (None, None) => Error::Reference { text: reference.text.clone() },
        }),
        (commits, [], None) => match &reference.prefix {
            Some(prefix) => Ok((only("commit", prefix, commits)?, None)),
            None => Err(Error::Reference { text: reference.text.clone() }),
        },
        (commits, sessions, None) => {
            let sessions = sessions.iter().map(|session| format!("{SESSION_HEADS}{session}"));
            let candidates = commits.iter().map(ToString::to_string).chain(sessions).collect();
            Err(StoreError::Ambiguous { prefix: reference.text.clone(), candidates }.into())
        }
    }
}

/// Returns where a session is now, and its head.
async fn newest(tx: &mut Tx<'_>, session: &RuntimeSessionId) -> Result<(CommitId, Option<HeadName>)> {
    let unknown = || StoreError::NoMatch { noun: "session", prefix: session.to_string() };
    Ok(session::newest(tx, session).await?.ok_or_else(unknown)?)
}

/// Returns the commit that lies so many steps back.
async fn ancestor(tx: &mut Tx<'_>, id: CommitId, back: u64) -> Result<CommitId> {
    let tip = commit::show(tx, &id).await?;
    let mut left = i64::try_from(back).unwrap_or(i64::MAX);
    for segment in commit::segments(tx, tip.place).await? {
        if left <= segment.last {
            let place = commit::CommitPlace { line: segment.line, position: segment.last - left };
            return Ok(commit::at(tx, place).await?.id);
        }
        left -= segment.last + 1;
    }
    Err(Error::NoAncestor { commit: id, depth: tip.depth, back })
}

/// Returns the only id that an abbreviation fits.
pub(crate) fn only<I: Copy + fmt::Display>(
    noun: &'static str,
    prefix: &impl fmt::Display,
    ids: &[I],
) -> std::result::Result<I, StoreError> {
    match ids {
        [] => Err(StoreError::NoMatch { noun, prefix: prefix.to_string() }),
        [id] => Ok(*id),
        several => Err(StoreError::Ambiguous {
            prefix: prefix.to_string(),
            candidates: several.iter().map(ToString::to_string).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_a_head_an_id_or_both_with_steps_back() {
        let parse = |text: &str| text.parse::<Reference>().unwrap();
        assert_eq!(parse("main").as_head(), Some(&HeadName::new("main").unwrap()));
        assert_eq!((parse("main~3").back, parse("main~").back), (3, 1));
        assert_eq!(parse("main~3").as_head(), None);
        assert!(parse("beef").prefix.is_some() && parse("beef").head.is_some());
        assert!(parse("ctx-beef").prefix.is_some() && parse("ctx-beef").head.is_none());
        assert_eq!(parse("last~2").session, Some(NamedSession::Number(1)));
        assert_eq!((parse("12").session, parse("0").session), (Some(NamedSession::Number(12)), None));
        assert_eq!(parse("1234").session, Some(NamedSession::Beginning("1234".to_owned())));
        assert_eq!(parse("session/0c3f").session, Some(NamedSession::Beginning("0c3f".to_owned())));
        assert_eq!(parse("abc").session, None);
        for text in ["", "ctx-xyz", "~1", "main~x", "a b", "-n"] {
            assert!(matches!(text.parse::<Reference>(), Err(Error::Reference { .. })), "{text}");
        }
    }
}

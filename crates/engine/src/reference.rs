//! How people name a commit: by an abbreviated id or by a head, with `~N` for N steps back.

use std::{fmt, str::FromStr};

use contexture_core::{ArtifactId, ArtifactPrefix, CommitId, CommitPrefix, HeadName};
use contexture_store::{Error as StoreError, Tx, artifact, commit, head};
use futures_util::FutureExt as _;

use crate::{Contexture, Error, Result};

/// Ids that an ambiguous abbreviation is answered with.
pub(crate) const MAX_CANDIDATES: u32 = 8;

/// A commit as a person names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    text: String,
    head: Option<HeadName>,
    prefix: Option<CommitPrefix>,
    back: u64,
}

impl Reference {
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
        Ok(Self { text: text.to_owned(), head, prefix, back })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<CommitId> for Reference {
    fn from(id: CommitId) -> Self {
        Self { text: id.to_string(), head: None, prefix: Some(id.into()), back: 0 }
    }
}

impl Contexture {
    /// Returns the commit that a reference names.
    pub async fn find(&self, reference: &Reference) -> Result<CommitId> {
        self.store.glance(self.scope(), reference.clone(), |tx, reference| find(tx, reference).boxed()).await
    }

    /// Does the same, and returns the head too if the reference is the name of one.
    pub async fn find_with_head(&self, reference: &Reference) -> Result<(CommitId, Option<HeadName>)> {
        if let Some(name) = reference.as_head()
            && let Some(commit) = self.head(name).await?
        {
            return Ok((commit, Some(name.clone())));
        }
        Ok((self.find(reference).await?, None))
    }

    /// Returns the artifact that an abbreviated id names.
    pub async fn find_artifact(&self, prefix: &ArtifactPrefix) -> Result<ArtifactId> {
        let finding = self.store.glance(self.scope(), (prefix.first(), prefix.last()), |tx, (first, last)| {
            artifact::ids_between(tx, first, last, MAX_CANDIDATES).boxed()
        });
        Ok(only("artifact", prefix, &finding.await?)?)
    }
}

async fn find(tx: &mut Tx<'_>, reference: &Reference) -> Result<CommitId> {
    let named = match &reference.head {
        Some(name) => head::find(tx, name).await?,
        None => None,
    };
    let id = match (named, &reference.prefix) {
        (Some(id), _) => id,
        (None, Some(prefix)) => {
            let ids = commit::ids_between(tx, &prefix.first(), &prefix.last(), MAX_CANDIDATES).await?;
            only("commit", prefix, &ids)?
        }
        (None, None) => match &reference.head {
            Some(name) => return Err(StoreError::NoHead(name.clone()).into()),
            None => return Err(Error::Reference { text: reference.text.clone() }),
        },
    };
    if reference.back == 0 { Ok(id) } else { ancestor(tx, id, reference.back).await }
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
        for text in ["", "ctx-xyz", "~1", "main~x", "a b", "-n"] {
            assert!(matches!(text.parse::<Reference>(), Err(Error::Reference { .. })), "{text}");
        }
    }
}

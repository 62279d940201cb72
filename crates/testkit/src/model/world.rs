//! Everything that a space holds, kept the plainest way.

use std::collections::{BTreeMap, HashMap, HashSet};

use contexture::{Checkpoint, Compaction, Error, Expect, Head, HeadMove, Snapshot, Stop, StoreError};
use contexture_core::{
    Actor, Annotation, Annotations, ArtifactId, Commit, CommitId, CommitKind, Count, Coverage, HeadName,
    IdempotencyKey, JournalKind, Noted, RecordError, SpaceName, Timestamp, Trigger,
};

use super::{Body, Conversation, Node, Tree};
use crate::Observed;

/// A model of one space: the same operations as the product, over lists that are searched from end to end.
#[derive(Debug, Clone)]
pub struct World {
    /// The time of the next operation.
    pub now: Timestamp,
    /// The commits as a tree.
    pub tree: Tree,
    /// What can be seen of the space.
    pub seen: Seen,
    space: SpaceName,
    actor: Actor,
    keys: HashMap<IdempotencyKey, (String, CommitId)>,
    artifacts: HashSet<ArtifactId>,
}

/// What can be seen of a space, without how the store keeps it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The commits in the order they were made, with their sequence numbers and depths.
    pub commits: Vec<(Commit, u64, u64)>,
    /// What was said about each commit of which something was.
    pub notes: BTreeMap<CommitId, Vec<Noted>>,
    /// The annotations in force, by commit.
    pub in_force: BTreeMap<CommitId, Annotations>,
    /// The heads in name order.
    pub heads: Vec<Head>,
    /// The moves of every head that ever was, newest first.
    pub moves: BTreeMap<HeadName, Vec<HeadMove>>,
    /// What the journal tells: what, of what, by whom, when.
    pub journal: Vec<(JournalKind, String, Actor, Timestamp)>,
}

/// Why an operation is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorldRefusal {
    /// The head is elsewhere.
    HeadConflict,
    /// There is no such head.
    NoHead,
    /// The key was used for another request.
    KeyConflict,
    /// A compaction has nothing to replace.
    NeedsParent,
    /// A chain has several formats.
    Mixed,
}

impl WorldRefusal {
    /// Sorts an error of the product; panics on those that a legal request never meets.
    pub fn of(error: &Error) -> Self {
        match error {
            Error::Store(StoreError::HeadConflict { .. }) => Self::HeadConflict,
            Error::Store(StoreError::NoHead(_)) => Self::NoHead,
            Error::Store(StoreError::KeyConflict { .. }) => Self::KeyConflict,
            Error::Record(RecordError::NeedsParent(_)) => Self::NeedsParent,
            Error::Mixed { .. } => Self::Mixed,
            other => panic!("a legal request was refused: {other:?}"),
        }
    }
}

impl World {
    /// Makes a space in which nothing has happened.
    pub fn new(space: &str, actor: &str, now: Timestamp) -> Self {
        Self {
            now,
            tree: Tree::default(),
            seen: Seen::default(),
            space: SpaceName::new(space).unwrap(),
            actor: Actor::new(actor).unwrap(),
            keys: HashMap::new(),
            artifacts: HashSet::new(),
        }
    }

    /// Returns where a head points.
    pub fn head(&self, name: &HeadName) -> Option<CommitId> {
        self.seen.heads.iter().find(|head| head.name == *name).map(|head| head.commit)
    }

    /// Checks in a body.
    pub fn checkpoint(&mut self, request: &Checkpoint, body: &Body) -> Result<CommitId, WorldRefusal> {
        let payload = format!("{request:?} {body:?}");
        if let Some((first, id)) = request.key.as_ref().and_then(|key| self.keys.get(key)) {
            return if *first == payload { Ok(*id) } else { Err(WorldRefusal::KeyConflict) };
        }
        let at = request.head.as_ref().and_then(|name| self.head(name));
        let is_free = match (request.expect, request.parent) {
            _ if request.head.is_none() => true,
            (Some(Expect::Anything), _) | (None, None) => true,
            (Some(Expect::Absent), _) => at.is_none(),
            (Some(Expect::At(id)), _) => at == Some(id),
            (None, Some(parent)) => at.is_none_or(|at| at == parent),
        };
        if !is_free {
            return Err(WorldRefusal::HeadConflict);
        }
        let parent = request.parent.or(at);
        if request.kind == CommitKind::Compaction && parent.is_none() {
            return Err(WorldRefusal::NeedsParent);
        }
        let commit = Commit {
            parent,
            kind: request.kind,
            artifact: ArtifactId::of(&body.bytes()),
            format: request.format.clone(),
            provenance: request.provenance.clone(),
            trigger: request.trigger,
            merges: request.merges.clone(),
            message_count: request.message_count.or(count(body.messages())),
            token_count: request.token_count,
            created_at: request.created_at.unwrap_or(self.now),
        };
        let id = self.insert(commit, body, &request.annotations);
        if let Some(name) = &request.head {
            self.point(name, Some(id));
        }
        if let Some(key) = &request.key {
            self.keys.insert(key.clone(), (payload, id));
        }
        Ok(id)
    }

    fn insert(&mut self, commit: Commit, body: &Body, annotations: &[Annotation]) -> CommitId {
        let id = commit.id();
        if self.tree.find(id).is_some() {
            return id;
        }
        let parent = commit.parent.map(|parent| self.tree.find(parent).expect("tests name commits that are there"));
        let tip = self.tree.push(Node { id, parent, kind: commit.kind, body: body.clone() });
        let depth = self.tree.chain(tip).len() as u64 - 1;
        self.artifacts.insert(commit.artifact);
        self.tell(JournalKind::CommitCreated, id.to_string());
        self.seen.commits.push((commit, self.seen.journal.len() as u64, depth));
        self.annotate(id, annotations);
        id
    }

    /// Says something about a commit.
    pub fn annotate(&mut self, id: CommitId, annotations: &[Annotation]) {
        for annotation in annotations {
            self.tell(JournalKind::CommitAnnotated, id.to_string());
            self.seen.in_force.entry(id).or_default().apply(annotation.clone());
            let noted = Noted { annotation: annotation.clone(), author: self.actor.clone(), at: self.now };
            self.seen.notes.entry(id).or_default().push(noted);
        }
    }

    /// Points a head to a commit if it is where it should be.
    pub fn set_head(&mut self, name: &HeadName, target: CommitId, expect: Expect) -> Result<(), WorldRefusal> {
        self.expect(name, expect)?;
        self.point(name, Some(target));
        Ok(())
    }

    /// Moves a head that exists.
    pub fn move_head(&mut self, name: &HeadName, target: CommitId, expect: Expect) -> Result<(), WorldRefusal> {
        self.head(name).ok_or(WorldRefusal::NoHead)?;
        self.set_head(name, target, expect)
    }

    /// Deletes a head.
    pub fn delete_head(&mut self, name: &HeadName, expect: Expect) -> Result<(), WorldRefusal> {
        self.head(name).ok_or(WorldRefusal::NoHead)?;
        self.expect(name, expect)?;
        self.point(name, None);
        Ok(())
    }

    fn expect(&self, name: &HeadName, expect: Expect) -> Result<(), WorldRefusal> {
        let fits = match expect {
            Expect::Anything => true,
            Expect::Absent => self.head(name).is_none(),
            Expect::At(id) => self.head(name) == Some(id),
        };
        if fits { Ok(()) } else { Err(WorldRefusal::HeadConflict) }
    }

    fn point(&mut self, name: &HeadName, target: Option<CommitId>) {
        let origin = self.head(name);
        if origin == target {
            return;
        }
        self.seen.heads.retain(|head| head.name != *name);
        if let Some(commit) = target {
            self.seen.heads.push(Head { name: name.clone(), commit, moved_at: self.now });
            self.seen.heads.sort_by(|a, b| a.name.cmp(&b.name));
        }
        let kind = if target.is_some() { JournalKind::HeadMoved } else { JournalKind::HeadDeleted };
        self.tell(kind, name.to_string());
        let seq = self.seen.journal.len() as u64;
        let entry = HeadMove { seq, origin, target, actor: self.actor.clone(), at: self.now };
        self.seen.moves.entry(name.clone()).or_default().insert(0, entry);
    }

    /// Puts a body in the place of a history.
    pub fn compact(&mut self, compaction: &Compaction, body: &Body) -> Result<CommitId, WorldRefusal> {
        let tip = self.tree.find(compaction.commit).expect("tests name commits that are there");
        let mut covered = self.tree.chain(tip);
        if let Some(reset) = covered.iter().position(|&at| self.tree.nodes()[at].kind != CommitKind::Delta) {
            covered.truncate(reset + 1);
        }
        let claimed = |at: &usize| self.seen.commits[*at].0.message_count.map_or(0, Count::get);
        let coverage = Coverage {
            first: self.tree.nodes()[covered[covered.len() - 1]].id,
            last: compaction.commit,
            commits: count(Some(covered.len())).unwrap(),
            messages: Count::new(covered.iter().map(claimed).sum()).unwrap(),
            bytes: count(Some(covered.iter().map(|&at| self.tree.nodes()[at].body.bytes().len()).sum())).unwrap(),
            losses: compaction.losses.clone(),
        };
        let request = Checkpoint {
            kind: CommitKind::Compaction,
            trigger: Trigger::Compaction,
            provenance: compaction.provenance.clone(),
            parent: Some(compaction.commit),
            head: compaction.head.clone(),
            annotations: [compaction.annotations.clone(), vec![Annotation::Coverage { coverage }]].concat(),
            ..Checkpoint::new(body.format())
        };
        self.checkpoint(&request, body)
    }

    /// Stores what a commit materializes to.
    pub fn snapshot(&mut self, snapshot: &Snapshot) -> Result<CommitId, WorldRefusal> {
        let tip = self.tree.find(snapshot.commit).expect("tests name commits that are there");
        let Conversation::Whole(body, _) = self.tree.materialize(tip, Stop::Compaction) else {
            return Err(WorldRefusal::Mixed);
        };
        let request = Checkpoint {
            kind: CommitKind::Snapshot,
            provenance: snapshot.provenance.clone(),
            parent: Some(snapshot.commit),
            head: snapshot.head.clone(),
            annotations: snapshot.annotations.clone(),
            ..Checkpoint::new(body.format())
        };
        // The bytes are stored before the head is looked at.
        self.artifacts.insert(ArtifactId::of(&body.bytes()));
        self.checkpoint(&request, &body)
    }

    /// Stores bytes by themselves.
    pub fn put(&mut self, bytes: &[u8]) {
        let id = ArtifactId::of(bytes);
        if self.artifacts.insert(id) {
            self.tell(JournalKind::ArtifactStored, id.to_string());
        }
    }

    fn tell(&mut self, kind: JournalKind, subject: String) {
        if self.seen.journal.is_empty() {
            let made = (JournalKind::SpaceCreated, self.space.to_string(), self.actor.clone(), self.now);
            self.seen.journal.push(made);
        }
        self.seen.journal.push((kind, subject, self.actor.clone(), self.now));
    }
}

impl From<Observed> for Seen {
    fn from(observed: Observed) -> Self {
        let Observed { commits, notes, heads, moves, journal } = observed;
        let entries = journal.into_iter().map(|record| (record.kind, record.subject, record.actor, record.at));
        let mut seen = Self { notes, heads, moves, journal: entries.collect(), ..Self::default() };
        for stored in commits.into_iter().rev() {
            if seen.notes.contains_key(&stored.id) {
                seen.in_force.insert(stored.id, stored.annotations);
            }
            seen.commits.push((stored.commit, stored.seq, stored.depth));
        }
        seen
    }
}

fn count(number: Option<usize>) -> Option<Count> {
    number.and_then(|number| Count::new(number as u64))
}

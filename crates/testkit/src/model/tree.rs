//! Commits as records that know their parent, and what a chain of them amounts to.

use contexture::Stop;
use contexture_core::{CommitId, CommitKind};

use super::Body;

/// Commits in the order they were made, each with the index of its parent. Nothing is indexed or remembered.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    nodes: Vec<Node>,
}

/// One commit.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its id.
    pub id: CommitId,
    /// Index of the commit before it.
    pub parent: Option<usize>,
    /// What its body is to its parent.
    pub kind: CommitKind,
    /// What it holds.
    pub body: Body,
}

/// What a chain amounts to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conversation {
    /// One body, of so many commits.
    Whole(Body, usize),
    /// Bodies of several formats.
    Mixed,
    /// The walk does not come by where it was to stop.
    NotAnAncestor,
}

impl Tree {
    /// Adds a commit and returns its index.
    pub fn push(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Returns the commits in the order they were made.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the index of a commit.
    pub fn find(&self, id: CommitId) -> Option<usize> {
        self.nodes.iter().position(|node| node.id == id)
    }

    /// Returns a commit and all before it, newest first.
    pub fn chain(&self, tip: usize) -> Vec<usize> {
        std::iter::successors(Some(tip), |&at| self.nodes[at].parent).collect()
    }

    /// Returns the indexes of the commits whose parent is the given one.
    pub fn children(&self, parent: usize) -> Vec<usize> {
        (0..self.nodes.len()).filter(|&at| self.nodes[at].parent == Some(parent)).collect()
    }

    /// Joins what a walk from a commit back to the stop comes by: where it ends whatever that is, then the deltas.
    pub fn materialize(&self, tip: usize, stop: Stop) -> Conversation {
        let mut chain = self.chain(tip);
        let end = match stop {
            Stop::Root => None,
            Stop::Compaction => chain.iter().position(|&at| self.nodes[at].kind != CommitKind::Delta),
            Stop::At(id) => match chain.iter().position(|&at| self.nodes[at].id == id) {
                None => return Conversation::NotAnAncestor,
                found => found,
            },
        };
        chain.truncate(end.map_or(chain.len(), |end| end + 1));
        let mut parts = chain.iter().rev().map(|&at| &self.nodes[at]);
        let mut whole = parts.next().expect("a chain has a commit").body.clone();
        for node in parts.filter(|node| node.kind == CommitKind::Delta) {
            match whole.join(node.body.clone()) {
                Some(joined) => whole = joined,
                None => return Conversation::Mixed,
            }
        }
        Conversation::Whole(whole, chain.len())
    }
}

//! Takes each step in the store and in the model.

use std::time::Duration;

use contexture::{Checkpoint, CheckpointContent, Compaction, Contexture, Error, Expect, Snapshot};
use contexture_core::{CommitId, IdempotencyKey, Principal, Provenance};
use contexture_testkit::{
    Backend, Harness, instant,
    model::{Body, World, WorldRefusal},
};
use proptest::sample::Index;

use crate::{
    compare,
    step::{self, Expected, Step},
};

/// A store and a model that have taken the same steps.
pub(crate) struct Play<B> {
    harness: Harness<B>,
    store: Option<Contexture>,
    world: World,
    keyed: Vec<(Checkpoint, Body)>,
    copies: usize,
}

impl<B: Backend> Play<B> {
    pub(crate) async fn start() -> Self {
        let harness = Harness::<B>::new().await;
        let store = Some(harness.open().await);
        let world = World::new("default", "tester", instant(0));
        Self { harness, store, world, keyed: Vec::new(), copies: 0 }
    }

    pub(crate) async fn take(&mut self, step: Step) {
        self.harness.clock.advance(Duration::from_secs(1));
        self.world.now = self.harness.clock.now();
        match step {
            Step::Checkpoint(step) => {
                let (request, body) = self.request(step);
                if request.key.is_some() {
                    self.keyed.push((request.clone(), body.clone()));
                }
                self.checkpoint(request, &body).await;
            }
            Step::Repeat(which) => {
                if !self.keyed.is_empty() {
                    let (request, body) = which.get(&self.keyed).clone();
                    self.checkpoint(request, &body).await;
                }
            }
            Step::Reopen => {
                self.store = None;
                self.store = Some(self.harness.open().await);
                self.compare().await;
            }
            Step::Crash(torn) => self.crash(&torn).await,
            Step::Put(bytes) => {
                self.world.put(&bytes);
                self.store().put_artifact(std::io::Cursor::new(bytes)).await.unwrap();
            }
            // The rest is about commits.
            _ if self.world.tree.nodes().is_empty() => {}
            Step::Annotate(which, said) => {
                let id = self.commit(which);
                self.world.annotate(id, &said);
                self.store().annotate(id, said).await.unwrap();
            }
            Step::Compact(which, body, head) => self.compact(self.commit(which), body, head).await,
            Step::Snapshot(which, head) => {
                let commit = self.commit(which);
                let request = Snapshot { commit, provenance: Provenance::default(), head, annotations: Vec::new() };
                let expected = self.world.snapshot(&request);
                assert_same(&expected, self.store().snapshot(request).await.map(|made| made.id));
            }
            Step::Copy(which) => {
                let commits: Vec<_> = which.into_iter().map(|which| self.commit(which)).collect();
                self.copies += 1;
                let space = format!("copy-{}", self.copies);
                compare::copied(&self.harness, &self.world, &commits, &space).await;
            }
            Step::SetHead(..) | Step::MoveHead(..) | Step::DeleteHead(..) | Step::Fork(..) => {
                self.move_head(step).await;
            }
        }
    }

    /// Goes on with what a crash at this moment would leave.
    pub(crate) async fn crash(&mut self, torn: &[u8]) {
        if self.world.seen.journal.is_empty() {
            return;
        }
        // The old handle goes last: closing the store before it crashes would tidy up.
        self.harness.backend.crash(torn).await;
        self.store = Some(self.harness.open().await);
        self.compare().await;
    }

    pub(crate) async fn compare(&self) {
        compare::whole(self.store(), &self.world).await;
    }

    fn store(&self) -> &Contexture {
        self.store.as_ref().expect("a store is closed only to be opened again")
    }

    fn commit(&self, which: Index) -> CommitId {
        which.get(self.world.tree.nodes()).id
    }

    fn request(&self, step: step::Checkpoint) -> (Checkpoint, Body) {
        let step::Checkpoint { parent, head, expect, kind, body, principal, key, annotations, merged, is_old } = step;
        let known = |which: Option<Index>| which.filter(|_| !self.world.tree.nodes().is_empty());
        let expect = expect.zip(head.as_ref()).map(|(expected, head)| self.expect(&expected, head));
        let request = Checkpoint {
            kind,
            provenance: Provenance {
                principal: principal.map(|name| Principal::new(name).unwrap()),
                ..Provenance::default()
            },
            parent: known(parent).map(|which| self.commit(which)),
            head,
            expect,
            merges: known(merged).map(|which| self.commit(which)).into_iter().collect(),
            created_at: is_old.then(|| instant(0)),
            annotations,
            key: key.map(|key| IdempotencyKey::new(key).unwrap()),
            ..Checkpoint::new(body.format())
        };
        (request, body)
    }

    fn expect(&self, expected: &Expected, head: &step::Branch) -> Expect {
        match expected {
            Expected::Anything => Expect::Anything,
            Expected::Absent => Expect::Absent,
            Expected::There => self.world.head(head).map_or(Expect::Absent, Expect::At),
            Expected::At(_) if self.world.tree.nodes().is_empty() => Expect::Absent,
            Expected::At(which) => Expect::At(self.commit(*which)),
        }
    }

    async fn checkpoint(&mut self, request: Checkpoint, body: &Body) {
        let expected = self.world.checkpoint(&request, body);
        let actual = self.store().checkpoint(request, CheckpointContent::Bytes(body.bytes())).await;
        assert_same(&expected, actual.map(|made| made.id));
    }

    async fn compact(&mut self, commit: CommitId, body: Body, head: Option<step::Branch>) {
        let request = Compaction {
            commit,
            summary: body.bytes(),
            format: Some(body.format()),
            losses: Vec::new(),
            provenance: Provenance::default(),
            head,
            annotations: Vec::new(),
        };
        // White space alone sums nothing up.
        if body.bytes().iter().all(u8::is_ascii_whitespace) {
            let error = self.store().compact(request).await.unwrap_err();
            assert!(matches!(error, Error::Empty), "{error:?}");
            return;
        }
        let expected = self.world.compact(&request, &body);
        assert_same(&expected, self.store().compact(request).await.map(|made| made.id));
    }

    async fn move_head(&mut self, step: Step) {
        let (expected, actual) = match step {
            Step::SetHead(name, target, expected) => {
                let (target, expect) = (self.commit(target), self.expect(&expected, &name));
                let expected = self.world.set_head(&name, target, expect);
                (expected, self.store().set_head(&name, target, expect).await.map(drop))
            }
            Step::MoveHead(name, target, expected) => {
                let (target, expect) = (self.commit(target), self.expect(&expected, &name));
                let expected = self.world.move_head(&name, target, expect);
                (expected, self.store().move_head(&name, target, expect).await.map(drop))
            }
            Step::DeleteHead(name, expected) => {
                let expect = self.expect(&expected, &name);
                let expected = self.world.delete_head(&name, expect);
                (expected, self.store().delete_head(&name, expect).await.map(drop))
            }
            Step::Fork(from, name) => {
                let from = self.commit(from);
                (self.world.set_head(&name, from, Expect::Absent), self.store().fork(from, &name).await)
            }
            other => unreachable!("{other:?} moves no head"),
        };
        assert_same(&expected, actual);
    }
}

fn assert_same<T: PartialEq + std::fmt::Debug>(expected: &Result<T, WorldRefusal>, actual: Result<T, Error>) {
    assert_eq!(actual.map_err(|error| WorldRefusal::of(&error)), *expected);
}

//! Replay: an envelope is made again from its frozen inputs, and must be the same byte for byte.

use std::sync::Arc;

use contexture_assembly::{
    TokenCounts, counter,
    envelope::{Envelope, Inputs, TargetOutcome},
    pipeline::{self, AssembledTarget, PreparedItems},
    recipe::TargetSpec,
};
use contexture_core::{ArtifactId, EnvelopeId};
use contexture_store::Error as StoreError;
use tracing::{Instrument as _, debug_span};

use crate::{AssemblyProblem, Envelopes, Error, Result};

/// What a replay found.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// The envelope.
    pub envelope: EnvelopeId,
    /// What became of each target.
    pub targets: Vec<ReplayedTarget>,
}

/// What a replay found for a target.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayedTarget {
    /// The target.
    pub target: TargetSpec,
    /// What was rendered now.
    pub bytes: Vec<u8>,
    /// Whether that is what was rendered then.
    pub is_equal: bool,
    /// Where the two part, in bytes.
    pub first_difference: Option<u64>,
    /// Whether every decision is what it was.
    pub has_equal_decisions: bool,
}

impl Replayed {
    /// Tells whether everything is what it was.
    pub fn is_equal(&self) -> bool {
        self.targets.iter().all(|target| target.is_equal && target.has_equal_decisions)
    }
}

impl Envelopes<'_> {
    /// Makes an envelope again and compares.
    pub async fn replay(&self, id: EnvelopeId) -> Result<Replayed> {
        let document = self.document(id).await?;
        self.require_whole(id).await?;
        let (_, assembled) = self.make_again(id, &document).instrument(debug_span!("replay", envelope = %id)).await?;
        let mut targets = Vec::new();
        for target in &document.targets {
            let TargetOutcome { target: spec, .. } = target.outcome;
            let made = assembled.iter().find(|made| made.outcome.target == spec);
            let made = made.ok_or(AssemblyProblem::NotInRecipe { envelope: id, target: spec })?;
            let mut stored = Vec::new();
            self.engine.get_artifact(target.artifact, &mut stored).await?;
            let common = stored.iter().zip(&made.bytes).take_while(|(stored, made)| stored == made).count();
            let is_equal = stored == made.bytes;
            targets.push(ReplayedTarget {
                target: spec,
                is_equal,
                first_difference: (!is_equal).then_some(common as u64),
                has_equal_decisions: made.outcome == target.outcome,
                bytes: made.bytes.clone(),
            });
        }
        Ok(Replayed { envelope: id, targets })
    }

    /// Returns what an envelope was made of, and what that gives.
    pub(super) async fn make_again(
        &self,
        id: EnvelopeId,
        document: &Envelope,
    ) -> Result<(Inputs, Vec<AssembledTarget>)> {
        let inputs = self.inputs(document.inputs).await?;
        let tokens = counter(&document.counter.name).map_err(AssemblyProblem::Counter)?;
        if tokens.version() != document.counter.version {
            let (name, counted) = (document.counter.name.clone(), document.counter.version);
            let problem = AssemblyProblem::CounterVersion { envelope: id, name, counted, known: tokens.version() };
            return Err(problem.into());
        }
        let counts = TokenCounts::new(tokens);
        let mut prepared = PreparedItems::of(&inputs);
        self.engine.learn(&counts, &mut prepared).await?;
        let assembled = pipeline::run_prepared(&inputs, &mut prepared, &counts).map_err(Error::Rejected)?;
        Ok((inputs, assembled))
    }

    /// Returns the error that says what was purged of an envelope, if anything was: then it cannot be made again.
    async fn require_whole(&self, id: EnvelopeId) -> Result<()> {
        let document = self.get(id).await?.document;
        for artifact in self.artifacts(id).await?.into_iter().chain([document]) {
            if let Some(content) = self.engine.withheld_artifact(artifact).await? {
                return Err(Error::Store(StoreError::Withheld(Arc::new(content))));
            }
        }
        Ok(())
    }

    /// Returns the frozen inputs of an envelope.
    pub async fn inputs(&self, artifact: ArtifactId) -> Result<Inputs> {
        let mut bytes = Vec::new();
        self.engine.get_artifact(artifact, &mut bytes).await?;
        Ok(serde_json::from_slice(&bytes).map_err(|source| AssemblyProblem::Inputs { artifact, source })?)
    }
}

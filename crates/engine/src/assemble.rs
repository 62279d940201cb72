//! Assemble: items from sources become what a model is given, and an envelope that proves it.

pub(crate) mod event;
mod export;
mod gap_status;
mod history;
mod inject;
mod keep;
pub(crate) mod masked;
mod previous;
mod read_turns;
mod replay;
mod source;
mod why;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use contexture_assembly::{
    Digest, TokenCount, TokenCounter, TokenCounts, counter,
    envelope::{Envelope, Gap, Inputs},
    pipeline::{self, PipelineVersion, PreparedItems},
    recipe::{Recipe, RecipeProvenance, SourceKind, TargetSpec},
    render::TranscriptSession,
};
use contexture_core::{ArtifactId, CommitId, CounterName, EnvelopeId, HeadName, Stream};
use contexture_store::Disclosure;
use futures_util::future;
use serde_json::Value;
use tracing::{Instrument as _, debug_span};

pub(crate) use event::{RemovedContent, RemovedSecret, of_removal};
pub use export::ContextExport;
pub use inject::Injected;
pub(crate) use previous::RememberedAssemblies;
pub(crate) use read_turns::RememberedTurns;
pub use replay::{Replayed, ReplayedTarget};
pub use source::{ChannelContext, GivenItem, GivenItems, TriggerMessage};
pub use why::{Answer, Why};

use crate::{AssemblyProblem, Attachment, Contexture, Error, Result, SecretGuard, envelope::FreshCounts};
use keep::KeptWith;
use source::{FoundAgain, Gathering, NamedFiles, ReadChannel};

/// What to assemble.
#[derive(Debug, Clone)]
pub struct Assemble {
    /// How.
    pub recipe: Recipe,
    /// Where the recipe comes from: who names the files that it names.
    pub provenance: RecipeProvenance,
    /// The commit whose history is read.
    pub commit: Option<CommitId>,
    /// The head that the commit was found by.
    pub head: Option<HeadName>,
    /// What the assembly continues; the head and the recipe tell if it is absent.
    pub stream: Option<Stream>,
    /// What the model is asked now; in a turn of a channel, the message to answer.
    pub trigger: Option<TriggerMessage>,
    /// The turn of an agent in a channel that it is for.
    pub channel: Option<ChannelContext>,
    /// Items of the caller's own.
    pub items: Vec<GivenItem>,
    /// Files beside those of the recipe, which a person names.
    pub files: Vec<PathBuf>,
    /// The directory that files are looked for in, and that an agent would work in. What a project names is read only
    /// inside the project around it.
    pub directory: PathBuf,
    /// Ids that the caller's runtime gave: `session_id`, `turn_id` and the like.
    pub correlation: BTreeMap<String, String>,
}

impl Assemble {
    /// Refuses what the recipe has no source for: it would be lost without a word.
    fn check(&self) -> Result<()> {
        let given = [
            (self.trigger.is_some() || self.channel.is_some(), SourceKind::Trigger, "trigger"),
            (!self.items.is_empty(), SourceKind::Items, "items"),
            (!self.files.is_empty(), SourceKind::Files, "files"),
        ];
        match given.into_iter().find(|(is_given, kind, _)| *is_given && !self.recipe.has(*kind)) {
            None => Ok(()),
            Some((.., name)) => Err(Error::NoSource { recipe: self.recipe.name.clone(), name }),
        }
    }
}

/// What was assembled and kept.
#[derive(Debug, Clone)]
pub struct AssembledContext {
    /// The envelope.
    pub envelope: EnvelopeId,
    /// What it says.
    pub document: Envelope,
    /// What each target is given, in the order of the recipe.
    pub renderings: Vec<(TargetSpec, Vec<u8>)>,
    /// How many texts were counted now; the others were counted before.
    pub texts_counted: u64,
}

impl Contexture {
    /// Assembles a context and keeps its envelope, durable when this returns.
    ///
    /// Where the recipe rejects what does not fit, nothing is assembled, and that is kept as missing context.
    pub async fn assemble(&self, request: &Assemble) -> Result<AssembledContext> {
        let span = debug_span!("assemble", commit = request.commit.map(display));
        self.assemble_and_keep(request).instrument(span).await
    }

    async fn assemble_and_keep(&self, request: &Assemble) -> Result<AssembledContext> {
        let engine = match self.disclosure() {
            Disclosure::Masked => self,
            Disclosure::Exact => &self.masking(),
        };
        let guard = engine.guard().await?;
        let kept = engine.assemble_masked(&masked::request(&guard, request), &guard).await;
        engine.settle_guard(&guard).await?;
        kept
    }

    /// Assembles what nothing secret is left in but what files hold.
    async fn assemble_masked(&self, request: &Assemble, guard: &Arc<SecretGuard>) -> Result<AssembledContext> {
        let tokens = counter(request.recipe.token_counter()).map_err(AssemblyProblem::Counter)?;
        let counts = TokenCounts::new(tokens);
        let gathering = Box::pin(self.gather_inputs(request, &counts, guard));
        let GatheredInputs { inputs, mut prepared, gaps, found } = gathering.await?;
        let frozen = prepared.to_json(&inputs);
        let frozen = Attachment::preparing(ArtifactId::of(&frozen), frozen);
        self.learn(&counts, &mut prepared).await?;
        let assembled = match pipeline::run_prepared(&inputs, &mut prepared, &counts) {
            Ok(assembled) => assembled,
            Err(rejected) => {
                self.keep_rejection(request, &rejected).await?;
                return Err(Error::Rejected(rejected));
            }
        };
        let counted = fresh_counts(counts)?;
        self.keep_assembly(request, inputs, assembled, gaps, KeptWith { frozen, prepared, tokens, counted, found })
            .await
    }

    /// Reads every source of a recipe.
    async fn gather_inputs(
        &self,
        request: &Assemble,
        counts: &TokenCounts<'_>,
        guard: &SecretGuard,
    ) -> Result<GatheredInputs> {
        request.check()?;
        let (runs, mut others): (Vec<_>, Vec<_>) = source::of_recipe(&request.recipe).partition(source::Placed::is_run);
        let (channels, runs): (Vec<_>, Vec<_>) = runs.into_iter().partition(source::Placed::is_channel);
        others.sort_by_key(source::Placed::is_missing);
        let starting = future::try_join_all(runs.into_iter().map(|source| history::start(self, request, source)));
        let (target, histories, channel) =
            future::try_join3(self.target_of(request.commit), starting, ReadChannel::start(self, request)).await?;
        let session = TranscriptSession {
            id: target.session,
            directory: request.directory.to_string_lossy().into_owned(),
            branch: target.branch,
            model: target.model,
            now: target.now,
        };
        let stream = stream(request)?;
        let before = self.remembered_assemblies().items(self.space(), &stream);
        let mut inputs = Inputs {
            recipe: request.recipe.clone(),
            stream: stream.as_str().to_owned(),
            session,
            items: Vec::new(),
            unread: None,
            unread_messages: None,
            pipeline: PipelineVersion::NEWEST,
        };
        let mut gathering = Gathering {
            engine: self,
            guard,
            request,
            counts,
            files: NamedFiles::of(request),
            prepared: PreparedItems::after(before),
            gaps: Vec::new(),
            found: Vec::new(),
            channel,
        };
        for source in others {
            let items = gathering.items(&source, &inputs.items).await?;
            inputs.items.extend(items);
        }
        for history in histories.into_iter().flatten() {
            history::read(&mut gathering, history, &mut inputs).await?;
        }
        for placed in channels {
            source::read_channel(&mut gathering, &placed, &mut inputs).await?;
        }
        let Gathering { mut prepared, gaps, found, .. } = gathering;
        prepared.sort(&mut inputs);
        Ok(GatheredInputs { inputs, prepared, gaps, found })
    }

    /// Fetches what was counted before.
    pub(crate) async fn learn(&self, counts: &TokenCounts<'_>, prepared: &mut PreparedItems) -> Result<()> {
        if !counts.counter().is_costly() {
            return Ok(());
        }
        let digests = prepared.uncounted(counts);
        let texts = digests.iter().map(|digest| *digest.as_bytes()).collect();
        let counted = self.token_counts(&counter_name(counts.counter())?, texts).await?;
        let found = digests.into_iter().zip(counted);
        counts.learn(found.filter_map(|(digest, count)| Some((digest, TokenCount::new(count?)))));
        Ok(())
    }
}

/// What an assembly is made of, and what could not be read.
struct GatheredInputs {
    inputs: Inputs,
    prepared: PreparedItems,
    gaps: Vec<Gap>,
    found: Vec<FoundAgain>,
}

/// Returns what was counted now, to be kept.
fn fresh_counts(counts: TokenCounts<'_>) -> Result<FreshCounts> {
    let counter = counter_name(counts.counter())?;
    let fresh = counts.into_fresh().into_iter();
    Ok(FreshCounts { counter, counts: fresh.map(|(digest, count)| (*digest.as_bytes(), count.get())).collect() })
}

/// Returns the name that counts are kept under: another version counts otherwise.
fn counter_name(tokens: &dyn TokenCounter) -> Result<CounterName> {
    Ok(CounterName::new(format!("{}/{}", tokens.name(), tokens.version()))?)
}

/// Returns what an assembly continues: what was asked for, or else what the head and the recipe tell.
fn stream(request: &Assemble) -> Result<Stream> {
    let recipe = &request.recipe.name;
    // An agent's turns in a channel follow each other.
    if let (None, Some(context)) = (&request.stream, &request.channel) {
        return Ok(Stream::new(format!("{} {} {recipe}", context.channel, context.viewer.key))?);
    }
    Ok(match (&request.stream, &request.head, &request.commit) {
        (Some(stream), ..) => stream.clone(),
        (None, Some(head), _) => Stream::new(format!("{head} {recipe}"))?,
        (None, None, Some(commit)) => Stream::new(format!("{commit} {recipe}"))?,
        (None, None, None) => Stream::new(recipe.clone())?,
    })
}

/// Returns what tells a turn from others: the commit, and what is asked.
fn turn_of(request: &Assemble) -> Digest {
    let asked = request.trigger.as_ref().map(|trigger| (&trigger.text, &trigger.data));
    let commit = request.commit.map(|commit| commit.to_string());
    if let Some(context) = &request.channel {
        let turn = (commit, asked, context.channel.to_string(), context.after, context.trigger);
        return Digest::of(&serde_json::to_vec(&turn).expect("a turn has text keys"));
    }
    Digest::of(&serde_json::to_vec(&(commit, asked)).expect("a trigger has text keys"))
}

/// Data of a trigger, as text.
fn pretty(data: &Value) -> String {
    serde_json::to_string_pretty(data).expect("a value has text keys")
}

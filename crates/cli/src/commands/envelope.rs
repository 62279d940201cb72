//! `ctx envelope`: what was assembled, why, and that it can be made again.

pub(super) mod diff;
pub(crate) mod render;

use clap::{Args, Subcommand};
use contexture::{
    Contexture, EnvelopeFilter as Filter, Reference,
    assembly::{
        envelope::{self, TargetRecord},
        recipe::TargetSpec,
        standard::{Audience, InjectionPoint},
    },
    core::{CommitId, EnvelopeId, EnvelopePrefix, RecipeName, Stream},
    wire::{ReplayedRendering, ShownEnvelope},
};

use crate::{
    destination::{Destination, DraftFile},
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    output::{self, Output, Shape},
    values::EnvelopeName,
};

/// Envelopes that are read at once.
const PER_PAGE: u32 = 200;
/// Largest content that is taken for what was sent.
const MAX_SENT_MEBIBYTES: u64 = 64;

const EXAMPLES: &str = "\
Examples:
  ctx envelope show last
      how the budget of the last assembly was spent, what is in it and what is not
  ctx envelope show env-8d3f --bytes > request.json
      what the model was given, byte for byte
  ctx envelope why last ctx-41c0
      whether that turn was in, and why not
  ctx envelope diff env-8d3f last
      what changed, and which item broke the prefix that a cache could keep
  ctx envelope replay --all
      makes every envelope again from what was frozen, and compares byte for byte
  ctx envelope inject last --target model --native-id msg_01
      records that it was really sent
  ctx envelope export last -o context.json && ctx check context.json
      records of the Agent Context standard

Naming envelopes:
  By id, by the first digits of the id (4 at least), or `last`; `last:STREAM` is the last of a stream.";

/// Shows, explains and replays what was assembled
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Envelope {
    #[command(subcommand)]
    action: Action,
}

/// How many envelopes before the last one can be named by counting.
const MAX_BACK: u32 = 10_000;

#[derive(Debug, Subcommand)]
enum Action {
    /// Lists envelopes, the newest first
    List {
        /// Only those of this stream
        #[arg(long, value_name = "S")]
        stream: Option<Stream>,
        /// Only those made by this recipe
        #[arg(long, value_name = "R")]
        recipe: Option<RecipeName>,
        /// Only those made from this commit
        #[arg(long, value_name = "ID|HEAD")]
        commit: Option<Reference>,
        /// Shows so many at most
        #[arg(short = 'n', value_name = "N", default_value_t = 20)]
        limit: u32,
    },
    /// Shows how the budget was spent, what is in and what is out
    Show {
        /// The envelope
        #[arg(value_name = "ENV", default_value = "last")]
        envelope: EnvelopeName,
        /// Only this target
        #[arg(long, value_name = "T")]
        target: Option<TargetSpec>,
        /// Every item, not only the first few of each segment
        #[arg(long)]
        all: bool,
        /// Writes what the target was given instead, byte for byte
        #[arg(long)]
        bytes: bool,
    },
    /// Shows what is different between two envelopes
    Diff {
        /// The older one
        #[arg(value_name = "A")]
        before: EnvelopeName,
        /// The newer one
        #[arg(value_name = "B", default_value = "last")]
        after: EnvelopeName,
        /// Only this target
        #[arg(long, value_name = "T")]
        target: Option<TargetSpec>,
    },
    /// Tells whether something is in, and why
    Why {
        /// The envelope
        #[arg(value_name = "ENV")]
        envelope: EnvelopeName,
        /// An item, a commit, a head, a file, a segment or a kind
        #[arg(value_name = "THING")]
        thing: String,
        /// Only this target
        #[arg(long, value_name = "T")]
        target: Option<TargetSpec>,
    },
    /// Makes envelopes again from what was frozen, and compares byte for byte
    Replay {
        /// The envelopes
        #[arg(value_name = "ENV", required_unless_present = "all")]
        envelopes: Vec<EnvelopeName>,
        /// All there are
        #[arg(long, conflicts_with = "envelopes")]
        all: bool,
    },
    /// Records that a target was really given what was assembled
    Inject {
        /// The envelope
        #[arg(value_name = "ENV", default_value = "last")]
        envelope: EnvelopeName,
        /// Who was given it
        #[arg(long, value_name = "T", default_value = "model")]
        target: InjectionTarget,
        /// What the target's own system calls it
        #[arg(long, value_name = "N")]
        native_id: Option<String>,
        /// Where it went [default: where such a target usually is given something]
        #[arg(long, value_name = "P")]
        point: Option<InjectionPoint>,
        /// What was sent, if that is not what was assembled
        #[arg(long, value_name = "FILE", value_parser = Input::parser())]
        sent: Option<Input>,
    },
    /// Writes records of the Agent Context standard
    Export {
        /// The envelopes
        #[arg(value_name = "ENV", required = true)]
        envelopes: Vec<EnvelopeName>,
        /// Where the records go
        #[arg(short, long, value_name = "FILE", default_value = "-", value_parser = Destination::parser())]
        output: Destination,
    },
}

/// Who was given something: an audience, or a target with its rendering.
#[derive(Debug, Clone, Copy)]
struct InjectionTarget {
    audience: Audience,
    exact: Option<TargetSpec>,
}

impl std::str::FromStr for InjectionTarget {
    type Err = <TargetSpec as std::str::FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spec: TargetSpec = text.parse()?;
        let exact = text.parse::<Audience>().is_err().then_some(spec);
        Ok(Self { audience: spec.audience, exact })
    }
}

impl Envelope {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let engine = invocation.open().await?;
        match self.action {
            Action::List { stream, recipe, commit, limit } => {
                let commit = match &commit {
                    Some(commit) => Some(engine.find(commit).await?),
                    None => None,
                };
                list(&engine, Filter { stream, recipe, commit }, limit, output).await
            }
            Action::Show { envelope, target, all, bytes } => {
                let id = find(&engine, &envelope).await?;
                let document = engine.envelope_document(id).await?;
                if bytes {
                    return write_bytes(&engine, id, &document, target, output).await;
                }
                if output.shape() == Shape::Json {
                    return output.document(ShownEnvelope { envelope: id, document });
                }
                output.page(invocation.environment.pager().as_ref());
                render::tell(id, &document, target, all, engine.now(), output)
            }
            Action::Diff { before, after, target } => {
                let (before, after) = (find(&engine, &before).await?, find(&engine, &after).await?);
                diff::tell(&engine, before, after, target, output).await
            }
            Action::Why { envelope, thing, target } => {
                let id = find(&engine, &envelope).await?;
                let mut why = engine.why(id, &thing).await?;
                why.answers.retain(|answer| target.is_none_or(|target| target == answer.target));
                match output.shape() {
                    Shape::Json => output.document(why),
                    Shape::Text => render::tell_why(&why, output),
                }
            }
            Action::Replay { envelopes, all } => {
                let ids = if all {
                    every(&engine).await?
                } else {
                    let mut ids = Vec::new();
                    for envelope in &envelopes {
                        ids.push(find(&engine, envelope).await?);
                    }
                    ids
                };
                replay(&engine, &ids, output).await
            }
            Action::Inject { envelope, target, native_id, point, sent } => {
                let id = find(&engine, &envelope).await?;
                let sent = match &sent {
                    None => None,
                    Some(input) => Some(input.read_up_to(MAX_SENT_MEBIBYTES * 1024 * 1024)?.ok_or_else(|| {
                        Error::LargeInput { input: input.clone(), max_mebibytes: MAX_SENT_MEBIBYTES }
                    })?),
                };
                let document = engine.envelope_document(id).await?;
                let made = document.targets.iter().find(|made| {
                    let spec = made.outcome.target;
                    target.exact.map_or(spec.audience == target.audience, |exact| exact == spec)
                });
                let made = made.ok_or_else(|| no_target(id, &document, target.exact, target.audience))?;
                let spec = made.outcome.target;
                let point = point.unwrap_or_else(|| spec.injection_point());
                let injected = engine.inject(id, spec, point, native_id, sent).await?;
                match output.shape() {
                    Shape::Json => output.document(injected),
                    Shape::Text => output.line(format_args!("{} {spec} was given {id}", injected.injection)),
                }
            }
            Action::Export { envelopes, output: destination } => {
                destination.check(output, "export")?;
                let mut ids = Vec::new();
                for envelope in &envelopes {
                    ids.push(find(&engine, envelope).await?);
                }
                let export = engine.export_context(&ids).await?;
                match &destination {
                    Destination::Stdout => {
                        output.data().write_all(&export.bytes).map_err(Error::Stdout)?;
                        output.flush()
                    }
                    Destination::File(path) => {
                        let mut draft = DraftFile::start(path)?;
                        draft.write_all(&export.bytes)?;
                        draft.publish()?;
                        let records = output::counted(export.records, "record");
                        let size = output::size(export.bytes.len() as u64);
                        output.status(format_args!("{records}, {size} in {destination}"));
                        Ok(())
                    }
                }
            }
        }
    }
}

/// Finds an envelope by the name that a person gave.
pub(super) async fn find(engine: &Contexture, name: &EnvelopeName) -> Result<EnvelopeId> {
    match name {
        EnvelopeName::Prefix(prefix) => Ok(engine.find_envelope(prefix).await?),
        EnvelopeName::Last(stream, back) => {
            let filter = Filter { stream: stream.clone(), ..Filter::default() };
            let found = engine.envelopes().list(&filter, None, back.saturating_add(1)).await?;
            Ok(found.get(*back as usize).ok_or(Error::NoEnvelopes)?.id)
        }
    }
}

async fn every(engine: &Contexture) -> Result<Vec<EnvelopeId>> {
    let (mut ids, mut before) = (Vec::new(), None);
    loop {
        let page = engine.envelopes().list(&Filter::default(), before, PER_PAGE).await?;
        let Some(last) = page.last() else { return Ok(ids) };
        before = Some(last.seq);
        ids.extend(page.iter().map(|stored| stored.id));
    }
}

async fn list(engine: &Contexture, filter: Filter, limit: u32, output: &mut Output) -> Result<()> {
    let found = engine.envelopes().list(&filter, None, limit).await?;
    if found.is_empty() && output.shape() == Shape::Text {
        output.status("Nothing was assembled yet; `ctx assemble --help` says how.");
    }
    for stored in found {
        match output.shape() {
            Shape::Json => output.document(stored)?,
            Shape::Text => {
                let document = engine.envelope_document(stored.id).await?;
                let line = render::list_line(stored.id, &document, engine.now(), output.palette);
                output.line(line)?;
            }
        }
    }
    Ok(())
}

/// Returns the targets of an envelope that a person asks for.
pub(super) fn chosen(
    id: EnvelopeId,
    document: &envelope::Envelope,
    target: Option<TargetSpec>,
) -> Result<Vec<&TargetRecord>> {
    let is_meant = |record: &&TargetRecord| target.is_none_or(|target| target == record.outcome.target);
    let targets: Vec<_> = document.targets.iter().filter(is_meant).collect();
    match (targets.is_empty(), target) {
        (true, Some(target)) => Err(no_target(id, document, Some(target), target.audience)),
        _ => Ok(targets),
    }
}

fn no_target(
    envelope: EnvelopeId,
    document: &envelope::Envelope,
    exact: Option<TargetSpec>,
    audience: Audience,
) -> Error {
    let made: Vec<_> = document.targets.iter().map(|made| made.outcome.target.to_string()).collect();
    let target = exact.map_or_else(|| audience.to_string(), |exact| exact.to_string());
    Error::NoTarget { envelope, target, made: made.join(", ") }
}

async fn write_bytes(
    engine: &Contexture,
    id: EnvelopeId,
    document: &envelope::Envelope,
    target: Option<TargetSpec>,
    output: &mut Output,
) -> Result<()> {
    for record in chosen(id, document, target)? {
        engine.get_artifact(record.artifact, output.data()).await?;
    }
    output.flush()
}

async fn replay(engine: &Contexture, ids: &[EnvelopeId], output: &mut Output) -> Result<()> {
    let mut different = 0;
    for id in ids {
        let replayed = engine.replay_envelope(*id).await?;
        different += u64::from(!replayed.is_equal());
        for target in replayed.targets {
            if output.shape() == Shape::Json {
                output.document(ReplayedRendering::of(*id, &target))?;
                continue;
            }
            let size = output::size(target.bytes.len() as u64);
            let (spec, style) = (target.target, output.palette.id);
            let found = match (target.is_equal, target.first_difference) {
                (true, _) if target.has_equal_decisions => format!("equal, {size}"),
                (true, _) => format!("equal bytes, {size}, but other decisions"),
                (false, Some(at)) => format!("different from byte {} on", output::count(at)),
                (false, None) => "different".to_owned(),
            };
            output.line(format_args!("{style}{}{style:#}  {spec}  {found}", id.short()))?;
        }
    }
    if different > 0 {
        return Err(Error::NotReplayed { envelopes: different });
    }
    if ids.len() > 1 && output.shape() == Shape::Text {
        output.status(format_args!("All {} are equal.", output::count(ids.len() as u64)));
    }
    Ok(())
}

/// The prefix of an envelope's id, or a word for the last one: `last`, `last~1` for the one before, `last:STREAM~1`.
impl std::str::FromStr for EnvelopeName {
    type Err = <EnvelopePrefix as std::str::FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, back) = match text.split_once('~') {
            None => (text, Some(0)),
            Some((name, "")) => (name, Some(1)),
            Some((name, back)) => (name, back.parse().ok().filter(|back| *back <= MAX_BACK)),
        };
        match (name.strip_prefix("last"), back) {
            (Some(""), Some(back)) => Ok(Self::Last(None, back)),
            (Some(rest), Some(back)) if rest.starts_with(':') => Ok(Self::Last(Stream::new(&rest[1..]).ok(), back)),
            _ => text.parse().map(Self::Prefix),
        }
    }
}

/// Tells from where a history was read.
pub(super) fn came_from(commit: CommitId, head: Option<&str>) -> String {
    match head {
        Some(head) => format!("{head} at {}", commit.short()),
        None => commit.short(),
    }
}

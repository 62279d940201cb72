//! `ctx checkpoint`: content becomes a commit.

use std::{
    ffi::OsStr,
    io::{self, Read as _, Write},
};

use clap::Args;
use contexture::{
    Check, Checkpoint as Request, CheckpointContent, Checkpointed, Contexture, Reference,
    core::{
        Annotation, ArtifactPrefix, CommitId, CommitKind, Count, Format, HeadName, IdempotencyKey, SummaryText, Tag,
        Trigger,
    },
    formats::{Checker, Concatenation, FormatError, Measure},
    wire::MadeCommit,
};
use contexture_capture::Capture;

use crate::{
    error::{Error, Result},
    input::{Input, OpenInput},
    invocation::Invocation,
    output::{Output, Shape},
    provenance::ProvenanceArgs,
    time::When,
    values::{self, LabelValue, StartPoint},
};

const EXAMPLES: &str = "\
Examples:
  ctx checkpoint --format claude-code-v1 --head main turn-1.jsonl
      checks in the first turn and points the head `main` to it
  ctx checkpoint --head main --summary 'found the race' turn-2.jsonl
      continues `main`; the format is that of the commit before
  tail -n 4 session.jsonl | ctx checkpoint --parent ctx-8d3f --format codex-v1 -
      continues any commit; without --head nothing points to the result but its id
  ctx checkpoint --head main --artifact art-6437
      a commit of content that is stored already, as by `ctx artifact put`
  ctx checkpoint --head main --expect ctx-8d3f --key run-17-turn-3 turn-3.jsonl
      fails with exit code 3 when somebody moved `main`; is safe to repeat";

/// Checks in content as a commit and prints its id
///
/// The content is what was added to the conversation since the parent. It is durable when the id is printed.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Checkpoint {
    /// The content: a file, or `-` for standard input
    #[arg(value_name = "FILE", value_parser = Input::parser(), required_unless_present = "artifact")]
    file: Option<Input>,
    /// The content, as an artifact that is in this space already; nothing is stored again
    #[arg(long, value_name = "ART", conflicts_with_all = ["file", "allow_empty"])]
    artifact: Option<ArtifactPrefix>,
    /// How the content is written; `ctx formats` lists what is known, other names are stored as they are
    /// [default: the parent's, or by the file's ending: .jsonl, .txt, .md]
    #[arg(long, value_name = "F")]
    format: Option<Format>,
    /// What the content is: new entries, a summary that replaces what came before, or all of the conversation
    #[arg(long = "type", value_name = "TYPE", default_value = "delta", value_parser = values::commit_kind())]
    kind: CommitKind,
    /// The commit before [default: where --head points]
    #[arg(long, value_name = "ID|HEAD")]
    parent: Option<Reference>,
    /// A head to point to the new commit, made if need be
    #[arg(long, value_name = "NAME")]
    head: Option<HeadName>,
    /// Where the head must be now, or `none` if it must not exist; elsewhere is a conflict (exit code 3)
    #[arg(long, value_name = "ID|none", requires = "head")]
    expect: Option<StartPoint>,
    /// What caused the checkpoint
    #[arg(long, value_name = "T", default_value = "explicit", value_parser = values::trigger())]
    trigger: Trigger,
    /// Another commit whose conclusion this one brings back, such as the end of a fork
    #[arg(long = "merge", value_name = "ID|HEAD")]
    merges: Vec<Reference>,
    /// Messages in the content [default: counted, where the format tells how]
    #[arg(long, value_name = "N", value_parser = values::count)]
    messages: Option<Count>,
    /// Tokens in the content
    #[arg(long, value_name = "N", value_parser = values::count)]
    tokens: Option<Count>,
    /// When the step was taken [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Option<When>,
    /// Makes a retry safe: the same key and request give the same commit, another request is a conflict
    #[arg(long, value_name = "KEY")]
    key: Option<IdempotencyKey>,
    /// Stores the bytes as they are, well formed or not
    #[arg(long)]
    no_check: bool,
    /// Makes a commit even of no content
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    statements: Statements,
    #[command(flatten)]
    provenance: ProvenanceArgs,
}

/// What to say about the new commit.
#[derive(Debug, Args)]
#[command(next_help_heading = "Annotations")]
struct Statements {
    /// What the agent understands now, in a few words
    #[arg(long, value_name = "TEXT", value_parser = values::text)]
    summary: Option<SummaryText>,
    /// A word to attach
    #[arg(long = "tag", value_name = "T")]
    tags: Vec<Tag>,
    /// A label to set
    #[arg(long = "label", value_name = "K=V")]
    labels: Vec<LabelValue>,
}

impl Checkpoint {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let content = match &self.file {
            // A file that cannot be read is told of before the store is looked at.
            Some(file) => Some((file.clone(), file.open()?)),
            None => None,
        };
        let engine = invocation.open_as(self.provenance.principal.as_ref()).await?;
        let (allow_empty, stored) = (self.allow_empty, self.artifact.clone());
        let mut request = self.request(&engine, invocation).await?;
        let Some((input, OpenInput { reader, size })) = content else {
            let prefix = stored.expect("the grammar wants a file or an artifact");
            let made = check_in_stored(&engine, request, &prefix).await?;
            return print_made(&made, output);
        };
        let mut content = CheckpointContent::Stream(Box::new(output.progress("Reading", size).track(reader)));
        if allow_empty {
            content = peek(content).map_err(|source| Error::Read { input: input.clone(), source })?;
            if matches!(content, CheckpointContent::Bytes(_)) {
                request.check = Check::Nothing;
            }
        }
        let made = engine.checkpoint(request, content).await.map_err(|error| Error::about(input, error))?;
        print_made(&made, output)
    }

    /// Finds the commits that are named and fills in what is not said.
    async fn request(self, engine: &Contexture, invocation: &Invocation) -> Result<Request> {
        let parent = match &self.parent {
            Some(reference) => Some(engine.find(reference).await?),
            None => None,
        };
        let expect = match &self.expect {
            Some(start) => Some(start.expect(engine).await?),
            None => None,
        };
        let mut merges = Vec::new();
        for reference in &self.merges {
            merges.push(engine.find(reference).await?);
        }
        let before = match (parent, &self.head) {
            (Some(parent), _) => Some(parent),
            (None, Some(head)) => engine.head(head).await?,
            (None, None) => None,
        };
        let format = match self.format {
            Some(format) => format,
            None => usual_format(engine, before, self.file.as_ref()).await?,
        };
        let mut provenance = self.provenance.resolve(&invocation.environment)?;
        if let (None, Some(before)) = (&provenance.template, before) {
            provenance.template = Capture::new(engine).role_at(before).await?;
        }
        Ok(Request {
            kind: self.kind,
            provenance,
            trigger: self.trigger,
            parent,
            head: self.head,
            expect,
            merges,
            message_count: self.messages,
            token_count: self.tokens,
            created_at: self.at.map(|at| at.resolve(engine.now())).transpose()?,
            annotations: self.statements.annotations(),
            key: self.key,
            check: if self.no_check { Check::Nothing } else { Check::WellFormed },
            ..Request::new(format)
        })
    }
}

impl Statements {
    fn annotations(self) -> Vec<Annotation> {
        let summary = self.summary.map(|text| Annotation::Summary { text });
        let tags = self.tags.into_iter().map(|tag| Annotation::Tag { tag });
        summary.into_iter().chain(tags).chain(self.labels.into_iter().map(Into::into)).collect()
    }
}

/// Prints the id of a commit that was made.
pub(crate) fn print_made(made: &Checkpointed, output: &mut Output) -> Result<()> {
    match output.shape() {
        Shape::Text => output.line(made.id),
        Shape::Json => output.document(MadeCommit::from(made)),
    }
}

/// Makes a commit of content that is in the space already: what it is in its format is seen by reading it.
async fn check_in_stored(engine: &Contexture, mut request: Request, prefix: &ArtifactPrefix) -> Result<Checkpointed> {
    let id = engine.find_artifact(prefix).await?;
    if request.check == Check::WellFormed {
        let mut measured = MeasuredContent::of(&request.format);
        engine.get_artifact(id, &mut measured).await?;
        let measure = measured
            .finish()
            .map_err(|source| contexture::Error::Malformed { format: request.format.clone(), source })?;
        request.message_count = request.message_count.or(measure.messages.map(Count::saturating));
    }
    Ok(engine.checkpoint(request, CheckpointContent::Stored(id)).await?)
}

/// Looks at content that passes by.
struct MeasuredContent {
    checker: Checker,
    problem: Option<FormatError>,
}

impl MeasuredContent {
    fn of(format: &Format) -> Self {
        Self { checker: Checker::new(Concatenation::of(format)), problem: None }
    }

    fn finish(self) -> Result<Measure, FormatError> {
        match self.problem {
            Some(problem) => Err(problem),
            None => self.checker.finish(),
        }
    }
}

impl Write for MeasuredContent {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.problem.is_none() {
            self.problem = self.checker.push(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the format of the commit before; of a first commit, the one that the file's ending tells.
async fn usual_format(engine: &Contexture, before: Option<CommitId>, input: Option<&Input>) -> Result<Format> {
    if let Some(before) = before {
        return Ok(engine.show(before).await?.commit.format);
    }
    let name = match input {
        Some(Input::File(path)) => match path.extension().and_then(OsStr::to_str) {
            Some("jsonl") => Some("jsonl"),
            Some("txt" | "md") => Some("text"),
            _ => None,
        },
        Some(Input::Stdin) | None => None,
    };
    let name = name.ok_or_else(|| Error::NoFormat { input: input.cloned() })?;
    Ok(Format::new(name).expect("the words are legal names"))
}

/// Looks whether a stream has anything in it; one that has not becomes no bytes.
fn peek(content: CheckpointContent) -> io::Result<CheckpointContent> {
    let CheckpointContent::Stream(mut reader) = content else {
        return Ok(content);
    };
    let mut start = Vec::new();
    reader.by_ref().take(1).read_to_end(&mut start)?;
    Ok(if start.is_empty() {
        CheckpointContent::Bytes(start)
    } else {
        CheckpointContent::Stream(Box::new(io::Cursor::new(start).chain(reader)))
    })
}

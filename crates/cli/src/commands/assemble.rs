//! `ctx assemble`: what a model is given, and why the rest is not.

mod packs;

use std::{ffi::OsStr, path::PathBuf};

use clap::{
    Arg, Args, Command,
    builder::{NonEmptyStringValueParser, PossibleValue, StringValueParser, TypedValueParser},
};
use contexture::{
    AssembledContext, Contexture, GivenItems, Reference, TriggerMessage,
    assembly::metrics::ContextMetrics,
    assembly::recipe::{Recipe, RecipeProvenance, SourceKind, TargetSpec},
    core::{CommitId, HeadName, Stream},
    wire::AssembledEnvelope,
};
use contexture_assembly::{TokenCounter, counter, counters};

use crate::{
    commands::envelope::render,
    destination::{Destination, DraftFile},
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    last_session::or_last,
    output::{Output, Shape},
    recipes::Recipes,
    values::Correlation,
};

/// Largest trigger, list of items or data that is read.
const MAX_MEBIBYTES: u64 = 64;

const EXAMPLES: &str = r#"Examples:
  ctx assemble resume --head main --trigger "Go on." > request.json
      the conversation of `main` as a request for Anthropic's API, under the recipe's budget
  ctx assemble resume --head main --max-tokens 20000 --target openai-chat -o request.json
      the same for OpenAI's API, under another budget
  ctx assemble resume --head main --trigger "Go on." --model claude-opus-4-7 --max-output 8000 > request.json
      a request that can be sent: curl -d @request.json with your key does it
  ctx assemble prompt --items notes.json --file src/main.rs --trigger - < question.txt
      a prompt of notes, a file and a question
  ctx envelope why last ctx-8d3f
      why a turn is not in it
  ctx assemble --packs packs.json
      texts with priorities, without a store; `ctx assemble --packs - --json` prints every decision

Items:
  [{"id": "note", "content": "...", "compact": "...", "priority": "high", "kind": "manual_note",
    "title": "...", "segment": "notes", "visibility": ["model"], "uri": "..."}]
  Only `content` is needed, or `artifact` with the id of an artifact of the store.

Packs:
  {"maxTokens": 1000, "maxChars": 20000, "packs": [
    {"id": "task", "priority": "required", "full": "Fix the test.\n"},
    {"id": "log", "priority": "low", "full": "...", "compact": "2 tests failed.\n"}]}
  priority  required, high, medium (if not given) or low; "required": true overrules it
  order     place in the prompt (if not given: the place in the list)
  preserve  true for what is cut last
  Without maxTokens there is no budget. maxChars is 500000 if not given; it counts UTF-16 code units and always
  holds: optional packs become compact or go, then required ones are cut."#;

/// Assembles a context under a budget, and keeps an envelope that proves it
///
/// A recipe says which sources there are, in which segments, under which limits and for whom: `ctx recipe list` shows
/// those that come with the program. What a model is given goes to standard output or to -o FILE; how the budget was
/// spent is told beside it. `ctx envelope` shows, explains and replays what was assembled.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Assemble {
    /// A recipe: its name or its file
    #[arg(value_name = "RECIPE", required_unless_present = "packs")]
    recipe: Option<PathBuf>,
    /// The head whose conversation goes in [default: the last session here]
    #[arg(long, value_name = "H", conflicts_with = "packs")]
    head: Option<HeadName>,
    /// The commit or session whose conversation goes in
    #[arg(long, value_name = "ID|HEAD|SESSION", conflicts_with_all = ["head", "packs"])]
    commit: Option<Reference>,
    /// What the model is asked now; - reads it from standard input
    #[arg(long, value_name = "TEXT|-", conflicts_with = "packs")]
    trigger: Option<String>,
    /// JSON that belongs to the trigger
    #[arg(long, value_name = "FILE", value_parser = Input::parser(), requires = "trigger")]
    data: Option<Input>,
    /// Items of your own, as JSON
    #[arg(long, value_name = "FILE", value_parser = Input::parser(), conflicts_with = "packs")]
    items: Option<Input>,
    /// A file to read, beside those of the recipe; can be given several times
    #[arg(long = "file", value_name = "PATH", conflicts_with = "packs")]
    files: Vec<PathBuf>,
    /// Who it is for and in which form: AUDIENCE, RENDERING or AUDIENCE:RENDERING; can be given several times
    #[arg(long = "target", value_name = "T", conflicts_with = "packs")]
    targets: Vec<TargetSpec>,
    /// Takes the place of the recipe's budget
    #[arg(long, value_name = "N", conflicts_with = "packs", value_parser = clap::value_parser!(u64).range(..1 << 53))]
    max_tokens: Option<u64>,
    /// The model to name in a request, which can be sent as it is then
    #[arg(long, value_name = "M", conflicts_with = "packs", value_parser = NonEmptyStringValueParser::new())]
    model: Option<String>,
    /// Tokens that the answer may have, which the budget keeps for it
    #[arg(long, value_name = "N", conflicts_with = "packs", value_parser = clap::value_parser!(u64).range(1..1 << 53))]
    max_output: Option<u64>,
    /// What the assembly continues, if not the head and the recipe tell
    #[arg(long, value_name = "S", conflicts_with = "packs")]
    stream: Option<Stream>,
    /// An id that your runtime gave, such as turn_id=42; can be given several times
    #[arg(long = "id", value_name = "KEY=VALUE", conflicts_with = "packs")]
    correlation: Vec<Correlation>,
    /// Where what the model is given goes
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parser(), conflicts_with = "packs")]
    output: Option<Destination>,
    /// Packs to choose from, as JSON, instead of a recipe
    #[arg(long, value_name = "FILE", value_parser = Input::parser(), conflicts_with = "recipe")]
    packs: Option<Input>,
    /// How tokens are counted, if not as the recipe says or as fits the target
    #[arg(long, value_name = "NAME", value_parser = CounterName)]
    counter: Option<&'static dyn TokenCounter>,
}

impl Assemble {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        if let Some(packs) = self.packs {
            let counter = self.counter.map_or_else(|| counter("chars4"), Ok).expect("chars4 is a counter");
            return packs::run(packs, counter, output);
        }
        let destination = self.output.clone();
        // Nothing is opened or read for a recipe that cannot be used.
        let recipe = self.recipe(&Recipes::of(invocation)?, output)?;
        let engine = invocation.open().await?;
        let named = self.conversation(&recipe.1, &engine, output).await?;
        let request = self.request(recipe, named)?;
        if request.commit.is_none() && request.recipe.has(SourceKind::History) {
            output.status("No conversation goes in: there is no session here; give --head or --commit.");
        }
        let begin = engine.now();
        let assembled = engine.assemble(&request).await?;
        if invocation.environment.shows_context_metrics {
            let took = engine.now().as_micros().saturating_sub(begin.as_micros()).max(0).cast_unsigned() / 1000;
            let metrics = ContextMetrics::of(&assembled.document, took);
            output.status(serde_json::to_string(&metrics).expect("figures have text keys"));
        }
        publish(&assembled, destination.as_ref(), output)
    }

    fn recipe(&self, recipes: &Recipes, output: &mut Output) -> Result<(RecipeProvenance, Recipe)> {
        let wanted = self.recipe.as_deref().unwrap_or_else(|| "".as_ref());
        let (provenance, mut recipe) = recipes.find(wanted, output)?.recipe()?;
        if !self.targets.is_empty() {
            recipe.targets.clone_from(&self.targets);
        }
        if let Some(max_tokens) = self.max_tokens {
            recipe.budget.limits.max_tokens = Some(max_tokens);
            recipe.budget.targets.values_mut().for_each(|limits| limits.max_tokens = None);
            // What is kept for the answer and for segments shrinks with the whole.
            let limits = &mut recipe.budget.limits;
            limits.reserved_tokens = limits.reserved_tokens.map(|reserved| reserved.min(max_tokens / 4));
            let rest = max_tokens - limits.reserved_tokens.unwrap_or(0);
            let reserves: u64 = recipe.segments.iter().map(|segment| segment.reserve).sum();
            if reserves > rest / 2 {
                for segment in &mut recipe.segments {
                    let share = u128::from(segment.reserve) * u128::from(rest / 2) / u128::from(reserves);
                    segment.reserve = u64::try_from(share).unwrap_or(segment.reserve);
                }
            }
        }
        if let Some(model) = &self.model {
            recipe.model = Some(model.clone());
        }
        if let Some(max_output) = self.max_output {
            recipe.max_output = Some(max_output);
            // What is kept for the answer is what it may have.
            if recipe.budget.limits.max_tokens.is_some() {
                recipe.budget.limits.reserved_tokens = Some(max_output);
                recipe.budget.targets.values_mut().for_each(|limits| limits.reserved_tokens = None);
            }
        }
        let is_named = self.model.is_some() || self.max_output.is_some();
        for target in recipe.targets.iter().filter(|target| is_named && !target.rendering.is_request()) {
            output.status(format_args!("{target} is no request, so it names no model."));
        }
        if let Some(counter) = self.counter {
            recipe.counter = Some(counter.name().to_owned());
        }
        Ok((provenance, recipe))
    }

    /// Finds the commit whose conversation goes in, and the head that was named for it. Without a name it is that of the
    /// last session here, if the recipe asks for one and there is one.
    async fn conversation(
        &self,
        recipe: &Recipe,
        engine: &Contexture,
        output: &mut Output,
    ) -> Result<(Option<CommitId>, Option<HeadName>)> {
        match (&self.head, &self.commit) {
            (Some(head), _) => Ok((Some(engine.find(&head.as_str().parse()?).await?), Some(head.clone()))),
            (None, Some(commit)) => Ok((Some(engine.find(commit).await?), None)),
            (None, None) if recipe.has(SourceKind::History) => match engine.last_session().await {
                Ok(_) => {
                    let (commit, head) = engine.find_with_head(&or_last(None, engine, output).await?).await?;
                    Ok((Some(commit), head))
                }
                Err(contexture::Error::NoSessions { .. }) => Ok((None, None)),
                Err(error) => Err(error.into()),
            },
            (None, None) => Ok((None, None)),
        }
    }

    fn request(
        self,
        (provenance, recipe): (RecipeProvenance, Recipe),
        (commit, head): (Option<CommitId>, Option<HeadName>),
    ) -> Result<contexture::Assemble> {
        let trigger = match self.trigger {
            None => None,
            Some(text) => {
                let text = if text == "-" { String::from_utf8_lossy(&read(&Input::Stdin)?).into_owned() } else { text };
                let data = match &self.data {
                    None => None,
                    Some(input) => {
                        let json = serde_json::from_slice(&read(input)?);
                        Some(json.map_err(|source| Error::TriggerData { input: input.clone(), source })?)
                    }
                };
                Some(TriggerMessage { text, data })
            }
        };
        let items = match &self.items {
            None => Vec::new(),
            Some(input) => {
                GivenItems::parse(&read(input)?).map_err(|source| Error::Content { input: input.clone(), source })?.0
            }
        };
        let directory =
            std::env::current_dir().map_err(|source| Error::Read { input: Input::File(".".into()), source })?;
        Ok(contexture::Assemble {
            recipe,
            provenance,
            commit,
            head,
            stream: self.stream,
            trigger,
            items,
            files: self.files,
            directory,
            channel: None,
            correlation: self.correlation.into_iter().map(Correlation::into_parts).collect(),
        })
    }
}

fn read(input: &Input) -> Result<Vec<u8>> {
    input
        .read_up_to(MAX_MEBIBYTES * 1024 * 1024)?
        .ok_or_else(|| Error::LargeInput { input: input.clone(), max_mebibytes: MAX_MEBIBYTES })
}

/// Hands out what was assembled, and tells how the budget was spent.
fn publish(assembled: &AssembledContext, destination: Option<&Destination>, output: &mut Output) -> Result<()> {
    let AssembledContext { envelope, document, renderings, .. } = assembled;
    if let Some(Destination::File(path)) = destination {
        for (target, bytes) in renderings {
            let path = match renderings.len() {
                1 => path.clone(),
                _ => PathBuf::from(format!("{}.{}-{}", path.display(), target.audience, target.rendering)),
            };
            let mut draft = DraftFile::start(&path)?;
            draft.write_all(bytes)?;
            draft.publish()?;
        }
    }
    if output.shape() == Shape::Json {
        for gap in &document.gaps {
            output.status(render::gap_line(gap));
        }
    }
    let to_stdout = !matches!(destination, Some(Destination::File(_)));
    match output.shape() {
        Shape::Json if to_stdout => output.document(AssembledEnvelope::from(assembled)),
        Shape::Json => output.document(AssembledEnvelope::without_renderings(assembled)),
        Shape::Text => {
            if to_stdout {
                for (_, bytes) in renderings {
                    output.data().write_all(bytes).map_err(Error::Stdout)?;
                }
                if renderings.last().is_some_and(|(_, bytes)| !bytes.ends_with(b"\n")) {
                    output.line("")?;
                }
                output.flush()?;
                for line in render::brief(*envelope, document) {
                    output.status(line);
                }
                return Ok(());
            }
            render::brief(*envelope, document).into_iter().try_for_each(|line| output.line(line))
        }
    }
}

/// Reads the name of a counter, and tells shells and help texts which there are.
#[derive(Debug, Clone, Copy)]
struct CounterName;

impl TypedValueParser for CounterName {
    type Value = &'static dyn TokenCounter;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Self::Value, clap::Error> {
        StringValueParser::new().try_map(|name| counter(&name)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(counters().iter().map(|counter| PossibleValue::new(counter.name()))))
    }
}

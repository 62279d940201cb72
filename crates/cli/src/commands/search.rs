//! `ctx search`: where something was said.

use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use contexture::{
    Contexture, FoundCommit, FoundPassage, Indexed, Indexing, PassageKind, Query, Reference, SearchFilter,
    SearchRequest, Snippet,
    core::{Format, Principal, Role, RuntimeSessionId},
    wire::{HeadsByCommit, SearchHit, SearchIndex},
};
use contexture_capture::Runtime;

use crate::{
    commit_text::{self, CommitText},
    error::{Error, Result},
    invocation::Invocation,
    output::{self, Output, Palette, Shape},
    time::When,
    values::LabelValue,
};

/// Fewer journal records than this are taken in before anybody could look.
const WORTH_SHOWING_RECORDS: u64 = 500;
/// Passages that are shown of one commit.
const MAX_HITS: u32 = 3;

const EXAMPLES: &str = "\
Examples:
  ctx search race condition
      entries that hold both words
  ctx search '\"cannot borrow\" E0502' --role tool
      what tools said, with this phrase
  ctx search 'src/main.rs -test' --since '7 days ago' --kind tool-call
  ctx search 'migrat*' --head main --json

Queries:
  word      the word, in any case; all words of a query must occur in one entry
  \"a b\"     these words, one after the other; src/main.rs means \"src main rs\"
  pre*      words that start so
  -word     not this word; likewise -\"a b\" and -pre*";

/// Finds where something was said
///
/// Looks through messages, thinking, tool calls and their results, summaries and labels of the whole space. What was
/// checked in since the last search is taken into the index first. The commits that match best come first; the newest
/// of equals.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Search {
    /// What to look for
    #[arg(value_name = "TEXT", required_unless_present = "rebuild")]
    text: Vec<String>,
    /// Only this commit and those before it
    #[arg(long, value_name = "ID|HEAD")]
    head: Option<Reference>,
    /// Only what is said in this role
    #[arg(long, value_name = "R", value_parser = role())]
    role: Option<Role>,
    /// Only this kind of thing
    #[arg(long, value_name = "K", value_parser = kind())]
    kind: Option<PassageKind>,
    /// Only commits in this format
    #[arg(long, value_name = "F")]
    format: Option<Format>,
    /// Only commits of this runtime, such as claude-code
    #[arg(long, value_name = "R")]
    runtime: Option<String>,
    /// Only commits of this principal
    #[arg(long, value_name = "P")]
    principal: Option<Principal>,
    /// Only commits of this session
    #[arg(long, value_name = "S")]
    session: Option<RuntimeSessionId>,
    /// Only commits with this label, and those after them until it is set anew
    #[arg(long, value_name = "KEY=VALUE")]
    label: Option<LabelValue>,
    /// Only commits made at or after this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    since: Option<When>,
    /// Only commits made before this time
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    until: Option<When>,
    /// Shows so many commits at most
    #[arg(short = 'n', value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Drops the index and makes it anew, before anything is looked for
    #[arg(long)]
    rebuild: bool,
}

impl Search {
    pub(crate) async fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        // A query that cannot be understood is refused before anything is done.
        let text = self.text.join(" ");
        let query = if self.text.is_empty() { None } else { Some(text.parse::<Query>()?) };
        let engine = invocation.open().await?;
        if self.rebuild {
            engine.discard_index().await?;
        }
        let indexed = update(&engine, output).await?;
        let Some(query) = query else {
            return tell_index(indexed, output);
        };
        let request = self.request(query, &engine, invocation).await?;
        let found = engine.search(&request).await?;
        warn(indexed, output);
        if found.is_empty() {
            return Err(Error::NothingFound { text, passages: indexed.passages, bytes: indexed.bytes });
        }
        match output.shape() {
            Shape::Json => found.into_iter().flat_map(SearchHit::all_of).try_for_each(|hit| output.document(hit)),
            Shape::Text => tell_person(&engine, &found, output).await,
        }
    }

    async fn request(self, query: Query, engine: &Contexture, invocation: &Invocation) -> Result<SearchRequest> {
        let now = invocation.now()?;
        let ancestors_of = match &self.head {
            Some(head) => Some(engine.find(head).await?),
            None => None,
        };
        let runtime = self.runtime.as_deref().and_then(Runtime::named);
        let filter = SearchFilter {
            ancestors_of,
            role: self.role,
            kind: self.kind,
            format: self.format,
            runtime_formats: runtime.map(|runtime| runtime.formats().collect()).unwrap_or_default(),
            runtime: self.runtime,
            principal: self.principal,
            session: self.session,
            label: self.label.map(LabelValue::into_parts),
            since: self.since.map(|since| since.resolve(now)).transpose()?,
            until: self.until.map(|until| until.resolve(now)).transpose()?,
        };
        Ok(SearchRequest { query, filter, max_commits: self.limit, max_hits: MAX_HITS })
    }
}

/// Takes in what is new.
pub(crate) async fn update(engine: &Contexture, output: &Output) -> Result<Indexed> {
    Ok(engine.update_index(&mut progress(output)).await?)
}

/// Shows how far the index is, where that takes long, for as long as the value lives.
pub(crate) fn progress(output: &Output) -> impl FnMut(Indexing) + Send + use<> {
    let bar = output.progress("Indexing", None);
    let mut is_long = false;
    move |Indexing { done, total }: Indexing| {
        is_long |= total - done >= WORTH_SHOWING_RECORDS;
        if is_long {
            bar.advance("journal records", done, total);
        }
    }
}

/// Tells what the results cannot show.
fn warn(indexed: Indexed, output: &mut Output) {
    if indexed.records_behind > 0 {
        let records = output::counted(indexed.records_behind, "journal record");
        output.status(format_args!("The index cannot be written here and is {records} behind."));
    }
    if indexed.unreadable_commits > 0 {
        let commits = output::counted(indexed.unreadable_commits, "commit");
        output.status(format_args!("The content of {commits} cannot be read: `ctx fsck` says why."));
    }
}

fn tell_index(indexed: Indexed, output: &mut Output) -> Result<()> {
    warn(indexed, output);
    if output.shape() == Shape::Json {
        return output.document(SearchIndex { index: indexed });
    }
    let (passages, size) = (output::counted(indexed.passages, "passage"), output::size(indexed.bytes));
    output.status(format_args!("Indexed {passages} ({size} of text)."));
    Ok(())
}

async fn tell_person(engine: &Contexture, found: &[FoundCommit], output: &mut Output) -> Result<()> {
    let labels = HeadsByCommit::load(engine).await?;
    let palette = output.palette;
    let text = CommitText { palette: &palette, labels: &labels, now: engine.now() };
    for (number, FoundCommit { commit, passages, matching_passages }) in found.iter().enumerate() {
        if number > 0 {
            output.line("")?;
        }
        // The head of a session says which it is.
        let session = commit.commit.provenance.session.as_ref().filter(|_| labels.of(&commit.id).is_empty());
        let session = session.map(|session| format!("{0}, session {session}{0:#}", palette.faint));
        let words = text.line(commit, commit_text::summary(commit).as_deref());
        output.line(format_args!("{words}{}", session.unwrap_or_default()))?;
        for passage in passages {
            output.line(format_args!("  {}", passage_text(passage, &palette)))?;
        }
        let left = matching_passages.saturating_sub(passages.len() as u64);
        if left > 0 {
            let faint = palette.faint;
            output.line(format_args!("  {faint}and {} more{faint:#}", output::count(left)))?;
        }
    }
    if let Some(FoundCommit { commit, .. }) = found.first() {
        let id = commit.id.short();
        output.status(format_args!(
            "`ctx cat {id}` shows the conversation up to there, `ctx resume {id}` goes on with it."
        ));
    }
    Ok(())
}

/// Tells a passage in one line.
fn passage_text(passage: &FoundPassage, palette: &Palette) -> String {
    let FoundPassage { role, kind, snippet, .. } = passage;
    let strong = palette.strong;
    let who = match role {
        Some(role) if *kind == PassageKind::Text => role.to_string(),
        // Only tools answer with results, and only models call them or think.
        Some(_) | None => kind.to_string(),
    };
    let snippet = snippet.as_ref().map_or_else(|| "(it cannot be read)".to_owned(), |snippet| marked(snippet, palette));
    format!("{strong}{who}:{strong:#} {snippet}")
}

/// Writes a snippet with its matches set off.
fn marked(snippet: &Snippet, palette: &Palette) -> String {
    let found = palette.found;
    // Characters are replaced one by one, so what matches stays where it is.
    let text = output::printable(&snippet.text);
    let mut line = String::new();
    let mut matches = snippet.matches.iter().peekable();
    for (place, letter) in text.chars().enumerate() {
        if matches.peek().is_some_and(|range| range.start == place) {
            line.push_str(&found.render().to_string());
        }
        line.push(letter);
        if matches.next_if(|range| range.end == place + 1).is_some() {
            line.push_str(&found.render_reset().to_string());
        }
    }
    line
}

fn role() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::ALL.iter().map(|role| role.as_str())).try_map(|word| word.parse())
}

fn kind() -> impl TypedValueParser<Value = PassageKind> {
    PossibleValuesParser::new(PassageKind::ALL.iter().map(|kind| kind.as_str())).try_map(|word| word.parse())
}

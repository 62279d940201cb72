//! `ctx trust`: recipes of projects that may count.

use std::path::{self, Path, PathBuf};

use clap::Args;
use contexture::wire::{TrustState, TrustedRecipe};
use contexture_assembly::recipe::{Recipe, RecipeTrust, SourceInput};

use crate::{
    conversation,
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    output::{self, Output, Shape},
    recipes::{self, Project, Recipes, TrustEntry, TrustedRecipes},
};

/// Columns that the beginning of a text may take.
const TEXT_COLUMNS: usize = 70;

const EXAMPLES: &str = "\
Examples:
  ctx trust
      shows the recipes of this project and trusts them as they are, if you say so
  ctx trust .ctx/recipes/fix.toml
  ctx trust --dry-run --json
  ctx trust --list
  ctx trust --revoke
      trusts no recipe of this project any more";

/// Trusts the recipes of a project, so that they count by their names
///
/// A repository can bring recipes of its own, in `.ctx/recipes`. They say what a model is given, so they count only once
/// you trust them: until then a name that is also that of a recipe of yours or of the program means that one. What is
/// trusted is what a recipe says now; when that changes, it has to be trusted again. The files that it names are read
/// only inside the project, trusted or not.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Trust {
    /// A recipe of a project, or a directory of one [default: the working directory]
    #[arg(value_name = "DIR|RECIPE")]
    subject: Option<PathBuf>,
    /// Lists what is trusted, in all projects
    #[arg(long, conflicts_with_all = ["subject", "revoke", "dry_run", "yes"])]
    list: bool,
    /// Takes the trust back
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    consent: TrustConsent,
}

/// Whether what is shown is to be trusted.
#[derive(Debug, Args)]
struct TrustConsent {
    /// Only shows what would be trusted
    #[arg(long, conflicts_with_all = ["revoke", "yes"])]
    dry_run: bool,
    /// Trusts without asking
    #[arg(short, long)]
    yes: bool,
}

/// A recipe that may be trusted.
struct Candidate {
    entry: TrustEntry,
    recipe: Recipe,
    state: TrustState,
}

impl Trust {
    pub(crate) fn run(self, invocation: &Invocation, output: &mut Output) -> Result<()> {
        let subject = self.subject.as_deref().unwrap_or(Path::new("."));
        if self.list {
            return list(&TrustedRecipes::of(invocation), output);
        }
        if self.revoke {
            return revoke(subject, &TrustedRecipes::of(invocation), output);
        }
        let (recipes, candidates) = candidates(subject, invocation, output)?;
        for candidate in &candidates {
            match output.shape() {
                Shape::Json => output.document(candidate.document())?,
                Shape::Text => candidate.tell(output)?,
            }
        }
        let new: Vec<_> = candidates.iter().filter(|candidate| candidate.state != TrustState::Trusted).collect();
        if new.is_empty() {
            output.status(match candidates.len() {
                0 => format!("There is no recipe to trust in {}.", shown(recipes.project().top())),
                _ => "It is trusted already.".to_owned(),
            });
        } else if self.consent.is_given(output)? {
            new.iter().try_for_each(|candidate| recipes.trusted().add(&candidate.entry))?;
            output.status(format_args!("{} trusted.", output::counted(new.len() as u64, "recipe")));
        }
        Ok(())
    }
}

impl TrustConsent {
    /// Asks whether to trust what was shown, unless that was said already.
    fn is_given(&self, output: &mut Output) -> Result<bool> {
        if self.dry_run || self.yes {
            return Ok(self.yes);
        }
        output.confirms("Trust what is shown?")
    }
}

impl Candidate {
    fn document(&self) -> TrustedRecipe {
        let Self { entry, recipe, state } = self;
        let files = recipe.segments.iter().flat_map(|segment| &segment.sources).flat_map(|source| source.input.files());
        TrustedRecipe {
            description: Some(recipe.description.clone()),
            files: Some(files.map(str::to_owned).collect()),
            ..document(entry, *state)
        }
    }

    /// Shows what the recipe gives to a model.
    fn tell(&self, output: &mut Output) -> Result<()> {
        let Self { entry, recipe, state } = self;
        let strong = output.palette.strong;
        let (path, digest) = (shown(&entry.path), entry.digest.short());
        output.line(format_args!("{strong}{path}{strong:#}  {digest}  {state}"))?;
        if !recipe.description.is_empty() {
            output.line(format_args!("  {}", output::first_line(&recipe.description)))?;
        }
        for segment in &recipe.segments {
            for source in &segment.sources {
                let (segment, kind) = (output::first_line(&segment.name), source.input.kind());
                let about = conversation::clip(&output::first_line(&about(&source.input)), TEXT_COLUMNS);
                output.line(format!("  {segment}: {kind} {about}").trim_end())?;
            }
        }
        Ok(())
    }
}

/// Finds the recipes that a person means: one by its name or file, or all that a directory finds.
fn candidates(subject: &Path, invocation: &Invocation, output: &mut Output) -> Result<(Recipes, Vec<Candidate>)> {
    let (recipes, meant) = meant_by(subject, invocation)?;
    let is_only_one = !subject.is_dir();
    let mut candidates = Vec::new();
    for (file, input) in meant {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let found = recipes.of_project(name, &file, input, RecipeTrust::Untrusted);
        let before = recipes.trusted().digest_of(recipes.project().top(), &file);
        match found.recipe() {
            Ok((_, recipe)) => {
                let digest = recipe.digest();
                let state = match before {
                    None => TrustState::New,
                    Some(before) if before == digest => TrustState::Trusted,
                    Some(_) => TrustState::Changed,
                };
                let entry = TrustEntry { project: recipes.project().top().to_owned(), path: file, digest };
                candidates.push(Candidate { entry, recipe, state });
            }
            // The others may still be trusted.
            Err(error) if !is_only_one => {
                output.status(format_args!("Passed over: {}.", output::printable(&error.in_one_line())));
            }
            Err(error) => return Err(error),
        }
    }
    Ok((recipes, candidates))
}

/// Returns the files that a person means, from the top of their project, by the names that they have in messages.
fn meant_by(subject: &Path, invocation: &Invocation) -> Result<(Recipes, Vec<(PathBuf, Input)>)> {
    if subject.is_dir() {
        let recipes = Recipes::around(subject, invocation)?;
        let project = recipes.project();
        let files = project.recipes().0.into_iter().map(|(_, file)| (file.clone(), Input::File(project.shown(&file))));
        let files = files.collect();
        return Ok((recipes, files));
    }
    if !subject.exists() {
        let recipes = Recipes::of(invocation)?;
        let named = recipes.project().recipes().0.into_iter().find(|(name, _)| subject == Path::new(name));
        if let Some((_, file)) = named {
            let input = Input::File(recipes.project().shown(&file));
            return Ok((recipes, vec![(file, input)]));
        }
    }
    let unreadable = |source| Error::Read { input: Input::File(subject.to_owned()), source };
    let path = subject.canonicalize().map_err(unreadable)?;
    let recipes = Recipes::around(path.parent().unwrap_or(&path), invocation)?;
    let file = recipes.project().file_at(&path).map(|file| (file, Input::File(subject.to_owned())));
    Ok((recipes, file.into_iter().collect()))
}

/// Shows what is trusted, and whether that is still what is there.
fn list(trusted: &TrustedRecipes, output: &mut Output) -> Result<()> {
    for entry in trusted.list()? {
        let state = state_of(&entry);
        match output.shape() {
            Shape::Json => output.document(document(&entry, state))?,
            Shape::Text => {
                let (project, path) = (shown(&entry.project), shown(&entry.path));
                output.line(format_args!("{project}  {path}  {}  {state}", entry.digest.short()))?;
            }
        }
    }
    Ok(())
}

/// Takes trust back: from a recipe, or from all of a project. What was trusted may be gone.
fn revoke(subject: &Path, trusted: &TrustedRecipes, output: &mut Output) -> Result<()> {
    let unreadable = |source| Error::Read { input: Input::File(subject.to_owned()), source };
    let real = subject.canonicalize().or_else(|_| path::absolute(subject)).map_err(unreadable)?;
    let top = if real.is_dir() { Some(Project::around(&real).map_err(unreadable)?.top().to_owned()) } else { None };
    let is_meant =
        |entry: &TrustEntry| entry.project.join(&entry.path) == real || entry.project == *top.as_ref().unwrap_or(&real);
    let meant: Vec<_> = trusted.list()?.into_iter().filter(is_meant).collect();
    for entry in &meant {
        trusted.remove(entry)?;
        match output.shape() {
            Shape::Json => output.document(document(entry, TrustState::Revoked))?,
            Shape::Text => output.line(format_args!("{}  {}", shown(&entry.path), TrustState::Revoked))?,
        }
    }
    if meant.is_empty() {
        output.status("None of it was trusted.");
    }
    Ok(())
}

/// Tells what has become of a recipe since it was trusted.
fn state_of(entry: &TrustEntry) -> TrustState {
    let Ok(project) = Project::around(&entry.project) else { return TrustState::Gone };
    match project.read(&entry.path) {
        Err(refusal) if refusal.is_absence() => TrustState::Gone,
        Ok(text) if recipes::digest_of(&entry.path, &text) == Some(entry.digest) => TrustState::Trusted,
        Ok(_) | Err(_) => TrustState::Changed,
    }
}

fn document(entry: &TrustEntry, state: TrustState) -> TrustedRecipe {
    TrustedRecipe {
        project: entry.project.display().to_string(),
        path: entry.path.display().to_string(),
        digest: entry.digest,
        state,
        description: None,
        files: None,
    }
}

/// Tells what a source gives, as far as the recipe says it.
fn about(input: &SourceInput) -> String {
    match input {
        SourceInput::System { text: Some(text), .. } | SourceInput::Text { text, .. } => text.clone(),
        SourceInput::Retrieval { query, .. } => query.clone().unwrap_or_default(),
        SourceInput::Topic { topic, .. } => topic.clone(),
        SourceInput::System { text: None, .. }
        | SourceInput::Instructions { .. }
        | SourceInput::Files { .. }
        | SourceInput::History { .. }
        | SourceInput::Missing
        | SourceInput::Items
        | SourceInput::Channel { .. }
        | SourceInput::SkipHints
        | SourceInput::Trigger => input.files().collect::<Vec<_>>().join(", "),
    }
}

fn shown(path: &Path) -> String {
    output::printable(&path.to_string_lossy()).into_owned()
}

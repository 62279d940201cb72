//! Recipes by name: where they lie, and which of several with one name counts.

mod project;
mod trust;

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
};

use contexture::{FileRefusal, core::ArtifactId};
use contexture_assembly::recipe::{self, BuiltIn, Recipe, RecipeProvenance, RecipeRefusal, RecipeTrust, Syntax};

use crate::{
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
    output::{self, Output},
    shell,
};
pub(crate) use project::Project;
pub(crate) use trust::{TrustEntry, TrustedRecipes};

/// Largest recipe that is read.
const MAX_MEBIBYTES: u64 = 1;
const MAX_BYTES: u64 = MAX_MEBIBYTES * 1024 * 1024;

/// The places where recipes are looked for.
#[derive(Debug)]
pub(crate) struct Recipes {
    project: Project,
    trusted: TrustedRecipes,
    /// The directory of the user.
    user: Option<PathBuf>,
}

/// A recipe that was found and read.
#[derive(Debug)]
pub(crate) struct FoundRecipe {
    /// What people type to get it.
    pub(crate) name: String,
    pub(crate) provenance: RecipeProvenance,
    /// What was read, by the name that it has in messages.
    pub(crate) input: Input,
    /// What it says, which may be no recipe; or why it was not read.
    pub(crate) content: Result<Result<Recipe, RecipeRefusal>>,
}

/// A place where something lies that has the name of a recipe.
#[derive(Debug, Clone)]
enum RecipePlace {
    /// A file of the project, from its top.
    Project(PathBuf),
    /// A file of the user.
    User(PathBuf),
    BuiltIn(BuiltIn),
}

impl Recipes {
    /// Looks where the program was started and where its user keeps settings.
    pub(crate) fn of(invocation: &Invocation) -> Result<Self> {
        let here = env::current_dir().map_err(|source| Error::Read { input: Input::File(".".into()), source })?;
        Self::around(&here, invocation)
    }

    /// Looks in a directory, instead of where the program was started.
    pub(crate) fn around(directory: &Path, invocation: &Invocation) -> Result<Self> {
        let unreadable = |source| Error::Read { input: Input::File(directory.to_owned()), source };
        let project = Project::around(directory).map_err(unreadable)?;
        let user = invocation.environment.config_directory.as_ref().map(|config| config.join("recipes"));
        Ok(Self { project, trusted: TrustedRecipes::of(invocation), user })
    }

    /// Returns the project.
    pub(crate) fn project(&self) -> &Project {
        &self.project
    }

    /// Returns which recipes of projects are trusted.
    pub(crate) fn trusted(&self) -> &TrustedRecipes {
        &self.trusted
    }

    /// Finds a recipe by its name or the path of its file. What looks like a path is one.
    ///
    /// What has the name and does not count, because nobody trusts it, is told.
    pub(crate) fn find(&self, wanted: &Path, output: &mut Output) -> Result<FoundRecipe> {
        if wanted.as_os_str() == "-" {
            return Ok(given(name_of(wanted), Input::Stdin));
        }
        let Some(name) = wanted.to_str().filter(|_| !is_path(wanted)) else {
            return Ok(self.at_path(wanted));
        };
        let mut known = self.all(output)?;
        let Some(places) = known.remove(name) else {
            return if wanted.is_file() {
                Ok(self.at_path(wanted))
            } else {
                Err(Error::NoRecipe { name: name.to_owned(), known: known.into_keys().collect() })
            };
        };
        let mut passed_over = Vec::new();
        for place in places {
            let found = self.read(name, place);
            if found.counts() {
                for other in &passed_over {
                    output.status(instead(other, &found));
                }
                return Ok(found);
            }
            passed_over.push(found);
        }
        let FoundRecipe { input, provenance, .. } = passed_over.swap_remove(0);
        let trust = provenance.trust().unwrap_or(RecipeTrust::Untrusted);
        Err(Error::UntrustedRecipe { name: name.to_owned(), path: input.to_string(), trust })
    }

    /// Lists what can be found by name, in the order of the names: what counts, after what would if it were trusted.
    pub(crate) fn list(&self, output: &mut Output) -> Result<Vec<FoundRecipe>> {
        let mut list = Vec::new();
        for (name, places) in self.all(output)? {
            for place in places {
                let found = self.read(&name, place);
                let counts = found.counts();
                list.push(found);
                if counts {
                    break;
                }
            }
        }
        Ok(list)
    }

    /// Collects where recipes lie by name: the nearest of the project, then the user's, then the program's.
    fn all(&self, output: &mut Output) -> Result<BTreeMap<String, Vec<RecipePlace>>> {
        let mut all: BTreeMap<String, Vec<RecipePlace>> = BTreeMap::new();
        let (files, refused) = self.project.recipes();
        for (directory, refusal) in refused {
            let (directory, why) = (directory.display().to_string(), why(&refusal));
            output.status(format_args!("Recipes in {} do not count: {why}.", output::printable(&directory)));
        }
        for (name, file) in files {
            all.entry(name).or_default().push(RecipePlace::Project(file));
        }
        if let Some(directory) = &self.user {
            for (name, path) in recipes_of_user(directory)? {
                all.entry(name).or_default().push(RecipePlace::User(path));
            }
        }
        for built_in in recipe::built_in() {
            all.entry(built_in.name.to_owned()).or_default().push(RecipePlace::BuiltIn(built_in));
        }
        Ok(all)
    }

    fn read(&self, name: &str, place: RecipePlace) -> FoundRecipe {
        match place {
            RecipePlace::Project(file) => {
                let input = Input::File(self.project.shown(&file));
                self.of_project(name.to_owned(), &file, input, RecipeTrust::Untrusted)
            }
            RecipePlace::User(path) => {
                let provenance = RecipeProvenance::User { path: path.display().to_string() };
                FoundRecipe { provenance, ..given(name.to_owned(), Input::File(path)) }
            }
            RecipePlace::BuiltIn(built_in) => FoundRecipe {
                name: name.to_owned(),
                provenance: RecipeProvenance::BuiltIn,
                input: Input::File(built_in.name.into()),
                content: Ok(Ok(built_in.recipe())),
            },
        }
    }

    /// Reads what a person names by its path. A file of the project is the project's, whoever names it.
    fn at_path(&self, path: &Path) -> FoundRecipe {
        match self.project.file_at(path) {
            Some(file) => self.of_project(name_of(path), &file, Input::File(path.to_owned()), RecipeTrust::Named),
            None => given(name_of(path), Input::File(path.to_owned())),
        }
    }

    /// Reads a file of the project, by its way from the top, and says of it what the user does, or else what the caller says.
    pub(crate) fn of_project(&self, name: String, file: &Path, input: Input, otherwise: RecipeTrust) -> FoundRecipe {
        let path = self.project.shown(file);
        let content = match self.project.read(file) {
            Ok(text) => Ok(parse(file, &text, &name)),
            Err(FileRefusal::TooLarge { .. }) => Err(large(input.clone())),
            Err(refusal) => Err(input.refused(refusal)),
        };
        let digest = content.as_ref().ok().and_then(|read| Some(read.as_ref().ok()?.digest()));
        let trust = match (self.trusted.digest_of(self.project.top(), file), otherwise) {
            (Some(trusted), _) if digest == Some(trusted) => RecipeTrust::Trusted,
            (Some(_), RecipeTrust::Untrusted) => RecipeTrust::Changed,
            (Some(_) | None, _) => otherwise,
        };
        let provenance = RecipeProvenance::Project { path: path.display().to_string(), trust };
        FoundRecipe { name, provenance, input, content }
    }
}

impl FoundRecipe {
    /// Returns what it says.
    pub(crate) fn recipe(self) -> Result<(RecipeProvenance, Recipe)> {
        let Self { provenance, input, content, .. } = self;
        Ok((provenance, content?.map_err(|source| Error::Recipe { input, source })?))
    }

    /// Tells whether a name means it.
    fn counts(&self) -> bool {
        match self.provenance.trust() {
            None | Some(RecipeTrust::Trusted | RecipeTrust::Named) => true,
            Some(RecipeTrust::Changed | RecipeTrust::Untrusted) => false,
        }
    }
}

/// Returns the digest of a recipe of a project; nothing where the text is none.
pub(crate) fn digest_of(file: &Path, text: &[u8]) -> Option<ArtifactId> {
    parse(file, text, &name_of(file)).ok().map(|recipe| recipe.digest())
}

/// Says where a recipe comes from.
pub(crate) fn origin_text(provenance: &RecipeProvenance) -> String {
    let place = match (provenance, provenance.path()) {
        (_, Some(path)) => output::printable(path).into_owned(),
        (RecipeProvenance::BuiltIn, None) => "built in".to_owned(),
        (_, None) => "standard input".to_owned(),
    };
    match provenance.trust() {
        None => place,
        Some(trust) => format!("{place} ({})", trust_text(trust)),
    }
}

/// Says what the user says of a recipe of a project.
pub(crate) fn trust_text(trust: RecipeTrust) -> &'static str {
    match trust {
        RecipeTrust::Trusted => "trusted",
        RecipeTrust::Named => "named by its path, not trusted",
        RecipeTrust::Changed => "changed since it was trusted",
        RecipeTrust::Untrusted => "not trusted",
    }
}

/// Says that a recipe does not count, and which one does.
fn instead(other: &FoundRecipe, found: &FoundRecipe) -> String {
    let path = other.input.to_string();
    let (shown, typed) = (output::printable(&path), shell::quoted(&path));
    let advice = match &other.content {
        Ok(Ok(_)) => format!("`ctx trust {}` shows and trusts it", output::printable(&typed)),
        _ => format!("`ctx recipe check {}` says what is wrong with it", output::printable(&typed)),
    };
    let place = match found.provenance.path() {
        Some(path) => output::printable(path).into_owned(),
        None => "the built-in one".to_owned(),
    };
    let trust = other.provenance.trust().map_or("not trusted", trust_text);
    format!("{shown} is {trust}, so {place} counts: {advice}.")
}

/// Reads what a person handed over.
fn given(name: String, input: Input) -> FoundRecipe {
    let path = match &input {
        Input::File(path) => Some(path.as_path()),
        Input::Stdin => None,
    };
    let provenance = RecipeProvenance::Given { path: path.map(|path| path.display().to_string()) };
    let content = match input.read_up_to(MAX_BYTES) {
        Ok(Some(text)) => Ok(parse(path.unwrap_or(Path::new("")), &text, &name)),
        Ok(None) => Err(large(input.clone())),
        Err(error) => Err(error),
    };
    FoundRecipe { name, provenance, input, content }
}

fn parse(file: &Path, text: &[u8], name: &str) -> Result<Recipe, RecipeRefusal> {
    Recipe::parse(syntax_of(file).unwrap_or_else(|| Syntax::of_text(text)), text, name)
}

fn large(input: Input) -> Error {
    Error::LargeRecipe { input, max_mebibytes: MAX_MEBIBYTES }
}

fn why(refusal: &FileRefusal) -> String {
    match refusal {
        FileRefusal::Unreadable(source) => format!("{refusal}: {source}"),
        _ => refusal.to_string(),
    }
}

/// Lists the recipes of the user by name.
fn recipes_of_user(directory: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let unreadable = |source| Error::Read { input: Input::File(directory.to_owned()), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(BTreeMap::new());
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(directory.join(entry.map_err(unreadable)?.file_name()));
    }
    Ok(by_name(names, |path| fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)))
}

/// Returns the recipes among files by name; TOML counts where a name is there twice.
///
/// Where `ctx recipe show NAME > FILE` is to make a recipe, the shell has made an empty file of that name.
fn by_name(files: Vec<PathBuf>, is_empty: impl Fn(&Path) -> bool) -> BTreeMap<String, PathBuf> {
    let mut recipes = BTreeMap::new();
    for path in files {
        // What cannot be typed as a name can still be named by its path.
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned) else { continue };
        let Some(syntax) = syntax_of(&path).filter(|_| !is_empty(&path)) else { continue };
        match syntax {
            Syntax::Toml => _ = recipes.insert(name, path),
            Syntax::Json => _ = recipes.entry(name).or_insert(path),
        }
    }
    recipes
}

fn syntax_of(path: &Path) -> Option<Syntax> {
    match path.extension()?.to_str()? {
        "toml" => Some(Syntax::Toml),
        "json" => Some(Syntax::Json),
        _ => None,
    }
}

fn is_path(wanted: &Path) -> bool {
    wanted.file_name() != Some(wanted.as_os_str()) || syntax_of(wanted).is_some()
}

/// Returns what a recipe is called that does not say so itself.
fn name_of(path: &Path) -> String {
    path.file_stem().filter(|stem| *stem != "-").map_or("recipe".into(), |stem| stem.to_string_lossy()).into_owned()
}

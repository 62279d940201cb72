//! Recipes by name: where they lie, and which of two with one name counts.

use std::{
    collections::BTreeMap,
    env, fs, io,
    path::{Path, PathBuf},
};

use contexture_assembly::recipe::{self, BuiltIn, Recipe, RecipeRefusal, Syntax};

use crate::{
    error::{Error, Result},
    input::Input,
    invocation::Invocation,
};

/// Largest recipe that is read.
const MAX_MEBIBYTES: u64 = 1;
/// Where a project keeps its recipes, below its directories.
const PROJECT: &str = ".ctx/recipes";

/// The places where recipes are looked for.
#[derive(Debug)]
pub(crate) struct Recipes {
    /// The directories of the project, from the working directory up to the root of the repository.
    project: Vec<PathBuf>,
    /// The directory of the user.
    user: Option<PathBuf>,
}

/// A recipe that was found, not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    /// What people type to get it.
    pub(crate) name: String,
    pub(crate) origin: Origin,
}

/// Where a recipe comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A directory of the project.
    Project(PathBuf),
    /// The directory of the user.
    User(PathBuf),
    /// The program.
    BuiltIn(BuiltIn),
    /// A file that was named by its path, or standard input.
    Given(Input),
}

impl Recipes {
    /// Looks where the program was started and where its user keeps settings.
    pub(crate) fn of(invocation: &Invocation) -> Result<Self> {
        let here = env::current_dir().map_err(|source| Error::Read { input: Input::File(".".into()), source })?;
        let user = invocation.environment.config_directory.as_ref().map(|config| config.join("recipes"));
        Ok(Self { project: project_directories(&here), user })
    }

    /// Finds a recipe by its name or the path of its file. What looks like a path is one.
    pub(crate) fn locate(&self, wanted: &Path) -> Result<Located> {
        let given = |input: Input| Located { name: name_of(wanted), origin: Origin::Given(input) };
        if wanted.as_os_str() == "-" {
            return Ok(given(Input::Stdin));
        }
        let Some(name) = wanted.to_str().filter(|_| !is_path(wanted)) else {
            return Ok(given(Input::File(wanted.to_owned())));
        };
        let mut known = self.all()?;
        match known.remove(name) {
            Some(origin) => Ok(Located { name: name.to_owned(), origin }),
            None if wanted.is_file() => Ok(given(Input::File(wanted.to_owned()))),
            None => Err(Error::NoRecipe { name: name.to_owned(), known: known.into_keys().collect() }),
        }
    }

    /// Finds a recipe by its name or the path of its file, and reads it.
    pub(crate) fn find(&self, wanted: &Path) -> Result<(Located, Recipe)> {
        let located = self.locate(wanted)?;
        let recipe = located.read()?.map_err(|source| Error::Recipe { input: located.origin.input(), source })?;
        Ok((located, recipe))
    }

    /// Lists what can be found by name, in the order of the names.
    pub(crate) fn list(&self) -> Result<Vec<Located>> {
        Ok(self.all()?.into_iter().map(|(name, origin)| Located { name, origin }).collect())
    }

    /// Collects the recipes by name: the nearest of the project, else the user's, else the program's.
    fn all(&self) -> Result<BTreeMap<String, Origin>> {
        let mut all = BTreeMap::new();
        for built_in in recipe::built_in() {
            all.insert(built_in.name.to_owned(), Origin::BuiltIn(built_in));
        }
        if let Some(directory) = &self.user {
            all.extend(recipes_in(directory)?.into_iter().map(|(name, path)| (name, Origin::User(path))));
        }
        for directory in self.project.iter().rev() {
            all.extend(recipes_in(directory)?.into_iter().map(|(name, path)| (name, Origin::Project(path))));
        }
        Ok(all)
    }
}

impl Located {
    /// Reads it; what it says may be no recipe.
    pub(crate) fn read(&self) -> Result<Result<Recipe, RecipeRefusal>> {
        if let Origin::BuiltIn(built_in) = self.origin {
            return Ok(Ok(built_in.recipe()));
        }
        let input = self.origin.input();
        let Some(text) = input.read_up_to(MAX_MEBIBYTES * 1024 * 1024)? else {
            return Err(Error::LargeRecipe { input, max_mebibytes: MAX_MEBIBYTES });
        };
        let syntax = match &input {
            Input::File(path) => syntax_of(path),
            Input::Stdin => None,
        };
        Ok(Recipe::parse(syntax.unwrap_or_else(|| Syntax::of_text(&text)), &text, &self.name))
    }
}

impl Origin {
    /// Returns what is read, by the name it has in messages.
    pub(crate) fn input(&self) -> Input {
        match self {
            Self::Project(path) | Self::User(path) => Input::File(path.clone()),
            Self::BuiltIn(built_in) => Input::File(built_in.name.into()),
            Self::Given(input) => input.clone(),
        }
    }

    /// Returns the path of its file, if it has one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Project(path) | Self::User(path) | Self::Given(Input::File(path)) => Some(path),
            Self::BuiltIn(_) | Self::Given(Input::Stdin) => None,
        }
    }
}

/// Lists the directories of a project from one of its directories up to the root of its repository, as paths from
/// there. Outside a repository nobody answers for what lies above, so only the directory itself counts.
fn project_directories(here: &Path) -> Vec<PathBuf> {
    let depth = here.ancestors().position(|directory| directory.join(".git").exists()).unwrap_or(0);
    (0..=depth).map(|ups| Path::new("").join("../".repeat(ups)).join(PROJECT)).collect()
}

/// Lists the recipes of a directory by name; TOML counts where a name is there twice.
fn recipes_in(directory: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let unreadable = |source| Error::Read { input: Input::File(directory.to_owned()), source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(BTreeMap::new());
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut recipes = BTreeMap::new();
    for entry in entries {
        let path = directory.join(entry.map_err(unreadable)?.file_name());
        // Where `ctx recipe show NAME > FILE` is to make a recipe, the shell has made an empty file of that name.
        if fs::metadata(&path).is_ok_and(|metadata| metadata.len() == 0) {
            continue;
        }
        // What cannot be typed as a name can still be named by its path.
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned) else { continue };
        match syntax_of(&path) {
            Some(Syntax::Toml) => _ = recipes.insert(name, path),
            Some(Syntax::Json) => _ = recipes.entry(name).or_insert(path),
            None => {}
        }
    }
    Ok(recipes)
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

//! The project that the program was started in, and the recipes in it.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use contexture::{FileRefusal, ProjectDirectory};

use super::{MAX_BYTES, by_name};

/// Where a project keeps its recipes, below its directories.
const RECIPES: &str = ".ctx/recipes";
/// The most files that are looked at in one directory of recipes.
const MAX_RECIPES: usize = 1000;

/// A project, and what its recipes are called.
#[derive(Debug)]
pub(crate) struct Project(ProjectDirectory);

/// The recipes of a project by name, the nearest first, and the directories of recipes that cannot be read.
type ProjectRecipes = (Vec<(String, PathBuf)>, Vec<(PathBuf, FileRefusal)>);

impl Project {
    /// Finds the project that a directory lies in.
    pub(crate) fn around(here: &Path) -> io::Result<Self> {
        ProjectDirectory::around(here).map(Self)
    }

    /// Returns its top directory, without links.
    pub(crate) fn top(&self) -> &Path {
        self.0.top().path()
    }

    /// Lists its recipes that can be found from the directory, as files from the top.
    pub(crate) fn recipes(&self) -> ProjectRecipes {
        let (mut recipes, mut refused) = (Vec::new(), Vec::new());
        for directory in self.0.way().ancestors().map(|directory| directory.join(RECIPES)) {
            match self.0.top().names(&directory, MAX_RECIPES) {
                Ok(names) => {
                    let files = names.into_iter().map(|name| directory.join(name)).collect();
                    let is_empty = |file: &Path| self.read(file).is_ok_and(|text| text.is_empty());
                    recipes.extend(by_name(files, is_empty));
                }
                Err(FileRefusal::Unreadable(error))
                    if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(refusal) => refused.push((self.shown(&directory), refusal)),
            }
        }
        (recipes, refused)
    }

    /// Reads a recipe by its way from the top.
    pub(crate) fn read(&self, file: &Path) -> Result<Vec<u8>, FileRefusal> {
        self.0.top().read(file, MAX_BYTES)
    }

    /// Returns the way from the directory to a file, as people type it.
    pub(crate) fn shown(&self, file: &Path) -> PathBuf {
        let common = self.0.way().components().zip(file.components()).take_while(|(way, file)| way == file).count();
        let up = self.0.way().components().skip(common).map(|_| Component::ParentDir);
        up.chain(file.components().skip(common)).collect()
    }

    /// Returns the way from the top to a file that lies in the project, by what is typed or by where links lead.
    pub(crate) fn file_at(&self, typed: &Path) -> Option<PathBuf> {
        let here = self.top().join(self.0.way());
        let mut plain = PathBuf::new();
        for component in here.join(typed).components() {
            match component {
                Component::ParentDir => _ = plain.pop(),
                Component::CurDir => {}
                other => plain.push(other),
            }
        }
        let real = || here.join(typed).canonicalize().ok()?.strip_prefix(self.top()).ok().map(Path::to_owned);
        plain.strip_prefix(self.top()).ok().map(Path::to_owned).or_else(real)
    }
}

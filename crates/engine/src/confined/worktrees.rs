//! The other working trees of a repository, as its files tell of them.
//!
//! Git is not asked, and what one file says counts only where another one agrees: a working tree names its place in the
//! repository, and that place names the working tree. So a stranger's `.git` cannot make itself a part of something else.

use std::{
    ffi::OsStr,
    io::Read as _,
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path, PathBuf},
};

use super::{ConfinedDirectory, open_found};

/// What the repository is called in its own working tree, and the file that leads to it in the others.
const GIT: &str = ".git";
/// Where a repository keeps a place for each further working tree.
const WORKTREES: &str = "worktrees";
/// The file in such a place that names the working tree.
const BACK: &str = "gitdir";
/// What the file in a working tree begins with.
const FORTH: &[u8] = b"gitdir: ";
/// Most bytes of a file that names a path.
const MAX_BYTES: u64 = 8 * 1024;
/// Most working trees that are looked at.
const MAX_WORKTREES: usize = 256;

/// Returns the working trees of the repository whose working tree this is, without it.
pub(super) fn beside(top: &Path) -> Vec<PathBuf> {
    let own = top.join(GIT);
    let repository = match place_of(top) {
        Some(place) => match place.parent().and_then(Path::parent) {
            Some(repository) if is_named_back(&place, &own) => repository.to_owned(),
            Some(_) | None => return Vec::new(),
        },
        None => own,
    };
    let main = repository.parent().filter(|_| repository.file_name() == Some(OsStr::new(GIT)));
    let mut found: Vec<PathBuf> = main.into_iter().map(Path::to_owned).collect();
    // A repository that has no further working trees has no such directory.
    let names = ConfinedDirectory::open(&repository).and_then(|it| Ok(it.names(Path::new(WORKTREES), MAX_WORKTREES)?));
    for name in names.unwrap_or_default() {
        let place = repository.join(WORKTREES).join(name);
        let tree = named_in(&place.join(BACK), b"", &place).and_then(|file| Some(file.parent()?.to_owned()));
        found.extend(tree.filter(|tree| place_of(tree).is_some_and(|named| named == place)));
    }
    found.retain(|tree| tree != top);
    found
}

/// Returns the place in a repository that a working tree names; nothing for the repository's own.
fn place_of(tree: &Path) -> Option<PathBuf> {
    let place = named_in(&tree.join(GIT), FORTH, tree)?;
    // A module of a repository has a place too, but is a repository of its own.
    (place.parent()?.file_name()? == WORKTREES).then_some(place)
}

/// Tells whether a place in a repository names the file of a working tree.
fn is_named_back(place: &Path, file: &Path) -> bool {
    named_in(&place.join(BACK), b"", place).is_some_and(|named| named == file)
}

/// Returns the path that a file holds behind a mark, from a directory.
fn named_in(file: &Path, mark: &[u8], from: &Path) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    open_found(file).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let path = Path::new(OsStr::from_bytes(bytes.strip_prefix(mark)?.trim_ascii_end()));
    (!path.as_os_str().is_empty()).then(|| without_dots(&from.join(path)))
}

/// Takes `.` and `..` out of a path, without looking at what is there.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::{fs, process::Command};

    use super::*;

    /// A directory that no link leads to.
    fn directory() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        (directory, path)
    }

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Makes a working tree as git does, with paths from the root.
    fn add_worktree(repository: &Path, tree: &Path, name: &str) {
        let place = repository.join(WORKTREES).join(name);
        write(tree.join(GIT), &format!("gitdir: {}\n", place.display()));
        write(place.join(BACK), &format!("{}\n", tree.join(GIT).display()));
    }

    #[test]
    fn the_working_trees_that_git_makes_find_each_other() {
        let (_guard, home) = directory();
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.current_dir(&home).args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]).args(arguments);
            git.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", &home);
            git.output().is_ok_and(|ran| ran.status.success())
        };
        if !git(&["init", "--quiet", "main"]) {
            eprintln!("skipped: there is no git");
            return;
        }
        assert!(git(&["-C", "main", "commit", "--quiet", "--allow-empty", "--message=Begin"]));
        assert!(git(&["-C", "main", "worktree", "add", "--quiet", "../one"]));
        assert!(git(&["-C", "main", "worktree", "add", "--quiet", "../deep/two"]));
        let trees = ["main", "one", "deep/two"].map(|name| home.join(name));
        for tree in &trees {
            let mut found = beside(tree);
            found.push(tree.clone());
            found.sort();
            let mut expected = trees.to_vec();
            expected.sort();
            assert_eq!(found, expected, "{}", tree.display());
        }
    }

    #[test]
    fn paths_may_be_relative_and_a_repository_may_have_no_working_tree_of_its_own() {
        let (_guard, home) = directory();
        write(home.join("tree/.git"), "gitdir: ../store.git/worktrees/tree\n");
        write(home.join("store.git/worktrees/tree/gitdir"), "../../../tree/.git\n");
        add_worktree(&home.join("store.git"), &home.join("other"), "other");
        assert_eq!(beside(&home.join("tree")), [home.join("other")]);
        assert_eq!(beside(&home.join("other")), [home.join("tree")]);
    }

    #[test]
    fn who_is_not_named_back_belongs_to_nothing() {
        let (_guard, home) = directory();
        let own = home.join("own/.git");
        fs::create_dir_all(&own).unwrap();
        add_worktree(&own, &home.join("tree"), "tree");
        // An archive that says it is a working tree of somebody's repository, with a name that is there and one that is not.
        for name in ["tree", "another"] {
            let stranger = home.join(format!("stranger-{name}"));
            write(stranger.join(GIT), &format!("gitdir: {}\n", own.join(WORKTREES).join(name).display()));
            assert_eq!(beside(&stranger), [] as [&Path; 0], "{name}");
        }
        // A repository that says somebody's directories are its working trees.
        let greedy = home.join("greedy/.git");
        for (name, tree) in [("a", "tree"), ("b", "own"), ("c", "nowhere")] {
            let claimed = format!("{}\n", home.join(tree).join(GIT).display());
            write(greedy.join(WORKTREES).join(name).join(BACK), &claimed);
        }
        assert_eq!(beside(&home.join("greedy")), [] as [&Path; 0]);
        assert_eq!(beside(&home.join("own")), [home.join("tree")]);
        // A module, nonsense, and what is no file.
        write(home.join("module/.git"), &format!("gitdir: {}\n", own.join("modules/module").display()));
        write(home.join("nonsense/.git"), &format!("gitdir: {}", "x".repeat(20_000)));
        for name in ["module", "nonsense"] {
            assert_eq!(beside(&home.join(name)), [] as [&Path; 0], "{name}");
        }
    }
}

//! Changes of files of others: shown first, made whole or not at all, and never over what somebody else wrote meanwhile.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use contexture::{FileAccess, private, wire::SetupEffect};
use contexture_capture::Runtime;

use super::diff;
use crate::{
    destination::DraftFile,
    error::{Error, Result, Unprepared},
    input::Input,
    output::{self, Palette},
};

/// What is to be done at one place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChangePlan {
    pub(crate) target: ChangeTarget,
    pub(crate) place: PathBuf,
    /// Nothing, if all is as it should be.
    pub(crate) steps: Vec<ChangeStep>,
}

/// Who reads a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeTarget {
    Runtime(Runtime),
    Git,
    /// This program itself.
    Configuration,
}

/// A change of one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ChangeStep {
    /// Gives it a content.
    Write { path: PathBuf, before: Option<String>, after: String, kind: FileKind },
    /// Deletes it, and the directories above it that are empty then, but not `root`.
    Delete { path: PathBuf, before: String, root: PathBuf },
    /// Gives it another name, which nothing else has.
    Move { from: PathBuf, to: PathBuf },
}

/// Whether a file can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Text,
    Script,
}

impl ChangePlan {
    pub(crate) fn effect(&self) -> SetupEffect {
        match &*self.steps {
            [] => SetupEffect::Unchanged,
            [ChangeStep::Write { before: None, .. }] => SetupEffect::Created,
            [ChangeStep::Delete { .. }, ..] => SetupEffect::Removed,
            [ChangeStep::Write { .. } | ChangeStep::Move { .. }, ..] => SetupEffect::Changed,
        }
    }
}

impl ChangeTarget {
    /// Returns its name on the command line.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Runtime(runtime) => runtime.as_str(),
            Self::Git => "git",
            Self::Configuration => "ctx",
        }
    }
}

impl ChangeStep {
    /// Returns the lines that show a person what will be done. Hooks may have been given a password once.
    pub(crate) fn shown(&self, palette: &Palette) -> Vec<String> {
        let lines = self.lines(palette);
        lines.iter().map(|line| output::without_passwords(line).into_owned()).collect()
    }

    fn lines(&self, palette: &Palette) -> Vec<String> {
        let strong = palette.strong;
        let named = |mark: &str, path: &Path| format!("{strong}{mark} {}{strong:#}", path.display());
        let nothing = Path::new("/dev/null");
        match self {
            Self::Write { path, before, after, .. } => {
                let old = if before.is_some() { &**path } else { nothing };
                let mut lines = vec![named("---", old), named("+++", path)];
                lines.extend(diff::unified(before.as_deref().unwrap_or_default(), after, palette));
                lines
            }
            Self::Delete { path, before, .. } => {
                let mut lines = vec![named("---", path), named("+++", nothing)];
                lines.extend(diff::unified(before, "", palette));
                lines
            }
            Self::Move { from, to } => vec![named("rename from", from), named("rename to", to)],
        }
    }

    /// Does it.
    pub(crate) fn make(&self) -> Result<()> {
        match self {
            Self::Write { path, before, after, kind } => {
                check(path, before.as_deref())?;
                write(path, after, *kind)
            }
            Self::Delete { path, before, root } => {
                check(path, Some(before))?;
                fs::remove_file(path).map_err(|source| Error::Write { path: path.clone(), source })?;
                let above = path.ancestors().skip(1).take_while(|directory| directory != root);
                // A directory that is not empty is not ours to remove, and refuses it.
                let _removed = above.map(fs::remove_dir).take_while(io::Result::is_ok).count();
                Ok(())
            }
            Self::Move { from, to } => {
                if fs::symlink_metadata(to).is_ok() {
                    return Err(Unprepared::Occupied { path: from.clone(), aside: to.clone() }.into());
                }
                fs::rename(from, to).map_err(|source| Error::Write { path: to.clone(), source })
            }
        }
    }
}

/// Reads a text; nothing, if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<String>> {
    let text = |bytes| String::from_utf8(bytes).map_err(io::Error::other);
    match contexture::read_found(path).and_then(text) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Read { input: Input::File(path.to_owned()), source }),
    }
}

fn check(path: &Path, expected: Option<&str>) -> Result<()> {
    if read(path)?.as_deref() == expected {
        Ok(())
    } else {
        Err(Unprepared::Overtaken { path: path.to_owned() }.into())
    }
}

fn write(path: &Path, content: &str, kind: FileKind) -> Result<()> {
    let unwritable = |source| Error::Write { path: path.to_owned(), source };
    private::create_directory(path.parent().unwrap_or(Path::new("."))).map_err(unwritable)?;
    let access = match (fs::metadata(path), kind) {
        // Who could read the user's file can go on doing so.
        (Ok(there), _) => FileAccess::Like(there.permissions()),
        (Err(_), FileKind::Script) => FileAccess::PrivateProgram,
        (Err(_), FileKind::Text) => FileAccess::Private,
    };
    let mut draft = DraftFile::start_for(path, access)?;
    draft.write_all(content.as_bytes())?;
    draft.publish()
}

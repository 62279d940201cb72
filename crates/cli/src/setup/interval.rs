//! How often sessions are captured, in the user's configuration.

use std::path::Path;

use contexture_capture::CheckpointInterval;

use super::change::{self, ChangePlan, ChangeStep, ChangeTarget, FileKind};
use crate::{
    configuration::{self, Configuration},
    error::{Error, Result},
};

/// Plans to have the configuration in a directory say how often sessions are captured, or no longer say it.
pub(crate) fn plan(directory: &Path, every: Option<CheckpointInterval>) -> Result<ChangePlan> {
    let path = directory.join(configuration::FILE);
    // What cannot be understood is refused before it is changed.
    Configuration::read(directory)?;
    let before = change::read(&path)?;
    let text = before.as_deref().unwrap_or_default();
    let line_of_capture = || text.lines().position(|line| line.contains("capture")).map_or(1, |at| at + 1);
    let after = Configuration::with_interval(text, every)
        .ok_or_else(|| Error::Configuration { path: path.clone(), line: line_of_capture() })?;
    let step = match before {
        Some(before) if before == after => None,
        None if after.is_empty() => None,
        Some(before) if after.is_empty() => {
            Some(ChangeStep::Delete { path: path.clone(), before, root: directory.to_owned() })
        }
        before => Some(ChangeStep::Write { path: path.clone(), before, after, kind: FileKind::Text }),
    };
    Ok(ChangePlan { target: ChangeTarget::Configuration, place: path, steps: step.into_iter().collect() })
}

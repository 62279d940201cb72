//! What would be done, in a line for each agent and one for git.

use std::path::Path;

use contexture_capture::CheckpointInterval;

use crate::{
    output::{self, Palette},
    setup::{ChangePlan, ChangeStep, HookPlace, State},
};

/// Columns that the name of an agent takes.
const TITLE_COLUMNS: usize = 12;

/// What is planned for one agent, or for git.
pub(super) struct SetupSummary {
    title: &'static str,
    text: String,
}

impl SetupSummary {
    /// Tells of the hooks that a runtime is to be given.
    pub(super) fn of_registration(place: &HookPlace, before: Option<&State>, plan: &ChangePlan, path: &str) -> Self {
        let all = hooks(place, place.events().len());
        let text = match before {
            _ if plan.steps.is_empty() => format!("{all} in {path}, unchanged"),
            None if is_new(plan) => format!("{all} into {path} (new)"),
            None => format!("{all} into {path}"),
            Some(State::Complete) => format!("{all} in {path}, brought up to date"),
            Some(State::Partial { missing }) => {
                format!("{} into {path}, missing so far: {}", hooks(place, missing.len()), missing.join(", "))
            }
            Some(State::OtherProgram { path: other }) => {
                format!("{all} in {path}, until now for {}", other.display())
            }
        };
        Self { title: place.runtime.title(), text }
    }

    /// Tells of the hooks that are to be taken from a runtime.
    pub(super) fn of_removal(place: &HookPlace, plan: &ChangePlan, path: &str) -> Self {
        let text = match &*plan.steps {
            [] => format!("no hooks of ctx in {path}"),
            [ChangeStep::Delete { .. }, ..] => format!("hooks taken out; {path} held nothing else and goes"),
            [ChangeStep::Write { .. } | ChangeStep::Move { .. }, ..] => format!("hooks taken out of {path}"),
        };
        Self { title: place.runtime.title(), text }
    }

    /// Tells of git's hooks; nothing, if there is no plan for any.
    pub(super) fn of_git(plans: &[ChangePlan], removes: bool, shown: impl Fn(&Path) -> String) -> Option<Self> {
        let place = plans.first()?.place.parent()?;
        let changed = plans.iter().filter(|plan| !plan.steps.is_empty()).count();
        let moved = plans.iter().flat_map(|plan| &plan.steps).any(|step| matches!(step, ChangeStep::Move { .. }));
        let all = output::counted(plans.len() as u64, "hook");
        let text = match (removes, changed, moved) {
            (true, 0, _) => return None,
            (true, _, true) => format!("hooks taken out of {}, and those put back that were there", shown(place)),
            (true, _, false) => format!("hooks taken out of {}", shown(place)),
            (false, 0, _) => format!("{all} in {}, unchanged", shown(place)),
            (false, _, true) => format!("{all} into {}, which call those that are there", shown(place)),
            (false, _, false) => format!("{all} into {}", shown(place)),
        };
        Some(Self { title: "git", text })
    }

    /// Tells how often sessions will be captured; nothing, where the configuration does not say and is not to say it.
    pub(super) fn of_interval(plan: &ChangePlan, every: Option<CheckpointInterval>, path: &str) -> Option<Self> {
        let text = match (every, plan.steps.is_empty()) {
            (Some(every), true) => format!("every = \"{every}\" in {path}, unchanged"),
            (Some(every), false) => format!("every = \"{every}\" into {path}"),
            (None, true) => return None,
            (None, false) => format!("the setting is taken out of {path}"),
        };
        Some(Self { title: "interval", text })
    }

    pub(super) fn line(&self, palette: &Palette) -> String {
        let strong = palette.strong;
        let text = output::without_passwords(&self.text);
        format!("{strong}{:<TITLE_COLUMNS$}{strong:#} {text}", self.title)
    }
}

/// Counts hooks. What is one file for the runtime is not as many hooks.
fn hooks(place: &HookPlace, number: usize) -> String {
    if place.is_extension() {
        format!("an extension for {}", output::counted(number as u64, "event"))
    } else {
        output::counted(number as u64, "hook")
    }
}

fn is_new(plan: &ChangePlan) -> bool {
    matches!(&*plan.steps, [ChangeStep::Write { before: None, .. }])
}

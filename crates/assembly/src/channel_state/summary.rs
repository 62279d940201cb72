//! A state in a few lines.

use super::ChannelSnapshot;

/// Returns a line for each part that there is.
pub(super) fn lines(state: &ChannelSnapshot) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(task) = state.task.as_ref().map(|task| &task.said)
        && let Some(said) = task.title.as_ref().or(task.raw.as_ref())
    {
        lines.push(format!("Task: {}", super::bounded::one_line(said)));
    }
    if let Some(plan) = state.plan.as_ref().map(|plan| &plan.said)
        && let Some(said) = plan.summary.as_ref().or(plan.text.as_ref())
    {
        lines.push(format!("Plan: {}", super::bounded::one_line(said)));
    }
    if let Some(progress) = state.progress.as_ref().map(|progress| &progress.together.said) {
        let parts = [
            progress.percent_complete.as_ref().map(|percent| format!("{percent}%")),
            progress.can_validate.map(|can| format!("canValidate={can}")),
            progress.next_steps.first().map(|step| format!("next: {step}")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            lines.push(format!("Progress: {}", parts.join(" | ")));
        }
    }
    if let Some(validation) = state.validation.as_ref().map(|validation| &validation.together.said) {
        let verdict = match validation.approved {
            Some(true) => "approved",
            Some(false) => "rejected",
            None => "pending",
        };
        lines.push(format!("Validation: {verdict} ({} errors)", validation.errors.len()));
    }
    if let Some(debug) = state.debug.as_ref().map(|debug| &debug.together.said)
        && let Some(said) = debug.fix_plan.as_ref().or(debug.success_criteria.as_ref())
    {
        lines.push(format!("Debug: {}", super::bounded::one_line(said)));
    }
    lines.extend(state.custom.iter().map(|(name, value)| format!("{name}: {}", value.to_line())));
    lines
}

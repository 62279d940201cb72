//! What the six topics of the work say.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

use super::{
    StateEvent,
    bounded::{Bounds, StateReceipts, field, list, one_line, text_field, truth},
    reported::Reported,
};

/// Most characters of what is told in full.
const MAX_TEXT: usize = 2000;
/// Most characters of a title or summary.
const MAX_TITLE: usize = 300;
/// Most characters of a line of a list.
const MAX_LINE: usize = 200;
/// Most characters of an error, which tells how to see it again.
const MAX_ERROR: usize = 2000;
/// Most characters of a plan to mend something.
const MAX_FIX_PLAN: usize = 1200;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskState {
    /// In the words of whoever asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// In a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The number of the issue, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_number: Option<String>,
    /// Where it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What was left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub omitted: StateReceipts,
}

/// How something is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanState {
    /// The plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// In a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What must hold in the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<String>,
    /// The files that change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_affected: Vec<String>,
    /// What was left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub omitted: StateReceipts,
}

/// How far somebody is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProgressState {
    /// Whether what is done can be validated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_validate: Option<bool>,
    /// How much is done, of a hundred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_complete: Option<Number>,
    /// What is in the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blockers: Vec<String>,
    /// What comes next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
    /// In a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_summary: Option<String>,
    /// What was left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub omitted: StateReceipts,
}

/// What validators found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValidationState {
    /// Whether it is good; nothing where nobody says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
    /// What is wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<String>,
    /// What became of each criterion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria_results: Vec<CheckedCriterion>,
    /// What was left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub omitted: StateReceipts,
}

/// What became of a criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckedCriterion {
    /// Which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What became of it, in a word of the validator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How it was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<CriterionEvidence>,
}

/// How it was found what became of a criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CriterionEvidence {
    /// What was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
}

/// What an investigation found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DebugState {
    /// How to mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix_plan: Option<String>,
    /// When it is mended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_criteria: Option<String>,
    /// Why it happens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub root_causes: Vec<String>,
    /// What was left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub omitted: StateReceipts,
}

impl TaskState {
    pub(super) fn of(event: &StateEvent<'_>) -> Option<Self> {
        let mut bounds = Bounds::default();
        let raw = bounds.text("raw", event.text, MAX_TEXT);
        let title = bounds.line("title", text_field(event.data, &["title"]), MAX_TITLE);
        let number = field(event.data, &["issue_number", "issueNumber"]).and_then(|number| match number {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        let issue_number = bounds.line("issueNumber", number.as_deref(), MAX_LINE);
        let source = bounds.line("source", text_field(event.metadata, &["source"]), MAX_LINE);
        let says = [&raw, &title, &issue_number, &source].into_iter().any(Option::is_some);
        says.then_some(Self { raw, title, issue_number, source, omitted: bounds.receipts })
    }
}

impl PlanState {
    pub(super) fn of(event: &StateEvent<'_>) -> Option<Self> {
        let mut bounds = Bounds::default();
        let text = bounds.text("text", event.text, MAX_TEXT);
        let summary = bounds.line("summary", text_field(event.data, &["summary"]), MAX_TITLE);
        let criteria = field(event.data, &["acceptanceCriteria"]).and_then(Value::as_array);
        let criteria = criteria.map(Vec::as_slice).unwrap_or_default().iter().filter_map(criterion).collect::<Vec<_>>();
        let acceptance_criteria = bounds.lines("acceptanceCriteria", &criteria, 10, MAX_LINE);
        let files = list(field(event.data, &["filesAffected"]), &["path", "file"]);
        let files_affected = bounds.lines("filesAffected", &files, 20, MAX_LINE);
        let is_empty =
            text.is_none() && summary.is_none() && acceptance_criteria.is_empty() && files_affected.is_empty();
        let omitted = bounds.receipts;
        (!is_empty).then_some(Self { text, summary, acceptance_criteria, files_affected, omitted })
    }
}

/// Says what a criterion demands.
fn criterion(value: &Value) -> Option<String> {
    if let Value::String(text) = value {
        return Some(text.clone());
    }
    let said = text_field(Some(value), &["criterion", "text", "summary"])?;
    let priority = text_field(Some(value), &["priority"]).map(|priority| format!(" ({priority})")).unwrap_or_default();
    Some(match text_field(Some(value), &["id"]) {
        Some(id) => format!("{id}{priority}: {said}"),
        None => said.to_owned(),
    })
}

impl ProgressState {
    /// Reads a report; nothing where the message does not say how far somebody is.
    pub(super) fn of(event: &StateEvent<'_>) -> Option<Self> {
        let status = field(event.data, &["completionStatus"]).filter(|status| status.is_object());
        let status = status.or_else(|| {
            let has_some = field(event.data, &["canValidate", "percentComplete"]).is_some();
            event.data.filter(|_| has_some)
        });
        let status = Some(status?);
        let mut bounds = Bounds::default();
        let can_validate = truth(field(status, &["canValidate"]));
        let percent_complete = field(status, &["percentComplete"]).and_then(Value::as_number).cloned();
        let blockers = bounds.lines("blockers", &list(field(status, &["blockers"]), &["text", "summary"]), 5, MAX_LINE);
        let steps = list(field(status, &["nextSteps"]), &["text", "summary"]);
        let next_steps = bounds.lines("nextSteps", &steps, 10, MAX_LINE);
        let summary = text_field(event.data, &["summary"]).or(event.text);
        let last_summary = bounds.line("lastSummary", summary, MAX_TITLE);
        let omitted = bounds.receipts;
        Some(Self { can_validate, percent_complete, blockers, next_steps, last_summary, omitted })
    }
}

impl ValidationState {
    pub(super) fn of(event: &StateEvent<'_>) -> Option<Self> {
        let mut bounds = Bounds::default();
        let approved = truth(field(event.data, &["approved"]));
        let names = ["bug", "message", "error", "summary"];
        let errors = list(field(event.data, &["errors"]), &names);
        let errors = if errors.is_empty() { list(field(event.data, &["issues"]), &names) } else { errors };
        let errors = bounds.lines("errors", &errors, 5, MAX_ERROR);
        let results = field(event.data, &["criteriaResults"]).and_then(Value::as_array);
        let results = results.map(Vec::as_slice).unwrap_or_default().iter().filter_map(CheckedCriterion::of).collect();
        let criteria_results = bounds.last("criteriaResults", results, 10);
        let is_empty = approved.is_none() && errors.is_empty() && criteria_results.is_empty();
        (!is_empty).then_some(Self { approved, errors, criteria_results, omitted: bounds.receipts })
    }

    /// Sums up what all validators say: they approve only when nobody rejects and nobody is still at it.
    pub(super) fn together(all: &BTreeMap<String, Reported<Self>>) -> Self {
        let mut bounds = Bounds::default();
        let verdicts = || all.values().map(|report| report.said.approved);
        let approved = if verdicts().any(|verdict| verdict == Some(false)) {
            Some(false)
        } else {
            verdicts().all(|verdict| verdict == Some(true)).then_some(true)
        };
        let mut in_order: Vec<&Reported<Self>> = all.values().collect();
        in_order.sort_by_key(|report| report.sequence);
        let errors = in_order.iter().flat_map(|report| {
            report
                .said
                .errors
                .iter()
                .map(|error| if all.len() > 1 { format!("{}: {error}", report.sender) } else { error.clone() })
        });
        let errors = bounds.lines("errors", &errors.collect::<Vec<_>>(), 5, MAX_ERROR);
        let results = in_order.iter().flat_map(|report| report.said.criteria_results.iter().cloned()).collect();
        let criteria_results = bounds.last("criteriaResults", results, 10);
        Self { approved, errors, criteria_results, omitted: bounds.receipts }
    }
}

impl CheckedCriterion {
    fn of(value: &Value) -> Option<Self> {
        let mut bounds = Bounds::default();
        let value = Some(value).filter(|value| value.is_object());
        let id = field(value, &["id"]).map(|id| id.as_str().map_or_else(|| id.to_string(), one_line));
        let id = bounds.line("id", id.as_deref(), MAX_LINE);
        let status = bounds.line("status", text_field(value, &["status"]), MAX_LINE);
        let reason = bounds.line("reason", text_field(value, &["reason"]), MAX_LINE);
        let evidence = field(value, &["evidence"]);
        let evidence = CriterionEvidence {
            command: bounds.line("command", text_field(evidence, &["command"]), MAX_LINE),
            exit_code: field(evidence, &["exitCode"]).and_then(Value::as_i64),
        };
        let evidence = (evidence.command.is_some() || evidence.exit_code.is_some()).then_some(evidence);
        let is_empty = id.is_none() && status.is_none() && reason.is_none() && evidence.is_none();
        (!is_empty).then_some(Self { id, status, reason, evidence })
    }
}

impl DebugState {
    pub(super) fn of(event: &StateEvent<'_>) -> Option<Self> {
        let mut bounds = Bounds::default();
        let fix_plan = bounds.text("fixPlan", text_field(event.data, &["fixPlan"]), MAX_FIX_PLAN);
        let criteria = field(event.data, &["successCriteria"]);
        let criteria = criteria.map(|criteria| match criteria {
            Value::String(text) => text.clone(),
            other => list(Some(other), &["text", "criterion"]).join("; "),
        });
        let success_criteria = bounds.line("successCriteria", criteria.as_deref(), MAX_TITLE);
        let causes = list(field(event.data, &["rootCauses"]), &["cause", "text", "summary"]);
        let root_causes = bounds.lines("rootCauses", &causes, 5, MAX_LINE);
        let is_empty = fix_plan.is_none() && success_criteria.is_none() && root_causes.is_empty();
        (!is_empty).then_some(Self { fix_plan, success_criteria, root_causes, omitted: bounds.receipts })
    }
}

//! Recipes as they are written out: what is read back is the same recipe.

use std::{borrow::Cow, collections::BTreeMap};

use contexture_core::{ArtifactId, canonical};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use super::{BudgetLimits, Recipe, RequiredOverflow, SegmentSpec, TargetSpec};
use crate::standard::{Audience, ContextScope, OverflowStrategy};

/// A recipe with its fields as people write them; those that say nothing are left out.
#[derive(Serialize, JsonSchema)]
struct Written<'r> {
    name: &'r str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'r str,
    scope: ContextScope,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counter: Option<&'r str>,
    target: Targets<'r>,
    overflow: OverflowStrategy,
    #[serde(skip_serializing_if = "WrittenBudget::is_empty")]
    budget: WrittenBudget<'r>,
    segments: &'r [SegmentSpec],
}

#[derive(Serialize, JsonSchema)]
struct WrittenBudget<'r> {
    #[serde(flatten)]
    limits: BudgetLimits,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    targets: &'r BTreeMap<Audience, BudgetLimits>,
    #[serde(skip_serializing_if = "is_usual")]
    required: RequiredOverflow,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_search_ms: Option<u64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_usual(required: &RequiredOverflow) -> bool {
    *required == RequiredOverflow::Reject
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Targets<'r> {
    One(&'r TargetSpec),
    Several(&'r [TargetSpec]),
}

impl Recipe {
    /// Writes it as TOML, with what holds where nothing was said.
    ///
    /// Fails when a number is larger than TOML can hold, which no recipe that was read has.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string_pretty(self)
    }

    /// Returns the digest of its canonical JSON, which is the id that those bytes have as an artifact.
    pub fn digest(&self) -> ArtifactId {
        ArtifactId::of(&canonical::to_vec(self).expect("texts, whole numbers and lists have a JSON form"))
    }
}

impl Serialize for Recipe {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { name, description, scope, model, max_output, counter, targets, budget, segments } = self;
        Written {
            name,
            description,
            scope: *scope,
            model: model.as_deref(),
            max_output: *max_output,
            counter: counter.as_deref(),
            target: match targets.as_slice() {
                [one] => Targets::One(one),
                several => Targets::Several(several),
            },
            overflow: budget.overflow,
            budget: WrittenBudget {
                limits: budget.limits,
                targets: &budget.targets,
                required: budget.required,
                max_search_ms: budget.max_search_ms,
            },
            segments,
        }
        .serialize(serializer)
    }
}

impl JsonSchema for Recipe {
    fn schema_name() -> Cow<'static, str> {
        "Recipe".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Written::json_schema(generator)
    }
}

impl WrittenBudget<'_> {
    fn is_empty(&self) -> bool {
        self.limits == BudgetLimits::default()
            && self.targets.is_empty()
            && is_usual(&self.required)
            && self.max_search_ms.is_none()
    }
}

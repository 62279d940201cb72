//! Items that the caller gives as JSON.

use contexture_assembly::{
    Hold, Item, ItemContent, Priority, Redaction, RunPart, Voice,
    standard::{Audience, ContextKind, ItemId, RedactionState},
};
use contexture_core::ArtifactId;
use contexture_store::Error as StoreError;
use serde::Deserialize;
use serde_json::Value;

use super::{Gathering, Placed, origin};
use crate::{
    AssemblyProblem, Error, GivenItemsProblem, Result,
    assemble::{masked, pretty},
};

/// An item of the caller's own. Records of the standard are understood too.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GivenItem {
    /// Its id; its place in the list if absent.
    #[serde(default, alias = "item_id")]
    pub id: Option<String>,
    /// What it is.
    #[serde(default, alias = "context_kind")]
    pub kind: Option<ContextKind>,
    /// What people call it.
    #[serde(default)]
    pub title: Option<String>,
    /// What it says: a text, or data.
    #[serde(default, alias = "text")]
    pub content: Option<Value>,
    /// The artifact that holds what it says.
    #[serde(default, alias = "content_ref")]
    pub artifact: Option<ArtifactId>,
    /// A shorter text that may stand for it.
    #[serde(default)]
    pub compact: Option<String>,
    /// How much it matters.
    #[serde(default)]
    pub priority: Option<Priority>,
    /// The segment that it belongs to; that of the source if absent.
    #[serde(default)]
    pub segment: Option<String>,
    /// Who may see it.
    #[serde(default)]
    pub visibility: Option<Vec<Audience>>,
    /// How far it can be trusted.
    #[serde(default, alias = "trust_level")]
    pub trust: Option<String>,
    /// How sensitive it is.
    #[serde(default)]
    pub sensitivity: Option<String>,
    /// The media type of what it says.
    #[serde(default, alias = "mime_type")]
    pub media_type: Option<String>,
    /// Where it comes from.
    #[serde(default)]
    pub uri: Option<String>,
    /// What was done to what nobody may see.
    #[serde(default)]
    pub redaction_state: Option<RedactionState>,
    /// How that was done.
    #[serde(default)]
    pub redaction_method: Option<String>,
    /// Who decided that.
    #[serde(default)]
    pub policy_refs: Vec<String>,
    /// Whether the model takes it as an instruction.
    #[serde(default)]
    pub instruction: bool,
    #[serde(default, rename = "schema_version")]
    _schema_version: Option<String>,
    #[serde(default, rename = "content_mode")]
    _content_mode: Option<String>,
    #[serde(default, rename = "source_refs")]
    _source_refs: Option<Value>,
    #[serde(default, rename = "created_at")]
    _created_at: Option<String>,
    #[serde(default, rename = "metadata")]
    _metadata: Option<Value>,
}

impl GivenItem {
    fn redaction(&self) -> Option<Redaction> {
        let state = self.redaction_state.filter(|state| *state != RedactionState::None)?;
        Some(Redaction { state, method: self.redaction_method.clone(), policies: self.policy_refs.clone() })
    }
}

/// A list of given items.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenItems(pub Vec<GivenItem>);

impl GivenItems {
    /// Reads an array of items, an object with one in `items`, or a single item.
    pub fn parse(json: &[u8]) -> Result<Self> {
        Ok(Self::read(json).map_err(AssemblyProblem::Items)?)
    }

    fn read(json: &[u8]) -> Result<Self, GivenItemsProblem> {
        let value: Value = serde_json::from_slice(json)?;
        let list = match value {
            Value::Array(list) => list,
            Value::Object(mut object) if object.get("items").is_some_and(Value::is_array) => {
                object.remove("items").and_then(|items| items.as_array().cloned()).unwrap_or_default()
            }
            single @ Value::Object(_) => vec![single],
            _ => return Err(GivenItemsProblem::Scalar),
        };
        let read = |(index, item): (usize, Value)| {
            let item: GivenItem =
                serde_json::from_value(item).map_err(|source| GivenItemsProblem::Item { index, source })?;
            match (&item.content, &item.artifact) {
                (None, None) => Err(GivenItemsProblem::NoContent { index }),
                (Some(_), Some(_)) => Err(GivenItemsProblem::TwoContents { index }),
                _ => Ok(item),
            }
        };
        Ok(Self(list.into_iter().enumerate().map(read).collect::<Result<_, _>>()?))
    }
}

impl Gathering<'_> {
    pub(super) async fn given(&mut self, placed: &Placed<'_>) -> Result<Vec<Item>> {
        let mut items: Vec<Item> = Vec::new();
        for (n, given) in self.request.items.iter().enumerate() {
            let id = given.id.clone().unwrap_or_else(|| format!("items[{n}]"));
            if items.iter().any(|item| item.id.as_str() == id) {
                return Err(AssemblyProblem::SameItem { id }.into());
            }
            let segment = match &given.segment {
                None => placed.segment,
                Some(name) => {
                    let found = self.request.recipe.segments.iter().position(|segment| segment.name == *name);
                    found.ok_or_else(|| AssemblyProblem::NoSegment { item: id.clone(), segment: name.clone() })?
                }
            };
            let Some(text) = self.text_of(&id, given).await? else { continue };
            let source = placed.source;
            let voice = if given.instruction { Voice::System } else { Voice::User };
            let uri = given.uri.clone().unwrap_or_else(|| format!("caller:{id}"));
            let priority = given.priority.unwrap_or(source.priority);
            items.push(Item {
                id: ItemId::new(id).map_err(AssemblyProblem::ItemId)?,
                kind: given.kind.or(source.kind).unwrap_or(ContextKind::ManualNote),
                segment,
                place: placed.place(i64::try_from(n).unwrap_or(i64::MAX)),
                part: RunPart::Alone,
                priority,
                title: given.title.clone().or_else(|| source.title.clone()),
                origin: origin("caller", uri, text.as_bytes(), Hold::Pinned, None),
                visibility: given.visibility.clone().or_else(|| source.visibility.clone()),
                trust: given.trust.clone().or_else(|| source.trust.clone()),
                redaction: given.redaction().or_else(|| masked::redaction(text.as_bytes())),
                at: None,
                sensitivity: given.sensitivity.clone().or_else(|| source.sensitivity.clone()),
                media_type: given.media_type.clone(),
                replaces: None,
                messages: Vec::new(),
                content: ItemContent::Text { text, voice, fenced: true },
                compact: given.compact.clone().map(|text| ItemContent::Text { text, voice, fenced: true }),
            });
        }
        Ok(items)
    }

    /// Returns what an item says; one whose artifact is gone is noted.
    async fn text_of(&mut self, id: &str, given: &GivenItem) -> Result<Option<String>> {
        let artifact = match (&given.content, given.artifact) {
            (Some(Value::String(text)), _) => return Ok(Some(text.clone())),
            (Some(data), _) => return Ok(Some(pretty(data))),
            (None, Some(artifact)) => artifact,
            (None, None) => return Ok(None),
        };
        let mut bytes = Vec::new();
        match self.engine.get_artifact(artifact, &mut bytes).await {
            Ok(_) => {}
            Err(Error::Store(StoreError::NoArtifact(_))) => {
                self.gap(&artifact.to_string(), &format!("Item {id} needs it, and it is not in the store."));
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let text = String::from_utf8(bytes).ok();
        if text.is_none() {
            self.gap(&artifact.to_string(), "It is not text.");
        }
        Ok(text)
    }
}

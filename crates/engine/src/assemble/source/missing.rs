//! What is known to be missing: a model that knows of a gap can ask.

use contexture_assembly::{
    Hold,
    standard::{ContextKind, MissingContext},
};
use contexture_core::GapStatus;
use contexture_store::missing::Filter;

use super::{Gathering, ItemDraft, fenced, origin};
use crate::Result;

/// Most gaps that a model is shown.
const MAX_GAPS: u32 = 20;

impl Gathering<'_> {
    pub(super) async fn missing(&self) -> Result<Vec<ItemDraft>> {
        let filter = Filter { status: Some(GapStatus::new("open")?), ..Filter::default() };
        let open = self.engine.list_missing(&filter, None, MAX_GAPS).await?;
        let mut drafts = Vec::new();
        for stored in open {
            let Ok(record) = serde_json::from_str::<MissingContext>(stored.missing.document.as_str()) else { continue };
            let text = format!("{} ({})", record.question, record.severity);
            drafts.push(ItemDraft {
                id: stored.missing.id.to_string(),
                kind: ContextKind::RuntimeState,
                title: Some("missing context".to_owned()),
                origin: origin("missing_context", stored.missing.id.to_string(), text.as_bytes(), Hold::Live, None),
                content: fenced(text),
                compact: None,
            });
        }
        Ok(drafts)
    }
}

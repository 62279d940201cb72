//! What is asked of packs, read from JSON with every mistake named by its place.

use std::collections::HashMap;

use serde_json::Value;

use crate::{
    budget::Limits,
    candidate::{Candidate, CandidateId, Measured, Priority, PromptPlace, RunPart},
    counter::TokenCounter,
    measure::{CharCount, TokenCount},
    mistake::{Mistake, MistakeKind},
    reader::{Reader, array, boolean, integer, natural, text, word},
};

/// The limit of characters where a request names none.
pub const DEFAULT_MAX_CHARS: CharCount = CharCount::new(500_000);

/// Packs to choose from, and how much there may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackRequest {
    /// How much there may be.
    pub limits: Limits,
    /// The packs, as they were listed.
    pub candidates: Vec<Candidate>,
}

/// Says why a text is no request.
#[derive(Debug, thiserror::Error)]
pub enum PackRefusal {
    /// It is not JSON.
    #[error("it is not JSON")]
    Json(#[source] serde_json::Error),
    /// Parts of it are not what they should be.
    #[error("it has {} mistake{}", mistakes.len(), if mistakes.len() == 1 { "" } else { "s" })]
    Mistakes {
        /// Which, in the order of the text.
        mistakes: Vec<Mistake>,
    },
}

impl PackRequest {
    /// Reads a request from JSON and measures its texts. A field that is null counts as absent.
    pub fn parse(counter: &dyn TokenCounter, json: &[u8]) -> Result<Self, PackRefusal> {
        let document = serde_json::from_slice(json).map_err(PackRefusal::Json)?;
        let mut reader = Reader::default();
        let request = request(&mut reader, counter, document);
        reader.finish(request).map_err(|mistakes| PackRefusal::Mistakes { mistakes })
    }
}

fn request(reader: &mut Reader, counter: &dyn TokenCounter, document: Value) -> Option<PackRequest> {
    let mut fields = reader.document(document)?;
    let max_tokens = reader.optional(&mut fields, "maxTokens", natural).map(TokenCount::new);
    let max_chars = reader.optional(&mut fields, "maxChars", natural).map_or(DEFAULT_MAX_CHARS, CharCount::new);
    let packs = reader.required(&mut fields, "packs", array).unwrap_or_default();
    reader.nothing_else(&fields);

    let mut first_uses: HashMap<CandidateId, usize> = HashMap::new();
    let mut candidates = Vec::with_capacity(packs.len());
    for (index, pack) in packs.into_iter().enumerate() {
        candidates.extend(candidate(reader, counter, &mut first_uses, index, pack));
    }
    Some(PackRequest { limits: Limits { max_tokens, max_chars }, candidates })
}

fn candidate(
    reader: &mut Reader,
    counter: &dyn TokenCounter,
    first_uses: &mut HashMap<CandidateId, usize>,
    index: usize,
    pack: Value,
) -> Option<Candidate> {
    let mut fields = reader.object(&format!("packs[{index}]"), pack)?;
    let id = reader.required(&mut fields, "id", id);
    if let Some(id) = &id
        && let Some(first) = first_uses.insert(id.clone(), index)
    {
        reader.add(fields.path("id"), MistakeKind::Taken { what: "id", first: format!("packs[{first}]") });
    }
    let priority = reader.optional(&mut fields, "priority", word).unwrap_or(Priority::Medium);
    let required = reader.optional(&mut fields, "required", boolean).unwrap_or(false);
    let preserve = reader.optional(&mut fields, "preserve", boolean).unwrap_or(false);
    let order = reader.optional(&mut fields, "order", integer);
    let full = reader.required(&mut fields, "full", text);
    let compact = reader.optional(&mut fields, "compact", text);
    reader.nothing_else(&fields);
    Some(Candidate {
        id: id?,
        priority: if required { Priority::Required } else { priority },
        place: PromptPlace { order: order.unwrap_or(i64::try_from(index).unwrap_or(i64::MAX)), tie: index },
        preserve,
        segment: 0,
        part: RunPart::Alone,
        full: Measured::new(counter, full?),
        compact: compact.and_then(|compact| Measured::new(counter, compact)),
    })
}

fn id(value: Value) -> Result<CandidateId, MistakeKind> {
    CandidateId::new(text(value)?).ok_or(MistakeKind::EmptyId)
}

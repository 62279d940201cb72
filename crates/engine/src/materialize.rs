//! Materialize: a chain becomes the conversation it stands for.

use std::{fmt, io::Write};

use contexture_core::{ArtifactId, CommitId, Format};
use contexture_formats::{Checker, Concatenation, JoinPlan, Joiner, Measure, dialogue::LossKind};
use contexture_store::{
    Error as StoreError,
    artifact::{self, ArtifactReader, WithheldContent},
    commit::Inserted,
};
use futures_util::FutureExt as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use crate::{
    Contexture, Error, Result,
    artifact::Announced,
    chain::{Body, ChainPart, CommitParts, Detail, Plan},
    piece_reader::PieceReader,
    raw_content::RawContent,
    renderings::WantedTranslation,
    translate::Translation,
};

/// Pieces of a conversation that wait to be stored.
const PIECES_WAITING: usize = 16;

/// How far back to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// To the nearest compaction or snapshot, which is included; to the root when there is none.
    Compaction,
    /// To the root.
    Root,
    /// To this ancestor, which is included.
    At(CommitId),
}

/// How faithfully content was turned into the format that was asked for, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// The same format: the stored bytes, joined; in a session that goes on in others, with the session's id.
    Native,
    /// Entry by entry, tool calls and results included.
    Mapped,
    /// As text to be read.
    Rendered,
    /// As a note that says where the content is.
    Raw,
}

impl Tier {
    /// Every tier, best first.
    pub const ALL: &'static [Self] = &[Self::Native, Self::Mapped, Self::Rendered, Self::Raw];

    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Mapped => "mapped",
            Self::Rendered => "rendered",
            Self::Raw => "raw",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A stretch of a chain whose content is in one format and was treated in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stretch {
    /// The format that its commits are in.
    pub format: Format,
    /// Commits whose content is part of the result.
    pub commits: u64,
    /// How faithful the result is to them.
    pub tier: Tier,
}

/// Something that was in the chain and is not in the result, or not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TranslationLoss {
    /// What.
    pub kind: LossKind,
    /// How often.
    pub count: u64,
    /// The commit that it was in, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
}

impl TranslationLoss {
    /// Says that content of a commit was taken away, or never came.
    pub(crate) fn of_withheld(content: &WithheldContent, commit: CommitId) -> Self {
        let kind = if content.is_partial { LossKind::PartWithheld } else { LossKind::ContentWithheld };
        Self { kind, count: 1, commit: Some(commit) }
    }
}

/// A conversation on its way out.
///
/// In the chain's own format the stored bytes are the result; nothing is copied to make it, so it starts at once at any
/// length. A translation is held whole, like what a model is given.
pub struct Materialization(ContentOrigin);

enum ContentOrigin {
    Stored(Box<StoredStretch>),
    /// Taken once it was returned.
    Translated(Option<Box<Translation>>),
}

/// The stored bytes of a chain on their way out.
struct StoredStretch {
    format: Option<Format>,
    commits: u64,
    stretches: Vec<Stretch>,
    joiner: Option<Joiner>,
    parts: CommitParts,
    /// The artifact that is being read and the commit it belongs to.
    open: Option<(CommitId, ArtifactReader)>,
    /// What is not in the store any more.
    losses: Vec<TranslationLoss>,
}

/// What a materialization gave, counted in the bytes that came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Materialized {
    /// The format; none when there was no commit to take it from.
    pub format: Option<Format>,
    /// How faithful it is: the worst of its segments.
    pub tier: Tier,
    /// What it was made of, oldest first.
    pub segments: Vec<Stretch>,
    /// What it leaves out or changes.
    pub losses: Vec<TranslationLoss>,
    /// Commits that were walked.
    pub commits: u64,
    /// Messages, where the format says what a message is.
    pub messages: Option<u64>,
    /// Bytes.
    pub bytes: u64,
    /// Tokens, by the counter named beside.
    pub tokens: u64,
    /// How tokens are counted: `chars4` is a fourth of the UTF-16 code units, rounded up.
    pub token_counter: String,
    /// What could not be read and is handed out as it is, with what is known of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub raw: Vec<RawContent>,
    /// The id that the content has as an artifact, where it was translated or stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<ArtifactId>,
}

impl Contexture {
    /// Starts to materialize a commit; no commit is a fresh start and gives an empty conversation.
    ///
    /// In another format than its own a chain is translated, for the session that [`Contexture::target_of`] describes.
    ///
    /// A compaction or snapshot counts only where the walk begins: what comes after it in the walk is the history it
    /// would repeat.
    pub async fn materialize(
        &self,
        commit: Option<CommitId>,
        stop: Stop,
        format: Option<Format>,
    ) -> Result<Materialization> {
        let plan = self.plan(commit, stop).await?;
        let format = plan.wanted(commit, format)?;
        match format {
            Some(format) if !plan.is_in(&format) => self.materialize_translated(commit, stop, &format, None).await,
            format => Ok(Materialization(ContentOrigin::Stored(Box::new(self.stored(plan, format).await?)))),
        }
    }

    /// Starts to materialize a commit like [`Contexture::materialize`] in no better tier than this one.
    ///
    /// In [`Tier::Native`] a chain that is not in the format is refused; nothing is worse than its best tier otherwise.
    pub async fn materialize_as(
        &self,
        commit: Option<CommitId>,
        stop: Stop,
        format: Option<Format>,
        best: Tier,
    ) -> Result<Materialization> {
        let plan = self.plan(commit, stop).await?;
        match (plan.wanted(commit, format)?, commit, best) {
            (Some(wanted), Some(commit), Tier::Native) if !plan.is_in(&wanted) => {
                Err(Error::NotNative { commit, found: plan.formats, wanted })
            }
            (Some(format), Some(_), Tier::Mapped | Tier::Rendered | Tier::Raw) => {
                self.materialize_translated(commit, stop, &format, Some(best)).await
            }
            (format, _, _) => Ok(Materialization(ContentOrigin::Stored(Box::new(self.stored(plan, format).await?)))),
        }
    }

    /// Writes a conversation and stores it as an artifact by itself, which stays. Returns what was counted, with the id of
    /// the artifact.
    pub async fn keep_materialization(
        &self,
        materialization: Materialization,
        sink: &mut (dyn Write + Send),
    ) -> Result<Materialized> {
        Box::pin(self.write_and_store(materialization, sink)).await
    }

    async fn write_and_store(
        &self,
        materialization: Materialization,
        sink: &mut (dyn Write + Send),
    ) -> Result<Materialized> {
        let rule = materialization.format().map_or(Concatenation::Bytes, Concatenation::of);
        let (pieces, waiting) = mpsc::channel(PIECES_WAITING);
        // Until all of it is there nothing tells of it, so a part that was stored goes with what nobody refers to.
        let storing = self.put_screened(rule, Box::new(PieceReader::new(waiting)), Announced::No);
        let (written, stored) = tokio::join!(write_and_send(materialization, sink, pieces), storing);
        // When storing fails, sending fails too, and only the former says why.
        let (id, report) = (stored?.id, written?);
        let announcing = self
            .store
            .write(self.scope(), id, |tx, id| artifact::announce_once(tx, id, Inserted::AlreadyThere).boxed());
        announcing.await?;
        Ok(Materialized { artifact: Some(id), ..report })
    }

    async fn materialize_translated(
        &self,
        commit: Option<CommitId>,
        stop: Stop,
        format: &Format,
        best: Option<Tier>,
    ) -> Result<Materialization> {
        let target = self.target_of(commit).await?;
        let best = best.unwrap_or(Tier::Native);
        let translation = match commit {
            Some(commit) => {
                let wanted = WantedTranslation { commit, stop, format, target: &target, best };
                self.translate_once(wanted).await?
            }
            None => self.translate_as(None, stop, format, &target, best).await?,
        };
        Ok(Materialization(ContentOrigin::Translated(Some(Box::new(translation)))))
    }

    /// Starts to join the stored bytes of a chain that is in one format.
    async fn stored(&self, plan: Plan, format: Option<Format>) -> Result<StoredStretch> {
        let rule = format.as_ref().map_or(Concatenation::Bytes, Concatenation::of);
        let parts = self.parts(&plan.route, Detail::Ids);
        let join = match rule {
            Concatenation::Lines => JoinPlan::Lines,
            Concatenation::Bytes => JoinPlan::Bytes,
            Concatenation::JsonArray => JoinPlan::JsonArray { parts: plan.parts },
            Concatenation::CborArray => {
                JoinPlan::CborArray { parts: plan.parts, elements: parts.again().count_elements().await? }
            }
        };
        let stretch = |format: &Format| Stretch { format: format.clone(), commits: plan.parts, tier: Tier::Native };
        let stretches = format.as_ref().filter(|_| plan.parts > 0).map(stretch).into_iter().collect();
        let joiner = Some(Joiner::new(join));
        Ok(StoredStretch {
            format,
            commits: plan.route.commits,
            stretches,
            joiner,
            parts,
            open: None,
            losses: Vec::new(),
        })
    }

    /// Returns the stored bytes of a chain that is in one format, whole.
    pub(crate) async fn stored_whole(&self, plan: Plan, format: Format) -> Result<Translation> {
        let stored = self.stored(plan, Some(format)).await?;
        let mut bytes = Vec::new();
        let report = Materialization(ContentOrigin::Stored(Box::new(stored))).write_to(&mut bytes).await?;
        Ok(Translation { bytes, report })
    }
}

/// Writes a conversation and sends it to whoever stores it.
async fn write_and_send(
    mut materialization: Materialization,
    sink: &mut (dyn Write + Send),
    pieces: mpsc::Sender<Vec<u8>>,
) -> Result<Materialized> {
    let failed = |source| Error::Io { attempt: "write the conversation", source };
    loop {
        let (bytes, end) = match materialization.next().await? {
            MaterializedPiece::Bytes(bytes) => (bytes, None),
            MaterializedPiece::End(tail, counted) => (tail, Some(counted)),
        };
        sink.write_all(&bytes).map_err(failed)?;
        let sent = pieces.send(bytes).await;
        if let Some(counted) = end {
            sink.flush().map_err(failed)?;
            return Ok(counted);
        }
        if sent.is_err() {
            // The storing side is gone; its own error is what the caller sees.
            return Err(StoreError::Closed.into());
        }
    }
}

impl Plan {
    /// Tells whether all content is in a format.
    pub(crate) fn is_in(&self, format: &Format) -> bool {
        self.formats.iter().all(|found| found == format)
    }

    /// Returns the format to materialize in: the one that was asked for, or else the chain's own, if it has one.
    fn wanted(&self, commit: Option<CommitId>, format: Option<Format>) -> Result<Option<Format>> {
        match (format, self.formats.as_slice(), commit) {
            (Some(format), ..) => Ok(Some(format)),
            (None, [only], _) => Ok(Some(only.clone())),
            (None, _, None) => Ok(None),
            (None, found, Some(commit)) => Err(Error::Mixed { commit, found: found.to_vec() }),
        }
    }
}

impl Materialization {
    /// Returns the format that it is in, where there is a commit to take it from.
    pub fn format(&self) -> Option<&Format> {
        match &self.0 {
            ContentOrigin::Stored(stored) => stored.format.as_ref(),
            ContentOrigin::Translated(translation) => translation.as_ref()?.report.format.as_ref(),
        }
    }

    /// Returns the next bytes of the conversation, in pieces of bounded size where they were stored so, or what was
    /// counted at the end.
    pub async fn next(&mut self) -> Result<MaterializedPiece> {
        match &mut self.0 {
            ContentOrigin::Stored(stored) => stored.next().await,
            ContentOrigin::Translated(translation) => {
                let Translation { bytes, report } = *translation.take().expect("the end is returned once");
                Ok(MaterializedPiece::End(bytes, report))
            }
        }
    }

    /// Writes the whole conversation and returns what was counted in it.
    pub async fn write_to(mut self, sink: &mut (dyn Write + Send)) -> Result<Materialized> {
        let failed = |source| Error::Io { attempt: "write the conversation", source };
        loop {
            match self.next().await? {
                MaterializedPiece::Bytes(bytes) => sink.write_all(&bytes).map_err(failed)?,
                MaterializedPiece::End(tail, counted) => {
                    sink.write_all(&tail).and_then(|()| sink.flush()).map_err(failed)?;
                    return Ok(counted);
                }
            }
        }
    }
}

impl StoredStretch {
    async fn next(&mut self) -> Result<MaterializedPiece> {
        loop {
            if let Some((commit, reader)) = &mut self.open {
                let commit = *commit;
                if let Some(piece) = reader.next().await? {
                    return self.join(commit, piece);
                }
                self.open = None;
                self.end_part(commit)?;
            }
            let Some(ChainPart { commit, body, withheld, .. }) = self.parts.next().await? else { return self.end() };
            self.losses.extend(withheld.map(|content| TranslationLoss::of_withheld(&content, commit)));
            match body {
                Body::Large(located) => self.open = Some((commit, self.parts.reader(located))),
                Body::Whole(bytes) => {
                    let piece = self.join(commit, bytes)?;
                    self.end_part(commit)?;
                    return Ok(piece);
                }
                Body::Withheld(_) => {
                    let piece = self.join(commit, self.nothing().to_vec())?;
                    self.end_part(commit)?;
                    return Ok(piece);
                }
            }
        }
    }

    /// Adds bytes of a commit to the conversation.
    fn join(&mut self, commit: CommitId, bytes: Vec<u8>) -> Result<MaterializedPiece> {
        let joined = self.joiner().push(&bytes).map_err(|source| Error::Unjoinable { commit, source })?;
        Ok(MaterializedPiece::Bytes(if joined.glue.is_empty() && joined.body.len() == bytes.len() {
            bytes
        } else {
            [&*joined.glue, joined.body].concat()
        }))
    }

    /// Returns content in which nothing is.
    fn nothing(&self) -> &'static [u8] {
        match self.format.as_ref().map_or(Concatenation::Bytes, Concatenation::of) {
            Concatenation::Lines | Concatenation::Bytes => b"",
            Concatenation::JsonArray => b"[]",
            Concatenation::CborArray => b"\x80",
        }
    }

    fn end_part(&mut self, commit: CommitId) -> Result<()> {
        self.joiner().end_part().map_err(|source| Error::Unjoinable { commit, source })
    }

    fn joiner(&mut self) -> &mut Joiner {
        self.joiner.as_mut().expect("the conversation goes on until its end is returned")
    }

    fn end(&mut self) -> Result<MaterializedPiece> {
        let joiner = self.joiner.take().expect("the end is returned once");
        // The plan counted the parts and they never change, so a miscount means that rows went missing.
        let ending = joiner.finish().map_err(|error| StoreError::Damaged { what: error.to_string() })?;
        let stretches = std::mem::take(&mut self.stretches);
        let counted = Materialized::new(
            self.format.clone(),
            self.commits,
            ending.measure,
            stretches,
            std::mem::take(&mut self.losses),
        );
        Ok(MaterializedPiece::End(ending.glue.to_vec(), counted))
    }
}

impl Materialized {
    pub(crate) fn new(
        format: Option<Format>,
        commits: u64,
        measure: Measure,
        segments: Vec<Stretch>,
        losses: Vec<TranslationLoss>,
    ) -> Self {
        let Measure { messages, bytes, chars } = measure;
        Self {
            format,
            tier: segments.iter().map(|stretch| stretch.tier).max().unwrap_or(Tier::Native),
            segments,
            losses,
            commits,
            messages,
            bytes,
            tokens: chars.div_ceil(4),
            token_counter: "chars4".to_owned(),
            raw: Vec::new(),
            artifact: None,
        }
    }

    /// Counts what is in a translation.
    pub(crate) fn of_translation(
        format: &Format,
        content: &[u8],
        commits: u64,
        segments: Vec<Stretch>,
        losses: Vec<TranslationLoss>,
    ) -> Self {
        let measured = |rule| {
            let mut checker = Checker::new(rule);
            checker.push(content).and_then(|()| checker.finish())
        };
        // Content that nests deeper than is read back can only be counted as bytes.
        let measure = measured(Concatenation::of(format)).or_else(|_| measured(Concatenation::Bytes));
        let bytes = content.len() as u64;
        let measure = measure.unwrap_or(Measure { messages: None, bytes, chars: bytes });
        let artifact = Some(ArtifactId::of(content));
        Self { artifact, ..Self::new(Some(format.clone()), commits, measure, segments, losses) }
    }
}

/// What a materialization yields next.
pub enum MaterializedPiece {
    /// Bytes of the conversation.
    Bytes(Vec<u8>),
    /// The last bytes and what was counted in all.
    End(Vec<u8>, Materialized),
}

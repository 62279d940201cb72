//! Translations that are kept, to be given again without translating.
//!
//! What a handle is given that shows secrets as they are is never kept and never taken from what is kept: that is always
//! what everybody may see.

use contexture_core::{ArtifactId, CommitId, Format};
use contexture_formats::{TRANSLATOR_VERSION, Target, dialogue::LossKind};
use contexture_store::{
    Disclosure,
    rendering::{self, Rendering, RenderingKey, RenderingStart},
};
use futures_util::FutureExt as _;
use serde::Serialize;
use tracing::debug;

use crate::{Contexture, Materialized, Result, Stop, Tier, Translation};

/// Shorter translations are made again sooner than they are kept.
const MIN_KEPT_BYTES: usize = 64 << 10;

/// A translation that somebody asks for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WantedTranslation<'w> {
    pub(crate) commit: CommitId,
    pub(crate) stop: Stop,
    pub(crate) format: &'w Format,
    pub(crate) target: &'w Target,
    pub(crate) best: Tier,
}

/// All that a translation follows from beside what the chain holds.
#[derive(Serialize)]
struct RenderingOrigin<'w> {
    /// What translates: the version of the rules, and of the program.
    translator: (u32, &'static str),
    commit: CommitId,
    stop: String,
    format: &'w Format,
    best: Tier,
    session: &'w str,
    directory: &'w str,
    branch: Option<&'w str>,
    version: Option<&'w str>,
    model: Option<&'w str>,
    provider: Option<&'w str>,
    title: Option<&'w str>,
    now: i64,
}

impl Contexture {
    /// Gives a translation that was kept, or makes it and keeps it.
    pub(crate) async fn translate_once(&self, wanted: WantedTranslation<'_>) -> Result<Translation> {
        let WantedTranslation { commit, stop, format, target, best } = wanted;
        let may_keep = self.disclosure() == Disclosure::Masked;
        let key = wanted.key();
        let mut begun = None;
        if may_keep {
            let finding = self.store.read(self.scope(), key, |tx, key| rendering::find(tx, key).boxed());
            let (found, start) = finding.await?;
            if let Some(translation) = found.as_ref().and_then(kept) {
                self.note_use(key, found.as_ref()).await;
                return Ok(translation);
            }
            begun = Some(start);
        }
        let translation = self.translate_as(Some(commit), stop, format, target, best).await?;
        if let Some(begun) = begun.filter(|_| is_worth_keeping(&translation)) {
            self.keep_rendering(key, commit, &translation, begun).await;
        }
        Ok(translation)
    }

    /// Keeps a translation. That it cannot be kept is no reason not to give it.
    async fn keep_rendering(
        &self,
        key: RenderingKey,
        commit: CommitId,
        translation: &Translation,
        begun: RenderingStart,
    ) {
        let Ok(report) = serde_json::to_string(&translation.report) else { return };
        let Some(rendering) = Rendering::compress(commit, &translation.bytes, report, self.now()) else { return };
        let keeping = self.store.write(self.scope(), (key, rendering, begun), |tx, (key, rendering, begun)| {
            rendering::keep(tx, key, rendering, *begun).boxed()
        });
        match keeping.await {
            Ok(is_kept) => debug!(is_kept, "translation kept"),
            Err(error) => debug!(%error, "translation not kept"),
        }
    }

    /// Writes down that a rendering is used, seldom enough that reading stays reading.
    async fn note_use(&self, key: RenderingKey, found: Option<&Rendering>) {
        if !found.is_some_and(|found| rendering::is_used_anew(found, self.now())) {
            return;
        }
        let touching = self.store.write(self.scope(), key, |tx, key| rendering::touch(tx, key).boxed());
        if let Err(error) = touching.await {
            debug!(%error, "use of a translation not noted");
        }
    }
}

impl WantedTranslation<'_> {
    fn key(&self) -> RenderingKey {
        let Self { commit, stop, format, target, best } = *self;
        let Target { session, directory, branch, version, model, provider, title, now } = target;
        let origin = RenderingOrigin {
            translator: (TRANSLATOR_VERSION, env!("CARGO_PKG_VERSION")),
            commit,
            stop: match stop {
                Stop::Compaction => "compaction".to_owned(),
                Stop::Root => "root".to_owned(),
                Stop::At(ancestor) => ancestor.to_string(),
            },
            format,
            best,
            session,
            directory,
            branch: branch.as_deref(),
            version: version.as_deref(),
            model: model.as_deref(),
            provider: provider.as_deref(),
            title: title.as_deref(),
            now: now.as_micros(),
        };
        let origin = serde_json::to_vec(&origin).expect("words and numbers have a JSON form");
        *ArtifactId::of(&origin).as_bytes()
    }
}

/// Reads a rendering, unless it is damaged.
fn kept(rendering: &Rendering) -> Option<Translation> {
    let report: Materialized = serde_json::from_str(&rendering.report).ok()?;
    Some(Translation { bytes: rendering.content()?, report })
}

/// Tells whether making it again would take long, and would give the same: content that is not here may come.
fn is_worth_keeping(translation: &Translation) -> bool {
    let is_whole = |kind| !matches!(kind, LossKind::ContentWithheld | LossKind::PartWithheld);
    translation.bytes.len() >= MIN_KEPT_BYTES && translation.report.losses.iter().all(|loss| is_whole(loss.kind))
}

//! One secret, wherever it occurs: in what it was found in, and in all that holds its value.

use std::collections::BTreeSet;

use contexture_core::{ArtifactId, ByteReplacement, Fingerprint, SecretCover, SecretFinding, SecretMask};
use contexture_store::{
    Disclosure, Error as StoreError, Scope,
    artifact::{self, ArtifactReader},
    envelope, finding,
    withheld_text::{self, ReplaceMode, TextReplacement},
};
use futures_util::FutureExt as _;
use tokio::sync::mpsc;

use super::{MaskedArtifact, PurgeMode, PurgeWork, Purging};
use crate::{Contexture, Result, SealKey, assemble::RemovedSecret, piece_reader::PieceReader, secrets};

/// Rows that are read at once.
const PAGE: u32 = 64;
/// Pieces of a substitute that may wait to be stored.
const PIECES_WAITING: usize = 16;
/// How often a value may have been put into a JSON string.
const QUOTED: usize = 3;
/// Shorter values are not looked for beside where they were found: they occur by chance.
const MIN_VALUE_BYTES: usize = 6;

/// A secret's value in all the forms in which it occurs.
struct SecretForms {
    /// As bytes, the longest first.
    values: Vec<Vec<u8>>,
}

impl Contexture {
    /// Finds all that holds a secret, and stores what will be shown instead.
    pub(super) async fn secret_work(
        &self,
        fingerprint: Fingerprint,
        mode: PurgeMode,
        progress: &mut (dyn FnMut(Purging) + Send),
    ) -> Result<PurgeWork> {
        // As it is stored: neither masked nor unsealed.
        let scope = Scope { disclosure: Disclosure::Exact, opener: None, ..self.scope() };
        let found = self.found_places(fingerprint).await?;
        let Some((_, first)) = found.iter().find_map(|(id, findings)| Some((id, findings.first()?))) else {
            return Ok(PurgeWork::default());
        };
        let secret = RemovedSecret { rule: first.rule.clone(), fingerprint };
        let instead = SecretFinding { cover: SecretCover::Named, ..first.clone() };
        let key = secrets::seal_key(self).await?.filter(SealKey::can_open);
        let mut values = BTreeSet::new();
        let mut holding = BTreeSet::new();
        for (id, findings) in &found {
            let mut here = BTreeSet::new();
            self.values_at(&scope, *id, findings, &mut here).await?;
            // Where it is sealed, the placeholder is what is stored.
            here.retain(|value| !findings.iter().any(|finding| finding.placeholder().as_bytes() == value));
            if !here.is_empty() {
                holding.insert(*id);
            }
            values.extend(here);
            values.extend(self.opened_originals(&scope, key.as_ref(), *id, findings).await?);
        }
        let forms = SecretForms::of(values);
        holding.extend(self.artifacts_holding(&scope, &forms, progress).await?);
        let concerned = found.iter().map(|(id, _)| *id).chain(holding.iter().copied()).collect();
        let mut work = PurgeWork { whole: Vec::new(), ..self.work_on(concerned).await? };
        for (id, findings) in found.iter().filter(|(id, _)| !holding.contains(id)) {
            self.reduce_original(key.as_ref(), *id, findings, &mut work).await?;
        }
        let holding: Vec<ArtifactId> = holding.into_iter().collect();
        let parts = self.only_parts(&holding, &work).await?;
        for id in holding {
            if parts.contains(&id) {
                continue;
            }
            let substitute = match mode {
                PurgeMode::Look => MaskedArtifact { id, substitute: id, findings: Vec::new() },
                PurgeMode::Change => self.substitute(&scope, id, fingerprint, &forms, &instead).await?,
            };
            work.masked.push(substitute);
        }
        let texts = forms.values.iter().filter_map(|value| String::from_utf8(value.clone()).ok()).collect();
        let replacement = TextReplacement { values: texts, instead: instead.placeholder() };
        let looking = self.store.read(self.scope(), replacement.clone(), |tx, replacement| {
            withheld_text::replace(tx, replacement, ReplaceMode::Look).boxed()
        });
        let texts = looking.await?;
        (work.plan.annotations, work.plan.records) = (texts.annotations, texts.records);
        work.plan.masked_artifacts = work.masked.len() as u64;
        work.replacement = Some(replacement);
        work.secret = Some(secret);
        self.concern(&mut work).await?;
        work.plan.envelopes = self.envelopes_holding(&work).await?;
        Ok(work)
    }

    /// Returns where a secret was found.
    async fn found_places(&self, fingerprint: Fingerprint) -> Result<Vec<(ArtifactId, Vec<SecretFinding>)>> {
        let mut found = Vec::new();
        let mut after = None;
        loop {
            let reading = self.store.read(self.scope(), (fingerprint, after), |tx, &(fingerprint, after)| {
                async move {
                    let mut page = Vec::new();
                    for id in finding::artifacts_with(tx, fingerprint, after, PAGE).await? {
                        let mut findings = finding::of(tx, &id).await?;
                        findings.retain(|finding| finding.fingerprint == fingerprint);
                        page.push((id, findings));
                    }
                    Ok::<_, StoreError>(page)
                }
                .boxed()
            });
            let page = reading.await?;
            let Some((last, _)) = page.last() else { return Ok(found) };
            after = Some(*last);
            found.extend(page);
        }
    }

    /// Collects the bytes at some places of an artifact.
    async fn values_at(
        &self,
        scope: &Scope,
        id: ArtifactId,
        findings: &[SecretFinding],
        values: &mut BTreeSet<Vec<u8>>,
    ) -> Result<()> {
        let mut reader = ArtifactReader::open(&self.store, scope, id).await?;
        let mut taken: Vec<Vec<u8>> = vec![Vec::new(); findings.len()];
        let mut offset = 0;
        while let Some(piece) = reader.next().await? {
            let end = offset + piece.len() as u64;
            for (finding, value) in findings.iter().zip(&mut taken) {
                let (from, to) = (finding.start.clamp(offset, end), finding.end().clamp(offset, end));
                let within = |place: u64| usize::try_from(place - offset).expect("it is inside of the piece");
                value.extend_from_slice(&piece[within(from)..within(to)]);
            }
            offset = end;
        }
        values.extend(taken.into_iter().filter(|value| !value.is_empty()));
        Ok(())
    }

    /// Returns the artifacts that hold a value, whole ones and parts.
    async fn artifacts_holding(
        &self,
        scope: &Scope,
        forms: &SecretForms,
        progress: &mut (dyn FnMut(Purging) + Send),
    ) -> Result<Vec<ArtifactId>> {
        let total = self.stats().await?.artifacts.count;
        let (mut holding, mut after, mut done) = (Vec::new(), 0, 0);
        loop {
            let reading = self.store.read(scope.clone(), after, |tx, after| artifact::page(tx, *after, PAGE).boxed());
            let (page, last) = reading.await?;
            let Some(last) = last else { return Ok(holding) };
            after = last;
            for located in page {
                done += 1;
                progress(Purging { done, total: total.max(done) });
                if located.is_gone() {
                    continue;
                }
                let id = located.id;
                let mut reader = ArtifactReader::of(&self.store, scope, located);
                let mut places = Vec::new();
                let mut search = FormSearch::new(forms);
                loop {
                    match reader.next().await {
                        Ok(Some(piece)) => search.push(&piece, &mut places),
                        Ok(None) => break,
                        // A check of the store says what is wrong.
                        Err(StoreError::Damaged { .. } | StoreError::DamagedArtifact(_) | StoreError::Withheld(_)) => {
                            break;
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
                if !places.is_empty() {
                    holding.push(id);
                }
            }
        }
    }

    /// Returns those of some artifacts that are nothing but parts of others among them: they go with these.
    async fn only_parts(&self, holding: &[ArtifactId], work: &PurgeWork) -> Result<BTreeSet<ArtifactId>> {
        let used: BTreeSet<ArtifactId> = work.commits.iter().map(|used| used.artifact).collect();
        let mut parts = BTreeSet::new();
        for id in holding.iter().filter(|id| !used.contains(id)) {
            let reading =
                self.store.read(self.scope(), BTreeSet::from([*id]), |tx, id| artifact::wholes_with(tx, id).boxed());
            if reading.await?.iter().any(|whole| holding.contains(whole)) {
                parts.insert(*id);
            }
        }
        for id in self.attached_to_envelopes().await? {
            parts.remove(&id);
        }
        Ok(parts)
    }

    async fn attached_to_envelopes(&self) -> Result<BTreeSet<ArtifactId>> {
        let (mut after, mut attached) = (0, BTreeSet::new());
        loop {
            let reading = self.store.read(self.scope(), after, |tx, after| envelope::after(tx, *after, PAGE).boxed());
            let page = reading.await?;
            let Some((last, _)) = page.last() else { return Ok(attached) };
            after = last.seq;
            for (stored, _) in page {
                attached.insert(stored.document);
                attached.extend(self.envelopes().artifacts(stored.id).await?);
            }
        }
    }

    async fn envelopes_holding(&self, work: &PurgeWork) -> Result<Vec<contexture_core::EnvelopeId>> {
        let masked: BTreeSet<ArtifactId> = work.masked.iter().map(|masked| masked.id).collect();
        let (mut after, mut found) = (0, Vec::new());
        loop {
            let reading = self.store.read(self.scope(), after, |tx, after| envelope::after(tx, *after, PAGE).boxed());
            let page = reading.await?;
            let Some((last, _)) = page.last() else { return Ok(found) };
            after = last.seq;
            for (stored, _) in page {
                let attached = self.envelopes().artifacts(stored.id).await?;
                if attached.iter().chain([&stored.document]).any(|id| masked.contains(id)) {
                    found.push(stored.id);
                }
            }
        }
    }

    /// Stores what is shown for an artifact from now on: its bytes without the secret.
    async fn substitute(
        &self,
        scope: &Scope,
        id: ArtifactId,
        fingerprint: Fingerprint,
        forms: &SecretForms,
        instead: &SecretFinding,
    ) -> Result<MaskedArtifact> {
        let findings = self.store.read(scope.clone(), id, |tx, id| finding::of(tx, id).boxed()).await?;
        let mut places: BTreeSet<(u64, u64)> = BTreeSet::new();
        let mut found = Vec::new();
        let mut search = FormSearch::new(forms);
        let mut reader = ArtifactReader::open(&self.store, scope, id).await?;
        while let Some(piece) = reader.next().await? {
            search.push(&piece, &mut found);
        }
        places.extend(found);
        let own = findings.iter().filter(|finding| finding.fingerprint == fingerprint);
        places.extend(own.clone().map(|finding| (finding.start, finding.end())));
        let cover = |start: u64, end: u64| {
            let known = own.clone().find(|finding| finding.start < end && start < finding.end()).unwrap_or(instead);
            SecretFinding { start, length: end - start, ..known.clone() }
        };
        let mut replacements: Vec<ByteReplacement> = Vec::new();
        let mut covered: Option<(u64, u64)> = None;
        for (start, end) in places {
            covered = match covered {
                Some((from, to)) if start < to => Some((from, to.max(end))),
                Some((from, to)) => {
                    replacements.push(ByteReplacement::from(&cover(from, to)));
                    Some((start, end))
                }
                None => Some((start, end)),
            };
        }
        replacements.extend(covered.map(|(from, to)| ByteReplacement::from(&cover(from, to))));
        let findings = moved(findings, fingerprint, &replacements);
        let mut mask = SecretMask::new(replacements);
        let (pieces, receiver) = mpsc::channel(PIECES_WAITING);
        let feeding = async move {
            let mut reader = ArtifactReader::open(&self.store, scope, id).await?;
            while let Some(piece) = reader.next().await? {
                // When the storing side is gone, its own error is what the caller sees.
                if pieces.send(mask.apply(piece)).await.is_err() {
                    break;
                }
            }
            Ok::<_, StoreError>(())
        };
        let storing = artifact::put_stream(&self.store, scope, PieceReader::new(receiver));
        let (fed, stored) = tokio::join!(feeding, storing);
        fed?;
        Ok(MaskedArtifact { id, substitute: stored?.id, findings })
    }
}

/// Returns the other findings of an artifact where they lie once bytes are replaced. What is replaced is none any more.
fn moved(
    findings: Vec<SecretFinding>,
    fingerprint: Fingerprint,
    replacements: &[ByteReplacement],
) -> Vec<SecretFinding> {
    let others = findings.into_iter().filter(|finding| finding.fingerprint != fingerprint);
    others
        .filter_map(|finding| {
            let mut start = finding.start;
            for replacement in replacements {
                let end = replacement.start + replacement.length;
                if replacement.start < finding.end() && finding.start < end {
                    return None;
                }
                if end <= finding.start {
                    start = start - replacement.length + replacement.bytes.len() as u64;
                }
            }
            Some(SecretFinding { start, ..finding })
        })
        .collect()
}

impl SecretForms {
    /// Returns values as they are, as what JSON strings with them stand for, and as such strings, twice over.
    fn of(values: BTreeSet<Vec<u8>>) -> Self {
        let mut forms: BTreeSet<Vec<u8>> = values;
        for value in forms.clone() {
            let Ok(text) = String::from_utf8(value) else { continue };
            let mut form = text;
            forms.insert(form.clone().into_bytes());
            for _ in 0..QUOTED {
                let Ok(plain) = serde_json::from_str::<String>(&format!("\"{form}\"")) else { break };
                forms.insert(plain.clone().into_bytes());
                form = plain;
            }
            for _ in 0..=QUOTED {
                forms.insert(form.clone().into_bytes());
                let quoted = serde_json::to_string(&form).expect("texts have a JSON form");
                quoted[1..quoted.len() - 1].clone_into(&mut form);
            }
        }
        let mut values: Vec<Vec<u8>> = forms.into_iter().filter(|value| value.len() >= MIN_VALUE_BYTES).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values }
    }
}

/// Looks for values in bytes that come piece by piece.
struct FormSearch<'f> {
    finders: Vec<(memchr::memmem::Finder<'f>, usize)>,
    /// The end of what came, as far as a value may begin in it.
    kept: Vec<u8>,
    /// Where that starts.
    offset: u64,
    longest: usize,
}

impl<'f> FormSearch<'f> {
    fn new(forms: &'f SecretForms) -> Self {
        let finders = forms.values.iter().map(|value| (memchr::memmem::Finder::new(value), value.len())).collect();
        let longest = forms.values.iter().map(Vec::len).max().unwrap_or(0);
        Self { finders, kept: Vec::new(), offset: 0, longest }
    }

    /// Adds where values lie in what came. A value may be found twice.
    fn push(&mut self, piece: &[u8], places: &mut Vec<(u64, u64)>) {
        self.kept.extend_from_slice(piece);
        for (finder, length) in &self.finders {
            for at in finder.find_iter(&self.kept) {
                let start = self.offset + at as u64;
                places.push((start, start + *length as u64));
            }
        }
        let surplus = self.kept.len().saturating_sub(self.longest.saturating_sub(1));
        self.kept.drain(..surplus);
        self.offset += surplus as u64;
    }
}

//! Translate: a chain becomes a conversation in another format, as faithfully as each of its stretches allows.

use contexture_assembly::ReplacedTurns;
use contexture_core::{
    ArtifactId, CommitId, CommitKind, Entry, EntryPart, Flags, Format, Role, SummaryText, Timestamp,
};
use contexture_formats::{
    self as formats, Concatenation, Dialogue, EncodedDialogue, Replay, Target, USUAL_PROVIDER,
    codec::{Effect, Keep, RecordStep},
    dialogue::{LossKind, Losses},
};
use contexture_store::{
    Tx, annotation,
    artifact::WithheldContent,
    commit::{self, LineSegment, StoredCommit},
};
use futures_util::{FutureExt as _, future::BoxFuture};
use tracing::{Instrument as _, debug_span};

use crate::{
    Contexture, Error, Materialized, Result, Stop, Stretch, Tier, TranslationLoss,
    chain::Route,
    entries::{CommitContent, ContentMeaning, Entries, MAX_TEXT_CHARS},
    excerpt::Excerpt,
    native_prefix::WrittenSession,
    raw_content::{self, RawContent},
};

/// How many pages of commits are looked at for what they tell about their session. A stretch begins a new page.
const MAX_LABELLED_PAGES: i64 = 16;
/// Commits of a page.
const COMMITS_PER_LABEL_PAGE: i64 = 64;

/// What opens a conversation that is written in one message.
const NARRATIVE: &str = "[an earlier conversation, told as text]";

/// A conversation in the format that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// The content: what a file of the runtime holds, or an array of messages.
    pub bytes: Vec<u8>,
    /// How faithful it is, and what was counted in it.
    pub report: Materialized,
}

impl Contexture {
    /// Gives a chain in a format, for a session to go on with. No commit gives an empty conversation.
    ///
    /// A chain that is in the format comes out as it was stored, whatever the target. One that begins with records of the
    /// target's runtime keeps them, with the target's session id, and the rest follows them. The same chain and target
    /// give the same bytes.
    pub async fn translate(
        &self,
        commit: Option<CommitId>,
        stop: Stop,
        format: &Format,
        target: &Target,
    ) -> Result<Translation> {
        self.translate_as(commit, stop, format, target, Tier::Native).await
    }

    /// Gives a chain like [`Contexture::translate`], no stretch of it in a better tier than this one.
    pub async fn translate_as(
        &self,
        commit: Option<CommitId>,
        stop: Stop,
        format: &Format,
        target: &Target,
        best: Tier,
    ) -> Result<Translation> {
        let plan = self.plan(commit, stop).await?;
        let is_native = best == Tier::Native && plan.is_in(format);
        let Some(commit) = commit.filter(|_| !is_native) else {
            return self.stored_whole(plan, format.clone()).await;
        };
        let Some(encoder) = formats::encoder(format) else {
            return Err(Error::Unwritable { wanted: format.clone(), writable: writable() });
        };
        // Where a compaction or snapshot is passed over, records of a runtime would not add up to its session.
        if best == Tier::Native && plan.parts == plan.route.commits {
            let mut bytes = Vec::new();
            if let Some(WrittenSession { report, .. }) =
                self.write_native_prefix(&plan, format, target, &mut bytes).await?
            {
                let artifact = Some(ArtifactId::of(&bytes));
                return Ok(Translation { bytes, report: Materialized { artifact, ..report } });
            }
        }
        // A narrative in a message in a narrative would say nothing more.
        let is_text = format.as_str() == "text";
        let best = if is_text { best.max(Tier::Rendered) } else { best };
        let gathering = self.gather(commit, stop, best).instrument(debug_span!("translate", %commit));
        let Gathered { replay, stretches, losses, raw, commits, .. } = gathering.await?;
        if let Some(write) = formats::entry_writer(format).filter(|_| best != Tier::Rendered) {
            let bytes = write(replay.entries());
            let losses = all_losses(losses, &Losses::default());
            let report = Materialized::of_translation(format, &bytes, commits, stretches, losses);
            return Ok(Translation { bytes, report: Materialized { raw, ..report } });
        }
        // Whoever goes on with a session tells its model of itself in its own way.
        let shape = if formats::is_session(format) { Dialogue::for_session } else { Dialogue::of };
        let mut dialogue = shape(replay.into_entries());
        let mut counted = dialogue.losses.clone();
        if best == Tier::Rendered && !is_text {
            dialogue = as_one_message(&dialogue, target, &mut counted);
        }
        let EncodedDialogue { bytes, losses: encoding } = encoder.encode(&dialogue, target);
        counted.extend(&encoding);
        let losses = all_losses(losses, &counted);
        let report = Materialized::of_translation(format, &bytes, commits, stretches, losses);
        Ok(Translation { bytes, report: Materialized { raw, ..report } })
    }

    /// Describes the session that a commit was made in, as far as its chain tells, for a deterministic translation.
    pub async fn target_of(&self, commit: Option<CommitId>) -> Result<Target> {
        let mut target = Target {
            session: uuid([0; CommitId::LEN]),
            directory: "/".to_owned(),
            branch: None,
            version: None,
            model: None,
            provider: Some(USUAL_PROVIDER.to_owned()),
            title: None,
            now: Timestamp::from_micros(0).expect("the epoch is an instant"),
        };
        let Some(id) = commit else { return Ok(target) };
        let stored = self.show(id).await?;
        target.session = uuid(*id.as_bytes());
        target.now = stored.commit.created_at;
        let reading = self.store.read(self.scope(), stored.place, |tx, place| labelled(tx, *place).boxed());
        let [directory, branch, model] = reading.await?;
        Ok(Target { directory: directory.unwrap_or(target.directory), branch, model, ..target })
    }

    /// Replays a chain.
    async fn gather(&self, commit: CommitId, stop: Stop, best: Tier) -> Result<Gathered> {
        let route = self.route(commit, stop).await?;
        self.gather_along(self.entries_of(&route), &route, stop, best).await
    }

    /// Replays what lies on a route: all that a walk to the stop gives, or its newest end.
    pub(crate) fn gather_along<'g>(
        &'g self,
        mut entries: Entries,
        route: &'g Route,
        stop: Stop,
        best: Tier,
    ) -> BoxFuture<'g, Result<Gathered>> {
        async move {
            let mut gathered = Gathered::new(best);
            let mut is_first = !route.begins_inside;
            while let Some(content) = entries.next().await? {
                if is_first {
                    if let Some(before) = reaches_back(&content).filter(|_| stop == Stop::Compaction) {
                        // What the compaction keeps lies before it, where the walk does not go by itself.
                        gathered = self.gather(before, Stop::Compaction, best).await?;
                    }
                    gathered.start(content);
                } else {
                    gathered.take(content);
                }
                is_first = false;
            }
            gathered.end_text();
            gathered.commits += route.commits;
            Ok(gathered)
        }
        .boxed()
    }
}

/// A chain on its way to a conversation.
pub(crate) struct Gathered {
    best: Tier,
    pub(crate) replay: Replay,
    /// The commits that entries of the replay come from.
    pub(crate) origins: Vec<StretchOrigin>,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) losses: Vec<TranslationLoss>,
    /// What was not read.
    pub(crate) raw: Vec<RawContent>,
    commits: u64,
    /// The text of the last stretch, when it is rendered.
    text: Option<(usize, Format, Excerpt)>,
}

/// A commit that entries come from.
#[derive(Debug, Clone)]
pub(crate) struct StretchOrigin {
    pub(crate) commit: CommitId,
    pub(crate) depth: u64,
    pub(crate) at: Timestamp,
    pub(crate) summary: Option<SummaryText>,
    /// What it stands for, where it is a compaction.
    pub(crate) replaces: Option<ReplacedTurns>,
}

impl Gathered {
    fn new(best: Tier) -> Self {
        Self { best, ..Self::after(Replay::default()) }
    }

    /// Starts to gather what goes on with a conversation.
    pub(crate) fn after(replay: Replay) -> Self {
        Self {
            best: Tier::Native,
            replay,
            origins: Vec::new(),
            stretches: Vec::new(),
            losses: Vec::new(),
            raw: Vec::new(),
            commits: 0,
            text: None,
        }
    }

    /// Takes the content where the walk begins: what stands for all before it is a summary.
    fn start(&mut self, content: CommitContent) {
        let CommitContent { commit, size, said, withheld } = content;
        let kind = commit.commit.kind;
        match said {
            ContentMeaning::Text { text, left_out } if kind != CommitKind::Delta && self.best < Tier::Raw => {
                self.begin(&commit, Tier::Mapped);
                self.note_withheld(withheld.as_deref(), &commit);
                self.lose(LossKind::Clipped, u64::from(left_out > 0), &commit);
                self.say(RecordStep::append(summary(text)));
            }
            ContentMeaning::Steps { steps, unreadable } if kind == CommitKind::Compaction => {
                let said = ContentMeaning::Steps { steps: summed_up(steps), unreadable };
                self.take(CommitContent { commit, size, said, withheld });
            }
            said => self.take(CommitContent { commit, size, said, withheld }),
        }
    }

    pub(crate) fn take(&mut self, content: CommitContent) {
        let CommitContent { commit, size, said, withheld } = content;
        match said {
            ContentMeaning::Withheld => {
                self.begin(&commit, Tier::Raw);
                self.note_withheld(withheld.as_deref(), &commit);
                let fate = withheld.as_deref().map(WithheldContent::fate).unwrap_or_default();
                self.say(RecordStep::append(runtime_note(format!("[the content of {} {fate}]", commit.id))));
            }
            ContentMeaning::Steps { steps, unreadable } if self.best < Tier::Raw => {
                self.begin(&commit, Tier::Mapped);
                self.note_withheld(withheld.as_deref(), &commit);
                self.lose(LossKind::RecordUnreadable, unreadable, &commit);
                for step in steps {
                    self.say(step);
                }
            }
            ContentMeaning::Text { text, left_out } if self.best < Tier::Raw => {
                self.begin(&commit, Tier::Rendered);
                self.note_withheld(withheld.as_deref(), &commit);
                self.lose(LossKind::Clipped, u64::from(left_out > 0), &commit);
                self.add_text(&commit, &text);
            }
            ContentMeaning::Opaque { first } => self.hand_out(&commit, size, &first, withheld.as_deref()),
            ContentMeaning::Steps { .. } | ContentMeaning::Text { .. } => {
                self.hand_out(&commit, size, &[], withheld.as_deref());
            }
        }
    }

    /// Says where content is that is not read, and what it is.
    fn hand_out(&mut self, commit: &StoredCommit, size: u64, first: &[u8], withheld: Option<&WithheldContent>) {
        self.begin(commit, Tier::Raw);
        self.note_withheld(withheld, commit);
        self.lose(LossKind::ContentAsNote, 1, commit);
        let note = raw_content::hand_out(&mut self.raw, commit, size, first);
        self.say(RecordStep::append(runtime_note(note)));
    }

    /// Begins with a commit, in a tier that is no better than allowed.
    fn begin(&mut self, commit: &StoredCommit, tier: Tier) {
        let (format, tier) = (&commit.commit.format, tier.max(self.best));
        match self.stretches.last_mut() {
            Some(last) if last.format == *format && last.tier == tier => last.commits += 1,
            _ => {
                self.end_text();
                self.stretches.push(Stretch { format: format.clone(), commits: 1, tier });
            }
        }
        self.origins.push(StretchOrigin {
            commit: commit.id,
            depth: commit.depth,
            at: commit.commit.created_at,
            summary: commit.annotations.summary.clone(),
            replaces: commit.commit.parent.filter(|_| commit.commit.kind == CommitKind::Compaction).map(|last| {
                let trigger = commit.commit.trigger;
                ReplacedTurns { commits: commit.depth, last, trigger: trigger.as_str().to_owned() }
            }),
        });
    }

    /// Takes in what the last commit says.
    fn say(&mut self, step: RecordStep) {
        self.replay.take_from(self.last_origin(), step);
    }

    fn last_origin(&self) -> usize {
        self.origins.len().saturating_sub(1)
    }

    fn lose(&mut self, kind: LossKind, count: u64, commit: &StoredCommit) {
        if count > 0 {
            self.losses.push(TranslationLoss { kind, count, commit: Some(commit.id) });
        }
    }

    fn note_withheld(&mut self, withheld: Option<&WithheldContent>, commit: &StoredCommit) {
        self.losses.extend(withheld.map(|content| TranslationLoss::of_withheld(content, commit.id)));
    }

    fn add_text(&mut self, commit: &StoredCommit, text: &str) {
        let format = &commit.commit.format;
        let origin = self.last_origin();
        let (.., excerpt) = self.text.get_or_insert_with(|| (origin, format.clone(), Excerpt::new(MAX_TEXT_CHARS)));
        excerpt.push_text(text);
        if Concatenation::of(format) == Concatenation::Lines && !text.ends_with('\n') {
            excerpt.push_text("\n");
        }
    }

    /// Ends a stretch of text: it becomes what a user says.
    pub(crate) fn end_text(&mut self) {
        let Some((origin, format, excerpt)) = self.text.take() else { return };
        let Some((text, left_out)) = excerpt.finish() else { return };
        if left_out > 0 {
            let commit = self.origins.get(origin).map(|origin| origin.commit);
            self.losses.push(TranslationLoss { kind: LossKind::Clipped, count: 1, commit });
        }
        let heading = match format.as_str() {
            "text" => "[plain text]".to_owned(),
            format => format!("[content in the format {format}, as text]"),
        };
        self.replay.take_from(origin, RecordStep::append(runtime_note(format!("{heading}\n{text}"))));
    }
}

/// Returns what was lost of single commits and in the whole, by kind.
pub(crate) fn all_losses(mut losses: Vec<TranslationLoss>, counted: &Losses) -> Vec<TranslationLoss> {
    let counts = counted.counts().iter();
    losses.extend(counts.map(|count| TranslationLoss { kind: count.loss, count: count.count, commit: None }));
    losses.sort_by_key(|loss| loss.kind);
    losses
}

/// Returns the names of the formats that can be written.
fn writable() -> Vec<&'static str> {
    let can_write = |name: &&str| Format::new(*name).is_ok_and(|format| formats::encoder(&format).is_some());
    formats::known().iter().map(|known| known.name).filter(can_write).collect()
}

/// Returns where the conversation before a compaction ends, if the compaction keeps some of it.
fn reaches_back(content: &CommitContent) -> Option<CommitId> {
    let ContentMeaning::Steps { steps, .. } = &content.said else { return None };
    let keeps = |step: &RecordStep| match &step.effect {
        Effect::Boundary(keep) | Effect::Replace(keep) => *keep != Keep::Nothing,
        Effect::Nothing | Effect::Append | Effect::Continue | Effect::Upsert | Effect::Rewind(_) => false,
    };
    let commit = &content.commit.commit;
    commit.parent.filter(|_| commit.kind == CommitKind::Compaction && steps.iter().any(keeps))
}

/// Takes a single message as the summary that it is, where the format has no other form for one.
fn summed_up(mut steps: Vec<RecordStep>) -> Vec<RecordStep> {
    let is_text = |part: &EntryPart| matches!(part, EntryPart::Text { .. });
    if let [RecordStep { effect: Effect::Append, entries }] = steps.as_mut_slice()
        && let [entry] = entries.as_mut_slice()
        && entry.role == Role::User
        && entry.parts.iter().all(is_text)
    {
        *entry = Entry { id: entry.id.take(), at: entry.at, ..summary(entry.text()) };
    }
    steps
}

fn summary(text: String) -> Entry {
    let flags = Flags { compact_summary: true, ..Flags::default() };
    Entry { flags, ..Entry::new(Role::User, vec![EntryPart::Summary { text }]) }
}

fn runtime_note(text: String) -> Entry {
    let flags = Flags { meta: true, ..Flags::default() };
    Entry { flags, ..Entry::new(Role::User, vec![EntryPart::text(text)]) }
}

/// Writes a conversation as one message.
fn as_one_message(dialogue: &Dialogue, target: &Target, losses: &mut Losses) -> Dialogue {
    let text = Format::new("text").ok();
    let Some(encoder) = text.as_ref().and_then(formats::encoder) else { return dialogue.clone() };
    let encoded = encoder.encode(dialogue, target);
    losses.extend(&encoded.losses);
    let narrative = String::from_utf8_lossy(&encoded.bytes);
    Dialogue::of(vec![runtime_note(format!("{NARRATIVE}\n\n{narrative}"))])
}

/// Returns what the last commits up to a place say about directory, branch and model; the newest word counts.
async fn labelled(tx: &mut Tx<'_>, from: commit::CommitPlace) -> contexture_store::Result<[Option<String>; 3]> {
    let keys = ["cwd", "branch", "model"];
    let mut found = [const { None }; 3];
    let mut left = MAX_LABELLED_PAGES;
    for stretch in commit::segments(tx, from).await? {
        if left == 0 || found.iter().all(Option::is_some) {
            break;
        }
        let pages = ((stretch.last - stretch.first) / COMMITS_PER_LABEL_PAGE + 1).min(left);
        left -= pages;
        let first = stretch.first.max(stretch.last - pages * COMMITS_PER_LABEL_PAGE + 1);
        for (key, value) in annotation::labels(tx, LineSegment { first, ..stretch }).await? {
            for (found, _) in found.iter_mut().zip(keys).filter(|(_, wanted)| key.as_str() == *wanted) {
                found.get_or_insert_with(|| value.as_str().to_owned());
            }
        }
    }
    Ok(found)
}

/// Makes a version 8 UUID (RFC 9562) of an id.
fn uuid(bytes: [u8; CommitId::LEN]) -> String {
    let bits = u128::from_be_bytes(bytes) & !(0xF << 76) & !(0b11 << 62) | 8 << 76 | 0b10 << 62;
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

//! Steps: the lines of a session, put into lanes and cut into what becomes a commit.

mod batch;
mod document;
mod heads;
mod kept;
mod labels;
mod lanes;
mod open;
mod state;
mod timing;
mod turns;

use std::sync::Arc;

use contexture::SecretGuard;
use contexture_core::{
    Annotation, Commit, CommitId, CommitKind, Count, Format, GivenSessionId, HeadName, Provenance, Template, Timestamp,
    Trigger,
};
use contexture_formats::{
    Concatenation, Framing,
    codec::{Facts, OriginKind, Outline, SessionOrigin},
    thread::{LanePlace, Placement, Threader},
};
use contexture_store::source::SourceSegment;

use self::{
    heads::SessionHeads,
    labels::{FORKED_FROM, Labels, PARENT_SESSION, summary},
    lanes::LaneChain,
    open::OpenStep,
    state::Prompt,
    timing::StepTimes,
};
use crate::{adopt::Grafts, import::ImportSettings};

pub(crate) use self::{
    batch::{CapturedContent, NewCommit, Repetition, StepBatch},
    heads::{HeadAuthority, HeadClaim},
    labels::{AGENT, SPAWNED_BY, label},
    state::{Parent, State, Taken},
    timing::StepTiming,
};

/// Bytes after which a step ends even in the middle of a turn, so that memory is bounded.
const MAX_STEP_BYTES: usize = 8 * 1024 * 1024;
/// Longest prompt that is kept for those who go back to it when the rest of a file is taken in another time.
const MAX_PROMPT_BYTES: usize = 64 * 1024;

/// Turns records into commits.
pub(crate) struct Steps {
    format: Format,
    framing: Framing,
    guard: Arc<SecretGuard>,
    settings: ImportSettings,
    threader: Threader,
    lanes: Vec<LaneChain>,
    /// What the lines were made of that are taken only to know them.
    grafts: Option<Grafts>,
    /// The session's id as the file's name says it, for lines that do not.
    fallback_session: GivenSessionId,
    /// The same as the records say it.
    session: Option<GivenSessionId>,
    /// When the last line with a time was written, or the file.
    last_at: Timestamp,
    facts: Facts,
    timing: StepTiming,
    /// The first commit that the other timing would call otherwise, until it is told.
    by_first_record: Option<CommitId>,
    is_told_apart: bool,
    made: Vec<NewCommit>,
    segments: Vec<SourceSegment>,
    asides: Vec<CapturedContent>,
    heads: SessionHeads,
    /// What the session goes on from, until its first record comes.
    base: Option<Base>,
    /// The lane and turn that was last at work, of those that are not side chains.
    at_work: (usize, u32),
    /// First commits of side chains, with the lane and turn that started them.
    spawned: Vec<(CommitId, usize, u32)>,
    parent: Option<Parent>,
    /// The call that started the agent of the whole file.
    spawn_call: Option<String>,
    /// The session that this one continues and that is not here, until the first commit tells of it.
    forked_from: Option<GivenSessionId>,
    /// Whether somebody has said something in what was read until now.
    has_spoken: bool,
}

/// How what is read is written, and who looks through it before it is stored.
#[derive(Clone)]
pub(crate) struct StepSource {
    pub(crate) format: Format,
    pub(crate) framing: Framing,
    pub(crate) guard: Arc<SecretGuard>,
}

/// What a session goes on from that holds only a reference to it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Base {
    /// The last commit that they share.
    pub(crate) tip: Option<CommitId>,
    /// Records of the next one that they share too.
    pub(crate) prefix: Vec<u8>,
}

impl Steps {
    pub(crate) fn new(
        source: StepSource,
        settings: ImportSettings,
        session: GivenSessionId,
        written_at: Timestamp,
    ) -> Self {
        let StepSource { format, framing, guard } = source;
        Self {
            format,
            framing,
            guard,
            settings,
            threader: Threader::default(),
            lanes: Vec::new(),
            grafts: None,
            fallback_session: session,
            session: None,
            last_at: written_at,
            facts: Facts::default(),
            timing: StepTiming::Last,
            by_first_record: None,
            is_told_apart: false,
            made: Vec::new(),
            segments: Vec::new(),
            asides: Vec::new(),
            heads: SessionHeads::default(),
            base: None,
            at_work: (0, 0),
            spawned: Vec::new(),
            parent: None,
            spawn_call: None,
            forked_from: None,
            has_spoken: false,
        }
    }

    /// Begins with what another session holds.
    pub(crate) fn go_on_from(&mut self, base: Base) {
        self.base = Some(base);
    }

    /// Says which record of a commit tells when it was made, unless an earlier import has said so.
    pub(crate) fn go_by(&mut self, timing: StepTiming) {
        self.timing = timing;
    }

    /// Names the directory that the agent worked in; what its records say of it counts more.
    pub(crate) fn works_in(&mut self, directory: String) {
        self.facts.directory = Some(directory);
    }

    /// Names a session that this one continues and that is not here.
    pub(crate) fn continues(&mut self, session: GivenSessionId) {
        self.forked_from = Some(session);
    }

    /// Names the session that the file is of, for what comes before the first record that does.
    pub(crate) fn named(&mut self, session: GivenSessionId) {
        self.fallback_session = session;
    }

    /// Names the call by which the agent of a whole file was started.
    pub(crate) fn started_by(&mut self, call: String) {
        self.spawn_call = Some(call);
    }

    /// Goes on where an earlier import ended.
    pub(crate) fn resume(&mut self, state: State) {
        let State { threads, lanes, last_at, session, version, timing, parent, role: _, stamp: _, taken: _ } = state;
        (self.timing, self.is_told_apart) = (timing, true);
        self.threader = Threader::resume(threads);
        self.lanes =
            lanes.into_iter().map(|state| LaneChain { state, is_resumed: true, ..LaneChain::default() }).collect();
        let lanes = self.lanes.iter().enumerate();
        self.heads =
            SessionHeads::at(lanes.filter_map(|(at, lane)| Some((at, lane.state.head.clone()?, lane.state.tip))));
        self.parent = parent.or(self.parent.take());
        self.last_at = last_at.unwrap_or(self.last_at);
        self.session = session;
        self.facts = Facts { version, ..Facts::default() };
    }

    /// Returns what is needed to go on another time. Every step must be over.
    pub(crate) fn state(&self) -> State {
        let lanes = self.lanes.iter().map(|lane| {
            let mut state = lane.state.clone();
            state.turns.forget_oldest();
            state
        });
        State {
            threads: self.threader.state(),
            lanes: lanes.collect(),
            last_at: Some(self.last_at),
            session: self.session.clone(),
            version: self.facts.version.clone(),
            role: self.settings.role.clone(),
            timing: self.timing,
            parent: self.parent.clone(),
            stamp: None,
            taken: None,
        }
    }

    /// Takes the records that follow for what commits were made of: nothing is stored of them.
    pub(crate) fn graft(&mut self, grafts: Grafts) {
        self.grafts = Some(grafts);
    }

    /// Takes a record that the format understands, with where it starts if the source holds it as it is.
    pub(crate) fn take(&mut self, outline: &Outline, bytes: &[u8], start: Option<u64>) {
        self.learn(&outline.facts);
        self.last_at = outline.at.unwrap_or(self.last_at);
        match self.threader.place(outline) {
            Placement::Aside => self.put_aside(bytes, start),
            Placement::Lane(place) => self.put(&place, outline, bytes, start),
        }
    }

    /// Takes a record that nobody understands: it stays where it is.
    pub(crate) fn take_unknown(&mut self, bytes: &[u8], start: Option<u64>) {
        self.take(&Outline::default(), bytes, start);
    }

    /// Ends every step, because of something that is not in the session.
    pub(crate) fn finish(&mut self, trigger: Trigger) {
        for lane in 0..self.lanes.len() {
            let prompt = self.lanes[lane].step.as_ref().and_then(OpenStep::prompt);
            let prompt = prompt.filter(|prompt| prompt.records.len() <= MAX_PROMPT_BYTES);
            let prompt = prompt.map(|prompt| Prompt { records: self.guard.stored_text(prompt.records), ..prompt });
            let prompt = prompt.or_else(|| self.lanes[lane].state.prompt.take());
            self.end_step_by(lane, trigger);
            self.lanes[lane].state.prompt = prompt;
        }
    }

    /// Tells whether nobody has spoken in the session yet.
    fn is_silent(&self) -> bool {
        let asks = self.lanes.iter().any(|lane| lane.state.turns.newest() > Some(0));
        !asks && !self.has_spoken
    }

    /// Returns the last commit of the conversation that goes on.
    pub(crate) fn tip(&self) -> Option<CommitId> {
        let name = self.main_head(None);
        let lane = self.lanes.iter().find(|lane| lane.state.head == name).or(self.lanes.first())?;
        lane.state.tip
    }

    /// Takes out what was made so far.
    pub(crate) fn batch(&mut self) -> StepBatch {
        let mut notes = Vec::new();
        let lanes = &self.lanes;
        self.spawned.retain(|(first, lane, turn)| {
            let is_over = lanes[*lane].step.as_ref().is_none_or(|step| step.turn > *turn);
            let spawning = lanes[*lane].state.turns.first_of(*turn).filter(|_| is_over);
            let said = spawning.and_then(|commit| label(SPAWNED_BY, &commit.to_string()));
            notes.extend(said.map(|said| (*first, said)));
            spawning.is_none()
        });
        StepBatch {
            by_first_record: self.by_first_record.take(),
            notes,
            commits: std::mem::take(&mut self.made),
            asides: std::mem::take(&mut self.asides),
            heads: self.heads.claims(),
            moved_heads: Vec::new(),
            is_silent: self.is_silent(),
        }
    }

    /// Says that the session was written anew, so that what it was before does not go on in it.
    pub(crate) fn is_rewritten(&mut self) {
        self.heads.is_rewritten();
    }

    /// Says that what is taken out next is the last of it.
    pub(crate) fn settle_heads(&mut self) {
        self.heads.settle();
    }

    /// Takes out where the bytes went.
    pub(crate) fn into_segments(mut self) -> Vec<SourceSegment> {
        self.segments.sort_unstable_by_key(|segment| segment.start);
        self.segments
    }

    /// Returns the session that the records tell of.
    pub(crate) fn session(&self) -> Option<GivenSessionId> {
        self.session.clone()
    }

    /// Returns how many conversations there are.
    pub(crate) fn lanes(&self) -> usize {
        self.lanes.len()
    }

    fn learn(&mut self, facts: &Facts) {
        fn set(known: &mut Option<String>, given: Option<&String>) {
            if let Some(given) = given {
                known.replace(given.clone());
            }
        }
        self.learn_parent(facts);
        set(&mut self.facts.version, facts.version.as_ref());
        // The first counts: later ones may have been copied from the session that this one was forked from.
        if self.session.is_none() {
            self.session = facts.session.as_deref().map(GivenSessionId::new);
        }
        set(&mut self.facts.directory, facts.directory.as_ref());
        set(&mut self.facts.branch, facts.branch.as_ref());
        set(&mut self.facts.model, facts.model.as_ref());
    }

    /// Keeps the session that started this one, when a record names it.
    fn learn_parent(&mut self, facts: &Facts) {
        if self.parent.is_some() {
            return;
        }
        let named = match (&facts.origin, &self.settings.agent, &facts.session) {
            (Some(SessionOrigin { session, kind: OriginKind::Parent, at }), ..) => {
                Some((session, at.iter().chain(&facts.session).cloned().collect()))
            }
            // The agent's records carry the session that it works for.
            (_, Some(agent), Some(session)) => {
                Some((session, self.spawn_call.iter().chain([agent]).cloned().collect()))
            }
            _ => None,
        };
        self.parent = named.map(|(session, said)| Parent {
            session: GivenSessionId::new(session),
            said,
            first: None,
            is_found: false,
            searched: 0,
        });
    }

    fn put_aside(&mut self, bytes: &[u8], start: Option<u64>) {
        let Some(start) = start else { return };
        let content = self.screen(bytes.to_vec(), Repetition::Rare);
        let (artifact, length) = (*content.id(), bytes.len() as u64);
        self.segments.push(SourceSegment { start, length, artifact, part_start: 0 });
        self.asides.push(content);
    }

    fn put(&mut self, place: &LanePlace, outline: &Outline, bytes: &[u8], start: Option<u64>) {
        let mut prefix = Vec::new();
        if let Some(begins) = &place.start {
            prefix = self.begin_lane(begins, outline.facts.session.as_deref());
        }
        let is_cut = place.cut_before && place.start.is_none();
        if is_cut && (!self.belongs_to_next(place.lane) || place.is_compaction) {
            self.end_step(place.lane);
        }
        if !self.lanes[place.lane].is_side {
            self.at_work = (place.lane, place.turn);
        }
        // The summary may come when what announced it was taken in already.
        let is_compaction = place.is_compaction || outline.has_summary && place.cut_after;
        let kind = if is_compaction && self.lanes[place.lane].state.tip.is_some() {
            CommitKind::Compaction
        } else {
            CommitKind::Delta
        };
        let step = self.lanes[place.lane].step.get_or_insert_with(|| OpenStep::new(kind, prefix));
        step.add(self.framing, place, outline, bytes, start);
        if place.cut_after || step.bytes.len() >= MAX_STEP_BYTES {
            self.end_step(place.lane);
        }
        if let Some(leaf) = place.leaf {
            self.lead_with(leaf);
        }
    }

    /// Prepares what is stored of some bytes.
    fn screen(&self, bytes: Vec<u8>, repetition: Repetition) -> CapturedContent {
        CapturedContent::of(self.guard.screen(bytes, Concatenation::of(&self.format)), repetition)
    }

    fn labels(&self) -> Labels {
        let Facts { directory, branch, model, .. } = self.facts.clone();
        // Where the template is a role, it does not say who has it.
        let agent = self.settings.role.as_ref().map(|_| self.settings.agent_name(self.facts.version.as_deref()));
        Labels { directory, branch, model, agent }
    }

    /// Notes what an older version would have called a commit, where that is another one for the first time.
    fn tell_apart(&mut self, commit: &Commit, times: StepTimes) {
        let earlier = times.by(StepTiming::First).unwrap_or(self.last_at);
        if self.timing == StepTiming::Last && !self.is_told_apart && earlier != commit.created_at {
            self.is_told_apart = true;
            self.by_first_record = Some(Commit { created_at: earlier, ..commit.clone() }.id());
        }
    }

    /// Makes a commit of what a lane holds, when its turn is over.
    fn end_step(&mut self, lane: usize) {
        self.end_step_by(lane, Trigger::TurnBoundary);
    }

    fn end_step_by(&mut self, lane: usize, trigger: Trigger) {
        let Some(step) = self.lanes[lane].step.take() else {
            return;
        };
        if let Some(grafts) = &self.grafts {
            let start = step.runs.iter().map(|run| run.start).min().unwrap_or(0);
            let end = step.runs.iter().map(|run| run.start + run.length).max().unwrap_or(0);
            let (known, follow) = (grafts.commit_at(start..end), grafts.follow.clone());
            let labels = self.labels();
            let state = &mut self.lanes[lane].state;
            state.tip = known;
            if let Some(commit) = known {
                state.turns.add(step.turn, commit);
            }
            (state.labels, state.follow, state.is_graft) = (labels, follow, true);
            return;
        }
        let OpenStep { kind, turn, bytes, runs, lines, times, title, session, kept, .. } = step;
        let labels = self.labels().or(&self.lanes[lane].state.labels);
        // A file in which nobody has said anything must not stand for its session: Gemini CLI makes one at each resume.
        let is_declared = turn > 0 || labels.model.is_some() || self.settings.agent.is_some() || kept.is_some();
        let says_something = is_declared || self.says_something(&bytes);
        self.has_spoken |= says_something;
        let framing = if kept.is_some() { Framing::Document } else { self.framing };
        let (opening, closing) = (framing.opening(lines), framing.closing());
        let bytes = if opening.is_empty() { bytes } else { [&*opening, &bytes, &*closing].concat() };
        // A document repeats its last version, and what sums up a conversation much of the one before.
        let repeats = kind != CommitKind::Delta || self.framing == Framing::Document;
        let content = match kept {
            Some(artifact) => CapturedContent::stored(artifact),
            None => self.screen(bytes, if repeats { Repetition::Likely } else { Repetition::Rare }),
        };
        let artifact = *content.id();
        self.segments.extend(runs.iter().map(|run| run.segment(artifact, opening.len() as u64)));
        let state = &mut self.lanes[lane].state;
        (state.is_graft, state.prompt) = (false, None);
        let trigger = match kind {
            CommitKind::Compaction => Trigger::Compaction,
            CommitKind::Delta | CommitKind::Snapshot => trigger,
        };
        let commit = Commit {
            parent: state.tip,
            kind,
            artifact,
            format: self.format.clone(),
            provenance: Provenance {
                template: self.settings.template(self.facts.version.as_deref()),
                principal: self.settings.principal.clone(),
                machine: Some(self.settings.machine.clone()),
                session: session
                    .as_ref()
                    .or(state.session.as_ref())
                    .or(self.session.as_ref())
                    .unwrap_or(&self.fallback_session)
                    .checked(),
                ticket: self.settings.ticket.clone(),
                thread: self.settings.thread.clone(),
            },
            trigger,
            merges: Vec::new(),
            message_count: Some(Count::saturating(lines)),
            token_count: None,
            created_at: times.by(self.timing).unwrap_or(self.last_at),
        };
        let id = commit.id();
        // What is cut off could keep a secret from being recognised.
        let summed = title.and_then(|text| summary(&self.guard.mask(&text)));
        let mut annotations: Vec<Annotation> = summed.into_iter().collect();
        annotations.extend(labels.changed_since(&state.labels));
        if let Some(parent) = self.parent.as_mut().filter(|parent| lane == 0 && parent.first.is_none()) {
            parent.first = Some(id);
            annotations.extend(label(PARENT_SESSION, parent.session.as_str()));
        }
        annotations.extend(self.forked_from.take().and_then(|session| label(FORKED_FROM, session.as_str())));
        if let Some((spawner, turn)) = self.lanes[lane].spawned_by.take() {
            self.spawned.push((id, spawner, turn));
        }
        self.tell_apart(&commit, times);
        let state = &mut self.lanes[lane].state;
        state.labels = labels;
        state.tip = Some(id);
        state.turns.add(turn, id);
        // Only one that is too long with its placeholders is left out.
        let annotations = annotations.into_iter().filter_map(|said| self.guard.mask_annotation(said).ok()).collect();
        if let Some(head) = state.head.clone().filter(|_| says_something) {
            self.heads.place(head, id);
        }
        self.made.push(NewCommit { id, commit, content, annotations, follow: state.follow.clone() });
    }
}

impl ImportSettings {
    /// Returns the head that tells what the principal does now; agents that work for another one have none.
    pub(crate) fn live_head(&self) -> Option<HeadName> {
        let principal = self.principal.as_ref().filter(|_| self.agent.is_none())?;
        HeadName::new(format!("principal/{}", HeadName::part(principal.as_str()))).ok()
    }

    /// Returns the head of the thread that the work belongs to; agents that work for another one have none.
    pub(crate) fn thread_head(&self) -> Option<HeadName> {
        self.thread.as_ref().filter(|_| self.agent.is_none()).and_then(HeadName::of_thread)
    }

    fn template(&self, version: Option<&str>) -> Option<Template> {
        self.role.clone().or_else(|| Template::new(self.agent_name(version)).ok())
    }

    /// Names the agent, whatever its role is.
    fn agent_name(&self, version: Option<&str>) -> String {
        let runtime = &self.runtime;
        version.map_or_else(|| runtime.clone(), |version| format!("{runtime}/{version}"))
    }
}

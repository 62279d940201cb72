//! Which answer comes next.

use std::collections::VecDeque;

use super::{
    request::{MessageRole, ModelRequest, Purpose, Utterance},
    step::ScriptStep,
};

/// What the model still has to say, conversation by conversation.
#[derive(Debug)]
pub(super) struct Script {
    main: VecDeque<ScriptStep>,
    /// Conversations that are known by what they open with, such as those of sub-agents.
    marked: Vec<(String, VecDeque<ScriptStep>)>,
    summary: String,
}

impl Script {
    pub(super) fn new() -> Self {
        let summary = "The conversation so far, in one sentence.".to_owned();
        Self { main: VecDeque::new(), marked: Vec::new(), summary }
    }

    pub(super) fn extend(&mut self, steps: impl IntoIterator<Item = ScriptStep>) {
        self.main.extend(steps);
    }

    pub(super) fn extend_marked(&mut self, marker: &str, steps: impl IntoIterator<Item = ScriptStep>) {
        self.marked.push((marker.to_owned(), steps.into_iter().collect()));
    }

    pub(super) fn set_summary(&mut self, summary: &str) {
        summary.clone_into(&mut self.summary);
    }

    pub(super) fn remaining(&self) -> usize {
        self.main.len() + self.marked.iter().map(|(_, steps)| steps.len()).sum::<usize>()
    }

    /// Returns the answer to a request, and takes it out of the script if the request is a turn.
    pub(super) fn answer(&mut self, request: &ModelRequest) -> ScriptStep {
        match request.purpose() {
            Purpose::Turn => {
                let said = self.steps_for(request).pop_front();
                said.unwrap_or_else(|| ScriptStep::new().text("The script has no further step."))
            }
            Purpose::Compaction => ScriptStep::new().text(&request.api().enclose(&self.summary, request.body())),
            // A client that wants JSON takes this as a title, and one that wants a text too.
            Purpose::Side => ScriptStep::new().text("{\"title\": \"Scripted session\"}"),
        }
    }

    fn steps_for(&mut self, request: &ModelRequest) -> &mut VecDeque<ScriptStep> {
        let opening: Vec<String> = request
            .conversation()
            .into_iter()
            .take_while(|said| said.role != MessageRole::Assistant)
            .filter(|said| said.role == MessageRole::User)
            .filter_map(|said| match said.what {
                Utterance::Text(text) => Some(text),
                _ => None,
            })
            .collect();
        let opens = |marker: &str| opening.iter().any(|text| text.contains(marker));
        match self.marked.iter_mut().find(|(marker, _)| opens(marker)) {
            Some((_, steps)) => steps,
            None => &mut self.main,
        }
    }
}

//! Choosing a session at a terminal: the list, narrowed by what is typed, and a preview of the one that is marked.

use std::collections::HashMap;

use contexture::{
    Contexture, LogStart,
    core::RuntimeSessionId,
    wire::{HeadsByCommit, SessionDocument},
};

use crate::{
    commands::sessions::SessionCatalog,
    conversation,
    error::{Error, Result},
    invocation::Invocation,
    output::{Key, Output, Screen},
    session_text::SessionText,
    turn_text::TurnText,
};

/// Sessions that can be chosen from.
const MAX_CHOICES: usize = 200;
/// Turns in a preview.
const PREVIEW_TURNS: usize = 6;
/// Lines of a preview, with the line above it.
const PREVIEW_LINES: usize = PREVIEW_TURNS + 5;

/// What a key came to.
#[derive(Debug, PartialEq, Eq)]
enum Pressed {
    Chosen(usize),
    Left,
    Nothing,
}

/// The list while it is chosen from.
#[derive(Debug, Default)]
struct ChoiceList {
    /// What each session can be found by, in lower case.
    found_by: Vec<String>,
    typed: String,
    /// The sessions that are shown.
    shown: Vec<usize>,
    /// Which of those is marked.
    marked: usize,
}

impl ChoiceList {
    fn of(found_by: Vec<String>) -> Self {
        let shown = (0..found_by.len()).collect();
        Self { found_by, shown, ..Self::default() }
    }

    fn marked(&self) -> Option<usize> {
        self.shown.get(self.marked).copied()
    }

    fn press(&mut self, key: Key, page: usize) -> Pressed {
        let last = self.shown.len().saturating_sub(1);
        match key {
            Key::Up => self.marked = self.marked.saturating_sub(1),
            Key::Down => self.marked = (self.marked + 1).min(last),
            Key::PageUp => self.marked = self.marked.saturating_sub(page),
            Key::PageDown => self.marked = (self.marked + page).min(last),
            Key::Enter => return self.marked().map_or(Pressed::Nothing, Pressed::Chosen),
            Key::Leave => return Pressed::Left,
            Key::Erase => {
                self.typed.pop();
                self.narrow();
            }
            Key::Letter(letter) => {
                self.typed.push(letter);
                self.narrow();
            }
        }
        Pressed::Nothing
    }

    fn narrow(&mut self) {
        let typed = self.typed.to_lowercase();
        let has_all = |at: &usize| typed.split_whitespace().all(|word| self.found_by[*at].contains(word));
        self.shown = (0..self.found_by.len()).filter(has_all).collect();
        self.marked = 0;
    }

    /// Returns the part of what is shown that fits into so many lines and has the mark in it.
    fn window(&self, lines: usize) -> std::ops::Range<usize> {
        let first = (self.marked + 1).saturating_sub(lines.max(1));
        first..self.shown.len().min(first + lines.max(1))
    }
}

/// Has a person choose one of the sessions here. Nothing when they leave, or nobody is there to choose.
pub(crate) async fn choose(
    engine: &Contexture,
    invocation: &Invocation,
    output: &mut Output,
) -> Result<Option<RuntimeSessionId>> {
    let catalog = SessionCatalog::of(engine, invocation)?;
    let (mut sessions, mut gists) = (Vec::new(), Vec::new());
    for listed in engine.sessions().await?.into_iter().filter(|listed| listed.number.is_some()).take(MAX_CHOICES) {
        let measures = engine.measure_session(&listed.session).await?;
        let session = catalog.document(listed, measures);
        gists.push(catalog.gist(&session).await);
        sessions.push(session);
    }
    if sessions.is_empty() {
        // Says that there is none.
        engine.last_session().await?;
    }
    let found_by = sessions.iter().map(found_by).collect();
    let (mut list, mut previews) = (ChoiceList::of(found_by), HashMap::new());
    let labels = HeadsByCommit::load(engine).await?;
    let screen = output.screen().map_err(Error::Terminal)?;
    loop {
        let (lines, columns) = Screen::size();
        let palette = screen.palette();
        let home = invocation.environment.home.as_deref();
        let text =
            SessionText { palette: &palette, columns: columns - 2, now: engine.now(), project: engine.project(), home };
        if let Some(marked) = list.marked()
            && !previews.contains_key(&(marked, columns))
        {
            let turns = TurnText { palette: &palette, labels: &labels, now: engine.now(), columns };
            let preview = preview(engine, &sessions[marked], gists[marked].as_deref(), &text, &turns).await?;
            previews.insert((marked, columns), preview);
        }
        let preview_lines = PREVIEW_LINES.min(lines / 2);
        let room = lines.saturating_sub(preview_lines + 2);
        let mut page = vec![header(&list, sessions.len(), columns, &palette)];
        for at in list.window(room) {
            let session = list.shown[at];
            let row = text.line(&sessions[session], gists[session].as_deref());
            let strong = palette.strong;
            page.push(if at == list.marked { format!("{strong}› {row}{strong:#}") } else { format!("  {row}") });
        }
        page.resize(room + 1, String::new());
        let faint = palette.faint;
        page.push(format!("{faint}{}{faint:#}", "─".repeat(columns)));
        let preview = list.marked().and_then(|marked| previews.get(&(marked, columns)));
        page.extend(preview.into_iter().flatten().take(preview_lines.saturating_sub(1)).cloned());
        screen.draw(&page).map_err(Error::Terminal)?;
        let keys = tokio::task::spawn_blocking(Screen::keys).await;
        for key in keys.map_err(std::io::Error::other).flatten().map_err(Error::Terminal)? {
            match list.press(key, room) {
                Pressed::Chosen(at) => return Ok(Some(sessions[at].session.clone())),
                Pressed::Left => return Ok(None),
                Pressed::Nothing => {}
            }
        }
    }
}

fn found_by(session: &SessionDocument) -> String {
    let fields = [&session.request, &session.directory, &session.branch];
    let texts = fields.into_iter().flatten().map(String::as_str);
    let all: Vec<&str> = texts.chain([session.session.as_str(), session.agent.as_str()]).collect();
    all.join("\n").to_lowercase()
}

fn header(list: &ChoiceList, all: usize, columns: usize, palette: &crate::output::Palette) -> String {
    let (strong, faint) = (palette.strong, palette.faint);
    let asked = format!("Go on with which session? {}", list.typed);
    let help = format!("{} of {all} · ↑↓ choose · type to narrow · Enter goes on · Esc leaves", list.shown.len());
    let asked = conversation::clip(&asked, columns);
    let left = columns.saturating_sub(unicode_width::UnicodeWidthStr::width(asked.as_str()) + 2);
    let help = if left > 12 { conversation::clip(&help, left) } else { String::new() };
    format!("{strong}{asked}{strong:#}  {faint}{help}{faint:#}")
}

/// Returns what is known of a session, and its last turns.
async fn preview(
    engine: &Contexture,
    session: &SessionDocument,
    gist: Option<&str>,
    text: &SessionText<'_>,
    turns: &TurnText<'_>,
) -> Result<Vec<String>> {
    let mut lines: Vec<String> = text.block(session, gist).lines().map(str::to_owned).collect();
    lines.push(String::new());
    let mut walk = engine.turns(LogStart::Commits(vec![session.tip]), std::collections::HashSet::new()).await?;
    for _ in 0..PREVIEW_TURNS {
        let Some(turn) = walk.next().await? else { break };
        lines.push(turns.line(&turn));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list() -> ChoiceList {
        ChoiceList::of(["find the flaky test", "write the page", "flaky again"].map(str::to_owned).into())
    }

    #[test]
    fn what_is_typed_narrows_the_list_and_enter_takes_the_mark() {
        let mut list = list();
        for letter in "FLAKY".chars() {
            assert_eq!(list.press(Key::Letter(letter), 5), Pressed::Nothing);
        }
        assert_eq!((list.shown.clone(), list.marked()), (vec![0, 2], Some(0)));
        list.press(Key::Down, 5);
        assert_eq!(list.press(Key::Enter, 5), Pressed::Chosen(2));
        list.press(Key::Letter('x'), 5);
        assert_eq!((list.marked(), list.press(Key::Enter, 5)), (None, Pressed::Nothing));
        list.press(Key::Erase, 5);
        assert_eq!(list.shown, [0, 2]);
        assert_eq!(list.press(Key::Leave, 5), Pressed::Left);
    }

    #[test]
    fn the_mark_stays_in_the_list_and_in_the_window() {
        let mut list = list();
        assert_eq!(list.window(2), 0..2);
        for _ in 0..9 {
            list.press(Key::Down, 5);
        }
        assert_eq!((list.marked, list.window(2)), (2, 1..3));
        list.press(Key::PageUp, 2);
        assert_eq!((list.marked, list.window(2), list.window(0)), (0, 0..2, 0..1));
        assert_eq!(ChoiceList::of(Vec::new()).window(3), 0..0);
    }
}

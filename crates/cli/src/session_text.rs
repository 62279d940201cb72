//! Sessions as people read them in a list.

use std::{fmt::Write as _, path::Path};

use anstyle::Style;
use contexture::{
    core::Timestamp,
    wire::{SessionActivity, SessionDocument},
};
use contexture_capture::role_of;
use unicode_width::UnicodeWidthStr as _;

use crate::{
    conversation,
    output::{self, Palette},
};

/// Letters of an id that name a session among those that somebody has.
const SHORT_ID: usize = 8;
/// Columns of a number and what stands around it.
const MARGIN: usize = 5;

/// Longest path that is shown whole.
const PATH_COLUMNS: usize = 32;
/// What stands between facts.
const SEPARATOR: &str = " · ";

/// How sessions are shown.
pub(crate) struct SessionText<'a> {
    pub(crate) palette: &'a Palette,
    pub(crate) columns: usize,
    pub(crate) now: Timestamp,
    /// The project that needs no name, because all that is shown is of it.
    pub(crate) project: Option<&'a Path>,
    /// What is written as `~`.
    pub(crate) home: Option<&'a Path>,
}

/// Returns the beginning of an id by which people name a session.
pub(crate) fn short_id(id: &str) -> String {
    let short: String = id.chars().take(SHORT_ID).collect();
    output::first_line(&short).into_owned()
}

impl SessionText<'_> {
    /// Tells a session in two lines: what was asked, with what names it before, and what is known of it.
    pub(crate) fn block(&self, session: &SessionDocument, gist: Option<&str>) -> String {
        let Palette { id, faint, .. } = self.palette;
        let number = session.number.map_or_else(|| "·".to_owned(), |number| number.to_string());
        let request = session.request.as_deref().or(gist).map(output::headline).unwrap_or_default();
        let request = match request.trim() {
            "" => format!("{faint}(nothing was asked){faint:#}"),
            request => conversation::clip(request, self.columns.saturating_sub(MARGIN)),
        };
        format!("{id}{number:>3}{id:#}  {request}\n{}", self.details(session))
    }

    /// Tells a session in one line of so many columns, to be chosen from.
    pub(crate) fn line(&self, session: &SessionDocument, gist: Option<&str>) -> String {
        let request = session.request.as_deref().or(gist).map(output::headline).unwrap_or_default();
        let request = if request.trim().is_empty() { "(nothing was asked)" } else { request.trim() };
        let when = output::relative(self.now, session.moved_at);
        let number = session.number.map_or_else(|| "·".to_owned(), |number| number.to_string());
        let known = format!("{number:>3}  {when:<14}  {:<11}  ", conversation::clip(&session.agent, 11));
        let left = self.columns.saturating_sub(known.width());
        format!("{known}{}", conversation::clip(request, left))
    }

    /// Returns what is known beside the request, in lines that fit.
    fn details(&self, session: &SessionDocument) -> String {
        let Palette { faint, added, removed, .. } = *self.palette;
        let state = match session.state {
            SessionActivity::Running => added,
            SessionActivity::Crashed => removed,
            SessionActivity::Ended => faint,
        };
        let plain = |text: String| (text, faint);
        let mut facts = vec![
            plain(session.short_id.clone()),
            plain(output::relative(self.now, session.moved_at)),
            plain(agent(session)),
            (session.state.as_str().to_owned(), state),
        ];
        facts.extend(self.directory(session).map(plain));
        facts.extend(session.branch.as_deref().map(|branch| plain(format!("on {branch}"))));
        let more = if session.is_cut { " or more" } else { "" };
        facts.push(plain(output::counted(session.turns, "turn") + more));
        facts.push(plain(match session.tokens {
            Some(tokens) => format!("{} tokens", output::about(tokens)),
            None => output::size(session.bytes),
        }));
        facts.extend(origin(session).map(plain));
        joined(&facts, self.columns.saturating_sub(MARGIN), faint)
    }

    /// Returns the directory of a session, unless it is the project's own.
    fn directory(&self, session: &SessionDocument) -> Option<String> {
        let directory = Path::new(session.directory.as_deref()?);
        let shown = match (self.project.and_then(|project| directory.strip_prefix(project).ok()), self.home) {
            (Some(within), _) if within.as_os_str().is_empty() => return None,
            (Some(within), _) => format!("./{}", within.display()),
            (None, Some(home)) if directory.starts_with(home) && directory != home => {
                format!("~/{}", directory.strip_prefix(home).ok()?.display())
            }
            (None, _) => directory.display().to_string(),
        };
        Some(shortened(&shown))
    }
}

/// Names the agent of a session, with its role if it has one.
fn agent(session: &SessionDocument) -> String {
    let role = role_of(session.template.as_ref());
    role.map_or_else(|| session.agent.clone(), |role| format!("{} as {role}", session.agent))
}

/// Leaves out the beginning of a path that is long.
fn shortened(path: &str) -> String {
    if path.width() <= PATH_COLUMNS {
        return path.to_owned();
    }
    let shorter = |(at, _): (usize, &str)| path.get(at..).filter(|end| end.width() < PATH_COLUMNS);
    let end = path.match_indices('/').find_map(shorter).unwrap_or(path);
    format!("…{end}")
}

/// Returns what a session went on from.
fn origin(session: &SessionDocument) -> Option<String> {
    if let Some(parent) = &session.parent {
        return Some(format!("started by {}", short_id(parent.as_str())));
    }
    let base = session.origin.as_ref()?;
    let of = base.session.as_ref().map(|session| short_id(session.as_str()));
    let at = base.commit.map(|commit| format!("at {}", commit.short()));
    let words: Vec<String> = of.into_iter().chain(at).collect();
    Some(format!("went on from {}", words.join(" ")))
}

/// Puts facts beside each other, in as many lines as they need.
fn joined(facts: &[(String, Style)], columns: usize, between: Style) -> String {
    let margin = " ".repeat(MARGIN);
    let (mut text, mut width) = (margin.clone(), 0);
    for (fact, style) in facts {
        let fact = conversation::clip(&output::headline(fact), columns);
        let mut gap = if width == 0 { 0 } else { SEPARATOR.width() };
        if width + gap + fact.width() > columns {
            text.push('\n');
            text.push_str(&margin);
            (width, gap) = (0, 0);
        }
        if gap > 0 {
            write!(text, "{between}{SEPARATOR}{between:#}").expect("a string takes all that is written");
        }
        write!(text, "{style}{fact}{style:#}").expect("a string takes all that is written");
        width += gap + fact.width();
    }
    text
}

//! The colours, each named for what it marks.

use anstream::{AutoStream, ColorChoice, stream::RawStream};
use anstyle::{AnsiColor, Style};

use crate::args::Color;

/// The styles of everything that is coloured. Without colours each of them writes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Palette {
    /// Ids.
    pub(crate) id: Style,
    /// Names of heads.
    pub(crate) head: Style,
    /// Compactions.
    pub(crate) compaction: Style,
    /// Snapshots.
    pub(crate) snapshot: Style,
    /// What matters less.
    pub(crate) faint: Style,
    /// What heads a block, and what a person may type.
    pub(crate) strong: Style,
    /// Who asks.
    pub(crate) user: Style,
    /// What a change adds.
    pub(crate) added: Style,
    /// What a change takes away.
    pub(crate) removed: Style,
    /// What was looked for.
    pub(crate) found: Style,
    /// What went wrong.
    pub(crate) error: Style,
    /// What to do next.
    pub(crate) hint: Style,
}

impl Palette {
    /// Returns the colours for a stream, or none.
    pub(crate) fn for_stream(color: Color, stream: &impl RawStream) -> Self {
        let coloured = match color {
            Color::Always => true,
            Color::Never => false,
            // Looks at NO_COLOR and its relatives as well as at the stream.
            Color::Auto => AutoStream::choice(stream) != ColorChoice::Never,
        };
        if coloured { Self::coloured() } else { Self::default() }
    }

    /// Tells whether it writes anything.
    pub(super) fn is_coloured(self) -> bool {
        self.error != Style::new()
    }

    fn coloured() -> Self {
        Self {
            id: AnsiColor::Yellow.on_default(),
            head: AnsiColor::Green.on_default().bold(),
            compaction: AnsiColor::Magenta.on_default().bold(),
            snapshot: AnsiColor::Blue.on_default().bold(),
            faint: Style::new().dimmed(),
            strong: Style::new().bold(),
            user: AnsiColor::Cyan.on_default().bold(),
            added: AnsiColor::Green.on_default(),
            removed: AnsiColor::Red.on_default(),
            found: AnsiColor::Red.on_default().bold(),
            error: AnsiColor::Red.on_default().bold(),
            hint: AnsiColor::Cyan.on_default(),
        }
    }
}

//! Colours and signs. Colour never tells anything alone: every outcome has a sign, every selection a mark.
//!
//! Only the terminal's own sixteen colours are used, so that light and dark terminals both stay readable.

use metaspy_core::Outcome;
use ratatui::style::{Color, Modifier, Style};

/// What is there to be read last.
pub const FAINT: Style = Style::new().fg(Color::DarkGray);
/// Plain text.
pub const PLAIN: Style = Style::new();
/// Titles.
pub const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// What has the focus.
pub const FOCUS: Style = Style::new().fg(Color::Cyan);
/// Keys.
pub const KEY: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// The row under the cursor.
pub const CURSOR: Style = Style::new().add_modifier(Modifier::REVERSED);
/// What to distrust.
pub const WARNING: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
/// What was lost or broken.
pub const ALARM: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
/// What no input matched. It stands out without colour, and its words say so too.
pub const UNCOVERED: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD).add_modifier(Modifier::REVERSED);
/// What is live.
pub const LIVE: Style = Style::new().fg(Color::Green);
/// Bars.
pub const BAR: Style = Style::new().fg(Color::Blue);
/// Marks that the reader put.
pub const MARK: Style = Style::new().fg(Color::Magenta);

/// The sign and style of an outcome; what went well has none.
pub fn outcome(outcome: Outcome) -> (char, Style) {
    match outcome {
        Outcome::Failed => ('✗', Style::new().fg(Color::Yellow)),
        Outcome::Panicked => ('!', ALARM),
        Outcome::Cancelled => ('⊘', Style::new().fg(Color::Magenta)),
        Outcome::Running => ('…', Style::new().fg(Color::Cyan)),
        Outcome::Moved => ('»', FAINT),
        _ => (' ', PLAIN),
    }
}

/// How much heat a duration gives off.
pub fn heat(ns: u64) -> Style {
    match ns {
        0..1_000 => FAINT,
        1_000..1_000_000 => PLAIN,
        1_000_000..16_000_000 => Style::new().fg(Color::Yellow),
        // Longer than a frame of sixty a second.
        _ => Style::new().fg(Color::Red),
    }
}

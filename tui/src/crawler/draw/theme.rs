//! Colours and signs. Nothing is shown by colour alone: every outcome has a sign, every selection a mark.
//!
//! Only the sixteen colours of the terminal are used, so that light and dark terminals are readable.

use metaspy_core::Outcome;
use ratatui::style::{Color, Modifier, Style};

/// The least important text.
pub const FAINT: Style = Style::new().fg(Color::DarkGray);
/// Plain text.
pub const PLAIN: Style = Style::new();
/// Titles.
pub const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// The part that has the focus.
pub const FOCUS: Style = Style::new().fg(Color::Cyan);
/// Keys.
pub const KEY: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// The row under the cursor.
pub const CURSOR: Style = Style::new().add_modifier(Modifier::REVERSED);
/// Warnings.
pub const WARNING: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
/// Losses and damage.
pub const ALARM: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
/// Code that did not run. It stands out without colour, too, and its text states it.
pub const UNCOVERED: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD).add_modifier(Modifier::REVERSED);
/// Live values.
pub const LIVE: Style = Style::new().fg(Color::Green);
/// Bars.
pub const BAR: Style = Style::new().fg(Color::Blue);
/// Marks of the user.
pub const MARK: Style = Style::new().fg(Color::Magenta);

/// The sign and style of an outcome; a success has no sign.
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

/// The colour of a duration: the longer, the warmer.
pub fn heat(ns: u64) -> Style {
    match ns {
        0..1_000 => FAINT,
        1_000..1_000_000 => PLAIN,
        1_000_000..16_000_000 => Style::new().fg(Color::Yellow),
        // Longer than a frame at 60 frames a second.
        _ => Style::new().fg(Color::Red),
    }
}

//! Colours and signs. Nothing is shown by colour alone: every outcome has a sign, every selection a
//! mark.
//!
//! The drawing names the sixteen colours of the terminal, and a theme replaces them in the finished
//! frame. So only one function knows other colours, and no styles are passed to every panel.

use metaspy_reader::Outcome;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Modifier, Style};

/// Least important text.
pub(crate) const FAINT: Style = Style::new().fg(Color::DarkGray);
/// Plain text.
pub const PLAIN: Style = Style::new();
/// Titles.
pub(crate) const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
/// Part that has the focus.
pub(crate) const FOCUS: Style = Style::new().fg(Color::Cyan);
/// Keys.
pub const KEY: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// Wrong part of a line.
pub(crate) const UNDERLINED: Style = Style::new().add_modifier(Modifier::UNDERLINED);
/// Match of the search.
pub(crate) const MATCH: Style =
    Style::new().add_modifier(Modifier::BOLD).add_modifier(Modifier::UNDERLINED);
/// Row under the cursor.
pub const CURSOR: Style = Style::new().add_modifier(Modifier::REVERSED);
/// Column under the cursor.
pub const COLUMN: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
/// Warnings.
pub const WARNING: Style = Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD);
/// Losses and damage.
pub(crate) const ALARM: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
/// Code that did not run. It stands out without colour, too, and its text states it.
pub(crate) const UNCOVERED: Style =
    Style::new().fg(Color::Red).add_modifier(Modifier::BOLD).add_modifier(Modifier::REVERSED);
/// Live values.
pub const LIVE: Style = Style::new().fg(Color::Green);
/// Bars.
pub const BAR: Style = Style::new().fg(Color::Blue);
/// Marks of the user.
pub const MARK: Style = Style::new().fg(Color::Magenta);

use crate::crawler::theme::Theme;

/// Replaces the colours of a finished frame by the colours of a theme.
pub fn apply(cells: &mut Buffer, theme: Theme) {
    if theme == Theme::Terminal {
        return;
    }
    for cell in &mut cells.content {
        cell.fg = replaced(cell.fg, theme);
        cell.bg = replaced(cell.bg, theme);
    }
}

/// Returns the replacement of a terminal colour in a theme, as a number in the palette of 256
/// colours.
fn replaced(color: Color, theme: Theme) -> Color {
    let [faint, red, green, yellow, blue, magenta, cyan] = match theme {
        Theme::Terminal => return color,
        Theme::Plain => return Color::Reset,
        Theme::Dark => [246, 203, 114, 221, 75, 176, 80],
        Theme::Light => [242, 160, 28, 130, 26, 127, 30],
        // The numbers are near the eight colours of Okabe and Ito, "Color Universal Design" (2008),
        // which also differ in brightness.
        Theme::ColourBlind => [246, 202, 36, 227, 32, 175, 74],
    };
    match color {
        Color::DarkGray => Color::Indexed(faint),
        Color::Red => Color::Indexed(red),
        Color::Green => Color::Indexed(green),
        Color::Yellow => Color::Indexed(yellow),
        Color::Blue => Color::Indexed(blue),
        Color::Magenta => Color::Indexed(magenta),
        Color::Cyan => Color::Indexed(cyan),
        color => color,
    }
}

/// Returns the sign and style of an outcome; a success has no sign.
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

/// Returns the colour of a duration: the longer, the warmer.
pub fn heat(ns: u64) -> Style {
    match ns {
        0..1_000 => FAINT,
        1_000..1_000_000 => PLAIN,
        1_000_000..16_000_000 => Style::new().fg(Color::Yellow),
        // This is longer than a frame at 60 frames a second.
        _ => Style::new().fg(Color::Red),
    }
}

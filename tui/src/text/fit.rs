//! Names that must fit into columns. A long name loses its middle, never its end: the end tells siblings apart.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// `text` in at most `columns` columns, `…` standing for a middle that was lost.
pub fn shorten(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    if columns < 2 {
        return "…".repeat(columns);
    }
    let tail_columns = (columns - 1) / 2;
    let head = take(text.chars(), columns - 1 - tail_columns);
    let tail: Vec<char> = take(text.chars().rev(), tail_columns);
    head.into_iter().chain(std::iter::once('…')).chain(tail.into_iter().rev()).collect()
}

/// A path in at most `columns` columns: it loses its first segments, as the last ones tell sites apart.
pub fn shorten_path(path: &str, columns: usize) -> String {
    let mut rest = path;
    while width(rest) + if rest.len() < path.len() { 3 } else { 0 } > columns {
        match rest.find("::") {
            Some(at) => rest = &rest[at + 2..],
            None => return shorten(rest, columns),
        }
    }
    if rest.len() < path.len() { format!("…::{rest}") } else { path.to_owned() }
}

/// `text` in lines of at most `columns` columns, cut between words where that is possible.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let mut rest = text;
    while width(rest) > columns {
        let fitting: usize = take(rest.chars(), columns).iter().map(|c| c.len_utf8()).sum();
        // A word that takes more than half a line is cut: a path, or a value without spaces.
        let at = match rest[..fitting].rfind(' ') {
            _ if rest[fitting..].starts_with(' ') => fitting,
            Some(space) if space * 2 > fitting => space,
            _ => fitting,
        };
        lines.push(rest[..at].trim_end().to_owned());
        rest = rest[at..].trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

/// `text` in exactly `columns` columns: shortened, or followed by spaces.
pub fn fit(text: &str, columns: usize) -> String {
    pad_right(&shorten(text, columns), columns)
}

/// Spaces after `text` up to `columns`.
pub fn pad_right(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Spaces before `text` up to `columns`.
pub fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

fn take(chars: impl Iterator<Item = char>, columns: usize) -> Vec<char> {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_loses_its_middle() {
        assert_eq!(shorten("section.article.paragraph-77", 15), "section…raph-77");
        assert_eq!(shorten("short", 15), "short");
        assert_eq!([0, 1, 2].map(|columns| shorten("long", columns)), ["", "…", "l…"]);
    }

    #[test]
    fn a_long_path_loses_its_first_segments() {
        assert_eq!(shorten_path("layout::page::Scene::measure", 20), "…::Scene::measure");
        assert_eq!(shorten_path("layout::measure", 20), "layout::measure");
        assert_eq!(shorten_path("layout::measure_everything", 9), "meas…hing");
    }

    #[test]
    fn lines_are_cut_between_words() {
        assert_eq!(wrap("effects 3 (1 paint, 1 layout)", 20), ["effects 3 (1 paint,", "1 layout)"]);
        assert_eq!(wrap("a_very_long_word_without_spaces", 12), ["a_very_long_", "word_without", "_spaces"]);
        assert_eq!(wrap("", 12), [""]);
        assert!(wrap("日本日本日本 日本日本日本", 5).iter().all(|line| width(line) <= 5));
    }

    #[test]
    fn a_wide_character_counts_as_two_columns() {
        assert_eq!(width("日本"), 4);
        assert!(width(&shorten("日本日本日本", 5)) <= 5);
        assert_eq!(width(&fit("日本日本日本", 6)), 6);
    }
}

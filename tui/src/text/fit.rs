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
    fn a_wide_character_counts_as_two_columns() {
        assert_eq!(width("日本"), 4);
        assert!(width(&shorten("日本日本日本", 5)) <= 5);
        assert_eq!(width(&fit("日本日本日本", 6)), 6);
    }
}

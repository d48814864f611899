//! Names that must fit into columns. A long name loses its middle, never its end: siblings differ
//! at the end.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::separators;

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

/// A path in at most `columns` columns: it loses its first segments, as sites differ in the last
/// ones.
pub fn shorten_path(path: &str, columns: usize) -> String {
    shorten_segments(path, "::", columns)
}

/// A file in at most `columns` columns: it loses its first folders.
pub fn shorten_file(file: &str, columns: usize) -> String {
    shorten_segments(file, "/", columns)
}

fn shorten_segments(path: &str, between: &str, columns: usize) -> String {
    if !is_wider(path, columns, 0) {
        return path.to_owned();
    }
    let mut start = 0;
    for at in separators(path, between) {
        if at >= start {
            start = at + between.len();
            if !is_wider(&path[start..], columns, 1 + between.len()) {
                return format!("…{between}{}", &path[start..]);
            }
        }
    }
    shorten(&path[start..], columns)
}

/// A label in at most `columns` columns: its first word, in which subjects differ, is the last to
/// go.
pub fn shorten_label(label: &str, columns: usize) -> String {
    if width(label) <= columns {
        return label.to_owned();
    }
    let first = label.find(' ').map_or(0, |at| width(&label[..at]));
    // A few columns of an end say nothing, nor does the end of a label that was cut already.
    let cut_already = label.ends_with('…') || label.ends_with("…\"");
    let head_columns = match (columns.saturating_sub(1)).checked_sub(first) {
        None => return shorten(label, columns),
        Some(_) if first == 0 && !cut_already => return shorten(label, columns),
        Some(room) if room < 12 || cut_already => columns - 1,
        Some(room) => first + room.div_ceil(2),
    };
    let head: String = take(label.chars(), head_columns).into_iter().collect();
    let tail: Vec<char> = take(label.chars().rev(), columns - 1 - head_columns);
    format!("{}…{}", head.trim_end(), tail.into_iter().rev().collect::<String>())
}

/// `text` in lines of at most `columns` columns, cut between words where that is possible.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(2);
    let mut lines = Vec::new();
    let mut rest = text;
    while is_wider(rest, columns, 0) {
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

/// Whether a text and `more` columns take more than `columns`. Of a text that is far too long it
/// looks at the beginning only, because the functions here ask this again for each line and
/// segment.
fn is_wider(text: &str, columns: usize, more: usize) -> bool {
    const CHARACTERS: usize = 4;
    // The width of a character may depend on the next one, which is not in a beginning.
    let beginning =
        text.char_indices().nth((columns + 2) * CHARACTERS).map(|(end, _)| &text[..end]);
    beginning.is_some_and(|beginning| width(beginning) > columns + 2)
        || width(text) + more > columns
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

/// A line of text in at most `columns` columns: unlike a name it loses its end.
pub fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        text.to_owned()
    } else {
        format!("{} …", wrap(text, columns - 2)[0])
    }
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
        assert_eq!(shorten_file("examples/layout/src/tree/cache.rs:43", 20), "…/tree/cache.rs:43");
    }

    #[test]
    fn a_label_keeps_its_first_word() {
        let fox = "#6334 <p> \"the quick brown fox\"";
        assert_eq!(shorten_label(fox, 40), fox);
        assert_eq!(shorten_label(fox, 20), "#6334 <p> \"t…wn fox\"");
        assert_eq!(shorten_label(fox, 16), "#6334 <p> \"the…");
        assert_eq!(shorten_label(fox, 9), "#6334 <p…");
        assert_eq!(shorten_label(fox, 7), "#6334…");
        assert_eq!(shorten_label("#63 <p> \"a label that was cut…\"", 16), "#63 <p> \"a labe…");
        assert_eq!(shorten_label("one-word-without-spaces", 9), "one-…aces");
        assert!(
            (0..40)
                .all(|columns| width(&shorten_label("日本 日本日本日本日本", columns)) <= columns)
        );
    }

    #[test]
    fn lines_are_cut_between_words() {
        assert_eq!(wrap("effects 3 (1 paint, 1 layout)", 20), ["effects 3 (1 paint,", "1 layout)"]);
        assert_eq!(
            wrap("a_very_long_word_without_spaces", 12),
            ["a_very_long_", "word_without", "_spaces"]
        );
        assert_eq!(wrap("", 12), [""]);
        assert!(wrap("日本日本日本 日本日本日本", 5).iter().all(|line| width(line) <= 5));
    }

    /// With quadratic time this is hours.
    #[test]
    fn a_text_of_megabytes_is_shortened_and_wrapped() {
        let path = "a::".repeat(1 << 17) + "measure";
        assert_eq!(shorten_path(&path, 16), "…::a::a::measure");
        let words = "word ".repeat(1 << 17);
        assert_eq!(wrap(words.trim_end(), 9).len(), 1 << 16);
        assert_eq!(cut(&words, 12), "word word …");
        let marks = format!("e{}", "\u{301}".repeat(1 << 17));
        assert_eq!(wrap(&marks, 9), [&*marks]);
    }

    #[test]
    fn a_wide_character_counts_as_two_columns() {
        assert_eq!(width("日本"), 4);
        assert!(width(&shorten("日本日本日本", 5)) <= 5);
        assert_eq!(width(&fit("日本日本日本", 6)), 6);
    }
}

//! Text: numbers, durations, names that fit into columns, and strings without control characters.

mod command_line;
mod fit;
mod units;

use metaspy_reader::Measure;

pub use command_line::command_line;
pub use fit::{
    cut, fit, pad_left, pad_right, shorten, shorten_file, shorten_label, shorten_path, width, wrap,
};
pub use metaspy_reader::text::{clean, clean_lines, file_name, print_message};
pub use units::{
    clock, counted, duration, grouped, parse_duration_ns, parse_number, parse_size, percent, short,
    short_bytes, time,
};

/// `3 none, 1 lost`, behind `before`: the calls that did not succeed. Empty if all did. `failure`
/// is the word for those that returned `Err` or `None`:
/// [`RecordedSite::failure`](metaspy_reader::RecordedSite::failure), or `failed` for calls of
/// several sites.
pub fn outcomes(measure: &Measure, failure: &'static str, before: &str) -> String {
    let words = [
        (measure.failed, failure),
        (measure.panicked, "panicked"),
        (measure.cancelled, "cancelled"),
        (measure.running, "running"),
        (measure.lost, "lost"),
    ];
    let words = words.iter().filter(|(count, _)| *count > 0);
    let text: Vec<String> =
        words.map(|&(count, word)| format!("{} {word}", grouped(count))).collect();
    if text.is_empty() { String::new() } else { format!("{before}{}", text.join(", ")) }
}

/// Makes JSON fit for a script element of a page: an escaped `<` begins neither an end tag nor a
/// comment.
pub fn json_in_page(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// The type and the method of a path: `Scene::measure` of `page::scene::Scene::measure`.
///
/// A type's name starts with a capital, or is qualified as in `<[Box] as Layout>::measure`; a free
/// function stands alone.
pub fn short_path(path: &str) -> &str {
    let mut ends = separators(path, "::");
    let Some(last) = ends.next_back() else { return path };
    let parent = ends.next_back().map_or(0, |at| at + 2);
    match path[parent..last].chars().next() {
        Some(first) if first.is_uppercase() || first == '<' => &path[parent..],
        _ => &path[last + 2..],
    }
}

/// The type, the trait and the method of a path: `Scene::Display::fmt` of
/// `page::scene::Scene::Display::fmt`.
pub(crate) fn short_path_of_trait(path: &str) -> &str {
    separators(path, "::").nth_back(2).map_or(path, |at| &path[at + 2..])
}

/// Where the segments of a path are separated. Type arguments are a part of their segment.
fn separators<'p>(path: &'p str, between: &'p str) -> std::vec::IntoIter<usize> {
    let mut depth = 0_usize;
    let mut found = Vec::new();
    for (at, letter) in path.char_indices() {
        match letter {
            '<' => depth += 1,
            '>' if !path[..at].ends_with('-') => depth = depth.saturating_sub(1),
            _ if depth == 0 && path[at..].starts_with(between) => found.push(at),
            _ => {}
        }
    }
    found.into_iter()
}

/// The last segment of a path: `measure` of `page::scene::Scene::measure`.
pub fn last_segment(path: &str) -> &str {
    path.rfind("::").map_or(path, |at| &path[at + 2..])
}

/// The name of a type without its path and its parameters: `NodeId` of `page::tree::NodeId<T>`.
pub fn short_type(name: &str) -> &str {
    let plain = name.split('<').next().unwrap_or(name);
    match last_segment(plain) {
        "" => name,
        short => short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_type_and_its_method() {
        assert_eq!(short_path("page::scene::Scene::measure"), "Scene::measure");
        assert_eq!(short_path("page::scene::measure"), "measure");
        assert_eq!(short_path("measure"), "measure");
        assert_eq!(
            short_path_of_trait("rope::Slice::PartialEq<a::Text>::eq"),
            "Slice::PartialEq<a::Text>::eq"
        );
        assert_eq!(short_path_of_trait("a::b::Scene::Display::fmt"), "Scene::Display::fmt");
        assert_eq!(short_path_of_trait("Scene::Display::fmt"), "Scene::Display::fmt");
        assert_eq!(short_path("rope::Slice::PartialEq<a::Text>::eq"), "PartialEq<a::Text>::eq");
        assert_eq!(short_path("page::<[Box] as Layout>::measure"), "<[Box] as Layout>::measure");
        assert_eq!(last_segment("page::Scene::measure"), "measure");
        assert_eq!(
            ["page::NodeId", "Tree<page::T>", "<T>", "node"].map(short_type),
            ["NodeId", "Tree", "<T>", "node"]
        );
    }
}

//! Selectors, which have the same grammar for sites in the API, the command line and filters.
//!
//! A selector is a path whose segments may be globs: `taffy::compute::*`, `Scene::mea*`,
//! `**::tests::**`. It matches the end of a path, at a border of segments. `*` matches a segment or
//! a part of it, `**` any number of segments.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use metaspy_probe::unqualified;

use crate::debug_as_message;

/// Pattern for the paths of sites.
///
/// ```
/// use metaspy_reader::{Selector, SelectorError};
///
/// let selector: Selector = "Scene::mea*".parse()?;
/// assert!(selector.matches("app::model::Scene::measure"));
/// assert!(!selector.matches("app::model::MyScene::measure"));
/// let typo: Selector = "Scene::mesure".parse()?;
/// assert_eq!(typo.nearest(["app::Scene::measure", "app::Bus::send"]), ["app::Scene::measure"]);
/// # Ok::<(), SelectorError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    text: String,
    segments: Vec<String>,
}

/// Reason why a text is not a selector.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SelectorError {
    /// The text is empty.
    Empty,
    /// Two `::` with nothing between them, or `::` at the end.
    EmptySegment(String),
    /// `<Type as Trait>` without its end, or without a method.
    Unclosed(String),
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectorError::Empty => {
                write!(
                    f,
                    "a selector is empty: write a path such as `Scene::measure` or `layout::*`"
                )
            }
            SelectorError::EmptySegment(text) => {
                write!(
                    f,
                    "`{text}` has an empty segment: write `*` for any one segment, `**` for any number of them"
                )
            }
            SelectorError::Unclosed(text) => {
                write!(
                    f,
                    "`{text}` is not complete: write `<Type as Trait>::method`, or `Type::Trait::method`"
                )
            }
        }
    }
}

debug_as_message!(SelectorError);

impl std::error::Error for SelectorError {}

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SelectorError::Empty);
        }
        let path = without_qualification(text)?;
        let path = unqualified(&path);
        let path = path.strip_prefix("::").unwrap_or(&path);
        let path = path.strip_prefix("crate::").unwrap_or(path);
        let segments: Vec<String> =
            path.split("::").map(|segment| segment.trim().to_owned()).collect();
        if segments.iter().any(String::is_empty) {
            Err(SelectorError::EmptySegment(text.to_owned()))
        } else {
            Ok(Selector { text: text.to_owned(), segments })
        }
    }
}

/// Formats the text as it was written.
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Selector {
    /// Returns true if the selector matches this path.
    pub fn matches(&self, path: &str) -> bool {
        let path = unqualified(path);
        let names: Vec<&str> = path.split("::").collect();
        // Only the end of the path must match, so a `**` comes first.
        let patterns: Vec<&str> =
            std::iter::once("**").chain(self.segments.iter().map(String::as_str)).collect();
        glob(
            &patterns,
            &names,
            |pattern| *pattern == "**",
            |pattern, name| matches_text(pattern, name),
        )
    }

    /// Returns at most three similar names, the closest first.
    pub fn nearest<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
        let is_open = |segment: &&String| segment.chars().all(|c| c == '*');
        let open = self.segments.iter().rev().take_while(is_open).count();
        let (around, open) = self.segments.split_at(self.segments.len() - open);
        if !around.is_empty() && !open.is_empty() {
            return nearest_around(around, names)
                .map(|around| format!("{around}::{}", open.join("::")))
                .collect();
        }
        let wanted = self.segments.join("::").to_lowercase();
        let last = self.segments.last().map(|last| last.to_lowercase()).unwrap_or_default();
        let mut near: Vec<(usize, &str)> = names
            .into_iter()
            .filter_map(|name| {
                let lower = name.to_lowercase();
                let end = end_of(&lower, self.segments.len());
                let contains = last.len() > 2
                    && lower.rsplit("::").next().is_some_and(|name| name.contains(&last));
                let distance = distance(&wanted, end);
                (contains || distance <= (wanted.chars().count() / 3).max(2))
                    .then_some((distance, name))
            })
            .collect();
        near.sort();
        near.dedup();
        near.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
    }
}

/// Returns the most similar beginnings of names, with as many segments as `around` has.
fn nearest_around<'n>(
    around: &[String],
    names: impl IntoIterator<Item = &'n str>,
) -> impl Iterator<Item = String> {
    let wanted = around.join("::").to_lowercase();
    let most = (wanted.chars().count() / 3).max(1);
    let mut near = BTreeSet::new();
    for name in names {
        let segments: Vec<&str> = name.split("::").collect();
        for part in segments[..segments.len() - 1].windows(around.len()) {
            let part = part.join("::");
            let distance = distance(&wanted, &part.to_lowercase());
            if distance <= most {
                near.insert((distance, part));
            }
        }
    }
    near.into_iter().take(3).map(|(_, part)| part)
}

/// Converts `<Type as Trait>::method` to `Type::Trait::method`, and `<Type>::method` to
/// `Type::method`.
fn without_qualification(text: &str) -> Result<String, SelectorError> {
    let Some(inner) = text.strip_prefix('<') else { return Ok(text.to_owned()) };
    let (owner, rest) =
        inner.split_once(">::").ok_or_else(|| SelectorError::Unclosed(text.to_owned()))?;
    let qualified = match owner.split_once(" as ") {
        Some((owner, implemented)) => {
            let name = implemented.split('<').next().unwrap_or(implemented).trim();
            format!("{}::{}", owner.trim(), name.rsplit("::").next().unwrap_or(name))
        }
        None => owner.trim().to_owned(),
    };
    Ok(format!("{qualified}::{rest}"))
}

/// Returns true if a text matches a pattern in which `*` stands for any letters, as in a segment of
/// a selector.
pub fn matches_text(pattern: &str, name: &str) -> bool {
    if !pattern.contains('*') {
        return pattern == name;
    }
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    glob(&pattern, &name, |&c| c == '*', |a, b| a == b)
}

/// Matches a whole sequence. An item that is `any` matches any number of names. Backtracking to the
/// last such item is sufficient, so the time is bounded by the product of both lengths.
fn glob<P, N>(
    patterns: &[P],
    names: &[N],
    any: impl Fn(&P) -> bool,
    same: impl Fn(&P, &N) -> bool,
) -> bool {
    let mut pattern = 0;
    let mut name = 0;
    let mut back: Option<(usize, usize)> = None;
    while name < names.len() {
        if pattern < patterns.len() && any(&patterns[pattern]) {
            back = Some((pattern, name));
            pattern += 1;
        } else if pattern < patterns.len() && same(&patterns[pattern], &names[name]) {
            (pattern, name) = (pattern + 1, name + 1);
        } else if let Some((last, taken)) = back {
            back = Some((last, taken + 1));
            (pattern, name) = (last + 1, taken + 1);
        } else {
            return false;
        }
    }
    patterns[pattern..].iter().all(any)
}

/// Returns the last `segments` segments of a path.
fn end_of(path: &str, segments: usize) -> &str {
    match path.rmatch_indices("::").nth(segments.saturating_sub(1)) {
        Some((at, border)) => &path[at + border.len()..],
        None => path,
    }
}

/// Counts the letters to insert, delete or replace to turn one text into the other. Only the first
/// hundred letters count, because the cost grows with the product of both lengths.
pub fn distance(a: &str, b: &str) -> usize {
    let start = |text: &str| text.chars().take(100).collect::<String>();
    strsim::levenshtein(&start(a), &start(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selector: &str, matching: &[&str], others: &[&str]) {
        let selector: Selector = selector.parse().expect("a selector");
        for path in matching {
            assert!(selector.matches(path), "{selector} should match {path}");
        }
        for path in others {
            assert!(!selector.matches(path), "{selector} should not match {path}");
        }
    }

    #[test]
    fn a_selector_matches_the_end_of_a_path_at_a_border() {
        check("measure", &["measure", "a::Scene::measure"], &["a::Scene::remeasure", "measure::a"]);
        check(
            "Scene::measure",
            &["a::b::Scene::measure"],
            &["a::MyScene::measure", "Scene::Layout::measure"],
        );
    }

    #[test]
    fn one_star_is_one_segment_and_two_are_any_number() {
        check(
            "taffy::compute::*",
            &["taffy::compute::leaf"],
            &["taffy::compute", "taffy::compute::a::b"],
        );
        check("taffy::**", &["taffy", "taffy::compute", "x::taffy::compute::a::b"], &["tuffy::a"]);
        check("a::**::z", &["a::z", "a::b::c::z", "a::z::a::y::z"], &["a::b", "b::z"]);
        check("Scene::mea*", &["Scene::measure", "Scene::mea"], &["Scene::remeasure", "Scene::me"]);
        check("*::*u*e", &["Scene::measure"], &["measure", "Scene::layout"]);
    }

    #[test]
    fn a_star_in_a_text_is_any_letters() {
        for (pattern, text, expected) in [
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*b*", "abc", true),
            ("a*b*c", "acb", false),
            ("a::b", "a::b", true),
        ] {
            assert_eq!(matches_text(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_qualified_path_is_written_with_its_trait_as_a_segment() {
        check("<Scene as Layout>::measure", &["a::Scene::Layout::measure"], &["a::Scene::measure"]);
        check(
            "<a::Scene as b::From<u8>>::from",
            &["a::Scene::From::from"],
            &["a::Scene::b::From::from"],
        );
        check("<Scene>::measure", &["Scene::measure"], &[]);
        check("::crate_a::f", &["crate_a::f"], &[]);
        let nth = ["a::<[S] as Point>::nth", "<[S] as Point>::nth", "a::[S]::Point::nth"];
        check("<[S] as Point>::nth", &nth, &["a::[T]::Point::nth"]);
        check("a::<[S] as Point>::nth", &nth[..1], &[]);
        check("Point::*", &nth, &["a::<[S] as Other>::nth"]);
    }

    #[test]
    fn a_wrong_selector_is_refused_with_an_example() {
        for (text, words) in
            [("", "Scene::measure"), ("a::", "`*`"), ("a::::b", "`**`"), ("<a as b", "Trait")]
        {
            let error = text.parse::<Selector>().expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_nearest_ones() {
        let names =
            ["a::Scene::measure", "a::Scene::layout", "a::Bus::announce", "a::Scene::measure_text"];
        let nearest = |text: &str| text.parse::<Selector>().expect("a selector").nearest(names);
        assert_eq!(nearest("Scene::mesure")[0], "a::Scene::measure");
        assert_eq!(nearest("scene::layout"), ["a::Scene::layout"]);
        assert_eq!(nearest("measure_"), ["a::Scene::measure", "a::Scene::measure_text"]);
        assert_eq!(nearest("zzzzzzzz"), Vec::<String>::new());
        assert_eq!(nearest("scne::**"), ["Scene::**"]);
        assert_eq!(nearest("a::Sceen::*"), ["a::Scene::*"]);
        assert_eq!(nearest("zzzz::*"), Vec::<String>::new());
    }
}

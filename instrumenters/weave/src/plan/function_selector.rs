//! Selectors of functions: a path, and words before and after it that describe the function.
//!
//! `pub taffy::** -> *Result<*> lines>=10` are the public functions of taffy that return a result
//! and have ten lines or more. All words must hold. A closure has the properties of the function
//! that it stands in.

use std::fmt;
use std::str::FromStr;

use metaspy_core::Selector;
use metaspy_core::select::{SelectorError, matches_text};

use crate::source::Function;

/// A selector of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSelector {
    path: Selector,
    predicates: Vec<Predicate>,
}

/// A property that a function must have.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Predicate {
    /// `pub`
    Pub,
    /// `#[inline]`: the last segment of an attribute's path.
    Attribute(String),
    /// `-> *Result<*>`: the type's text without spaces.
    Returns(String),
    /// `lines>=10`: the least and the most.
    Lines(u32, u32),
}

/// An error in the text of a selector of functions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FunctionSelectorError {
    /// The path is wrong.
    Path(SelectorError),
    /// An unknown word, or a second path.
    Word {
        /// The whole text.
        text: String,
        /// The word.
        word: String,
    },
}

impl fmt::Display for FunctionSelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FunctionSelectorError::Path(error) => error.fmt(f),
            FunctionSelectorError::Word { text, word } => write!(
                f,
                "`{word}` in `{text}` is not understood: write one path, and before or behind it what else must hold, as in \
                 `pub taffy::**`, `#[inline] **`, `taffy::** -> *Result<*>`, `** -> ()`, `** lines<3` or `** lines>=10`"
            ),
        }
    }
}

impl std::error::Error for FunctionSelectorError {}

impl FromStr for FunctionSelector {
    type Err = FunctionSelectorError;

    fn from_str(text: &str) -> Result<Self, FunctionSelectorError> {
        let mut path = None;
        let mut predicates = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let (word, behind) = rest.split_at(word_end(rest));
            match Predicate::of(word) {
                Some(predicate) => predicates.push(predicate),
                None if path.is_none() && !is_like_a_predicate(word) => path = Some(word),
                None => {
                    return Err(FunctionSelectorError::Word {
                        text: text.to_owned(),
                        word: word.to_owned(),
                    });
                }
            }
            rest = behind.trim_start();
        }
        // `pub` alone is any public function; nothing at all is a mistake.
        let path = path.unwrap_or(if predicates.is_empty() { "" } else { "**" });
        Ok(FunctionSelector {
            path: path.parse().map_err(FunctionSelectorError::Path)?,
            predicates,
        })
    }
}

impl FunctionSelector {
    /// True if a function with this path is selected.
    pub fn means(&self, path: &str, function: &Function) -> bool {
        self.has_path(path, function)
            && self.predicates.iter().all(|predicate| predicate.is_of(function))
    }

    /// True if the path alone matches. A closure matches if its function does.
    pub fn has_path(&self, path: &str, function: &Function) -> bool {
        let owner = path.rsplit_once("::").filter(|_| function.facts.is_closure);
        self.path.matches(path) || owner.is_some_and(|(owner, _)| self.path.matches(owner))
    }

    /// True if it selects functions by their names, without a wildcard.
    pub fn is_name(&self) -> bool {
        !self.path.to_string().contains('*')
    }

    /// The nearest names.
    pub fn nearest<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<String> {
        self.path.nearest(names)
    }
}

impl Predicate {
    fn of(word: &str) -> Option<Predicate> {
        if word == "pub" {
            return Some(Predicate::Pub);
        }
        if let Some(attribute) = word.strip_prefix("#[").and_then(|word| word.strip_suffix(']')) {
            let last = attribute.rsplit("::").next().unwrap_or(attribute).trim();
            return (!last.is_empty()).then(|| Predicate::Attribute(last.to_owned()));
        }
        if let Some(ty) = word.strip_prefix("->") {
            let ty = ty.replace(char::is_whitespace, "");
            return (!ty.is_empty()).then_some(Predicate::Returns(ty));
        }
        let size = word.strip_prefix("lines")?.trim_start();
        let at = size.find(|c: char| !matches!(c, '<' | '>' | '='))?;
        let sign = &size[..at];
        let number = size[at..].trim().parse::<u32>().ok()?;
        match sign {
            "<" => number.checked_sub(1).map(|most| Predicate::Lines(0, most)),
            "<=" => Some(Predicate::Lines(0, number)),
            "=" | "==" => Some(Predicate::Lines(number, number)),
            ">=" => Some(Predicate::Lines(number, u32::MAX)),
            ">" => number.checked_add(1).map(|least| Predicate::Lines(least, u32::MAX)),
            _ => None,
        }
    }

    fn is_of(&self, function: &Function) -> bool {
        let properties = &function.properties;
        match self {
            Predicate::Pub => properties.is_pub,
            Predicate::Attribute(name) => {
                properties.attributes.iter().any(|attribute| matches_text(name, attribute))
            }
            Predicate::Returns(ty) => matches_text(ty, &properties.returns),
            Predicate::Lines(least, most) => (*least..=*most).contains(&properties.lines),
        }
    }
}

/// The end of the first word. Brackets, types and sizes may contain spaces.
fn word_end(text: &str) -> usize {
    let at_size = |at: usize| is_size(&text[at..]);
    if text.starts_with("->") {
        return text
            .char_indices()
            .find_map(|(at, c)| (c.is_whitespace() && at_size(at + c.len_utf8())).then_some(at))
            .unwrap_or(text.len());
    }
    if text.starts_with("#[") {
        return text.find(']').map_or(text.len(), |at| at + 1);
    }
    if is_size(text) {
        let number = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
        return text[number..].find(char::is_whitespace).map_or(text.len(), |at| number + at);
    }
    // `<Type as Trait>::method` has spaces before its end.
    let from = if text.starts_with('<') { text.find(">::").unwrap_or(0) } else { 0 };
    text[from..].find(char::is_whitespace).map_or(text.len(), |at| from + at)
}

/// `lines` is a path, too; with a sign behind it is a size.
fn is_size(text: &str) -> bool {
    text.strip_prefix("lines").is_some_and(|rest| rest.trim_start().starts_with(['<', '>', '=']))
}

fn is_like_a_predicate(word: &str) -> bool {
    word.starts_with('#') || word.starts_with("->") || is_size(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::parse;

    const TEXT: &str = "pub fn open() -> io::Result<Vec< u8 >> {\n}\n#[inline]\nfn close() {\n\n\n\n}\n\
        pub(crate) fn next() -> Option<u8> { iter(|x| x) }\nimpl T for S { #[tokio::test] fn run(self) -> Self {} }\n";

    fn check(selector: &str, expected: &[&str]) {
        let selector: FunctionSelector = selector.parse().unwrap_or_else(|error| panic!("{error}"));
        let functions = parse(TEXT).expect("it is Rust").functions.all;
        let selected = functions
            .iter()
            .filter(|function| selector.means(&format!("a::{}", function.name), function));
        assert_eq!(
            selected.map(|function| function.name.as_str()).collect::<Vec<_>>(),
            expected,
            "{selector:?}"
        );
    }

    #[test]
    fn a_path_alone_is_as_everywhere() {
        check("open", &["open"]);
        check("<S as T>::run", &["S::T::run"]);
        check("a::next", &["next", "next::{closure#1}"]);
        check("{closure#1}", &["next::{closure#1}"]);
    }

    #[test]
    fn words_select_visibility_and_returned_type() {
        check("pub a::**", &["open", "S::T::run"]);
        check("** -> *Result<*>", &["open"]);
        check("-> io::Result<Vec<u8>>", &["open"]);
        check("** -> ()", &["close"]);
        check("** -> Option<*>", &["next", "next::{closure#1}"]);
    }

    #[test]
    fn words_name_attributes_by_their_last_segment() {
        check("#[inline] **", &["close"]);
        check("** #[test]", &["S::T::run"]);
        check("#[tokio::te*] run", &["S::T::run"]);
        check("#[inline] pub **", &[]);
    }

    #[test]
    fn words_select_the_number_of_lines() {
        check("** lines>4", &["close"]);
        check("** lines = 2", &["open"]);
        check("lines<=1", &["next", "next::{closure#1}", "S::T::run"]);
        check("pub ** -> *Vec<u8>* lines<3", &["open"]);
    }

    #[test]
    fn what_is_no_selector_shows_how_to_write_one() {
        for text in [
            "pub fn a::b",
            "a b",
            "lines<x",
            "#inline a",
            "-> ",
            "a lines<>3",
            "a lines<0",
            "#[] a",
        ] {
            let error = text.parse::<FunctionSelector>().expect_err(text).to_string();
            assert!(error.contains("`taffy::** -> *Result<*>`"), "{text}: {error}");
        }
        assert!(
            "".parse::<FunctionSelector>()
                .expect_err("nothing")
                .to_string()
                .contains("Scene::measure")
        );
        assert!(
            "pub a::"
                .parse::<FunctionSelector>()
                .expect_err("half")
                .to_string()
                .contains("empty segment")
        );
    }
}

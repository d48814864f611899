//! Subjects by name: `taffy::*::compute_child_layout=node_id` names the parameter that is the
//! subject of calls.

use std::fmt;
use std::str::FromStr;

use crate::plan::function_selector::{FunctionSelector, FunctionSelectorError};
use crate::source::{Function, SelfKind};

/// The subject of the calls of some functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectOf {
    /// The functions.
    pub functions: FunctionSelector,
    /// A parameter, or a path from one: `self.id`.
    pub path: String,
    /// The text that the user wrote.
    pub text: String,
}

/// An error in the text of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubjectError {
    /// The selector of functions is wrong.
    Functions(FunctionSelectorError),
    /// There is no `=`, or behind it is no parameter and no path from one.
    Path(String),
}

impl fmt::Display for SubjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubjectError::Functions(error) => error.fmt(f),
            SubjectError::Path(text) => write!(
                f,
                "`{text}` names no subject: write functions, `=`, and one of their parameters or a path from one, as in \
                 `taffy::*::compute_child_layout=node_id` or `Scene::*=self.id`"
            ),
        }
    }
}

impl std::error::Error for SubjectError {}

impl FromStr for SubjectOf {
    type Err = SubjectError;

    fn from_str(text: &str) -> Result<Self, SubjectError> {
        // Sizes have a `=`, too, but a number behind it.
        let unnamed = || SubjectError::Path(text.to_owned());
        let (functions, path) = text.rsplit_once('=').ok_or_else(unnamed)?;
        let path = path.trim();
        if !is_path(path) {
            return Err(unnamed());
        }
        let functions = functions.parse().map_err(SubjectError::Functions)?;
        Ok(SubjectOf { functions, path: path.to_owned(), text: text.to_owned() })
    }
}

impl SubjectOf {
    /// True if a function is selected; closures never are.
    pub fn means(&self, path: &str, function: &Function) -> bool {
        !function.facts.is_closure && self.functions.means(path, function)
    }

    /// True if a function has the parameter.
    pub fn is_in(&self, function: &Function) -> bool {
        let first = self.parameter();
        let is_self = first == "self" && function.facts.self_kind != SelfKind::None;
        is_self || function.signature.parameters.iter().any(|parameter| parameter == first)
    }

    /// The parameter that the path begins at.
    pub fn parameter(&self) -> &str {
        self.path.split('.').next().unwrap_or(&self.path)
    }
}

/// Names and numbers of fields, behind a parameter.
fn is_path(path: &str) -> bool {
    let is_name = |name: &str| {
        let name = name.strip_prefix("r#").unwrap_or(name);
        name != "_" && !name.starts_with(|c: char| c.is_ascii_digit()) && is_word(name)
    };
    let mut segments = path.split('.');
    let first = segments.next().unwrap_or_default();
    is_name(first) && segments.all(|field| is_name(field) || field.parse::<u32>().is_ok())
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::parse;

    fn check(subject: &str, function: &str, is_meant: bool, is_in: bool) {
        let subject: SubjectOf = subject.parse().unwrap_or_else(|error| panic!("{error}"));
        let function = &parse(function).expect("it is Rust").functions.all[0];
        assert_eq!(
            subject.means(&format!("a::{}", function.name), function),
            is_meant,
            "{subject:?}"
        );
        assert_eq!(subject.is_in(function), is_in, "{subject:?}");
    }

    #[test]
    fn a_subject_is_a_parameter_or_a_path_from_one() {
        check("f=node", "fn f(node: u8) {}", true, true);
        check("f = node.0.id", "fn f(node: u8) {}", true, true);
        check("f=node", "fn f(nodes: u8) {}", true, false);
        check("f=node", "fn g(node: u8) {}", false, true);
        check("A::*=self.id", "impl A { fn f(&self) {} }", true, true);
        check("A::*=self.id", "impl A { fn f() {} }", true, false);
        check("** lines>=1 = node", "fn f(node: u8) {}", true, true);
    }

    #[test]
    fn what_names_no_subject_shows_how_to_write_one() {
        for text in ["f", "f=", "f=a()", "f=1", "f=a..b", "f lines>=1"] {
            let error = text.parse::<SubjectOf>().expect_err(text).to_string();
            assert!(error.contains("`Scene::*=self.id`"), "{text}: {error}");
        }
        assert!(
            "a::=b".parse::<SubjectOf>().expect_err("half").to_string().contains("empty segment")
        );
    }
}

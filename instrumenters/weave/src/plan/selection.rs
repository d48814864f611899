//! What the user asks for: which functions, and how much of their calls is seen.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::plan::{FunctionSelector, SubjectOf};
use crate::source::Function;

/// Which functions are meant, and how much of their calls is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// These; if there are none, all of the workspace.
    pub weave: Vec<String>,
    /// But not these.
    pub without: Vec<String>,
    /// Whether closures in them are meant, too.
    pub closures: bool,
    /// Whether what they return is seen.
    pub returns: bool,
    /// Whether their arguments are seen.
    pub args: bool,
    /// What calls of some of them are about.
    pub subjects: Vec<String>,
}

/// Which functions are meant, ready to be asked.
pub struct Selectors {
    /// These; if there are none, all.
    pub weave: Vec<FunctionSelector>,
    /// But not these.
    pub without: Vec<FunctionSelector>,
    /// Whether closures are meant, too.
    pub closures: bool,
    /// What calls are about. Of several that mean a function, the last one counts.
    pub subjects: Vec<SubjectOf>,
}

impl Selection {
    /// As selectors.
    pub fn parse(&self) -> Result<Selectors> {
        let parse = |texts: &[String]| -> Result<Vec<FunctionSelector>> {
            texts.iter().map(|text| Ok(text.parse()?)).collect()
        };
        Ok(Selectors {
            weave: parse(&self.weave)?,
            without: parse(&self.without)?,
            closures: self.closures,
            subjects: self.subjects.iter().map(|text| Ok(text.parse()?)).collect::<Result<_>>()?,
        })
    }

    /// How much of calls is seen, as one word.
    pub fn depth(&self) -> &'static str {
        match (self.returns, self.args) {
            (true, true) => "returns and args",
            (true, false) => "returns",
            (false, true) => "args",
            (false, false) => "calls",
        }
    }
}

impl Selectors {
    /// Whether the function with this path is meant.
    pub fn means(&self, path: &str, function: &Function) -> bool {
        (self.closures || !function.facts.is_closure)
            && (self.weave.is_empty() || self.weave.iter().any(|words| words.means(path, function)))
            && !self.without.iter().any(|words| words.means(path, function))
    }

    /// What the calls of a function are about, if that is said.
    pub fn subject(&self, path: &str, function: &Function) -> Option<&SubjectOf> {
        self.subjects.iter().rev().find(|subject| subject.means(path, function))
    }
}

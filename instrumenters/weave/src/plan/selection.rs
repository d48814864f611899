//! The user's selection: functions, and the depth of their hooks.

use std::borrow::Cow;

use anyhow::Result;
use metaspy_core::Selector;
use serde::{Deserialize, Serialize};

use crate::plan::{FunctionSelector, SubjectOf};
use crate::source::Function;

/// Why an attribute of unknown effect keeps hooks away.
pub(crate) const MAY_READ: &str =
    "may be a macro that reads the code below it, and would read hooks as well";

/// The selected functions, and the depth of their hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The selected functions; if there are none, all of the workspace.
    pub weave: Vec<String>,
    /// Functions that are left out.
    pub without: Vec<String>,
    /// True if closures in them are selected, too.
    pub closures: bool,
    /// True if their return values are seen.
    pub returns: bool,
    /// True if their arguments are seen.
    pub args: bool,
    /// True if the types of receivers, arguments and returned values are seen.
    #[serde(default)]
    pub types: bool,
    /// The subjects of the calls of some functions.
    pub subjects: Vec<String>,
    /// Functions whose values are given to code of any type, although no other crate can call them.
    pub trust: Vec<String>,
    /// Attributes of unknown effect whose functions are woven.
    #[serde(default)]
    pub attributes: Vec<String>,
    /// The work of hooks that see only that calls begin; `None`: they see more.
    #[serde(default)]
    pub entries: Option<Entries>,
    /// True if programs that get a core count their objects on the heap.
    #[serde(default)]
    pub allocations: bool,
}

/// The work of hooks that see only that calls begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Entries {
    /// They count calls.
    Counted,
    /// They count calls, and show their objects to a profiler.
    Covered,
    /// They count calls, also by calling context.
    InContexts,
}

/// The selected functions, as parsed selectors.
pub struct Selectors {
    /// The selected functions; if there are none, all.
    pub weave: Vec<FunctionSelector>,
    /// Functions that are left out.
    pub without: Vec<FunctionSelector>,
    /// True if closures are selected, too.
    pub closures: bool,
    /// The subjects of calls. If several select a function, the last one counts.
    pub subjects: Vec<SubjectOf>,
    /// Functions whose values are given to code of any type.
    pub trust: Vec<FunctionSelector>,
    /// Attributes of unknown effect whose functions are woven.
    pub attributes: Vec<Selector>,
}

impl Selection {
    /// The parsed selectors.
    pub fn parse(&self) -> Result<Selectors> {
        let parse = |texts: &[String]| -> Result<Vec<FunctionSelector>> {
            texts.iter().map(|text| Ok(text.parse()?)).collect()
        };
        Ok(Selectors {
            weave: parse(&self.weave)?,
            without: parse(&self.without)?,
            closures: self.closures,
            trust: parse(&self.trust)?,
            attributes: self
                .attributes
                .iter()
                .map(|text| Ok(text.parse()?))
                .collect::<Result<_>>()?,
            subjects: self.subjects.iter().map(|text| Ok(text.parse()?)).collect::<Result<_>>()?,
        })
    }

    /// Returns the depth of the hooks, as a few words.
    pub fn depth(&self) -> String {
        let seen = [(self.returns, "returns"), (self.args, "args"), (self.types, "types")];
        let seen: Vec<&str> =
            seen.into_iter().filter_map(|(is_seen, word)| is_seen.then_some(word)).collect();
        match self.entries {
            Some(Entries::Counted) => "entries".to_owned(),
            Some(Entries::Covered) => "objects".to_owned(),
            Some(Entries::InContexts) => "contexts".to_owned(),
            None if seen.is_empty() => "calls".to_owned(),
            None => seen.join(" and "),
        }
    }
}

impl Selectors {
    /// True if the function with this path is selected.
    pub fn means(&self, path: &str, function: &Function) -> bool {
        (self.closures || !function.facts.is_closure)
            && (self.weave.is_empty() || self.weave.iter().any(|words| words.means(path, function)))
            && !self.without.iter().any(|words| words.means(path, function))
    }

    /// The reason why a function has no hook; `None` if it has one.
    pub fn skipped<'f>(&self, function: &'f Function) -> Option<Cow<'f, str>> {
        let is_refused =
            |path: &&String| !self.attributes.iter().any(|allowed| allowed.matches(path));
        let refused: Vec<&str> =
            function.unknown_attributes.iter().filter(is_refused).map(String::as_str).collect();
        match (&function.skipped, refused.first()) {
            (Some(reason), _) => Some(Cow::Borrowed(reason)),
            (None, Some(outermost)) => Some(Cow::Owned(format!(
                "`#[{outermost}]` {MAY_READ}: --weave-attributes {} weaves what is below",
                refused.join(",")
            ))),
            (None, None) => None,
        }
    }

    /// True if the values of a function are given to code of any type by request.
    pub(crate) fn trusts(&self, path: &str, function: &Function) -> bool {
        self.trust.iter().any(|words| words.means(path, function))
    }

    /// The option that asks for the hook of a function: for its subject, or by its name.
    pub(crate) fn asking_for(&self, path: &str, function: &Function) -> Option<String> {
        if let Some(subject) = self.subject(path, function) {
            return Some(format!("--subject '{}'", subject.text));
        }
        let is_named =
            self.weave.iter().any(|words| words.is_name() && words.means(path, function));
        is_named.then(|| format!("--weave {path}"))
    }

    /// The subject of the calls of a function, if one is given.
    pub fn subject(&self, path: &str, function: &Function) -> Option<&SubjectOf> {
        self.subjects.iter().rev().find(|subject| subject.means(path, function))
    }
}

//! Hooks in a text: the inserted code, and its places.
//!
//! A hook begins directly after the brace that opens a body, on the same line. So every line keeps
//! its number, and every column but those behind that brace on its own line; rustfmt ends a line
//! there unless the whole function is on it. A hook around the body ends directly before the brace
//! that closes it.
//!
//! A hook is a macro's statement behind the brace, not a closure, and not an attribute that parses
//! the body again. Text that is not touched cannot change, and lints of the woven crate ignore code
//! from another crate's macro.

use std::cmp::Reverse;
use std::ops::Range;

use metaspy_syntax::{Facts, Returns, SelfKind};

use crate::source::functions::Function;
use crate::source::hook_kind::HookKind;

/// The name of the crate of hooks in woven code.
pub(crate) const EXTERN_CRATE: &str = "__metaspy";

/// A hook of a function.
#[derive(Clone, Debug)]
pub struct Hook<'f> {
    /// The function.
    pub function: &'f Function,
    /// The parts of a call that it sees.
    pub kind: HookKind,
    /// A parameter, or a path from one, that is the subject of its calls; without it an object is
    /// its place.
    pub subject: Option<&'f str>,
    /// True if it sees arguments.
    pub with_args: bool,
    /// The values that are recorded.
    pub values: Values,
    /// Declarations of types, as further words of its site.
    pub type_words: String,
    /// True if values are given to code of their types, whatever these are.
    pub is_trusted: bool,
    /// True if it only marks which test runs.
    pub is_alone: bool,
}

/// The values that are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    /// Returned values.
    pub returns: bool,
    /// Arguments.
    pub args: bool,
    /// The types of both, and of receivers.
    pub types: bool,
}

impl Values {
    /// True if receivers are values of a call.
    pub(crate) fn shows_receivers(self) -> bool {
        self.args || self.types
    }
}

impl Hook<'_> {
    /// The text before the body.
    pub fn before(&self) -> String {
        let Function { name, lines: (first, last), signature, .. } = self.function;
        let facts = self.facts();
        let word = self.kind.word();
        let site = format!("{EXTERN_CRATE}::{word}!({name:?},{first},{last},{facts:?}");
        let brace = if signature.is_expression { "{" } else { "" };
        if self.kind == HookKind::Covered {
            return format!("{brace}{site},[{}]);", self.subject());
        }
        if self.kind.is_entry() || self.kind == HookKind::Began {
            return format!("{brace}{site});");
        }
        let site = format!("{brace}{site},[{}],[{}]", self.subject(), self.arguments());
        if self.kind.is_around() {
            // No copy is kept of a value that may contain a reference.
            let is_lent = self.kind == HookKind::WholeLent || signature.is_lent();
            let kind = if is_lent { "borrowed" } else { "own" };
            let trust = self.trust(self.values.returns);
            format!("{site},[{kind} {trust} {}],{{{}", signature.returns, self.held())
        } else {
            format!("{site});")
        }
    }

    /// The text behind the body.
    pub fn behind(&self) -> &'static str {
        match (self.kind.is_around(), self.function.signature.is_expression) {
            (true, _) => "})",
            (false, true) => "}",
            (false, false) => "",
        }
    }

    /// The text that makes the body own all parameters, and drop them in the function's order.
    fn held(&self) -> String {
        match &self.function.signature.bound[..] {
            [] => String::new(),
            bound => format!("{EXTERN_CRATE}::held!({});", bound.join(" ")),
        }
    }

    /// The types whose code may run on values of a call, if the values are recorded; and a word if
    /// their types are.
    fn trust(&self, is_recorded: bool) -> &'static str {
        match (self.values.types, is_recorded, self.is_trusted) {
            (true, false, _) => "types",
            (true, true, true) => "types_any",
            (true, true, false) => "types_known",
            (false, _, true) => "any",
            (false, _, false) => "known",
        }
    }

    fn facts(&self) -> String {
        let facts = &self.function.facts;
        let is_deep = self.kind.is_deep() && self.values.returns;
        let is_entry = self.kind.is_entry();
        let has_context = self.kind == HookKind::Context;
        let sees_values = self.values.args && !is_entry && self.kind != HookKind::Began;
        let shows_inputs =
            sees_values && !self.arguments().is_empty() && self.function.has_plain_inputs();
        let seen = Facts {
            is_alone: self.is_alone,
            is_deep,
            is_entry,
            has_context,
            shows_inputs,
            ..facts.clone()
        };
        let facts = seen.to_string();
        // Readers do not take a failure that the hook does not see for a success.
        let unseen =
            if self.may_fail() && !is_entry && !self.kind.is_deep() { " unseen" } else { "" };
        let covered = if self.kind == HookKind::Covered { " covered" } else { "" };
        facts
            + unseen
            + covered
            + &self.function.further_facts
            + &self.parameters()
            + &self.type_words
    }

    /// True unless the declared return type has no failure. An alias may stand for a `Result`.
    fn may_fail(&self) -> bool {
        const NEVER_FAIL: [&str; 18] = [
            "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "str",
            "String", "u8", "u16", "u32", "u64", "u128", "usize",
        ];
        let Function { facts, signature, .. } = self.function;
        match facts.returns {
            Returns::Option | Returns::Result => true,
            Returns::Other => {
                let name = signature.returns.rsplit(['&', ' ']).next().unwrap_or_default();
                let is_plain =
                    signature.returns.starts_with(['(', '[', '!']) || NEVER_FAIL.contains(&name);
                !facts.is_unit && !is_plain
            }
        }
    }

    /// The names of the arguments whose types are recorded, and how the open ones are declared.
    fn parameters(&self) -> String {
        let Hook { values: Values { types: true, .. }, with_args: true, .. } = self else {
            return String::new();
        };
        let signature = &self.function.signature;
        let open = signature.open.iter().map(String::as_str).chain(std::iter::repeat(""));
        let receiver = self.receiver().map(|name| (name, ""));
        let all =
            receiver.into_iter().chain(signature.parameters.iter().map(String::as_str).zip(open));
        let word = |(name, open): (&str, &str)| match open {
            "" => format!("{name}|"),
            open => format!(
                "{name}|*{}",
                open.replace(';', ",").replace('|', "").replace(char::is_whitespace, "~")
            ),
        };
        format!(" params={}", all.map(word).collect::<Vec<_>>().join(";"))
    }

    /// The receiver, if it is recorded, or its type.
    fn receiver(&self) -> Option<&'static str> {
        (self.values.shows_receivers() && self.function.facts.self_kind != SelfKind::None)
            .then_some("self")
    }

    fn subject(&self) -> String {
        match self.subject {
            Some(path) => match path.rsplit_once('.') {
                // The key is a field of the object that the call is about.
                Some(("self", _)) => format!("key {path}, type Self"),
                Some((object, _)) => format!("key {path}, of {object}"),
                None => format!("key {path}"),
            },
            None => match self.function.signature.pointers_to_self {
                0 => String::new(),
                // The hook follows the last one itself.
                pointers => format!("place {}self", "*".repeat(pointers - 1)),
            },
        }
    }

    fn arguments(&self) -> String {
        let parameters = self.function.signature.parameters.iter().map(String::as_str);
        let all = self.receiver().into_iter().chain(parameters).filter(|_| self.with_args);
        all.map(|name| match name {
            "self" if !self.values.args => "types self".to_owned(),
            name => format!("{} {name}", self.trust(self.values.args)),
        })
        .collect::<Vec<_>>()
        .join(",")
    }
}

/// Code that is inserted around a part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The bytes of the part.
    pub bytes: Range<usize>,
    /// The code before it.
    pub before: String,
    /// The code behind it.
    pub behind: &'static str,
}

impl From<Hook<'_>> for Edit {
    fn from(hook: Hook<'_>) -> Self {
        Edit { bytes: hook.function.body.clone(), before: hook.before(), behind: hook.behind() }
    }
}

/// The insertions into a text, in its order: the byte, and the code.
pub fn insertions(edits: impl IntoIterator<Item: Into<Edit>>) -> Vec<(usize, String)> {
    let mut edits: Vec<Edit> = edits.into_iter().map(Into::into).collect();
    // An edit that begins later is inside, and ends first.
    edits.sort_by_key(|edit| (edit.bytes.start, Reverse(edit.bytes.end)));
    let mut inserted = Vec::with_capacity(edits.len() * 2);
    let mut open: Vec<Edit> = Vec::new();
    for edit in edits {
        while let Some(outer) = open.pop_if(|outer| outer.bytes.end <= edit.bytes.start) {
            close(&mut inserted, &outer);
        }
        inserted.push((edit.bytes.start, edit.before.clone()));
        open.push(edit);
    }
    while let Some(outer) = open.pop() {
        close(&mut inserted, &outer);
    }
    inserted
}

fn close(inserted: &mut Vec<(usize, String)>, edit: &Edit) {
    if !edit.behind.is_empty() {
        inserted.push((edit.bytes.end, edit.behind.to_owned()));
    }
}

/// The text with these insertions. Their places must come from this text.
pub fn weave(text: &str, edits: impl IntoIterator<Item: Into<Edit>>) -> String {
    let inserted = insertions(edits);
    let mut woven = String::with_capacity(
        text.len() + inserted.iter().map(|(_, hook)| hook.len()).sum::<usize>(),
    );
    let mut done = 0;
    for (at, hook) in inserted {
        woven.push_str(&text[done..at]);
        woven.push_str(&hook);
        done = at;
    }
    woven.push_str(&text[done..]);
    woven
}

#[cfg(test)]
mod tests;

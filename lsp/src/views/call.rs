//! Hover on a call in the text of a function, with the methods that the call ran.
//!
//! A recording has the calls of a method by the function that called it, not by the place in that
//! function. So a call has separate numbers if no other call can run these methods.
//! `Config::load()` and `x.load()` may be two names of the same method, but a free `load()` is not.
//! Otherwise its numbers are marked as shared, or as a bound if code without hooks may have made
//! some of the calls.

use std::ops::Range;

use metaspy_format::facts::{Facts, SelfKind};
use metaspy_reader::TypeKey;
use metaspy_report::program::Edge;
use metaspy_report::text::{counted, grouped, last_segment, percent, time};
use metaspy_report::types::{Target, ValueTypes};

use super::{own_calls, types};
use crate::markdown::Text;
use crate::matching::Match;
use crate::snapshot::Model;
use crate::source::{Function, Qualifier, called_at, calls_in, names_in, type_parameters};
use crate::views::View;

/// All calls of a name that a function contains.
struct NamedCalls<'v> {
    function: &'v Function,
    name: &'v str,
    /// Qualifier of each call, in the order of the text.
    qualifiers: Vec<Qualifier<'v>>,
    /// Index of the hovered call.
    hovered: usize,
    /// Byte range of the hovered call's name.
    bytes: Range<usize>,
}

/// Methods that the calls of a name in a function ran.
struct Ran<'v> {
    /// Called methods with their calls.
    methods: Vec<&'v (String, Edge)>,
    /// Called methods by the types of their receivers.
    targets: Vec<Target>,
    calls: u64,
}

/// Adds the methods that ran when the enclosing function called the name at this byte.
pub fn hover(text: Text, view: &View<'_>, byte: usize) -> Option<(Text, Range<usize>)> {
    let outline = view.document.outline();
    let around = outline.function_around(byte)?;
    let found = view.matches[around].as_ref()?;
    let calls = NamedCalls::at(view, around, byte)?;
    let NamedCalls { name, hovered, .. } = calls;
    let edges = view.model.edges(&found.places);
    let is_called =
        |path: &str| last_segment(path) == name && may_run(view, calls.qualifiers[hovered], path);
    let methods: Vec<_> = edges.callees.iter().filter(|(path, _)| is_called(path)).collect();
    let mut targets = types::targets(view.model, found, name);
    targets.retain(|target| is_called(&target.path));
    if methods.is_empty() && targets.is_empty() {
        return None;
    }
    let of_targets =
        if methods.is_empty() { targets.iter().map(|target| target.count).sum() } else { 0 };
    let all = methods.iter().map(|(_, edge)| edge.count).sum::<u64>() + of_targets;
    let ran = Ran { methods, targets, calls: all };
    let mut text = heading(text, view, &calls, &ran).end_of_paragraph();
    for target in ran.targets.iter().filter(|_| ran.methods.is_empty()) {
        let share = percent(target.count, all);
        text = text.entry().words(&format!("{} ({share}): ", counted(target.count, "call")));
        text = text
            .link(&target.path, view.declarations.address_of(&target.path).as_deref())
            .end_of_line();
        text = values(text, view, found, &target.path);
    }
    for (path, edge) in &ran.methods {
        let share = percent(edge.count, all);
        let share = if edge.is_least { String::new() } else { format!(" ({share})") };
        text =
            text.entry().words(&format!("{}{}{share}", edge.sign(), counted(edge.count, "call")));
        if edge.total_ns > 0 {
            text = text.words(&format!(
                ", {} a call",
                time(edge.total_ns.checked_div(edge.count).unwrap_or(0))
            ));
        }
        text = text
            .words(": ")
            .link(path, view.declarations.address_of(path).as_deref())
            .end_of_line();
        text = values(text, view, found, path);
    }
    if !ran.targets.is_empty() {
        text = types::receivers(text.end_of_paragraph().words("Receivers: "), &ran.targets);
        text = types::at_least(text, view.model);
    }
    text = at_least(text, view.model);
    if found.is_stale {
        text = text.end_of_paragraph().words("This function was edited after the run.");
    }
    Some((text, calls.bytes))
}

/// States that there may be more calls from and to functions.
pub fn at_least(text: Text, model: &Model) -> Text {
    let text = match model.cut {
        0 => text,
        cut => text
            .end_of_paragraph()
            .words(&format!("At least: {} without a calling context.", counted(cut, "call"))),
    };
    if model.has_lost_edges {
        text.end_of_paragraph()
            .words("At least: calls found no room; set METASPY_BUDGET to a larger size.")
    } else {
        text
    }
}

/// Adds the arguments and the returned values of a method in the calls of this function, with their
/// types.
fn values(mut text: Text, view: &View<'_>, caller: &Match, path: &str) -> Text {
    let is_shown = |value: &ValueTypes| value.position != TypeKey::RECEIVER && value.is_news();
    for value in types::at_call(view.model, caller, path).into_iter().filter(is_shown) {
        text = types::line(text.words("  ").entry(), &value).end_of_line();
    }
    text
}

/// States how often the calls ran these methods, and whether other calls also ran them.
fn heading(text: Text, view: &View<'_>, calls: &NamedCalls<'_>, ran: &Ran<'_>) -> Text {
    let NamedCalls { function, name, .. } = calls;
    let paths = || {
        let of_targets = ran.targets.iter().map(|target| target.path.as_str());
        ran.methods.iter().map(|(path, _)| path.as_str()).chain(of_targets)
    };
    let may_run = |qualifier: &&Qualifier<'_>| {
        is_unclear(&view.document.lines.text, **qualifier)
            || paths().any(|path| may_run(view, **qualifier, path))
    };
    let sharing = calls.qualifiers.iter().filter(may_run).count() as u64;
    let shared = match sharing {
        0 | 1 => String::new(),
        several => format!(", shared by {} of this name", counted(several, "call")),
    };
    let body = &view.document.lines.text[function.whole.clone()];
    let is_certain = paths().all(|path| view.model.is_called_directly(path))
        && !is_value(body, name, paths().any(|path| is_free(view.model.facts_of(path))))
        && own_calls::are_all(view, function, Some(name));
    if is_certain {
        let text = text.name(&function.name).words(" called ").name(name);
        return text.words(&format!(" {}{shared}:", times(ran.calls)));
    }
    // Calls without a calling context, or without room, are missing, so the number is not an upper
    // bound.
    let most = if view.model.cut == 0 && !view.model.has_lost_edges { "≤" } else { "" };
    let text = text.words(most).words(&counted(ran.calls, "call")).words(" of ").name(name);
    let text = text.words(" within ").name(&function.name);
    text.words(&format!("{shared}, maybe by way of functions without hooks:"))
}

impl<'v> NamedCalls<'v> {
    /// Collects the calls of the name at a byte, in the function with this index.
    fn at(view: &'v View<'_>, function: usize, byte: usize) -> Option<NamedCalls<'v>> {
        let source = &*view.document.lines.text;
        let outline = view.document.outline();
        let name = called_at(source, byte)?;
        let end = name.as_ptr() as usize - source.as_ptr() as usize + name.len();
        let is_own = |start: usize| outline.function_around(start) == Some(function);
        let function = &outline.functions[function];
        let start = function.whole.start;
        let mut calls = calls_in(&source[function.whole.clone()]);
        calls.retain(|call| {
            source[start + call.start..start + call.end] == *name && is_own(start + call.start)
        });
        let hovered = calls.iter().position(|call| start + call.end == end)?;
        let qualifiers =
            calls.iter().map(|call| qualifier(source, function, start + call.start)).collect();
        Some(NamedCalls { function, name, qualifiers, hovered, bytes: end - name.len()..end })
    }
}

/// Returns true if a call with this qualifier may run the method with a path.
///
/// Only a method with `self` can follow a dot, and only a function without a type can be called by
/// its name alone.
fn may_run(view: &View<'_>, qualifier: Qualifier<'_>, path: &str) -> bool {
    let facts = view.model.facts_of(path);
    qualifier.may_be_of(path)
        && match qualifier {
            Qualifier::Receiver => facts.is_none_or(|facts| facts.self_kind != SelfKind::None),
            Qualifier::None => is_free(facts),
            Qualifier::Name(_) | Qualifier::Parameter | Qualifier::Unknown => true,
        }
}

/// Returns true for a type without a name, and for an alias of a type: `type A = B` and `use B as
/// A`.
fn is_unclear(text: &str, qualifier: Qualifier<'_>) -> bool {
    let Qualifier::Name(name) = qualifier else { return qualifier == Qualifier::Unknown };
    let mut before = "";
    text.split_whitespace().any(|word| {
        let defines = ["type", "as"].contains(&before);
        before = word;
        defines
            && word.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()
                == Some(name)
    })
}

/// Returns true if a function has no known type or trait.
fn is_free(facts: Option<&Facts>) -> bool {
    let is_of_none = |facts: &Facts| facts.of_type.is_none() && facts.of_trait.is_none();
    facts.is_none_or(|facts| {
        facts.self_kind == SelfKind::None && (facts.is_nested || is_of_none(facts))
    })
}

/// Returns true if a body may use a function as a value: `map(Circle::area)`, or the name of a free
/// function alone.
fn is_value(body: &str, name: &str, is_free: bool) -> bool {
    names_in(body)
        .into_iter()
        .filter(|named| body[named.clone()].trim_start_matches("r#") == name)
        .any(|named| {
            let before = body[..named.start].trim_end();
            let is_field = before.ends_with('.') && !before.ends_with("..");
            let is_other =
                is_field || before.ends_with("fn") || called_at(body, named.end).is_some();
            !is_other && (is_free || before.ends_with("::"))
        })
}

/// Returns the qualifier of the call at this byte. A type parameter may be any type.
fn qualifier<'s>(source: &'s str, function: &Function, byte: usize) -> Qualifier<'s> {
    let is_parameter = |name: &str| {
        let own = || type_parameters(&source[function.signature.clone()]);
        function.parameters.iter().any(|known| known == name)
            || own().iter().any(|known| known == name)
    };
    match Qualifier::before(&source[function.whole.start..byte]) {
        Qualifier::Name(name) if is_parameter(name) => Qualifier::Parameter,
        qualifier => qualifier,
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".into(),
        2 => "twice".into(),
        count => format!("{} times", grouped(count)),
    }
}

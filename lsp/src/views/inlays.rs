//! Inlay hints: the types of parameters and of returned values, and the concrete receivers of a
//! call, behind its name.
//!
//! No function that was edited after the run has hints. A hint at a call is shown only where it is
//! certain. The calls of one name in one function are recorded together, so a name that a function
//! contains twice has no hint. A receiver may also be wrapped: `clone` of a `Vec` calls `clone` of
//! its elements, and only its caller is recorded. So the method must be one of a trait of woven
//! code, and the source must leave the implementation of this trait open: the signature of the
//! function, the bounds of the `impl` block or the trait around it, or a field of its type. The
//! function must run no code without hooks but its own, and the receivers of a call on a parameter
//! must have arrived at this parameter.

use std::collections::HashMap;

use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip};
use metaspy_report::types::Target;

use super::{header, own_calls, types};
use crate::markdown::{Style, Text};
use crate::matching::Match;
use crate::source::{Function, calls_in, open_traits, receiver_before};
use crate::views::View;

/// Returns the hints of a document.
pub fn of(view: &View<'_>) -> Vec<InlayHint> {
    let outline = view.document.outline();
    let mut hints = Vec::new();
    for (at, (function, found)) in outline.functions.iter().zip(&view.matches).enumerate() {
        let Some(found) = found.as_ref().filter(|found| !found.is_stale) else { continue };
        hints.extend(header::inlays(view, function, found));
        for (name, end) in calls(view, at, function) {
            let targets = types::targets(view.model, found, name);
            let is_certain =
                || match have_arrived(view, function, found, end - name.len(), &targets) {
                    Some(have_arrived) => {
                        have_arrived && own_calls::are_all(view, function, Some(name))
                    }
                    None => own_calls::are_all(view, function, None),
                };
            if !is_open(view, function, &targets) || !is_certain() {
                continue;
            }
            hints.push(InlayHint {
                position: view.range(&(end..end)).start,
                label: InlayHintLabel::String(
                    types::receivers(Text::new(Style::Plain).words(": "), &targets).finish(),
                ),
                kind: Some(InlayHintKind::TYPE),
                text_edits: None,
                tooltip: Some(InlayHintTooltip::String(format!(
                    "receivers in {}",
                    view.model.title()
                ))),
                padding_left: None,
                padding_right: None,
                data: None,
            });
        }
    }
    hints
}

/// Returns true if these are methods of a single trait of woven code, and the source leaves the
/// implementing type open.
fn is_open(view: &View<'_>, function: &Function, targets: &[Target]) -> bool {
    let Some(of_trait) = targets.first().and_then(|target| view.model.trait_of(&target.path))
    else {
        return false;
    };
    let is_one = targets.iter().all(|target| view.model.trait_of(&target.path) == Some(of_trait));
    is_one && is_left_open(view, function, of_trait) && view.model.has_trait(of_trait)
}

/// Returns true if the function, the block around it or a field of its type leaves open which type
/// implements the trait.
fn is_left_open(view: &View<'_>, function: &Function, of_trait: &str) -> bool {
    let of_signature = || open_traits(&view.document.lines.text[function.signature.clone()]);
    let owner = function.name.split("::").next();
    let items = view.document.outline().items.iter();
    let mut types =
        items.filter(|item| Some(&*item.name) == owner && item.modules == function.modules);
    let is_open = |names: &[String]| names.iter().any(|name| name == of_trait);
    is_open(&function.open) || types.any(|item| is_open(&item.open)) || is_open(&of_signature())
}

/// Returns true if the receivers of the call behind this byte are among the types that arrived at
/// its parameter, or at `self`. Returns `None` if the call is on something else.
fn have_arrived(
    view: &View<'_>,
    function: &Function,
    found: &Match,
    byte: usize,
    targets: &[Target],
) -> Option<bool> {
    let text = &view.document.lines.text;
    let name = receiver_before(&text[..byte])?;
    let mut words = text[function.signature.clone()]
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.find(|word| *word == name)?;
    let values = view.model.types_of(&found.places).into_iter().flat_map(|method| &method.values);
    let values =
        values.filter(|value| value.name == name && (name == "self" || value.open.is_some()));
    let arrived: Vec<_> = values.flat_map(|value| &value.arrived).collect();
    Some(targets.iter().all(|target| arrived.iter().any(|one| one.name == target.receiver)))
}

/// Returns the method calls whose name a function contains once, each with the byte behind the
/// name.
fn calls<'v>(view: &'v View<'_>, at: usize, function: &Function) -> Vec<(&'v str, usize)> {
    let text: &'v str = &view.document.lines.text;
    let body = &text[function.whole.clone()];
    let is_method = |start: usize| {
        let before = body[..start].trim_end();
        before.ends_with('.') && !before.ends_with("..")
    };
    let is_own = |start: usize| {
        view.document.outline().function_around(function.whole.start + start) == Some(at)
    };
    let mut words: HashMap<&str, usize> = HashMap::new();
    for word in body.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
        *words.entry(word).or_default() += 1;
    }
    let is_once = |name: &str| words.get(name) == Some(&1);
    let names =
        calls_in(body).into_iter().filter(|name| is_method(name.start) && is_own(name.start));
    let named = names.map(|name| (&body[name.clone()], function.whole.start + name.end));
    named.filter(|(name, _)| is_once(name)).collect()
}

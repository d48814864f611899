//! Types of parameters and returned values, shown in the header of a function.

use std::ops::Range;

use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, InlayHintTooltip};
use metaspy_reader::TypeKey;
use metaspy_report::text::{counted, grouped, percent};
use metaspy_report::types::ValueTypes;

use super::{type_names, types};
use crate::markdown::{Style, Text};
use crate::matching::Match;
use crate::source::{Function, Value, values_in};
use crate::views::View;

/// Maximum number of listed types.
const TYPES: usize = 10;

/// Recorded value in the header of a function.
pub struct HeaderValue {
    /// Types of the value, with their counts.
    pub types: ValueTypes,
    /// Byte range of the parameter with its type, or of the returned type.
    pub bytes: Range<usize>,
}

/// Returns the recorded values in the header of a function. Unrecorded values are absent.
pub fn values(view: &View<'_>, function: &Function, found: &Match) -> Vec<HeaderValue> {
    let recorded = types::of_function(view.model, found);
    if recorded.is_empty() {
        return Vec::new();
    }
    let is_of = |types: &ValueTypes, value: &Value| match &value.name {
        Some(name) => types.position != TypeKey::RETURNED && types.name == *name,
        None => types.position == TypeKey::RETURNED,
    };
    let start = function.signature.start;
    let values = values_in(&view.document.lines.text[function.signature.clone()]).into_iter();
    let values = values.filter_map(|value| {
        let types = recorded.iter().find(|types| is_of(types, &value))?.clone();
        Some(HeaderValue { types, bytes: start + value.bytes.start..start + value.bytes.end })
    });
    values.collect()
}

/// Adds the value at a byte of a header, with all of its types.
pub fn hover(text: Text, view: &View<'_>, byte: usize) -> Option<(Text, Range<usize>)> {
    let at = view.document.outline().function_around(byte)?;
    let function = &view.document.outline().functions[at];
    let found = view.matches[at].as_ref().filter(|_| function.signature.contains(&byte))?;
    let value =
        values(view, function, found).into_iter().find(|value| value.bytes.contains(&byte))?;
    let HeaderValue { types, bytes } = value;
    let all = types.count();
    let mut text = types::name(text, &types).words(" of ").name(&function.name);
    text = text.words(&format!(": {}", counted(all, "value"))).end_of_paragraph();
    let named = type_names::named(&types.arrived);
    for (name, count) in named.iter().take(TYPES) {
        let share = format!("{} ({}): ", grouped(*count), percent(*count, all));
        text = text.entry().words(&share).name(name).end_of_line();
    }
    if named.len() > TYPES {
        text = text.entry().words(&format!("{} more", named.len() - TYPES)).end_of_line();
    }
    text = types::at_least(text, view.model);
    if found.is_stale {
        text = text.end_of_paragraph().words("This function was edited after the run.");
    }
    Some((text, bytes))
}

/// Returns inlay hints for the values of a function that have several types, or whose declaration
/// leaves the type open.
pub fn inlays(view: &View<'_>, function: &Function, found: &Match) -> Vec<InlayHint> {
    let news = values(view, function, found).into_iter().filter(|value| value.types.is_news());
    let hint = |HeaderValue { types, bytes }: HeaderValue| {
        let shares = type_names::shares(Text::new(Style::Plain).words(": "), &types.arrived);
        let what = if types.position == TypeKey::RETURNED { "returned in" } else { "arrived in" };
        InlayHint {
            position: view.range(&(bytes.end..bytes.end)).start,
            label: InlayHintLabel::String(shares.finish()),
            kind: Some(InlayHintKind::TYPE),
            text_edits: None,
            tooltip: Some(InlayHintTooltip::String(format!("{what} {}", view.model.title()))),
            padding_left: None,
            padding_right: None,
            data: None,
        }
    };
    news.map(hint).collect()
}

//! Hovers on the name of a function, its header, a call, a type or a module.

use metaspy_report::program::{Edge, Instructions, Objects, Returned, TestCount};
use metaspy_report::text::{counted, grouped, percent, short_bytes, time};
use metaspy_report::types::ValueTypes;

use super::{call, header, item, types};
use crate::heat::Metric;
use crate::markdown::{Style, Text};
use crate::matching::Match;
use crate::numbers::Numbers;
use crate::snapshot::Model;
use crate::source::Function;
use crate::views::View;

/// Maximum number of listed callers, and of listed callees.
const ROWS: usize = 10;

/// Returns the text for a byte of a document with the bytes that it concerns, or `None` if nothing
/// was recorded there.
pub fn at(view: &View<'_>, byte: usize, style: Style) -> Option<(String, std::ops::Range<usize>)> {
    let is_on = |ident: &std::ops::Range<usize>| (ident.start..=ident.end).contains(&byte);
    let outline = view.document.outline();
    // The range goes from `fn` to the end of the name.
    let is_named = |function: &Function| is_on(&(function.whole.start..function.ident.end));
    if let Some(at) = outline.functions.iter().position(is_named) {
        let function = &outline.functions[at];
        let found = view.matches[at].as_ref()?;
        return Some((of_function(view, function, found, style), function.ident.clone()));
    }
    if let Some(item) = outline.items.iter().find(|item| is_on(&item.ident)) {
        let element = item::element(view, item)?;
        let totals = item::totals(view.model, element)?;
        let text = begin(view.model, style).name(element.path_text()).words(": ").words(&totals);
        return Some((text.finish(), item.ident.clone()));
    }
    let (text, bytes) = header::hover(begin(view.model, style), view, byte)
        .or_else(|| call::hover(begin(view.model, style), view, byte))?;
    Some((text.finish(), bytes))
}

fn begin(model: &Model, style: Style) -> Text {
    Text::new(style).heading("metaspy").name(&model.title()).end_of_paragraph()
}

fn of_function(view: &View<'_>, function: &Function, found: &Match, style: Style) -> String {
    let model = view.model;
    let numbers = model.numbers(&found.places);
    let all = model.edges(&found.places);
    let mut text = begin(model, style).name(&function.name).words(": ");
    if let Some(reason) = &numbers.skipped {
        return text.words("not recorded, because ").name(reason).finish();
    }
    text = text.words(&sentence(model, &numbers));
    if found.is_stale {
        text = text.end_of_paragraph().words(
            "This function was edited after the run: the numbers are those of the earlier code.",
        );
    }
    let mut types = types::of_function(model, found);
    types.retain(ValueTypes::is_news);
    if !types.is_empty() {
        text = text.end_of_paragraph().words("Types").end_of_paragraph();
        text =
            types.iter().fold(text, |text, value| types::line(text.entry(), value).end_of_line());
        text = types::at_least(text, model);
    }
    text = edges(
        text,
        "Called by",
        view,
        all.callers.iter().map(|(path, edge)| (path.as_deref(), edge)),
    );
    text = edges(
        text,
        "Calls",
        view,
        all.callees.iter().map(|(path, edge)| (Some(path.as_str()), edge)),
    );
    if !all.callers.is_empty() || !all.callees.is_empty() {
        text = call::at_least(text, model);
    }
    if numbers.calls > 0 && all.callers.is_empty() && !model.has_calls() {
        text = text
            .end_of_paragraph()
            .words("Record callers and times with ")
            .name("cargo metaspy test --timed")
            .words(".");
    }
    text.finish()
}

/// Formats the numbers of a function as phrases.
fn sentence(model: &Model, numbers: &Numbers) -> String {
    if numbers.calls == 0 {
        return "never ran".into();
    }
    let about = if model.is_exact { "" } else { "≥" };
    let mut phrases = vec![format!("{about}{}", counted(numbers.calls, "call"))];
    if model.calls > 0 && !numbers.is_test {
        phrases[0] += &format!(", {} of all", percent(numbers.calls, model.calls));
    }
    if let Some(receivers) = numbers.receivers {
        let on = if receivers.is_unknown() { "" } else { "on " };
        phrases.push(format!("{on}{}", receivers.phrase()));
    }
    let self_time = Metric::SelfTime.phrase(numbers).zip(numbers.self_ns);
    phrases.extend(self_time.map(|(time, ns)| match model.self_ns {
        0 => time,
        all => format!("{time} ({})", percent(ns, all)),
    }));
    phrases.extend(Metric::TotalTime.phrase(numbers).map(|time| format!("{time} total")));
    phrases.extend(Metric::TimePerCall.phrase(numbers));
    let least = |is_least| if is_least { "≥" } else { "" };
    if let Some(Objects { count, bytes, is_least, .. }) =
        numbers.objects.filter(|objects| objects.count > 0)
    {
        let sign = least(is_least);
        phrases.push(format!(
            "{sign}{} allocated, {sign}{}",
            counted(count, "object"),
            short_bytes(bytes)
        ));
        phrases.extend(Metric::AllocationsPerCall.phrase(numbers));
        phrases.extend(Metric::MemoryPerCall.phrase(numbers));
    }
    if let Some(Instructions { count, is_least }) = numbers.instructions {
        phrases.push(format!("{}{} of its own", least(is_least), counted(count, "instruction")));
        phrases.extend(Metric::InstructionsPerCall.phrase(numbers));
    }
    for (count, word) in [
        (numbers.failed, numbers.failure),
        (numbers.panicked, "panicked"),
        (numbers.cancelled, "cancelled"),
        (numbers.running, "running"),
    ] {
        if count > 0 {
            phrases.push(format!("{} {word}", grouped(count)));
        }
    }
    match numbers.tests {
        TestCount { count: 0, .. } => {}
        TestCount { count: 1, is_least: false } => phrases.push("in 1 test".into()),
        tests => phrases.push(format!("in {tests} tests")),
    }
    match numbers.returns {
        Some(Returned::Constant) => {
            phrases.push("always returned the same for each receiver".into())
        }
        Some(Returned::Varies) => phrases.push("returned different values".into()),
        _ => {}
    }
    phrases.join(" · ")
}

fn edges<'e>(
    mut text: Text,
    title: &str,
    view: &View<'_>,
    edges: impl ExactSizeIterator<Item = (Option<&'e str>, &'e Edge)>,
) -> Text {
    let count = edges.len();
    if count == 0 {
        return text;
    }
    text = text.end_of_paragraph().words(title).end_of_paragraph();
    for (path, edge) in edges.take(ROWS) {
        let sign = edge.sign();
        text = text.entry().words(&format!("{sign}{}", counted(edge.count, "call")));
        if edge.total_ns > 0 {
            text = text.words(&format!(", {sign}{}", time(edge.total_ns)));
        }
        text = match path {
            Some(path) => {
                text.words(": ").link(path, view.declarations.address_of(path).as_deref())
            }
            None => text.words(": code without hooks"),
        };
        text = text.end_of_line();
    }
    if count > ROWS {
        text =
            text.entry().words(&format!("{} more", grouped((count - ROWS) as u64))).end_of_line();
    }
    text
}

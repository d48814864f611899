//! Hovers: on the name of a function, on a call, on a type or a module.

use metaspy_report::program::{Edge, Objects, Returned, TestCount};
use metaspy_report::text::{counted, grouped, last_segment, percent, short_bytes};

use super::{item, types};
use crate::document::View;
use crate::heat::{Metric, duration};
use crate::markdown::{Style, Text};
use crate::matching::Match;
use crate::numbers::Numbers;
use crate::snapshot::Model;
use crate::source::{Function, Qualifier, called_at, calls_in, type_parameters};
use crate::uri;

/// Callers and callees that are listed.
const ROWS: usize = 10;

/// The text for a byte of a document, and the bytes that it is about. `None` if nothing was recorded of what is there.
pub fn at(view: &View<'_>, byte: usize, style: Style) -> Option<(String, std::ops::Range<usize>)> {
    let is_on = |ident: &std::ops::Range<usize>| (ident.start..=ident.end).contains(&byte);
    let outline = view.document.outline();
    // From `fn` to the name.
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
    on_call(view, byte, style)
}

fn begin(model: &Model, style: Style) -> Text {
    Text::new(style).heading("metaspy").name(&model.title()).end_of_paragraph()
}

fn of_function(view: &View<'_>, function: &Function, found: &Match, style: Style) -> String {
    let model = view.model;
    let (numbers, all) = (model.numbers(&found.places), model.edges(&found.places));
    let mut text = begin(model, style).name(&function.name).words(": ");
    if let Some(reason) = &numbers.skipped {
        return text.words("not recorded, because ").name(reason).finish();
    }
    text = text.words(&sentence(model, &numbers));
    if found.is_stale {
        text = text
            .end_of_paragraph()
            .words("This function was edited after the run: the numbers are those of the earlier code.");
    }
    let types = types::of_function(model, found);
    if !types.is_empty() {
        text = text.end_of_paragraph().words("Types").end_of_paragraph();
        text = types.iter().fold(text, |text, value| types::line(text.entry(), value).end_of_line());
    }
    text = edges(text, "Called by", view, all.callers.iter().map(|(path, edge)| (path.as_deref(), edge)));
    text = edges(text, "Calls", view, all.callees.iter().map(|(path, edge)| (Some(path.as_str()), edge)));
    if !all.callers.is_empty() || !all.callees.is_empty() {
        text = at_least(text, model);
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

/// The numbers as phrases.
fn sentence(model: &Model, numbers: &Numbers) -> String {
    if numbers.calls == 0 {
        return "never ran".into();
    }
    let about = if model.is_exact { "" } else { "≥" };
    let mut phrases = vec![format!("{about}{}", Metric::Calls.write(numbers.calls))];
    if model.calls > 0 && !numbers.is_test {
        phrases[0] += &format!(", {} of all", percent(numbers.calls, model.calls));
    }
    if let Some(receivers) = numbers.receivers {
        let on = if receivers.is_unknown() { "" } else { "on " };
        phrases.push(format!("{on}{}", receivers.phrase()));
    }
    if let Some(ns) = numbers.self_ns {
        phrases.push(format!("{} self ({})", duration(ns), percent(ns, model.self_ns)));
    }
    if let Some(ns) = numbers.total_ns {
        phrases.push(format!("{} total", duration(ns)));
        phrases.extend(ns.checked_div(numbers.calls).map(|each| format!("{} a call", duration(each))));
    }
    if let Some(Objects { count, bytes }) = numbers.objects.filter(|objects| objects.count > 0) {
        phrases.push(format!("{} allocated, {}", counted(count, "object"), short_bytes(bytes)));
    }
    phrases.extend(numbers.instructions.map(|count| format!("{} of its own", counted(count, "instruction"))));
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
        Some(Returned::Constant) => phrases.push("always returned the same for each receiver".into()),
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
        text = text.entry().words(&Metric::Calls.write(edge.count));
        if edge.total_ns > 0 {
            text = text.words(&format!(", {}", duration(edge.total_ns)));
        }
        text = match path {
            Some(path) => text.words(": ").link(path, place_of(view, path).as_deref()),
            None => text.words(": code without hooks"),
        };
        text = text.end_of_line();
    }
    if count > ROWS {
        text = text.entry().words(&format!("{} more", grouped((count - ROWS) as u64))).end_of_line();
    }
    text
}

/// States that calls from and to functions may be more.
fn at_least(text: Text, model: &Model) -> Text {
    match model.cut {
        0 => text,
        cut => text.end_of_paragraph().words(&format!("At least: {} without a calling context.", counted(cut, "call"))),
    }
}

/// The address of a method's declaration.
fn place_of(view: &View<'_>, path: &str) -> Option<String> {
    let (file, range) = view.declarations.of(path)?;
    Some(format!("{}#L{}", uri::of_path(&file)?.as_str(), range.start.line + 1))
}

/// The methods that ran when the function around called this name.
fn on_call(view: &View<'_>, byte: usize, style: Style) -> Option<(String, std::ops::Range<usize>)> {
    let source = &view.document.lines.text;
    let name = called_at(source, byte)?;
    let around = view.document.outline().function_around(byte)?;
    let found = view.matches[around].as_ref()?;
    let function = &view.document.outline().functions[around];
    let end = name.as_ptr() as usize - source.as_ptr() as usize + name.len();
    let is_here = |call: &std::ops::Range<usize>| function.whole.start + call.end == end;
    let body = &source[function.whole.clone()];
    let calls = calls_in(body);
    if !calls.iter().any(is_here) {
        return None;
    }
    let namesakes = calls.iter().filter(|call| body[(*call).clone()] == *name).count() as u64;
    let qualifier = qualifier(source, function, end - name.len());
    let edges = view.model.edges(&found.places);
    let is_called = |path: &str| last_segment(path) == name && qualifier.may_be_of(path);
    let invoked: Vec<_> = edges.callees.iter().filter(|(path, _)| is_called(path)).collect();
    let mut targets = types::targets(view.model, found, name);
    targets.retain(|target| is_called(&target.path));
    if invoked.is_empty() && targets.is_empty() {
        return None;
    }
    let of_targets = if invoked.is_empty() { targets.iter().map(|target| target.count).sum() } else { 0 };
    let all: u64 = invoked.iter().map(|(_, edge)| edge.count).sum::<u64>() + of_targets;
    let paths = invoked.iter().map(|(path, _)| path).chain(targets.iter().map(|target| &target.path));
    let mut text = begin(view.model, style);
    text = if paths.into_iter().all(|path| view.model.is_called_directly(path)) {
        text.name(&function.name).words(" called ").name(name).words(&format!(" {}:", times(all)))
    } else {
        let text = text.words(&Metric::Calls.write(all)).words(" of ").name(name);
        text.words(" within ").name(&function.name).words(", maybe by way of functions without hooks:")
    };
    text = text.end_of_paragraph();
    for target in targets.iter().filter(|_| invoked.is_empty()) {
        let share = percent(target.count, all);
        text = text.entry().words(&format!("{} ({share}): ", Metric::Calls.write(target.count)));
        text = text.link(&target.path, place_of(view, &target.path).as_deref()).end_of_line();
    }
    for (path, edge) in invoked {
        let share = percent(edge.count, all);
        text = text.entry().words(&format!("{} ({share})", Metric::Calls.write(edge.count)));
        if edge.total_ns > 0 {
            text = text.words(&format!(", {} a call", duration(edge.total_ns.checked_div(edge.count).unwrap_or(0))));
        }
        text = text.words(": ").link(path, place_of(view, path).as_deref()).end_of_line();
    }
    if !targets.is_empty() {
        text = types::receivers(text.end_of_paragraph().words("Receivers: "), &targets);
    }
    if namesakes > 1 {
        let places = format!("These are the numbers of all {namesakes} calls of this name in the function together.");
        text = text.end_of_paragraph().words(&places);
    }
    text = at_least(text, view.model);
    if found.is_stale {
        text = text.end_of_paragraph().words("This function was edited after the run.");
    }
    Some((text.finish(), end - name.len()..end))
}

/// What is before the name of a call at this byte. A type parameter may be any type.
fn qualifier<'s>(source: &'s str, function: &Function, byte: usize) -> Qualifier<'s> {
    let is_parameter = |name: &str| {
        let own = || type_parameters(&source[function.signature.clone()]);
        function.parameters.iter().any(|known| known == name) || own().iter().any(|known| known == name)
    };
    match Qualifier::before(&source[function.whole.start..byte]) {
        Qualifier::Name(name) if is_parameter(name) => Qualifier::None,
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

//! Types as text.

use super::arrived::{Arrived, MethodTypes, Types, ValueTypes};
use super::findings::{Shape, Target, Unseen, Wide};
use crate::table::Top;
use crate::text::{counted, grouped, percent, time};

/// Rows of each part by default.
const TOP: usize = 20;
/// Types of a value that are listed.
const TYPES: usize = 8;

/// The text in place of types that were not recorded.
pub const NOT_RECORDED: &str =
    "no types were recorded: run the program with `cargo metaspy run --types`";

/// Returns the types that arrived, by method and by call, and the findings about them. Values of
/// one plain type are left out, unless all rows are shown.
pub fn text(types: &Types, top: Top) -> Vec<String> {
    if !types.is_recorded {
        return vec![NOT_RECORDED.to_owned()];
    }
    let limit = top.limit(TOP);
    let mut lines = by_method(types, limit, top.is_all());
    lines.extend(by_call(&types.call_sites(), limit, top.is_all()));
    lines.extend(part(
        "never arrived at a hook, although others of their kind did:",
        types.unseen().iter().map(unseen),
        limit,
    ));
    lines.extend(part("declared wider than what arrives:", types.wide().iter().map(wide), limit));
    if types.unresolved > 0 {
        lines.push(format!("{} have a type that is not known", counted(types.unresolved, "value")));
    }
    if types.lost > 0 {
        lines.push(format!(
            "{} found no room: set METASPY_BUDGET to a larger size",
            counted(types.lost, "value")
        ));
    }
    lines.extend(types.notes.iter().cloned());
    lines
}

fn by_method(types: &Types, limit: usize, is_all: bool) -> Vec<String> {
    let shown = |method: &MethodTypes| -> Vec<String> {
        method.values.iter().filter(|value| is_all || value.is_news()).map(value).collect()
    };
    let mut methods: Vec<(u64, &MethodTypes)> = types
        .methods
        .iter()
        .map(|method| (method.values.iter().map(ValueTypes::count).max().unwrap_or(0), method))
        .collect();
    methods.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.path.cmp(&b.1.path)));
    let blocks = methods.into_iter().filter_map(|(_, method)| {
        let values = shown(method);
        (!values.is_empty()).then(|| format!("{}\n    {}", method.path, values.join("\n    ")))
    });
    part("types that arrived:", blocks, limit)
}

fn value(value: &ValueTypes) -> String {
    let all = value.count();
    let shown = |one: &Arrived| {
        let is_twice = value.arrived.iter().filter(|other| other.text() == one.text()).count() > 1;
        let through = one
            .through
            .as_ref()
            .filter(|_| is_twice)
            .map_or(String::new(), |pointer| format!(" in {pointer}"));
        format!("{}{through} {} ({})", one.text(), grouped(one.count), percent(one.count, all))
    };
    let mut types: Vec<String> = value.arrived.iter().take(TYPES).map(shown).collect();
    if value.arrived.len() > TYPES {
        types.push(format!("{} more", value.arrived.len() - TYPES));
    }
    let open = value.open.as_ref().map_or(String::new(), |open| format!(": {open}"));
    format!("{}{open} = {}", value.name, types.join(", "))
}

fn by_call(shapes: &[Shape], limit: usize, is_all: bool) -> Vec<String> {
    if shapes.is_empty() {
        return Vec::new();
    }
    let of = |class: &str| shapes.iter().filter(|shape| shape.class() == class).count();
    let classes =
        ["monomorphic", "polymorphic", "megamorphic"].map(|class| format!("{} {class}", of(class)));
    let mut lines =
        vec![format!("calls with a receiver, by number of targets: {}", classes.join(", "))];
    let several: Vec<&Shape> = shapes.iter().filter(|shape| shape.targets.len() > 1).collect();
    let listed = if is_all { usize::MAX } else { TYPES };
    for shape in several.iter().take(limit) {
        let caller = shape.caller.as_deref().unwrap_or("code without hooks");
        lines.push(format!("  {caller} calls {}: {}", shape.name, shape.class()));
        lines.extend(
            shape
                .targets
                .iter()
                .take(listed)
                .map(|one| format!("    {}", target(one, shape.count()))),
        );
        if shape.targets.len() > listed {
            lines.push(format!(
                "    {} more",
                counted((shape.targets.len() - listed) as u64, "target")
            ));
        }
    }
    if several.len() > limit {
        lines.push(format!("  … {} more; --top all shows all", several.len() - limit));
    }
    lines
}

fn target(one: &Target, all: u64) -> String {
    let each = match one.total_ns {
        0 => String::new(),
        ns => format!(", {} a call", time(ns / one.count.max(1))),
    };
    let Target { path, receiver, count, .. } = one;
    format!("{} ({}){each}: {path} on {receiver}", counted(*count, "call"), percent(*count, all))
}

fn unseen(one: &Unseen) -> String {
    let what = if one.is_enum { "variants" } else { "implementations" };
    format!("{}: {} of {} {what}: {}", one.of, one.never.len(), one.all, one.never.join(", "))
}

fn wide(one: &Wide) -> String {
    let arrived = match &one.common {
        Some(common) => format!("{} types arrived, and all are {common}", one.arrived.len()),
        None => format!("only {} arrived", one.arrived.join(", ")),
    };
    format!(
        "{}: {}: {}: {arrived} ({})",
        one.path,
        one.parameter,
        one.declared,
        counted(one.count, "value")
    )
}

fn part(title: &str, rows: impl Iterator<Item = String>, limit: usize) -> Vec<String> {
    let rows: Vec<String> = rows.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![title.to_owned()];
    lines.extend(rows.iter().take(limit).map(|row| format!("  {row}")));
    if rows.len() > limit {
        lines.push(format!("  … {} more; --top all shows all", rows.len() - limit));
    }
    lines
}

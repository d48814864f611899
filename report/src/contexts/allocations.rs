//! Objects on the heap by method, type or package: who allocates, how much, and how long it lives.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Contexts, Values};
use crate::rows::By;
use crate::table::{Column, Table};
use crate::text::{clean, counted, duration, grouped, percent, short_bytes};

/// The allocations of one method, type or package.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Allocated {
    /// Its path.
    pub name: String,
    /// Its own objects.
    pub own: Values,
    /// Bytes of its objects, and of those of everything that it calls.
    pub total_bytes: u64,
}

impl Contexts {
    /// Returns the allocations of methods, types or packages, those with the most bytes first. Only
    /// those with objects.
    pub fn allocated(&self, by: By) -> Vec<Allocated> {
        let mut rows: BTreeMap<String, Allocated> = BTreeMap::new();
        let names: Vec<String> =
            self.all().iter().map(|context| group(&context.name, by)).collect();
        for (at, context) in self.all().iter().enumerate() {
            let row = rows.entry(names[at].clone()).or_default();
            row.own.add(&context.values);
            // Bytes within another context of the same name are a part of that one's. Nothing is
            // within the root.
            let mut around = std::iter::successors(context.parent, |&at| self.all()[at].parent);
            if at == 0 {
                row.total_bytes += context.values.bytes;
            } else if !around.any(|other| names[other] == names[at]) {
                row.total_bytes += context.inclusive.bytes;
            }
        }
        let named = rows.into_iter().map(|(name, row)| Allocated { name, ..row });
        let mut rows: Vec<Allocated> = named.filter(|row| row.own.objects > 0).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.own.bytes));
        rows
    }
}

/// The type or the package of a method's path.
fn group(path: &str, by: By) -> String {
    let parent = |path: &str| {
        path.rsplit_once("::").map_or(path.to_owned(), |(parent, _)| parent.to_owned())
    };
    match by {
        By::Type => parent(path),
        By::Package => path.split("::").next().unwrap_or(path).to_owned(),
        _ => path.to_owned(),
    }
}

/// Returns the table of allocations, with at most `rows` rows.
pub fn text(contexts: &Contexts, by: By, rows: usize) -> Vec<String> {
    let all = contexts.allocated(by);
    let shown = &all[..all.len().min(rows)];
    let sum = &contexts.all()[0].inclusive;
    let mut lines = vec![format!(
        "{}, {}; at the end {} alive, {}; at most {} at once",
        counted(sum.objects, "object"),
        short_bytes(sum.bytes),
        grouped(sum.live()),
        short_bytes(sum.live_bytes()),
        short_bytes(contexts.peak)
    )];
    let numbers = |title: &str, cell: &dyn Fn(&Allocated) -> String| {
        Column::numbers(title, shown.iter().map(cell))
    };
    let table = Table::new([
        numbers("objects", &|row| grouped(row.own.objects)),
        numbers("bytes", &|row| grouped(row.own.bytes)),
        numbers("share", &|row| percent(row.own.bytes, sum.bytes)),
        numbers("with callees", &|row| grouped(row.total_bytes)),
        numbers("alive", &|row| grouped(row.own.live())),
        numbers("bytes alive", &|row| grouped(row.own.live_bytes())),
        numbers("lifetime", &|row| row.own.mean_lifetime_ns().map_or("–".into(), duration)),
        Column::words("allocated by", shown.iter().map(|row| clean(&row.name).into_owned())),
    ]);
    lines.extend(table.lines());
    if all.len() > shown.len() {
        lines.push(format!(
            "{} more; --top all shows all",
            grouped((all.len() - shown.len()) as u64)
        ));
    }
    lines.extend(super::notes(contexts));
    lines
}

/// All of it as JSON.
pub fn json(contexts: &Contexts, by: By) -> Value {
    let sum = &contexts.all()[0].inclusive;
    let rows = contexts.allocated(by).into_iter().map(|row| {
        json!({
            "key": row.name,
            "objects": row.own.objects,
            "bytes": row.own.bytes,
            "total_bytes": row.total_bytes,
            "freed": row.own.freed,
            "freed_bytes": row.own.freed_bytes,
            "live": row.own.live(),
            "live_bytes": row.own.live_bytes(),
            "mean_lifetime_ns": row.own.mean_lifetime_ns(),
        })
    });
    json!({
        "format": super::json::FORMAT,
        "objects": sum.objects,
        "bytes": sum.bytes,
        "freed": sum.freed,
        "freed_bytes": sum.freed_bytes,
        "live": sum.live(),
        "live_bytes": sum.live_bytes(),
        "peak_bytes": contexts.peak,
        "lost": contexts.lost,
        "rows": rows.collect::<Vec<_>>(),
    })
}

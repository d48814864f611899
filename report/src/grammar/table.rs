//! The table of productions: those with the most activations, or all.

use std::cmp::Reverse;
use std::io::{self, Write};

use super::writer::{COLUMNS, Page};
use super::{Production, Report, Role, State};
use crate::table::{Column, Table, Top};
use crate::text::{clean, grouped, short, width};

/// Rows by default.
const TOP: usize = 20;

/// Columns of a name at least, and at most.
const NAME: (usize, usize) = (12, 40);

/// The title of the last column.
const OUTCOME: &str = "share matched";

/// Cells of the bar that shows which part of the tries matched.
const BAR: usize = 7;

/// Writes the table.
pub fn write(page: &mut Page<impl Write>, report: &Report, top: Top) -> io::Result<()> {
    let mut rows: Vec<&Production> = report
        .productions
        .iter()
        .filter(|production| top.is_all() || production.entered > 0)
        .collect();
    rows.sort_by_key(|production| Reverse(production.entered));
    let left = rows.len().saturating_sub(top.limit(TOP));
    rows.truncate(rows.len() - left);
    let numbers = numbers(&rows);
    let outcomes: Vec<String> = rows.iter().map(|row| outcome(row)).collect();
    let last = outcomes.iter().map(|text| width(text)).max().unwrap_or(0).max(OUTCOME.len());
    let taken: usize = numbers.iter().map(|column| column.width() + 2).sum();
    let names = Column::words("production", rows.iter().map(|row| clean(&row.name).into_owned()));
    let room = names.width().min(COLUMNS.saturating_sub(taken + 2 + last)).clamp(NAME.0, NAME.1);
    let table = Table::new([names.at_least(room).at_most(room)].into_iter().chain(numbers));
    let mut lines = table.lines();

    page.line("")?;
    let head = lines.next().unwrap_or_default();
    page.line(&format!("{head}  {OUTCOME}"))?;
    for ((row, outcome), line) in rows.iter().zip(&outcomes).zip(lines) {
        match (row.role, row.state) {
            (Role::InUse, State::NeverEntered | State::NeverMatched) => {
                page.marked(&format!("{line}  "), outcome)?
            }
            _ => page.line(&format!("{line}  {outcome}"))?,
        }
    }
    if left > 0 {
        page.line(&format!("… and {} more: --top all lists them", grouped(left as u64)))?;
    }
    Ok(())
}

fn numbers(rows: &[&Production]) -> Vec<Column> {
    let of = |title: &str, text: &dyn Fn(&Production) -> String| {
        Column::numbers(title, rows.iter().map(|row| text(row)))
    };
    let timed = rows.iter().any(|row| row.total_ns.is_some());
    let mut columns =
        vec![of("entered", &|row| number(row.entered)), of("matched", &|row| number(row.matched))];
    if timed {
        // The failed tries are the rest of the entered ones, and the line is full.
        let time = |title: &str, ns: fn(&Production) -> Option<u64>| {
            of(title, &|row| ns(row).map_or("–".into(), crate::text::time))
        };
        columns.push(time("self", |row| row.self_ns));
        columns.push(time("total", |row| row.total_ns));
    } else {
        columns.push(of("failed", &|row| number(row.failed)));
    }
    if rows.iter().any(|row| row.backtracked_bytes.is_some()) {
        columns.push(of("backtracked", &|row| row.backtracked_bytes.map_or("–".into(), number)));
    }
    columns
}

/// A number in at most nine columns.
fn number(number: u64) -> String {
    if number < 10_000_000 { grouped(number) } else { short(number) }
}

/// How far the inputs got with it: in words, or as a bar where there is something to compare.
fn outcome(row: &Production) -> String {
    match (row.role, row.state) {
        (Role::Unused, _) => "unused".into(),
        (Role::OptimisedAway, _) => "optimised away".into(),
        (Role::InUse, State::Matched) => {
            let cells =
                (row.matched as u128 * BAR as u128).div_ceil(u128::from(row.entered)) as usize;
            let percent = row.matched as u128 * 100 / u128::from(row.entered);
            // A part that matched at all is never shown as nothing.
            let percent = if percent == 0 { "<1".into() } else { percent.to_string() };
            format!("{}{} {percent:>3} %", "█".repeat(cells), "·".repeat(BAR - cells))
        }
        (Role::InUse, state) => state.word().into(),
    }
}

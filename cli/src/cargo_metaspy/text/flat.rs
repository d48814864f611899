//! The functions that ran, the most frequent first.

use crate::cargo_metaspy::results::{Looked, Ran, Results};
use crate::cargo_metaspy::text::numbers::{duration, grouped};
use crate::cargo_metaspy::text::tree::receivers;

/// So many rows; 0 for all, those that never ran as well.
pub fn lines(results: &Results, top: usize) -> Vec<String> {
    let ran = results.methods.iter().filter(|ran| ran.has_run()).count();
    let shown = if top == 0 { results.methods.len() } else { top };
    let rows: Vec<&Ran> = results.methods.iter().take(shown).filter(|ran| ran.has_run() || top == 0).collect();
    let mut lines = Vec::new();
    if !rows.is_empty() {
        lines.push(head(results.looked) + "  function");
    }
    lines.extend(rows.iter().map(|ran| format!("{}  {}", columns(ran, results.looked), ran.method.path)));
    if ran > rows.len() {
        lines.push(format!("{:>14}  {} more functions ran; --top 0 shows all", "…", ran - rows.len()));
    }
    lines
}

/// The names of the columns.
pub fn head(looked: Looked) -> String {
    let mut head = format!("{:>14}", "calls");
    if looked.coverage {
        head += &format!(" {:>10} {:>6}", "receivers", "tests");
    }
    if looked.calls {
        head += &format!(" {:>10} {:>10}", "total", "self");
    }
    head
}

/// What is known of a function.
pub fn columns(ran: &Ran, looked: Looked) -> String {
    let time = |ns: Option<u64>| ns.map_or_else(|| "–".to_owned(), duration);
    let mut columns = format!("{:>14}", grouped(ran.count));
    if looked.coverage {
        columns += &format!(" {:>10} {:>6}", receivers(&ran.told), ran.told.tests.len());
    }
    if looked.calls {
        columns += &format!(" {:>10} {:>10}", time(ran.told.total_ns), time(ran.told.self_ns));
    }
    columns
}

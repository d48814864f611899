//! The lines of trees before the names of rows: `│ ├ `.

use std::collections::HashMap;

use metaspy_core::store::{Filter, FilterTester};
use metaspy_core::{Event, EventId, Store};

use super::event_list::Row;

/// Most causes of a row, so that a deep recursion does not delay a frame.
const DEPTH: usize = 48;

/// The lines before the text of each row: `│ ├ `.
///
/// A row is indented by its causes that pass the filter, except those that all rows have in common.
pub fn indents(store: &Store, filter: &Filter, rows: &[Row]) -> Vec<String> {
    let mut known = HashMap::new();
    for row in rows {
        known.insert(row.event.id, row.event);
    }
    // A filter by causes remembers the reasons of the rows before.
    let mut filter = filter.tester(store);
    let paths: Vec<Vec<EventId>> = rows.iter().map(|row| path(store, &mut filter, &mut known, row.event)).collect();
    let common = paths.iter().map(Vec::len).min().unwrap_or(0);
    (0..rows.len()).map(|at| indent(&paths, at, common)).collect()
}

/// The causes of an event that pass the filter, the farthest first, and the event itself.
fn path(
    store: &Store,
    filter: &mut FilterTester<'_>,
    known: &mut HashMap<EventId, Event>,
    event: Event,
) -> Vec<EventId> {
    let mut path = vec![event.id];
    let mut next = event.cause;
    for _ in 0..DEPTH {
        let Some(id) = next else { break };
        let cause = match known.get(&id) {
            Some(cause) => *cause,
            None => match store.event(id) {
                Some(cause) => *known.entry(id).or_insert(cause),
                None => break,
            },
        };
        if filter.matches(&cause) {
            path.push(id);
        }
        next = cause.cause;
    }
    path.reverse();
    path
}

fn indent(paths: &[Vec<EventId>], at: usize, common: usize) -> String {
    let own = &paths[at];
    let mut text = String::new();
    for level in common..own.len() {
        let parent = &own[..level];
        // The line continues to the next child of the same parent.
        let goes_on = paths[at + 1..]
            .iter()
            .any(|other| other.len() > level && other[..level] == *parent && other[level] != own[level]);
        text.push_str(match (level + 1 == own.len(), goes_on) {
            (true, true) => "├ ",
            (true, false) => "└ ",
            (false, true) => "│ ",
            (false, false) => "  ",
        });
    }
    text
}

/// The lines before an item of a tree: at most `levels` of them, the innermost ones, and `…` for the others.
///
/// `place` returns the parent of an item, and true if the item is its last child.
pub fn tree_lines(item: usize, levels: usize, place: impl Fn(usize) -> (Option<usize>, bool)) -> String {
    let mut lines = Vec::new();
    let (mut parent, mut is_last) = place(item);
    while let Some(at) = parent.filter(|_| lines.len() < levels) {
        lines.push(match (lines.is_empty(), is_last) {
            (true, true) => "└ ",
            (true, false) => "├ ",
            (false, true) => "  ",
            (false, false) => "│ ",
        });
        (parent, is_last) = place(at);
    }
    if let (Some(outermost), true) = (lines.last_mut(), parent.is_some()) {
        *outermost = "… ";
    }
    lines.into_iter().rev().collect()
}

//! Lines of trees before the names of rows: `│ ├ `.

use std::collections::{BTreeMap, HashMap, HashSet};

use metaspy_reader::{Event, EventId, Filter, FilterTester, Store};

use super::event_list::EventRow;

/// Maximum number of causes of a row, so that a deep recursion does not delay a frame.
const DEPTH: usize = 48;

/// Draws the lines before the text of each row: `│ ├ `.
///
/// A row hangs under the nearest cause that passes the filter. Rows of other trees may stand
/// between a cause and its effects, because lanes interleave. So each cause with effects further
/// below has its own column, which only its effects may occupy, as in `git log --graph`.
///
/// A cause above the visible rows has a column if several of them depend on it. Causes that all
/// rows share have none.
pub(crate) fn indents(store: &Store, filter: &Filter, rows: &[EventRow]) -> Vec<String> {
    let mut known = HashMap::new();
    for row in rows {
        known.insert(row.event.id, row.event);
    }
    // A filter by causes remembers the reasons of earlier rows.
    let mut filter = filter.tester(store);
    let paths: Vec<Vec<EventId>> =
        rows.iter().map(|row| path(store, &mut filter, &mut known, row.event)).collect();
    guides(&paths)
}

/// Draws the lines of rows with these paths. A path holds the causes of a row, the farthest first,
/// and the row itself.
fn guides(paths: &[Vec<EventId>]) -> Vec<String> {
    let parent = |path: &[EventId]| path.len().checked_sub(2).map(|at| path[at]);
    let mut below: HashMap<EventId, usize> = HashMap::new();
    for cause in paths.iter().filter_map(|path| parent(path)) {
        *below.entry(cause).or_default() += 1;
    }
    let mut columns: Vec<Option<EventId>> = outer_causes(paths).into_iter().map(Some).collect();
    let mut lines = Vec::with_capacity(paths.len());
    for path in paths {
        let (Some(&row), cause) = (path.last(), parent(path)) else { continue };
        let own = cause.and_then(|cause| columns.iter().position(|&column| column == Some(cause)));
        let left = cause.and_then(|cause| below.get_mut(&cause)).map_or(0, |left| {
            *left -= 1;
            *left
        });
        let mut line = String::new();
        for (at, column) in columns.iter().enumerate() {
            let (sign, behind) = match own {
                Some(own) if at == own => (if left > 0 { '├' } else { '└' }, ' '),
                // The line from the cause crosses the lines of other trees.
                Some(own) if at > own => (if column.is_some() { '│' } else { '─' }, '─'),
                _ => (if column.is_some() { '│' } else { ' ' }, ' '),
            };
            line.extend([sign, behind]);
        }
        if own.is_some_and(|own| own + 1 < columns.len()) {
            let at =
                own.map_or(0, |own| line.char_indices().nth(own * 2 + 1).map_or(0, |(at, _)| at));
            line.replace_range(at..=at, "─");
        }
        if let (Some(own), 0) = (own, left) {
            columns[own] = None;
        }
        let text_column = line.chars().count() / 2;
        while columns.last() == Some(&None) {
            columns.pop();
        }
        if below.contains_key(&row) {
            // The effects of the row begin below its text.
            columns.resize(text_column, None);
            columns.push(Some(row));
        }
        lines.push(line);
    }
    lines
}

/// Returns the causes above the visible rows that have a column: direct causes of a row that other
/// rows also depend on.
fn outer_causes(paths: &[Vec<EventId>]) -> Vec<EventId> {
    let rows: HashSet<EventId> = paths.iter().filter_map(|path| path.last().copied()).collect();
    let common = paths.iter().map(Vec::len).min().unwrap_or(0);
    let mut outer: BTreeMap<(usize, EventId), (bool, usize)> = BTreeMap::new();
    for path in paths {
        let depths = (0..path.len().saturating_sub(1)).filter(|&depth| depth + 1 >= common);
        for depth in depths.filter(|&depth| !rows.contains(&path[depth])) {
            let (is_direct, rows) = outer.entry((depth, path[depth])).or_default();
            *is_direct |= depth + 2 == path.len();
            *rows += 1;
        }
    }
    outer
        .into_iter()
        .filter(|(_, (is_direct, rows))| *is_direct && *rows > 1)
        .map(|((_, cause), _)| cause)
        .collect()
}

/// Returns the causes of an event that pass the filter, the farthest first, and the event itself.
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

/// Draws the lines before an item of a tree: the innermost `levels` of them, and `…` for the
/// others.
///
/// `place` returns the parent of an item, and true if the item is its last child.
pub(crate) fn tree_lines(
    item: usize,
    levels: usize,
    place: impl Fn(usize) -> (Option<usize>, bool),
) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks rows given as names with their causes: `b<a` is an effect of `a`. Causes without a
    /// row are above the visible rows.
    fn check(rows: &str, expected: &[&str]) {
        let id =
            |name: &str| EventId::from_raw(u64::from(name.as_bytes()[0])).expect("no name is 0");
        let path = |row: &str| row.rsplit('<').map(id).collect::<Vec<_>>();
        let paths: Vec<_> = rows.split(' ').map(path).collect();
        let drawn: Vec<String> = guides(&paths)
            .into_iter()
            .zip(rows.split(' '))
            .map(|(line, row)| format!("{line}{}", &row[..1]))
            .collect();
        assert_eq!(drawn, expected);
    }

    #[test]
    fn one_lane_is_a_tree() {
        check("a b<a c<b<a d<b<a e<a", &["a", "├ b", "│ ├ c", "│ └ d", "└ e"]);
    }

    #[test]
    fn a_row_between_a_cause_and_its_effect_is_not_drawn_as_the_cause() {
        // Here `s` sends, `t` is an unrelated task, and `r` receives the message of `s`.
        check("s t r<s", &["s", "│ t", "└ r"]);
    }

    #[test]
    fn interleaved_trees_have_columns_of_their_own() {
        check("a x b<a y<x c<a z<x", &["a", "│ x", "├─│─b", "│ ├ y", "└─│─c", "  └ z"]);
    }

    #[test]
    fn causes_above_the_rows_have_a_column_if_several_rows_depend_on_them() {
        // The root `r` is common to all, and `p` is not visible.
        check("b<p<r c<p<r d<r", &["├ b", "└ c", "d"]);
        check("b<p<r d<r", &["b", "d"]);
    }
}

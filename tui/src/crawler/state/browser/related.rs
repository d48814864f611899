//! Rows of a column of relations: the subjects at the other ends.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use metaspy_probe::Subject;
use metaspy_reader::{By, Filter, Measure, Store};

use super::column::{BrowserRow, ROWS, counted, number, scope};
use crate::crawler::config::browser::BrowserTab;

/// Reads the subjects that are related to the subjects that pass the filter, with their own calls.
/// `→` marks an end of the relation, `←` a beginning.
pub fn read(store: &Store, tab: &BrowserTab, filter: Filter) -> Vec<BrowserRow> {
    let passing = store.tally(By::Subject, &scope(tab, filter)).rows;
    let subjects = passing.iter().filter(|row| !row.is_others()).filter_map(|row| row.subject);
    let mut related: BTreeSet<(Subject, bool)> = BTreeSet::new();
    for subject in subjects.take(ROWS) {
        let all = store.relations_of(subject).into_iter();
        let named = all.filter(|edge| tab.relation.as_ref().is_none_or(|name| *name == edge.name));
        related.extend(
            named.map(
                |edge| if edge.from == subject { (edge.to, true) } else { (edge.from, false) },
            ),
        );
    }
    let mut counts: HashMap<Subject, Measure> = HashMap::new();
    if !related.is_empty() {
        let all = store.tally(By::Subject, &scope(tab, Filter::all())).rows;
        counts.extend(all.iter().filter_map(|row| Some((row.subject?, row.measure))));
    }
    let measure = |subject: Subject| counts.get(&subject).copied().unwrap_or_default();
    let mut rows: Vec<(Subject, bool)> = related.into_iter().collect();
    rows.sort_by_key(|&(subject, _)| Reverse(number(&measure(subject), tab.value)));
    rows.truncate(ROWS);
    let row = |(subject, is_end): (Subject, bool)| {
        let row = counted(store, tab, None, Some(subject), &measure(subject));
        BrowserRow { name: format!("{} {}", if is_end { "→" } else { "←" }, row.name), ..row }
    };
    rows.into_iter().map(row).collect()
}

//! United tables of all installations of a method profiler.
//!
//! Values of installations are added up, but a call counts once. If one installation sees the calls
//! of another, a number that is added up is the larger of both: the outer installation has a
//! smaller number only if it does not observe the method.

use std::collections::{BTreeMap, BTreeSet};

use metaspy_format::profile::{Merge, TableDef, overlaps};

use super::raw::RawTable;
use crate::Store;

/// Table of an installation, or of several.
pub(crate) struct DeclaredTable {
    pub def: TableDef,
    pub raw: RawTable,
}

impl Store {
    /// Returns the tables of each installation.
    pub(super) fn declared_tables(&self) -> Vec<DeclaredTable> {
        let tables = self.profile_tables().into_iter();
        tables
            .map(|(number, raw)| DeclaredTable { def: self.names().tables[&number].clone(), raw })
            .collect()
    }

    /// Unites the tables of each profiler that have the same name, key and columns, in the order of
    /// their declaration.
    pub(crate) fn united_tables(&self) -> Vec<DeclaredTable> {
        let mut united: Vec<(TableDef, Installations)> = Vec::new();
        for DeclaredTable { def, raw } in self.declared_tables() {
            let whole = TableDef { installation: 0, ..def.clone() };
            match united.iter_mut().find(|(known, _)| *known == whole) {
                Some((_, installations)) => installations.add(def.installation, raw),
                None => {
                    let mut installations = Installations::default();
                    installations.add(def.installation, raw);
                    united.push((whole, installations));
                }
            }
        }
        united
            .into_iter()
            .map(|(def, installations)| DeclaredTable { raw: installations.united(&def), def })
            .collect()
    }
}

/// Tables that the installations of a profiler wrote, by the number of the installation.
#[derive(Default)]
struct Installations(BTreeMap<u32, Vec<RawTable>>);

/// Values that an installation and all installations within it saw.
struct Seen {
    raw: RawTable,
    /// Outer installations that miss some of the calls, one bit each; the lowest bit is the
    /// innermost installation.
    overlaps: u64,
}

impl Installations {
    fn add(&mut self, installation: u32, raw: RawTable) {
        self.0.entry(installation).or_default().push(raw);
    }

    fn united(mut self, def: &TableDef) -> RawTable {
        let mut within: BTreeMap<u32, Seen> = BTreeMap::new();
        let mut united = RawTable::default();
        // An installation begins after the installations around it, unless it is a block. A damaged
        // recording may have cycles.
        while let Some(innermost) = self.innermost() {
            let tables = self.0.remove(&innermost).unwrap_or_default();
            let inner = within.remove(&innermost);
            let mut around = None;
            let mut overlaps = 0;
            let mut own = RawTable::default();
            for table in tables {
                around = table.within.or(around);
                overlaps |= table.overlaps;
                own.add(def, table);
            }
            if let Some(inner) = inner {
                own.cover(def, inner.raw, overlaps::has_innermost(inner.overlaps));
                overlaps |= overlaps::without_innermost(inner.overlaps);
            }
            match around.filter(|around| self.0.contains_key(around)) {
                None => united.add(def, own),
                Some(around) => {
                    let seen = within
                        .entry(around)
                        .or_insert_with(|| Seen { raw: RawTable::default(), overlaps: 0 });
                    seen.raw.add(def, own);
                    seen.overlaps |= overlaps;
                }
            }
        }
        united
    }

    /// Returns an installation that no other is within; in a cycle, any of it.
    fn innermost(&self) -> Option<u32> {
        let around: BTreeSet<u32> =
            self.0.values().flatten().filter_map(|table| table.within).collect();
        self.0
            .keys()
            .copied()
            .rfind(|it| !around.contains(it))
            .or_else(|| self.0.keys().next_back().copied())
    }
}

impl RawTable {
    /// Adds the values that another installation saw of other calls.
    fn add(&mut self, def: &TableDef, other: RawTable) {
        self.lost = self.lost.saturating_add(other.lost);
        self.incomplete.extend(other.incomplete);
        for (key, words) in other.rows {
            words.into_iter().for_each(|(column, word)| self.put(def, key, column, word));
        }
    }

    /// Adds the values that inner installations saw. With `overlaps`, they have seen calls that
    /// this installation has not.
    fn cover(&mut self, def: &TableDef, inner: RawTable, overlaps: bool) {
        self.lost = self.lost.saturating_add(inner.lost);
        self.incomplete.extend(inner.incomplete);
        for (key, words) in inner.rows {
            let is_in_both = self.rows.contains_key(&key);
            for (column, word) in words {
                let is_sum = def
                    .columns
                    .get(usize::from(column))
                    .is_some_and(|column| column.merge == Merge::Sum);
                if is_sum && is_in_both && overlaps {
                    self.incomplete.insert(key.site);
                }
                let known =
                    self.rows.get(&key).and_then(|row| row.iter().find(|(at, _)| *at == column));
                match known.map(|(_, known)| *known).filter(|_| is_sum) {
                    Some(known) => self.put(def, key, column, word.saturating_sub(known)),
                    None => self.put(def, key, column, word),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use metaspy_format::profile::{Column, Key};

    use super::*;

    const KEY: Key = Key { site: 7, second: 0, key: 0 };

    /// Unites installations, each given with its calls, the installation around it, and the calls
    /// that the outer installation misses.
    fn united(tables: &[(u32, u64, Option<u32>, u64)]) -> (u64, bool) {
        let def = TableDef { columns: vec![Column::new("calls")], ..TableDef::default() };
        let mut installations = Installations::default();
        for &(installation, calls, within, overlaps) in tables {
            let mut raw = RawTable::default();
            (raw.within, raw.overlaps) = (within, overlaps);
            if calls != 0 {
                raw.put(&def, KEY, 0, calls);
            }
            installations.add(installation, raw);
        }
        let united = installations.united(&def);
        (united.rows[&KEY][0].1, united.incomplete.contains(&KEY.site))
    }

    #[test]
    fn a_call_that_two_installations_saw_counts_once() {
        assert_eq!(united(&[(1, 5, None, 0), (2, 3, None, 0)]), (8, false), "one after the other");
        assert_eq!(united(&[(1, 5, None, 0), (2, 3, Some(1), 0)]), (5, false));
        assert_eq!(united(&[(1, 5, None, 0), (2, 3, Some(1), 0), (3, 2, Some(2), 0)]), (5, false));
        assert_eq!(
            united(&[(1, 0, None, 0), (2, 3, Some(1), 0), (3, 2, Some(1), 0)]),
            (5, false),
            "not observed"
        );
    }

    #[test]
    fn installations_that_overlap_make_a_lower_bound() {
        assert_eq!(united(&[(1, 5, None, 0), (2, 3, Some(1), 0b1)]), (5, true));
        assert_eq!(united(&[(1, 3, None, 0), (2, 5, Some(1), 0b1)]), (5, true));
        let inner_ended_first = [(1, 9, None, 0), (2, 3, Some(1), 0), (3, 4, Some(2), 0b1)];
        assert_eq!(united(&inner_ended_first), (9, true));
    }

    #[test]
    fn a_circle_in_a_damaged_recording_ends() {
        assert_eq!(united(&[(1, 5, Some(2), 0), (2, 3, Some(1), 0)]), (5, false));
        assert_eq!(united(&[(1, 5, Some(1), 0)]), (5, false));
    }
}

//! Words of all tables, from the pages that every thread wrote, and their declarations.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use metaspy_format::Words;
use metaspy_format::profile::page::{self, Content, Kind};
use metaspy_format::profile::{self, Key, KeyKind, ROWS_MAX, TableDef};
use metaspy_format::superblock as sb;

use crate::Store;

impl Store {
    /// Returns the declared tables with their words, by number.
    pub(crate) fn profile_tables(&self) -> BTreeMap<u32, RawTable> {
        let defs = &self.names().tables;
        let mut tables: BTreeMap<u32, RawTable> =
            defs.keys().map(|&number| (number, RawTable::default())).collect();
        let mut keys: HashMap<(u32, u64), Key> = HashMap::new();
        let area = self.layout().profiles.of(self.words());
        let used =
            usize::try_from(self.words().acquire(sb::PROFILES_USED) / 8).unwrap_or(usize::MAX);
        let area = area.slice(0, used);
        each_page(area, |content, first, words| {
            if content.kind == Kind::Keys && defs.contains_key(&content.table) {
                for row in 0..words.len() / Key::WORDS {
                    let at = row * Key::WORDS;
                    if let Some(key) =
                        Key::read(words.acquire(at + Key::WHO), words.get(at + Key::KEY))
                    {
                        keys.insert((content.table, first.saturating_add(row as u64)), key);
                    }
                }
            }
        });
        each_page(area, |content, first, words| {
            let Some(def) = defs.get(&content.table) else { return };
            let Some(table) = tables.get_mut(&content.table) else { return };
            match content.kind {
                Kind::Head => {
                    table.has_head = true;
                    table.lost =
                        table.lost.saturating_add(words.get(page::LOST - page::HEADER_WORDS));
                    let within = words.get(page::WITHIN - page::HEADER_WORDS).checked_sub(1);
                    table.within = within.and_then(|installation| u32::try_from(installation).ok());
                    table.overlaps = words.get(page::OVERLAPS - page::HEADER_WORDS);
                }
                Kind::Incomplete => table.add_incomplete(first, words),
                Kind::Values => table.merge(def, first, words, |row| match def.key {
                    KeyKind::Site if row == 0 => None,
                    KeyKind::Site => Some(Key { site: row as u32, second: 0, key: 0 }),
                    _ => keys.get(&(content.table, row)).copied(),
                }),
                Kind::Keys => {}
            }
        });
        // A table without a head lost its pages to a later profiler's table, or found no room for a
        // page.
        tables
            .values_mut()
            .filter(|table| !table.has_head)
            .for_each(|table| table.lost = table.lost.max(1));
        // The sites of the losses are unknown, so any site may be incomplete.
        let unknown =
            tables.values_mut().filter(|table| table.lost > 0 && table.incomplete.is_empty());
        unknown.for_each(|table| _ = table.incomplete.insert(0));
        tables
    }
}

/// Words of a table, merged over all threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawTable {
    pub rows: HashMap<Key, Vec<(u16, u64)>>,
    pub lost: u64,
    /// Sites with a value that found no room; 0 = any site.
    pub incomplete: BTreeSet<u32>,
    /// Outer installation of the same profiler that sees all calls of this installation.
    pub within: Option<u32>,
    /// Outer installations that miss some of these calls, one bit each; the lowest bit is the
    /// innermost installation.
    pub overlaps: u64,
    /// True if the recording has its counts of losses.
    has_head: bool,
}

impl RawTable {
    fn merge(
        &mut self,
        def: &TableDef,
        first: u64,
        words: Words<'_>,
        key: impl Fn(u64) -> Option<Key>,
    ) {
        let columns = def.columns.len() as u64;
        for at in 0..words.len() {
            let word = words.get(at);
            let Some(number) = first.checked_add(at as u64).filter(|_| word != 0) else { continue };
            let row = number / columns;
            if row >= ROWS_MAX {
                return;
            }
            if let Some(key) = key(row) {
                self.put(def, key, (number % columns) as u16, word);
            }
        }
    }

    fn add_incomplete(&mut self, first: u64, words: Words<'_>) {
        for at in 0..words.len() {
            // A damaged page may state any place. Sites beyond the limit would size the output for
            // them.
            let word = first.checked_add(at as u64).filter(|&word| word < ROWS_MAX / 64);
            let Some(word) = word else { return };
            self.incomplete.extend(profile::bits(words.get(at)).map(|bit| word as u32 * 64 + bit));
        }
    }

    /// Merges a word into a column of a row.
    pub fn put(&mut self, def: &TableDef, key: Key, column: u16, word: u64) {
        let Some(merge) = def.columns.get(usize::from(column)).map(|column| column.merge) else {
            return;
        };
        let row = self.rows.entry(key).or_default();
        match row.iter_mut().find(|(at, _)| *at == column) {
            Some((_, known)) => *known = merge.words(*known, word),
            None => row.push((column, word)),
        }
    }
}

/// Calls `each` for every page that can be read, with its content, the number of its first word,
/// and its words.
fn each_page(area: Words<'_>, mut each: impl FnMut(Content, u64, Words<'_>)) {
    let mut at = 0;
    while at < area.len() {
        let words = usize::try_from(area.get(at + page::WORDS)).unwrap_or(usize::MAX);
        if words == 0 {
            return;
        }
        if let Some(content) = Content::unpack(area.acquire(at + page::CONTENT)) {
            each(content, area.get(at + page::FIRST), area.slice(at + page::HEADER_WORDS, words));
        }
        at = at.saturating_add(page::HEADER_WORDS).saturating_add(words);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[test]
    fn a_damaged_page_names_no_site_beyond_the_limit() {
        let words = [AtomicU64::new(1 << 3), AtomicU64::new(u64::MAX)];
        let last = ROWS_MAX / 64 - 1;
        for (first, expected) in [
            (1, 65),
            (last, 1),
            (last + 1, 0),
            (u64::from(u32::MAX) / 64 - 1, 0),
            (u64::MAX / 64, 0),
            (u64::MAX, 0),
        ] {
            let mut table = RawTable::default();
            table.add_incomplete(first, Words::from_slice(&words));
            assert_eq!(table.incomplete.len(), expected, "{first}");
            assert!(table.incomplete.last().is_none_or(|&site| u64::from(site) < ROWS_MAX));
        }
    }
}

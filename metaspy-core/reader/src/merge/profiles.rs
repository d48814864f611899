//! Tables of method profilers, merged by the rules of their columns.

use std::collections::BTreeMap;

use metaspy_format::profile::page::{self, Content, Kind};
use metaspy_format::profile::{ColumnKind, Key, KeyKind, TableDef, TypeKey};

use crate::merge::remap::Input;
use crate::profiles::{DeclaredTable, RawTable};

/// Merged tables of all inputs.
#[derive(Default)]
pub(super) struct Tables {
    /// Declarations, by number.
    pub defs: Vec<TableDef>,
    /// Words of the area that holds the pages.
    pub words: Vec<u64>,
}

/// Merges the tables of the inputs. Several installations of a profiler in a process give a single
/// table, and so do tables with the same name and columns.
pub(super) fn merged(inputs: &[Input]) -> Tables {
    let mut tables = Tables::default();
    let mut merged: Vec<RawTable> = Vec::new();
    for input in inputs {
        for DeclaredTable { def, raw } in input.store.united_tables() {
            let at = tables.defs.iter().position(|known| *known == def).unwrap_or_else(|| {
                tables.defs.push(def.clone());
                merged.push(RawTable::default());
                tables.defs.len() - 1
            });
            merged[at].lost = merged[at].lost.saturating_add(raw.lost);
            let site = |site: u32| if site == 0 { 0 } else { input.site(site) };
            merged[at].incomplete.extend(raw.incomplete.iter().copied().map(site));
            for (key, words) in &raw.rows {
                let key = renumbered(input, def.key, *key);
                words.iter().for_each(|&(column, word)| {
                    merged[at].put(&def, key, column, rescaled(input, &def, column, word))
                });
            }
        }
    }
    for (number, (def, raw)) in (0..).zip(tables.defs.iter().zip(merged)) {
        write(&mut tables.words, number, def, raw);
    }
    tables
}

fn renumbered(input: &Input, kind: KeyKind, key: Key) -> Key {
    let second = match kind {
        KeyKind::Site | KeyKind::Context => 0,
        KeyKind::Subject | KeyKind::Type | KeyKind::Sampled => input.kind(key.second as u16).into(),
        KeyKind::Caller if key.second == 0 => 0,
        KeyKind::Caller => input.site(key.second),
    };
    // Site 0 stands for code without hooks, or for samples outside events.
    let site = if key.site == 0 { 0 } else { input.site(key.site) };
    let key = Key { site, second, ..key };
    match (kind, TypeKey::unpack(key.key)) {
        (KeyKind::Type, of) if of.caller != 0 => {
            Key { key: TypeKey { caller: input.site(of.caller), ..of }.pack(), ..key }
        }
        _ => key,
    }
}

/// Converts times of the input's clock to times of the merged recording.
fn rescaled(input: &Input, def: &TableDef, column: u16, word: u64) -> u64 {
    match def.columns.get(usize::from(column)) {
        Some(column) if column.kind == ColumnKind::Ticks => {
            column.merge.value(input.sum(column.merge.value(word)))
        }
        _ => word,
    }
}

/// Appends the pages of a table.
fn write(area: &mut Vec<u64>, table: u32, def: &TableDef, raw: RawTable) {
    let columns = def.columns.len();
    let mut head = vec![0; page::HEAD_WORDS];
    head[page::LOST - page::HEADER_WORDS] = raw.lost;
    push(area, Content { table, kind: Kind::Head }, 0, &head);
    let mut incomplete = vec![0; raw.incomplete.last().map_or(0, |site| *site as usize / 64 + 1)];
    raw.incomplete.iter().for_each(|site| incomplete[*site as usize / 64] |= 1 << (site % 64));
    push(area, Content { table, kind: Kind::Incomplete }, 0, &incomplete);
    let rows: BTreeMap<Key, Vec<(u16, u64)>> = raw.rows.into_iter().collect();
    if def.key != KeyKind::Site {
        let keys: Vec<u64> = rows.keys().flat_map(|key| [key.key, key.who()]).collect();
        push(area, Content { table, kind: Kind::Keys }, 0, &keys);
    }
    let mut run =
        Run { area, content: Content { table, kind: Kind::Values }, first: 0, words: Vec::new() };
    for (order, (key, words)) in (0_u64..).zip(rows) {
        let row = if def.key == KeyKind::Site { key.site.into() } else { order };
        let mut values = vec![0; columns];
        words.into_iter().for_each(|(column, word)| values[usize::from(column)] = word);
        run.add(row * columns as u64, &values);
    }
    run.end();
}

/// Page under construction, for rows that are near each other.
struct Run<'a> {
    area: &'a mut Vec<u64>,
    content: Content,
    first: u64,
    words: Vec<u64>,
}

impl Run<'_> {
    /// Maximum number of words that may stay empty between two rows of a page.
    const GAP: u64 = 64;

    fn add(&mut self, first: u64, values: &[u64]) {
        let end = self.first + self.words.len() as u64;
        if self.words.is_empty() || first > end + Self::GAP {
            self.end();
            self.first = first;
        }
        self.words.resize((first - self.first) as usize, 0);
        self.words.extend(values);
    }

    fn end(&mut self) {
        push(self.area, self.content, self.first, &self.words);
        self.words.clear();
    }
}

fn push(area: &mut Vec<u64>, content: Content, first: u64, words: &[u64]) {
    if words.is_empty() {
        return;
    }
    let mut head = [0; page::HEADER_WORDS];
    (head[page::WORDS], head[page::CONTENT], head[page::FIRST]) =
        (words.len() as u64, content.pack(), first);
    area.extend(head);
    area.extend(words);
}

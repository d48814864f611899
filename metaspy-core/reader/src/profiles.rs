//! Profiles: the tables that method profilers wrote, with their own columns.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = metaspy_reader::Store::open("run.spy".as_ref())?;
//! for profile in store.profiles() {
//!     for table in &profile.tables {
//!         let headings: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
//!         println!("{} {}: {}", profile.name, table.name, headings.join(", "));
//!         for row in &table.rows {
//!             let site = store.site_path(row.key.site());
//!             let values = (0..table.columns.len()).map(|column| row.value(table, column).to_string());
//!             println!("{site}: {}", values.collect::<Vec<_>>().join(", "));
//!         }
//!         if table.lost > 0 {
//!             println!("{} values found no room", table.lost);
//!         }
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Rows exist only where something was written: a method that never ran has no row. How often a method ran is no column;
//! it is the count of its [tally](crate::Store::tally).

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use metaspy_format::Words;
use metaspy_format::profile::page::{self, Content, Kind};
use metaspy_format::profile::{COLUMNS_MAX, Key, ROWS_MAX, TableDef};
use metaspy_format::superblock as sb;
use metaspy_probe::{KindId, SiteId, Subject};

use crate::Store;
use crate::names::sanitise::sanitised;

pub use metaspy_format::profile::{Column, ColumnKind, KeyKind, Merge, TypeKey};

/// What one installation of a method profiler wrote.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The name of the method profiler.
    pub name: String,
    /// The installation: a profiler that was installed twice has two profiles.
    pub installation: u32,
    /// The tables, in the order of their declaration; that of the methods has no name.
    pub tables: Vec<ProfileTable>,
}

/// A table of a profile.
#[derive(Clone, Debug, Default)]
pub struct ProfileTable {
    /// The name; empty for the table of the methods.
    pub name: String,
    /// What a row is about.
    pub key: KeyKind,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, in the order of their keys.
    pub rows: Vec<ProfileRow>,
    /// Values that found no room in the recording: the others are then lower bounds. Of a table that ended, and whose room
    /// a later one took, it is at least 1.
    pub lost: u64,
    /// Nanoseconds per tick of the recording's clock.
    tick_ns: TickNs,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRow {
    /// What the row is about.
    pub key: RowKey,
    /// Columns that hold something, with their words.
    words: Vec<(u16, u64)>,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKey {
    /// A site.
    Site(SiteId),
    /// A site and a subject.
    Subject(SiteId, Subject),
    /// A callee, and its caller if that was observed.
    Caller(SiteId, Option<SiteId>),
    /// A calling context: a site, and the id of the context that called it. Site 0 is code without hooks.
    Context(SiteId, u64),
    /// A callee, the kind that stands for a type, and the value that has the type.
    Type(SiteId, KindId, TypeKey),
}

/// A value of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing was written.
    Empty,
    /// A number, in the unit of its column.
    Number(u64),
    /// A number that is a lower bound: the profiler stopped counting there.
    AtLeast(u64),
    /// A length of time in ns.
    Ns(u64),
    /// One of the names of the column.
    Choice(String),
    /// Some of the names of the column.
    Flags(Vec<String>),
}

impl RowKey {
    /// The site; of a pair of methods, the callee.
    pub fn site(self) -> SiteId {
        match self {
            RowKey::Site(site)
            | RowKey::Subject(site, _)
            | RowKey::Caller(site, _)
            | RowKey::Context(site, _)
            | RowKey::Type(site, ..) => site,
        }
    }

    fn of(kind: KeyKind, key: Key) -> Self {
        let site = SiteId(key.site);
        match kind {
            KeyKind::Site => RowKey::Site(site),
            KeyKind::Subject => RowKey::Subject(site, Subject::new(KindId(key.second as u16), key.key)),
            KeyKind::Type => RowKey::Type(site, KindId(key.second as u16), TypeKey::unpack(key.key)),
            KeyKind::Caller => RowKey::Caller(site, Some(SiteId(key.second)).filter(|caller| caller.0 != 0)),
            KeyKind::Context => RowKey::Context(site, key.key),
        }
    }
}

impl Value {
    /// The value as a number: of a time the ns, of names 1 if there are any.
    pub fn number(&self) -> Option<u64> {
        match self {
            Value::Empty => None,
            Value::Number(number) | Value::AtLeast(number) | Value::Ns(number) => Some(*number),
            Value::Choice(_) => Some(1),
            Value::Flags(names) => Some(u64::from(!names.is_empty())),
        }
    }
}

impl Value {
    /// Merges two values of a column by its rule.
    #[must_use]
    pub fn merged(self, other: Value, column: &Column) -> Value {
        let place = |name: &String| match &column.kind {
            ColumnKind::Choice(names) | ColumnKind::Flags(names) => names.iter().position(|other| other == name),
            _ => None,
        };
        match (self, other) {
            (Value::Empty, value) | (value, Value::Empty) => value,
            (Value::Choice(one), Value::Choice(other)) => {
                Value::Choice(if place(&other) > place(&one) { other } else { one })
            }
            (Value::Flags(mut names), Value::Flags(more)) => {
                names.extend(more);
                names.sort_by_key(place);
                names.dedup();
                Value::Flags(names)
            }
            (one, other) => {
                let (a, b) = (one.number().unwrap_or(0), other.number().unwrap_or(0));
                let number = match column.merge {
                    Merge::Sum => a.saturating_add(b),
                    Merge::Max => a.max(b),
                    Merge::Min => a.min(b),
                    Merge::Union => a | b,
                };
                match (&one, &other) {
                    (Value::AtLeast(_), _) | (_, Value::AtLeast(_)) => Value::AtLeast(number),
                    (Value::Ns(_), _) => Value::Ns(number),
                    _ => Value::Number(number),
                }
            }
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Empty => f.write_str("–"),
            Value::Number(number) => write!(f, "{number}"),
            Value::AtLeast(number) => write!(f, "≥{number}"),
            Value::Ns(ns) => write!(f, "{ns} ns"),
            Value::Choice(name) => f.write_str(name),
            Value::Flags(names) => f.write_str(&names.join(" ")),
        }
    }
}

impl ProfileRow {
    /// The value of a column of its table.
    pub fn value(&self, table: &ProfileTable, column: usize) -> Value {
        let word = self.words.iter().find(|(at, _)| usize::from(*at) == column).map_or(0, |(_, word)| *word);
        let Some(column) = table.columns.get(column).filter(|_| word != 0) else { return Value::Empty };
        let value = column.merge.value(word);
        match &column.kind {
            ColumnKind::Number if column.at_most.is_some_and(|most| value >= most) => Value::AtLeast(value),
            ColumnKind::Number => Value::Number(value),
            ColumnKind::Ticks => Value::Ns(table.tick_ns.ns(value)),
            ColumnKind::Choice(names) => match value.checked_sub(1).and_then(|at| names.get(at as usize)) {
                Some(name) => Value::Choice(name.clone()),
                None => Value::Number(value),
            },
            ColumnKind::Flags(names) => {
                let flag = |bit: usize| 1 << bit;
                let set = names.iter().take(64).enumerate().filter(|(bit, _)| value & flag(*bit) != 0);
                Value::Flags(set.map(|(_, name)| name.clone()).collect())
            }
        }
    }
}

impl ProfileTable {
    /// The row of a key.
    pub fn row(&self, key: RowKey) -> Option<&ProfileRow> {
        self.rows.binary_search_by_key(&key, |row| row.key).ok().map(|at| &self.rows[at])
    }

    /// The place of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The value of a named column in the row of a key.
    pub fn value(&self, key: RowKey, column: &str) -> Value {
        match (self.row(key), self.column(column)) {
            (Some(row), Some(column)) => row.value(self, column),
            _ => Value::Empty,
        }
    }
}

impl Profile {
    /// The table with this name; empty for that of the methods.
    pub fn table(&self, name: &str) -> Option<&ProfileTable> {
        self.tables.iter().find(|table| table.name == name)
    }
}

impl Store {
    /// What method profilers wrote, as of now, in the order of their installation.
    pub fn profiles(&self) -> Vec<Profile> {
        let mut profiles: Vec<Profile> = Vec::new();
        let tick_ns = TickNs::of(self);
        for (number, raw) in self.profile_tables() {
            let def = &self.names().tables[&number];
            let is_of =
                |profile: &&mut Profile| (profile.installation, &profile.name) == (def.installation, &def.profile);
            let rows = raw.rows.into_iter().map(|(key, words)| ProfileRow { key: RowKey::of(def.key, key), words });
            let mut rows: Vec<ProfileRow> = rows.collect();
            rows.sort_unstable_by_key(|row| row.key);
            let (name, columns) = (def.name.clone(), def.columns.clone());
            let table = ProfileTable { name, key: def.key, columns, rows, lost: raw.lost, tick_ns };
            match profiles.iter_mut().find(is_of) {
                Some(profile) => profile.tables.push(table),
                None => {
                    let (name, installation) = (def.profile.clone(), def.installation);
                    profiles.push(Profile { name, installation, tables: vec![table] });
                }
            }
        }
        profiles
    }

    /// The latest profile of a profiler with this name.
    pub fn profile(&self, name: &str) -> Option<Profile> {
        self.profiles().into_iter().rfind(|profile| profile.name == name)
    }

    /// Values of all profilers that found no room, and whose table is not known.
    pub fn lost_profile_values(&self) -> u64 {
        self.words().get(sb::PROFILES_LOST)
    }

    /// The tables that are declared, with their words, by number.
    pub(crate) fn profile_tables(&self) -> BTreeMap<u32, RawTable> {
        let defs = &self.names().tables;
        let mut tables: BTreeMap<u32, RawTable> = defs.keys().map(|&number| (number, RawTable::default())).collect();
        let mut keys: HashMap<(u32, u64), Key> = HashMap::new();
        let area = self.layout().profiles.of(self.words());
        let used = usize::try_from(self.words().acquire(sb::PROFILES_USED) / 8).unwrap_or(usize::MAX);
        let area = area.slice(0, used);
        each_page(area, |content, first, words| {
            if content.kind == Kind::Keys && defs.contains_key(&content.table) {
                for row in 0..words.len() / Key::WORDS {
                    let at = row * Key::WORDS;
                    if let Some(key) = Key::read(words.acquire(at + Key::WHO), words.get(at + Key::KEY)) {
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
                    table.lost = table.lost.saturating_add(words.get(page::LOST - page::HEADER_WORDS));
                }
                Kind::Values => table.merge(def, first, words, |row| match def.key {
                    KeyKind::Site if row == 0 => None,
                    KeyKind::Site => Some(Key { site: row as u32, second: 0, key: 0 }),
                    _ => keys.get(&(content.table, row)).copied(),
                }),
                Kind::Keys => {}
            }
        });
        // Its pages were taken by the table of a later profiler, or there was no room for one.
        tables.values_mut().filter(|table| !table.has_head).for_each(|table| table.lost = table.lost.max(1));
        tables
    }
}

/// The words of a table, merged over all threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct RawTable {
    pub rows: HashMap<Key, Vec<(u16, u64)>>,
    pub lost: u64,
    /// True if the recording has its counts of loss.
    has_head: bool,
}

impl RawTable {
    fn merge(&mut self, def: &TableDef, first: u64, words: Words<'_>, key: impl Fn(u64) -> Option<Key>) {
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

    /// Merges a word into a column of a row.
    pub fn put(&mut self, def: &TableDef, key: Key, column: u16, word: u64) {
        let Some(merge) = def.columns.get(usize::from(column)).map(|column| column.merge) else { return };
        let row = self.rows.entry(key).or_default();
        match row.iter_mut().find(|(at, _)| *at == column) {
            Some((_, known)) => *known = merge.words(*known, word),
            None => row.push((column, word)),
        }
    }
}

/// Calls `each` for every page that can be read, with its content, the number of its first word, and its words.
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

/// The declaration of a table, from its JSON; `None` if this version cannot read the table.
pub(crate) fn parse(json: &str) -> Option<TableDef> {
    let mut def: TableDef = serde_json::from_str(json).ok()?;
    def.columns.truncate(COLUMNS_MAX);
    // JSON has escapes of its own.
    let texts = def.columns.iter_mut().flat_map(|column| [&mut column.name, &mut column.unit]);
    texts.chain([&mut def.profile, &mut def.name]).for_each(|text| *text = sanitised(text));
    for column in &mut def.columns {
        if let ColumnKind::Choice(names) | ColumnKind::Flags(names) = &mut column.kind {
            names.iter_mut().for_each(|name| *name = sanitised(name));
        }
    }
    def.is_readable().then_some(def)
}

/// Nanoseconds per tick, as a ratio.
#[derive(Clone, Copy, Debug, Default)]
struct TickNs {
    ticks: u64,
    ns: u64,
}

impl TickNs {
    /// As measured over a long span.
    fn of(store: &Store) -> Self {
        let ticks = 1 << 40;
        TickNs { ticks, ns: store.span_ns(ticks) }
    }

    fn ns(self, ticks: u64) -> u64 {
        match self.ticks {
            0 => ticks,
            per => (u128::from(ticks) * u128::from(self.ns) / u128::from(per)).min(u64::MAX.into()) as u64,
        }
    }
}

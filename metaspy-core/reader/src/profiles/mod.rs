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
//! Rows exist only for methods with written values, so a method that never ran has no row. The
//! number of executions is no column; it is the count of the method's [tally](crate::Store::tally).

mod raw;
mod tick_ns;
mod united;
mod value;

use std::collections::BTreeSet;

use metaspy_format::profile::{Key, TableDef};
use metaspy_format::superblock as sb;
use metaspy_probe::{KindId, SiteId, Subject};

use crate::Store;
use tick_ns::TickNs;

pub use metaspy_format::profile::{Column, ColumnKind, KeyKind, Merge, TypeKey};
pub use value::Value;

pub(crate) use raw::RawTable;
pub(crate) use united::DeclaredTable;

/// Tables that a single installation of a method profiler wrote.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Name of the method profiler.
    pub name: String,
    /// Number of the installation. A profiler that was installed twice has two profiles.
    pub installation: u32,
    /// Tables in the order of their declaration; the table of the methods has no name.
    pub tables: Vec<ProfileTable>,
}

/// Table of a profile.
#[derive(Clone, Debug, Default)]
pub struct ProfileTable {
    /// Name; empty for the table of the methods.
    pub name: String,
    /// Kind of the rows' keys.
    pub key: KeyKind,
    /// Columns in the order of their declaration.
    pub columns: Vec<Column>,
    /// Rows, in the order of their keys.
    pub rows: Vec<ProfileRow>,
    /// Number of values that found no room in the recording; the other values are then lower
    /// bounds. It is at least 1 for a table that ended, and whose room a later table took.
    pub lost: u64,
    /// Sites with a value that found no room; 0 = any site.
    incomplete: BTreeSet<u32>,
    /// Nanoseconds per tick of the recording's clock.
    tick_ns: TickNs,
}

/// Row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRow {
    /// Key of the row.
    pub key: RowKey,
    /// Columns with a value, and their words.
    words: Vec<(u16, u64)>,
    /// True if a value of its site found no room in the recording. Numbers that are added up are
    /// then lower bounds, and further rows of the site may be missing.
    pub is_incomplete: bool,
}

/// Key of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKey {
    /// A site.
    Site(SiteId),
    /// A site and a subject.
    Subject(SiteId, Subject),
    /// A callee, and its caller if the caller was observed.
    Caller(SiteId, Option<SiteId>),
    /// A calling context: a site, and the id of the context that called it. Site 0 is code without
    /// hooks.
    Context(SiteId, u64),
    /// A callee, the kind that stands for a type, and the value that has the type.
    Type(SiteId, KindId, TypeKey),
    /// A number that has the same meaning in all processes. Site and kind belong to the event
    /// around the sample, and to its subject; 0 = none.
    Sampled(SiteId, KindId, u64),
}

impl RowKey {
    /// Returns the site; for a pair of methods, the callee.
    pub fn site(self) -> SiteId {
        match self {
            RowKey::Site(site)
            | RowKey::Subject(site, _)
            | RowKey::Caller(site, _)
            | RowKey::Context(site, _)
            | RowKey::Type(site, ..)
            | RowKey::Sampled(site, ..) => site,
        }
    }

    fn of(kind: KeyKind, key: Key) -> Self {
        let site = SiteId(key.site);
        match kind {
            KeyKind::Site => RowKey::Site(site),
            KeyKind::Subject => {
                RowKey::Subject(site, Subject::new(KindId(key.second as u16), key.key))
            }
            KeyKind::Type => {
                RowKey::Type(site, KindId(key.second as u16), TypeKey::unpack(key.key))
            }
            KeyKind::Caller => {
                RowKey::Caller(site, Some(SiteId(key.second)).filter(|caller| caller.0 != 0))
            }
            KeyKind::Context => RowKey::Context(site, key.key),
            KeyKind::Sampled => RowKey::Sampled(site, KindId(key.second as u16), key.key),
        }
    }
}

impl ProfileRow {
    /// Returns the value of a column of its table.
    pub fn value(&self, table: &ProfileTable, column: usize) -> Value {
        let word = self
            .words
            .iter()
            .find(|(at, _)| usize::from(*at) == column)
            .map_or(0, |(_, word)| *word);
        let Some(column) = table.columns.get(column).filter(|_| word != 0) else {
            return Value::Empty;
        };
        let value = column.merge.value(word);
        match &column.kind {
            ColumnKind::Number if column.at_most.is_some_and(|most| value >= most) => {
                Value::AtLeast(value)
            }
            ColumnKind::Number if self.is_incomplete && column.merge != Merge::Min => {
                Value::AtLeast(value)
            }
            ColumnKind::Number => Value::Number(value),
            ColumnKind::Ticks if self.is_incomplete && column.merge != Merge::Min => {
                Value::AtLeastNs(table.tick_ns.ns(value))
            }
            ColumnKind::Ticks => Value::Ns(table.tick_ns.ns(value)),
            ColumnKind::Choice(names) => {
                match value.checked_sub(1).and_then(|at| names.get(at as usize)) {
                    Some(name) => Value::Choice(name.clone()),
                    None => Value::Number(value),
                }
            }
            ColumnKind::Flags(names) => {
                let flag = |bit: usize| 1 << bit;
                let set =
                    names.iter().take(64).enumerate().filter(|(bit, _)| value & flag(*bit) != 0);
                Value::Flags(set.map(|(_, name)| name.clone()).collect())
            }
        }
    }
}

impl ProfileTable {
    /// Returns true if a value of this site found no room. Its rows are then lower bounds, and some
    /// may be missing.
    pub fn is_incomplete(&self, site: SiteId) -> bool {
        self.incomplete.contains(&site.0) || self.incomplete.contains(&0)
    }

    /// Returns the row of a key.
    pub fn row(&self, key: RowKey) -> Option<&ProfileRow> {
        self.rows.binary_search_by_key(&key, |row| row.key).ok().map(|at| &self.rows[at])
    }

    /// Returns the index of a column.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Returns the value of a named column in the row of a key.
    pub fn value(&self, key: RowKey, column: &str) -> Value {
        match (self.row(key), self.column(column)) {
            (Some(row), Some(column)) => row.value(self, column),
            _ => Value::Empty,
        }
    }
}

impl Profile {
    /// Returns the table with this name; the table of the methods has an empty name.
    pub fn table(&self, name: &str) -> Option<&ProfileTable> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Returns true for a table by caller beside a table of the methods: it has the same values,
    /// divided.
    pub fn is_divided(&self, table: &ProfileTable) -> bool {
        table.key == KeyKind::Caller && self.tables.iter().any(|other| other.key == KeyKind::Site)
    }
}

impl Store {
    /// Returns the present tables of each installation of a method profiler, in the order of the
    /// installations. A call that several installations saw counts in each;
    /// [`Store::united_profiles`] counts it once.
    pub fn profiles(&self) -> Vec<Profile> {
        self.profiles_of(self.declared_tables())
    }

    /// Returns the united tables of all installations of each method profiler. A call that several
    /// of them saw counts once.
    pub fn united_profiles(&self) -> Vec<Profile> {
        self.profiles_of(self.united_tables())
    }

    fn profiles_of(&self, tables: Vec<DeclaredTable>) -> Vec<Profile> {
        let mut profiles: Vec<Profile> = Vec::new();
        let tick_ns = TickNs::of(self);
        for DeclaredTable { def, raw } in tables {
            let is_incomplete =
                |site| raw.incomplete.contains(&site) || raw.incomplete.contains(&0);
            let row = |(key, words): (Key, _)| {
                let is_incomplete = is_incomplete(key.site);
                ProfileRow { key: RowKey::of(def.key, key), words, is_incomplete }
            };
            let mut rows: Vec<ProfileRow> = raw.rows.into_iter().map(row).collect();
            rows.sort_unstable_by_key(|row| row.key);
            let found = profiles.iter().position(|profile| {
                (profile.installation, &profile.name) == (def.installation, &def.profile)
            });
            let TableDef { profile, installation, name, key, columns } = def;
            let table = ProfileTable {
                name,
                key,
                columns,
                rows,
                lost: raw.lost,
                incomplete: raw.incomplete,
                tick_ns,
            };
            match found {
                Some(at) => profiles[at].tables.push(table),
                None => profiles.push(Profile { name: profile, installation, tables: vec![table] }),
            }
        }
        profiles
    }

    /// Returns the latest profile of a profiler with this name.
    pub fn profile(&self, name: &str) -> Option<Profile> {
        self.profiles().into_iter().rfind(|profile| profile.name == name)
    }

    /// Returns the number of values of all profilers that found no room, and whose table is not
    /// known.
    pub fn lost_profile_values(&self) -> u64 {
        self.words().get(sb::PROFILES_LOST)
    }
}

//! The tables of sampled functions, as they are written.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::io;

use metaspy_format::arena::TEXT_MAX;
use metaspy_format::profile::{Column, ColumnKind, Key, KeyKind, Merge, TableDef};

use super::PROFILE;
use crate::append::{AppendedRow, Room};

/// Number of equal parts of the room, of which the last stays free. Other tables by site are small
/// and fit there, and others may append later.
pub const ROOM_PARTS: usize = 4;
/// Site number of samples outside all events.
const NO_SITE: u32 = 0;

/// Row of a function.
#[derive(Clone, Copy, Debug)]
pub struct FunctionRow<'a> {
    /// Number of the function, the same in all recordings.
    pub number: u64,
    /// Name, file, owner and module.
    pub names: [&'a str; 4],
    /// Own samples and their ticks, total samples and their ticks.
    pub values: [u64; 4],
}

/// Adds the functions, those with the most samples first, until the room for names is full. Returns
/// their number.
///
/// A declaration can name a limited number of functions, so there may be several tables.
pub fn add_functions<'a>(
    rows: impl Iterator<Item = FunctionRow<'a>>,
    room: &mut Room,
) -> io::Result<usize> {
    let mut left = room.bytes() / ROOM_PARTS * (ROOM_PARTS - 1);
    let mut part = Part::default();
    let mut kept = 0;
    let mut lost = 0;
    for row in rows {
        let [name, file, _, module] = row.names;
        // JSON adds quotes and a comma, and may escape letters.
        let bytes = 2 * (name.len() + file.len() + module.len()) + 12;
        if bytes > left.min(TEXT_MAX / 2) {
            lost += 1;
            continue;
        }
        if part.bytes + bytes > TEXT_MAX / 2 {
            kept += std::mem::take(&mut part).add_to(room, 0)?;
        }
        left -= bytes;
        part.bytes += bytes;
        let mut words: Vec<u64> =
            part.names.iter_mut().zip(row.names).map(|(column, name)| column.word(name)).collect();
        words.extend(row.values);
        part.rows.push((sampled(row.number), words));
    }
    Ok(kept + part.add_to(room, lost)?)
}

/// Makes the key of a row without an event.
pub fn sampled(number: u64) -> Key {
    Key { site: NO_SITE, second: 0, key: number }
}

/// Declares a table of the profile.
pub fn table(name: &str, columns: Vec<Column>) -> TableDef {
    TableDef {
        profile: PROFILE.to_owned(),
        name: name.to_owned(),
        key: KeyKind::Sampled,
        columns,
        ..TableDef::default()
    }
}

/// Makes a column whose numbers are the same in every process.
pub fn number(name: &str) -> Column {
    Column::new(name).merged_by(Merge::Max)
}

/// Functions of a single table.
#[derive(Default)]
struct Part {
    names: [Words; 4],
    rows: Vec<AppendedRow>,
    /// Upper limit of the bytes that the names need.
    bytes: usize,
}

impl Part {
    fn add_to(self, room: &mut Room, lost: u64) -> io::Result<usize> {
        let names = self.names.into_iter().zip(["name", "file", "owner", "module"]);
        let mut columns: Vec<Column> = names.map(|(words, name)| words.column(name)).collect();
        columns.extend([Column::new("samples"), Column::ticks("cpu")]);
        columns.extend([Column::new("total samples"), Column::ticks("total cpu")]);
        room.add(table("", columns), &self.rows, lost)
    }
}

/// Distinct texts of a column.
#[derive(Default)]
struct Words {
    all: Vec<String>,
    places: HashMap<String, u64>,
}

impl Words {
    /// Returns the word of a text: its index + 1, or 0 for an empty text.
    fn word(&mut self, text: &str) -> u64 {
        if text.is_empty() {
            return 0;
        }
        if let Some(&place) = self.places.get(text) {
            return place;
        }
        self.all.push(text.to_owned());
        self.places.insert(text.to_owned(), self.all.len() as u64);
        self.all.len() as u64
    }

    fn column(self, name: &str) -> Column {
        Column { kind: ColumnKind::Choice(self.all), ..number(name) }
    }
}

/// FNV-1a hash, which is the same in every process and never 0.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0.max(1)
    }
}

/// Hashes the value that a number stands for, the same in every process.
pub fn hash_of(of: &impl Hash) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    of.hash(&mut hasher);
    hasher.finish()
}

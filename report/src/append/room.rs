//! Free room of a recording for tables: pages of profiles, and bytes for names.

use std::io;
use std::path::Path;

use metaspy_format::arena::{Entry, TEXT_MAX, head, push_text};
use metaspy_format::profile::page::{self, Content, HEAD_WORDS, HEADER_WORDS, Kind};
use metaspy_format::profile::{Key, ROWS_MAX, TableDef};
use metaspy_reader::Store;

use super::{Space, append};

/// First number of appended tables. Tables of method profilers are numbered from 0.
const FIRST_TABLE: u32 = 0x8000_0000;

/// Row of an appended table: its key, and a word for each column.
pub type AppendedRow = (Key, Vec<u64>);

/// Tables that will be appended to a recording, and the room left for them.
#[derive(Debug)]
pub struct Room {
    installation: u32,
    tables: u32,
    pages: Vec<u64>,
    pages_left: usize,
    entries: Vec<u64>,
    arena_left: usize,
}

impl Room {
    /// Measures the room of a recording whose process has ended.
    pub fn of(store: &Store) -> Room {
        let installation = FIRST_TABLE + store.profiles().len() as u32;
        let left = Space::of(store);
        Room {
            installation,
            tables: 0,
            pages: Vec::new(),
            pages_left: left.tables,
            entries: Vec::new(),
            arena_left: left.names,
        }
    }

    /// Number of rows that still fit, in a table with this many columns.
    pub fn rows(&self, columns: usize) -> usize {
        let fixed = 3 * HEADER_WORDS + HEAD_WORDS;
        (self.pages_left.saturating_sub(fixed) / (Key::WORDS + columns)).min(ROWS_MAX as usize)
    }

    /// Number of bytes that still fit for names.
    pub fn bytes(&self) -> usize {
        self.arena_left * 8
    }

    /// Adds a table that already lacks `lost` rows. Rows without room are counted as lost as well.
    /// Returns the number of added rows, or 0 if the table itself finds no room.
    pub fn add(&mut self, def: TableDef, rows: &[AppendedRow], lost: u64) -> io::Result<usize> {
        let kept = &rows[..rows.len().min(self.rows(def.columns.len()))];
        if kept.is_empty() {
            return Ok(0);
        }
        let Some(table) = self.declare(def)? else { return Ok(0) };
        let before = self.pages.len();
        let lost = lost + (rows.len() - kept.len()) as u64;
        self.page(
            Content { table, kind: Kind::Head },
            &[&[lost], &[0; HEAD_WORDS - 1][..]].concat(),
        );
        let keys: Vec<u64> = kept.iter().flat_map(|(key, _)| [key.key, key.who()]).collect();
        self.page(Content { table, kind: Kind::Keys }, &keys);
        let values: Vec<u64> = kept.iter().flat_map(|(_, values)| values.iter().copied()).collect();
        self.page(Content { table, kind: Kind::Values }, &values);
        self.pages_left -= self.pages.len() - before;
        Ok(kept.len())
    }

    /// Adds a table with one column and a row for each site. Returns false if it finds no room.
    pub fn add_by_site(&mut self, def: TableDef, words: &[u64]) -> io::Result<bool> {
        if self.pages_left < 2 * HEADER_WORDS + HEAD_WORDS + words.len() {
            return Ok(false);
        }
        let Some(table) = self.declare(def)? else { return Ok(false) };
        let before = self.pages.len();
        self.page(Content { table, kind: Kind::Head }, &[0; HEAD_WORDS]);
        self.page(Content { table, kind: Kind::Values }, words);
        self.pages_left -= self.pages.len() - before;
        Ok(true)
    }

    /// Adds the declaration of a table. Returns the table's number, or `None` without room for it.
    fn declare(&mut self, def: TableDef) -> io::Result<Option<u32>> {
        let table = self.installation + self.tables;
        let json = serde_json::to_string(&TableDef { installation: self.installation, ..def })?;
        let mut entry = vec![0];
        push_text(&mut entry, &json);
        entry[0] = head(Entry::Table, entry.len(), table);
        // A longer text would be cut, and the table could not be read.
        if entry.len() > self.arena_left || json.len() > TEXT_MAX {
            return Ok(None);
        }
        self.arena_left -= entry.len();
        self.entries.extend(entry);
        self.tables += 1;
        Ok(Some(table))
    }

    fn page(&mut self, content: Content, words: &[u64]) {
        let mut header = [0; HEADER_WORDS];
        header[page::WORDS] = words.len() as u64;
        header[page::CONTENT] = content.pack();
        self.pages.extend(header);
        self.pages.extend(words);
    }

    /// Writes the tables into the recording's file.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        append(path, &self.pages, &self.entries)
    }
}

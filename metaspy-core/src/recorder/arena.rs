//! Writes the arena: names, labels, relations, views. No hook calls it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::format::arena::{Entry, head, push_text};
use crate::format::superblock as sb;
use crate::platform::lock::lock;
use crate::recorder::log::Log;

/// Bytes that labels and relations leave free, for the notes about a full disk.
const RESERVE: usize = 64 << 10;

/// An entry being built.
pub(crate) struct Draft {
    entry: Entry,
    a: u32,
    words: Vec<u64>,
}

impl Draft {
    pub fn new(entry: Entry, a: u32) -> Self {
        Draft { entry, a, words: vec![0] }
    }

    pub fn word(mut self, word: u64) -> Self {
        self.words.push(word);
        self
    }

    pub fn text(mut self, text: &str) -> Self {
        push_text(&mut self.words, text);
        self
    }
}

impl Log {
    /// Writes a sentence for people.
    pub fn note(&self, text: &str) {
        self.append(Draft::new(Entry::Note, 0).text(text));
    }

    /// Appends an entry. An entry without room is left out and counted.
    pub(crate) fn append(&self, draft: Draft) {
        let Draft { entry, a, mut words } = draft;
        words[0] = head(entry, words.len(), a);
        let writing = lock(&self.appending);
        let table = self.arena.area;
        let used = self.word(sb::ARENA_USED).load(Ordering::Relaxed) as usize;
        // Labels and relations leave room for the names of later sites and kinds.
        let is_many = matches!(entry, Entry::Label | Entry::Relation);
        let (room, ahead) = if is_many { (table.bytes() / 4 * 3, RESERVE) } else { (table.bytes(), 0) };
        let end = (used + words.len()) * 8;
        if end > room || !self.reserve(&self.arena, (end + ahead).min(table.bytes())) {
            if self.word(sb::ARENA_LOST).fetch_add(1, Ordering::Relaxed) == 0 {
                drop(writing);
                self.note("The arena is full: some labels and relations are missing. Record with a larger budget.");
            }
            return;
        }
        let cells = self.cells();
        for (cell, word) in cells[table.at + used..].iter().zip(&words) {
            AtomicU64::store(cell, *word, Ordering::Relaxed);
        }
        self.word(sb::ARENA_USED).store((used + words.len()) as u64, Ordering::Release);
        drop(writing);
    }
}

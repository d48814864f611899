//! Writes the arena: names of the program, views, epochs, notes. No hook calls it.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::format::arena::{Entry, head, push_text};
use crate::format::superblock as sb;
use crate::platform::lock::lock;
use crate::recorder::growing_area::GrowingArea;
use crate::recorder::log::Log;

/// Bytes that are kept for the notes about a loss.
const RESERVE: usize = 1 << 10;

/// An entry being built.
pub struct Draft {
    pub(super) entry: Entry,
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

    /// The bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.words.len() * 8
    }

    /// Its words.
    pub(super) fn finish(mut self) -> Vec<u64> {
        self.words[0] = head(self.entry, self.words.len(), self.a);
        self.words
    }
}

impl Log {
    /// Writes a sentence for people.
    pub fn note(&self, text: &str) {
        self.append(Draft::new(Entry::Note, 0).text(text));
    }

    /// Appends an entry. An entry without room is left out and counted.
    pub fn append(&self, draft: Draft) {
        // Views, epochs, notes and marks come as long as the program runs. They leave a quarter to
        // the names of later sites.
        let room = match draft.entry {
            Entry::Site | Entry::Kind | Entry::Program => self.arena.area.bytes() - RESERVE,
            _ => self.arena.area.bytes() / 4 * 3,
        };
        let is_there = {
            let _appending = lock(&self.appending);
            self.write_entry(&self.arena, sb::ARENA_USED, room, &draft.finish())
        };
        if !is_there && self.word(sb::ARENA_LOST).fetch_add(1, Ordering::Relaxed) == 0 {
            self.note_loss(
                "There is no room for more names, views, tables or notes: some are missing. Set METASPY_BUDGET to a larger size.",
            );
        }
    }

    /// Writes a note about a loss, for which there is room.
    pub(super) fn note_loss(&self, text: &str) {
        let _appending = lock(&self.appending);
        let note = Draft::new(Entry::Note, 0).text(text).finish();
        self.write_entry(&self.arena, sb::ARENA_USED, self.arena.area.bytes(), &note);
    }

    /// Writes an entry behind the used words of an area, and counts its words there. False if it
    /// ends behind `room` bytes, or if the disk is full. The caller holds the lock of the area's
    /// writers.
    pub(super) fn write_entry(
        &self,
        stepped: &GrowingArea,
        used: usize,
        room: usize,
        entry: &[u64],
    ) -> bool {
        let used = self.word(used);
        let at = used.load(Ordering::Relaxed) as usize;
        let end = at + entry.len();
        if end * 8 > room || !stepped.reserve(end * 8) {
            return false;
        }
        for (cell, word) in self.cells()[stepped.area.at + at..].iter().zip(entry) {
            AtomicU64::store(cell, *word, Ordering::Relaxed);
        }
        used.store(end as u64, Ordering::Release);
        true
    }
}

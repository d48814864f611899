//! Writing the arena: names, labels, relations, views. Never called by a hook.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::format::arena::{Entry, head, push_text};
use crate::format::superblock as sb;
use crate::log::Log;

/// Serialises the writers of the arena.
pub(crate) struct Arena {
    writing: Mutex<()>,
}

/// One entry in the making.
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

impl Arena {
    pub fn new() -> Self {
        Arena { writing: Mutex::new(()) }
    }
}

impl Log {
    /// Appends an entry; without room it is counted and left out.
    pub(crate) fn append(&self, draft: Draft) {
        let Draft { entry, a, mut words } = draft;
        words[0] = head(entry, words.len(), a);
        let writing = self.arena.writing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let table = self.layout.arena;
        let used = self.word(sb::ARENA_USED).load(Ordering::Relaxed) as usize;
        // What labels and relations may take leaves room for the names of sites and kinds that come later.
        let room = if matches!(entry, Entry::Label | Entry::Relation) { table.bytes / 4 * 3 } else { table.bytes };
        if (used + words.len()) * 8 > room {
            if self.word(sb::ARENA_LOST).fetch_add(1, Ordering::Relaxed) == 0 {
                drop(writing);
                self.note("There was no room for all labels and relations; a larger budget has more.");
            }
            return;
        }
        let cells = self.cells();
        for (cell, word) in cells[table.word() + used..].iter().zip(&words) {
            AtomicU64::store(cell, *word, Ordering::Relaxed);
        }
        self.word(sb::ARENA_USED).store((used + words.len()) as u64, Ordering::Release);
        drop(writing);
    }
}

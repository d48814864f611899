//! The words of a recording, as its format places them.

use metaspy_core::format::row::{COUNT, FAILED_PANICKED, KEY, ROW_WORDS, WHO, Who, array, page};
use metaspy_core::format::superblock as sb;
use metaspy_core::{Recording, Subject};

/// A recording whose rows a test can change.
pub struct Words(memmap2::MmapRaw);

impl Words {
    pub fn of(recording: &Recording) -> Self {
        let file = std::fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(recording.path().expect("it has a file"));
        Words(
            memmap2::MmapOptions::new()
                .map_raw(&file.expect("it is there"))
                .expect("it can be mapped"),
        )
    }

    fn at(&self, word: usize) -> *mut u64 {
        assert!(word * 8 < self.0.len());
        // SAFETY: the word is within the map.
        unsafe { self.0.as_mut_ptr().cast::<u64>().add(word) }
    }

    /// The word at a place.
    pub fn get(&self, word: usize) -> u64 {
        // SAFETY: it is a word of the map, which this thread alone writes meanwhile.
        unsafe { self.at(word).read_volatile() }
    }

    /// Places of all words that count how calls on a subject failed.
    fn failures(&self, subject: Subject) -> Vec<usize> {
        let kind = subject.kind.0;
        let (mut at, end) =
            (self.get(sb::PAGES) as usize / 8, self.get(sb::PAGES_USED) as usize / 8);
        let (end, mut found) = (at + end, Vec::new());
        while at < end {
            let first = at + page::HEADER_WORDS;
            let head = |word| self.get(at + word);
            let rows = if head(page::WHO) == 0 { head(page::ROWS) as usize } else { 0 };
            for row in (0..rows).map(|row| first + row * ROW_WORDS) {
                let who = self.get(row + WHO);
                if who != 0 && Who::unpack(who).kind == kind && self.get(row + KEY) == subject.key {
                    found.push(row + FAILED_PANICKED);
                }
            }
            if let Some(shape) = array::Shape::read(head(page::LENGTH), head(page::BUCKETS)) {
                let rows = shape.rows().filter(|_| Who::unpack(head(page::WHO)).kind == kind);
                let own = rows.filter(|(key, _)| match *key {
                    array::Key::Is(key) => key == subject.key,
                    array::Key::At(at) => self.get(first + at) == subject.key,
                });
                let counted = own.filter(|(_, row)| self.get(first + row) != 0);
                found.extend(counted.map(|(_, row)| first + row + FAILED_PANICKED - COUNT));
            }
            at = first + head(page::ROWS) as usize * ROW_WORDS;
        }
        found
    }

    /// How many pages are arrays.
    pub fn arrays(&self) -> usize {
        let (mut at, end) =
            (self.get(sb::PAGES) as usize / 8, self.get(sb::PAGES_USED) as usize / 8);
        let (end, mut arrays) = (at + end, 0);
        while at < end {
            arrays += usize::from(self.get(at + page::WHO) != 0);
            at += page::HEADER_WORDS + self.get(at + page::ROWS) as usize * ROW_WORDS;
        }
        arrays
    }

    /// Lets the rows of a subject have failed this often, and panicked as often; returns how many
    /// rows there are.
    pub fn preset(&self, subject: Subject, failed: u32, panicked: u32) -> u64 {
        let rows = self.failures(subject);
        for word in &rows {
            // SAFETY: as in `get`.
            unsafe { self.at(*word).write_volatile(metaspy_core::format::join(failed, panicked)) };
        }
        rows.len() as u64
    }
}

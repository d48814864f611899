//! Packs the file of a closed log, so that it is as long as its content.
//!
//! While a log is written, each area has room for all that may come, and the file is as long as all
//! areas together. At the end a copy takes the place of the file, in which each area ends behind
//! its used part. Readers that have the file open keep it. This process maps the copy at the
//! addresses of the file, because threads may still end calls there. A hook that needs a new row or
//! page of a table meanwhile finds no room, and continues in the recording that follows.
//!
//! Areas with room for everything are used instead of pages from one pool, because hooks and
//! readers find a word by one addition. Older readers can read the copy. If the copy would hold a
//! quarter of the file, the file is only cut behind its last block.
//!
//! A process that is killed meanwhile leaves the file as it was, with all its content. The copy is
//! no recording before its first word is written, and then it takes the place of the file at once.
//! So no call is counted twice where a directory of recordings is read. The next recording at the
//! path removes the remains of a copy, and so does `metaspy clean`.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use metaspy_reader::platform::{map, writer_lock};

use crate::format::layout::Area;
use crate::format::profile::page as table_page;
use crate::format::row::{self, ROW_WORDS, page};
use crate::format::superblock::{self as sb, calibration, lane};
use crate::format::{BLOCK_BYTES, CHUNK_BLOCKS, summary};
use crate::identity::{copy_of, remove_dead};
use crate::platform::lock::lock;
use crate::platform::process::largest_file;
use crate::recorder::level::Level;
use crate::recorder::log::{Log, has_file};
use crate::recorder::own_file::OwnFile;
use crate::recorder::protocol::claim;
use crate::recorder::tables::Tables;
use crate::store::Ring;

/// A file is packed if that makes it this many times shorter.
const WORTH: u64 = 4;
/// The longest packed file in bytes. Copying it takes some 10 ms: so little time that a program
/// which ends at that moment, or the next rotation, does not meet a file that is half closed.
const MOST: u64 = 6 << 20;
/// Words of a memory page.
const PAGE: usize = 4096 / 8;
/// Words that are moved at a time: so few that the allocator has their memory at hand, which halves
/// the time.
const STEP: usize = (64 << 10) / 8;
/// Words that late names and statements may take.
const SPARE: usize = 256;
/// Times that a late sum is read again, before it is taken for stored.
const MOMENTS: usize = 100;
/// Rows of lanes for threads that begin late.
const SPARE_LANES: usize = 16;
/// Bytes of the pages of threads that begin late: two of the smallest pages.
const SPARE_PAGES: usize = 2 * 8 * (page::HEADER_WORDS + 64 * ROW_WORDS);

/// A range of words, and the word where it begins in the packed file.
#[derive(Clone, Copy)]
struct Piece {
    from: Area,
    to: usize,
}

/// The packed file.
struct Plan {
    /// In the order of their addresses, each at whole pages.
    pieces: Vec<Piece>,
    /// Words of the first page that differ.
    first_page: Vec<(usize, u64)>,
    words: usize,
}

impl Log {
    /// Replaces the file by a packed one. False if that is not worth it or fails; the file stays as
    /// it is then. The caller holds the collector's lock, and the log is stopped.
    pub(super) fn pack(&self) -> bool {
        // Allocations from here on are not the program's.
        let _meta = Level::raise(1);
        let Some(own) = &self.file else { return false };
        let Ok(before) = own.get().and_then(File::metadata) else { return false };
        // Events are folded only when all blocks are in use. A file that another process has cut is
        // not read.
        let packed_bytes = self.plan().words as u64 * 8;
        let is_long = self.word(sb::TALLY_USED).load(Ordering::Acquire) == 0
            && (Ring { words: self.region.words(), layout: &self.layout }).folds().folded == 0
            && packed_bytes <= MOST
            && packed_bytes * WORTH < before.len()
            && before.len() == self.layout.total_bytes() as u64;
        if !is_long || !own.is_at_its_path() {
            return false;
        }
        self.freeze();
        let plan = self.plan();
        let Ok(packed) = self.replace_file(own, &plan) else {
            self.thaw();
            return false;
        };
        // Those who read the replaced file see that it has ended.
        self.word(sb::STATE).store(sb::STATE_CLOSED, Ordering::Release);
        self.map_packed(own, &packed, &plan);
        own.become_copy(&packed);
        true
    }

    /// Keeps threads from taking more of an area than its used part and some spare room.
    fn freeze(&self) {
        let whole = AtomicUsize::new(self.layout.pages.bytes());
        self.pages_room.store(0, Ordering::Release);
        self.profiles.set_room(0);
        // A thread that has found room a moment ago takes the same place as these claims. One of
        // the two finds it taken.
        let _ = Tables { pages_room: &whole, ..self.tables() }.new_page(1);
        let length = |words: u64| (words + table_page::HEADER_WORDS as u64) * 8;
        let _ = claim(self.word(sb::PROFILES_USED), 1, length, |at: u64| {
            let has_room = at + length(1) <= self.profiles.allocated() as u64;
            has_room
                .then(|| &self.cells()[self.profiles.area.at + at as usize / 8 + table_page::WORDS])
        });
        let pages = self.used(sb::PAGES_USED) + SPARE_PAGES;
        self.pages_room.store(pages.min(self.layout.pages.bytes()), Ordering::Release);
        let lanes = self.used(sb::LANES_USED) + SPARE_LANES;
        self.lanes_room.fetch_min(lanes as u64, Ordering::AcqRel);
        let appending = lock(&self.appending);
        self.arena.set_room(8 * self.kept(sb::ARENA, self.arena.area));
        drop(appending);
        let _waiting = lock(&self.statements.waiting);
        for half in &self.statements.halves {
            half.set_room(8 * self.kept_half());
        }
        self.keep_blocks();
    }

    /// Gives all areas their whole room again.
    fn thaw(&self) {
        self.pages_room.store(self.layout.pages.bytes(), Ordering::Release);
        self.lanes_room.store((self.layout.lanes.len / lane::WORDS) as u64, Ordering::Release);
        for stepped in [&self.profiles, &self.arena].into_iter().chain(&self.statements.halves) {
            stepped.set_room(stepped.area.bytes());
        }
    }

    fn used(&self, word: usize) -> usize {
        self.word(word).load(Ordering::Acquire) as usize
    }

    /// Words of an area that the packed file has: whole pages.
    fn kept(&self, word: usize, area: Area) -> usize {
        let words = match word {
            sb::CALIBRATION => self.used(sb::CALIBRATION_USED) * calibration::WORDS,
            sb::PAGES => (self.used(sb::PAGES_USED) + SPARE_PAGES) / 8,
            sb::LANES => (self.used(sb::LANES_USED) + 2 * SPARE_LANES) * lane::WORDS,
            sb::ARENA => self.used(sb::ARENA_USED) + SPARE,
            sb::STATEMENTS => 2 * self.kept_half(),
            sb::PROFILES => self.used(sb::PROFILES_USED) / 8,
            sb::SUMMARIES => self.used(sb::FRESH).div_ceil(CHUNK_BLOCKS) * summary::SUMMARY_WORDS,
            sb::CHUNKS => self.kept_blocks() as usize * (BLOCK_BYTES / 8),
            sb::KEPT => self.used(sb::KEPT_USED) * sb::kept::WORDS,
            sb::TALLY => 0,
            _ => area.len,
        };
        words.min(area.len).next_multiple_of(PAGE)
    }

    /// Words of each half of the statements.
    fn kept_half(&self) -> usize {
        let used = self.used(sb::STATEMENTS_USED).max(self.used(sb::STATEMENTS_USED + 1));
        (used + SPARE).next_multiple_of(PAGE).min(self.layout.half(0).len)
    }

    fn plan(&self) -> Plan {
        let mut areas: Vec<(usize, &str, Area)> = self.layout.areas().collect();
        areas.sort_by_key(|(_, _, area)| area.at);
        let mut plan = Plan {
            pieces: vec![Piece { from: Area { at: 0, len: PAGE }, to: 0 }],
            first_page: vec![(sb::STATE, sb::STATE_CLOSED)],
            words: PAGE,
        };
        for (word, _, area) in areas {
            let to = plan.words;
            let len = self.kept(word, area);
            plan.first_page.extend([(word, to as u64 * 8), (word + 1, len as u64 * 8)]);
            plan.words += len;
            if word == sb::STATEMENTS {
                let halves = [0, 1].map(|turn| Area { len: len / 2, ..self.layout.half(turn) });
                plan.pieces.push(Piece { from: halves[0], to });
                plan.pieces.push(Piece { from: halves[1], to: to + len / 2 });
            } else if len > 0 {
                plan.pieces.push(Piece { from: Area { at: area.at, len }, to });
            }
            if word == sb::CHUNKS {
                let whole = to as u64 * 8 + self.layout.blocks * BLOCK_BYTES as u64;
                plan.first_page.push((sb::TOTAL_BYTES, whole));
            }
        }
        plan
    }

    /// Writes the packed file and puts it in the place of the file.
    fn replace_file(&self, own: &OwnFile, plan: &Plan) -> io::Result<OwnFile> {
        let path = copy_of(own.path());
        remove_dead(&path, has_file)?;
        let packed = OwnFile::create(&path)?;
        let replaced = self.write_packed(own.get()?, packed.get()?, plan);
        let replaced = replaced.and_then(|()| std::fs::rename(&path, own.path()));
        replaced.inspect_err(|_| drop(std::fs::remove_file(&path)))?;
        Ok(packed)
    }

    fn write_packed(&self, file: &File, packed: &File, plan: &Plan) -> io::Result<()> {
        // The program may have lowered the limit, and a write beyond it ends the program.
        if plan.words as u64 * 8 > largest_file() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        writer_lock::take(packed);
        let old = file.metadata()?;
        let new = packed.metadata()?;
        if (old.uid(), old.gid()) != (new.uid(), new.gid()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        packed.set_permissions(old.permissions())?;
        for step in plan.steps() {
            // Without its first word it is no recording.
            let skipped = if step.to == sb::MAGIC { 1 } else { 0 };
            let words = plan.words_of(step, self.load(step));
            packed.write_all_at(&bytes_of(&words[skipped..]), (step.to + skipped) as u64 * 8)?;
        }
        for step in plan.steps() {
            let mut read = read_words(packed, step.to, step.from.len)?;
            if step.to == sb::MAGIC {
                read[sb::MAGIC] = sb::MAGIC_WORD;
            }
            if read != plan.words_of(step, self.load(step)) {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
        }
        packed.write_all_at(&sb::MAGIC_WORD.to_ne_bytes(), sb::MAGIC as u64 * 8)
    }

    fn load(&self, step: Piece) -> Vec<u64> {
        let cells = &self.cells()[step.from.at..][..step.from.len];
        cells.iter().map(|cell| cell.load(Ordering::Acquire)).collect()
    }

    /// Maps the packed file at the addresses of the file. Words that other threads store meanwhile
    /// are in one of both files, and are brought into the packed one.
    fn map_packed(&self, own: &OwnFile, packed: &OwnFile, plan: &Plan) {
        let moved = own.get().and_then(|file| {
            let packed = packed.get()?;
            plan.steps().try_for_each(|step| self.map_step(file, packed, plan, step))
        });
        if moved.is_err() {
            // The other pages are of the replaced file. It is not known whether a call is counted
            // there.
            self.count(sb::UNNAMED, 1);
            return;
        }
        let mut at = 0;
        let end = Piece { from: Area { at: self.layout.total_bytes() / 8, len: 0 }, to: 0 };
        for piece in plan.pieces.iter().chain([&end]) {
            let unused = &self.cells()[at..piece.from.at];
            if !unused.is_empty() {
                // SAFETY: nothing is stored there any more: the areas have no room for it. It is
                // read as zeros.
                unsafe { map::cover(unused.as_ptr().cast_mut().cast(), size_of_val(unused)) };
            }
            at = piece.from.at + piece.from.len;
        }
    }

    fn map_step(&self, file: &File, packed: &File, plan: &Plan, step: Piece) -> io::Result<()> {
        let before = self.load(step);
        packed.write_all_at(&bytes_of(&plan.words_of(step, before.clone())), step.to as u64 * 8)?;
        let cells = &self.cells()[step.from.at..][..step.from.len];
        // SAFETY: the pages hold the same words as the ones they replace, except for those that are
        // compared below.
        unsafe {
            map::replace(
                cells.as_ptr().cast_mut().cast(),
                size_of_val(cells),
                packed,
                step.to as u64 * 8,
            )?
        };
        // No thread stores into the file's pages from here on.
        for (at, after) in read_words(file, step.from.at, step.from.len)?.into_iter().enumerate() {
            let word = step.from.at + at;
            let cell = &cells[at];
            if after == before[at] || plan.is_in_first_page(word) {
                continue;
            }
            match self.column(word) {
                Some(row::MAX) => _ = cell.fetch_max(after, Ordering::AcqRel),
                Some(_) => carry_sum(cell, before[at], after),
                None if carry(cell, before[at], after) => {}
                None => self.count(sb::UNNAMED, 1),
            }
        }
        Ok(())
    }

    /// The column of a word in the rows of threads. Heads of pages are as long as a row.
    fn column(&self, word: usize) -> Option<usize> {
        let at = word.checked_sub(self.layout.pages.at)?;
        (at < self.layout.pages.len).then_some(at % ROW_WORDS)
    }
}

impl Plan {
    /// The pieces in steps of bounded size.
    fn steps(&self) -> impl Iterator<Item = Piece> {
        self.pieces.iter().flat_map(|piece| {
            (0..piece.from.len).step_by(STEP).map(|at| Piece {
                from: Area { at: piece.from.at + at, len: STEP.min(piece.from.len - at) },
                to: piece.to + at,
            })
        })
    }

    /// True if the word at `at` is one of the first page that differs.
    fn is_in_first_page(&self, at: usize) -> bool {
        self.first_page.iter().any(|(word, _)| *word == at)
    }

    /// The words of a step in the packed file, from its words in this log.
    fn words_of(&self, step: Piece, mut words: Vec<u64>) -> Vec<u64> {
        if step.from.at == 0 {
            self.first_page.iter().for_each(|(at, word)| words[*at] = *word);
        }
        words
    }
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Reads words of a file from the word `at` on.
fn read_words(file: &File, at: usize, len: usize) -> io::Result<Vec<u64>> {
    let mut bytes = vec![0; len * 8];
    file.read_exact_at(&mut bytes, at as u64 * 8)?;
    Ok(bytes.as_chunks().0.iter().map(|word| u64::from_ne_bytes(*word)).collect())
}

/// Brings a late value of a word into the packed file. False if it was stored in both files, as a
/// counter of a table is that is increased all the time: if a thread increases it at this very
/// moment, too, the sum is lost.
fn carry(cell: &AtomicU64, before: u64, after: u64) -> bool {
    if cell.compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        return true;
    }
    cell.fetch_add(after.wrapping_sub(before), Ordering::AcqRel);
    false
}

/// As [`carry`], for a sum of a row: each call is counted in one of both files, so both together
/// count all.
fn carry_sum(cell: &AtomicU64, before: u64, after: u64) {
    if cell.compare_exchange(before, after, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        return;
    }
    let late = after.wrapping_sub(before);
    let mut sum = cell.fetch_add(late, Ordering::AcqRel).wrapping_add(late);
    // Its thread adds with one instruction, but without a lock: it may store, within moments, a sum
    // of a value that it has read before.
    for _ in 0..MOMENTS {
        std::hint::spin_loop();
        if (cell.load(Ordering::Acquire).wrapping_sub(sum) as i64) < 0 {
            sum = cell.fetch_add(late, Ordering::AcqRel).wrapping_add(late);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_stored_while_its_page_is_moved_keeps_its_last_value() {
        // Each: the value that was copied, the one in the file, the one in the packed file, and the
        // expected result.
        for (before, after, packed, expected, is_sure) in [(5, 7, 5, 7, true), (5, 7, 6, 8, false)]
        {
            let cell = AtomicU64::new(packed);
            assert_eq!(carry(&cell, before, after), is_sure);
            assert_eq!(cell.into_inner(), expected);
            let cell = AtomicU64::new(packed);
            carry_sum(&cell, before, after);
            assert_eq!(cell.into_inner(), expected);
        }
    }
}

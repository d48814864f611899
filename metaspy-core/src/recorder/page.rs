//! Pages: what a lane counts without an event. They lie in the recording, belong to one lane at a time, and are
//! written with plain relaxed stores, so that a reader sees them whether the thread runs, idles or hangs.

use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::Release};

use crate::event::Outcome;
use crate::format::row::{self, OTHERS, ROW_WORDS, Who, page as head};
use crate::format::superblock as sb;
use crate::recorder::log::Log;
use crate::recorder::protocol::claim;

/// Rows of a lane's first page.
const FIRST_ROWS: usize = 64;
/// Rows of a page at most.
const MOST_ROWS: usize = 1 << 16;

/// The newest page of a lane. Rows in its older pages stay and count; they are not looked at again.
pub(crate) struct Page {
    /// Address of the first row; 0 = no page.
    rows: AtomicUsize,
    /// Capacity minus one.
    mask: AtomicUsize,
    /// Bits of an index.
    bits: AtomicUsize,
    used: AtomicUsize,
    /// Its place in the recording: the first word of its header.
    word: AtomicUsize,
}

/// The words of a row.
pub(crate) type RowCells = [AtomicU64; ROW_WORDS];

/// Where rows stand, and how many, in one word: a signal handler that changes it is seen whole or not at all.
///
/// Rows are aligned to their 64 bytes, so the low bits of their address have room for the shift that makes an index.
pub(crate) struct Rows(AtomicPtr<RowCells>);

const SHIFT: usize = 63;

#[repr(align(64))]
struct Nothing {
    _rows: [RowCells; 2],
}

/// Rows that no call matches: those of a page that is not there.
static NOTHING: Nothing = Nothing { _rows: [const { [const { AtomicU64::new(0) }; ROW_WORDS] }; 2] };

impl Rows {
    /// Rows that no call matches.
    pub const fn nothing() -> Self {
        Rows(AtomicPtr::new((&raw const NOTHING).cast_mut().wrapping_byte_add(63).cast()))
    }

    /// `1 << bits` rows, at least two, that are never unmapped.
    pub fn point(&self, rows: *const RowCells, bits: u32) {
        debug_assert!(rows.addr() & SHIFT == 0 && bits > 0, "{rows:?}, {bits} bits");
        self.0.store(rows.wrapping_byte_add(64 - bits as usize).cast_mut(), Relaxed);
    }

    /// No rows.
    pub fn forget(&self) {
        self.0.store(Rows::nothing().0.into_inner(), Relaxed);
    }

    /// The row of a subject at a site, if it stands where it is looked for first.
    #[inline(always)]
    pub fn look(&self, key: u64, who: u64) -> Option<Row<'static>> {
        let rows = self.0.load(Relaxed);
        let first = row::product(key, who).wrapping_shr(rows.addr() as u32) as usize;
        // SAFETY: they were pointed to as rows that stay, so many that every index of so many bits lies within.
        let row = unsafe { &*rows.map_addr(|address| address & !SHIFT).add(first) };
        (row[row::KEY].load(Relaxed) == key && row[row::WHO].load(Relaxed) == who).then_some(Row(row))
    }

    /// The row of a subject at a site, wherever it stands.
    pub fn look_further(&self, key: u64, who: u64) -> Option<Row<'static>> {
        let rows = self.0.load(Relaxed);
        let bits = 64 - (rows.addr() & SHIFT);
        let (rows, mask) = (rows.map_addr(|address| address & !SHIFT), (1 << bits) - 1);
        let first = row::first(key, who, bits as u32);
        for at in (first..=mask).chain(0..first) {
            // SAFETY: as in `look`; `at` has no more bits than an index.
            let row = unsafe { &*rows.add(at) };
            match row[row::WHO].load(Relaxed) {
                0 => return None,
                found if found == who && row[row::KEY].load(Relaxed) == key => return Some(Row(row)),
                _ => {}
            }
        }
        None
    }
}

/// The words of a row that its lane, and nobody else, may write.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a>(&'a RowCells);

impl Row<'_> {
    /// What their addresses are multiples of.
    pub const ALIGN: usize = SHIFT + 1;

    /// Where it is.
    #[inline(always)]
    pub fn place(self) -> *const RowCells {
        self.0
    }

    /// The row that was at this place.
    ///
    /// # Safety
    /// It came from [`Row::place`]; rows are never unmapped.
    pub unsafe fn at(place: *const RowCells) -> Self {
        // SAFETY: as the caller promises.
        Row(unsafe { &*place })
    }

    #[inline(always)]
    fn add(self, word: usize, by: u64) {
        self.0[word].store(self.0[word].load(Relaxed).wrapping_add(by), Relaxed);
    }

    /// Counts calls that begin.
    #[inline(always)]
    pub fn begun(self, calls: u64) {
        self.add(row::COUNT, calls);
    }

    /// As [`Row::begun`], in one instruction: a signal handler runs before or after it, so the lane need not be busy.
    #[inline(always)]
    pub fn begun_at_once(self) {
        self.add_at_once(row::COUNT, 1);
    }

    #[inline(always)]
    fn add_at_once(self, word: usize, by: u64) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the word is aligned and writable, and no other thread writes it; to readers it is one store.
        unsafe {
            std::arch::asm!("add qword ptr [{}], {}", in(reg) self.0[word].as_ptr(), in(reg) by, options(nostack));
        }
        #[cfg(not(target_arch = "x86_64"))]
        self.0[word].fetch_add(by, Relaxed);
    }

    /// As [`Row::outcome`], each word in one instruction.
    #[inline(always)]
    pub fn outcome_at_once(self, outcome: Outcome) {
        match row::outcome_words(outcome) {
            (0, cancelled) => self.add_at_once(row::CANCELLED_RUNNING, cancelled),
            (failed_panicked, _) => self.add_at_once(row::FAILED_PANICKED, failed_panicked),
        }
    }

    /// Counts how a call ended that is in this row already.
    pub fn outcome(self, outcome: Outcome) {
        let (failed_panicked, cancelled) = row::outcome_words(outcome);
        self.add(row::FAILED_PANICKED, failed_panicked);
        self.add(row::CANCELLED_RUNNING, cancelled);
    }

    /// Notes the end of an event that the collector had moved out of the window.
    pub fn late_end(self, outcome: Outcome, ticks: Option<u64>) {
        self.outcome(outcome);
        self.add(row::CANCELLED_RUNNING, 1 << 32);
        if let Some(ticks) = ticks {
            self.add(row::TIMED, 1);
            self.add(row::TOTAL, ticks);
            self.0[row::MAX].store(self.0[row::MAX].load(Relaxed).max(ticks), Relaxed);
        }
    }
}

impl Page {
    pub const fn none() -> Self {
        Page {
            rows: AtomicUsize::new(0),
            mask: AtomicUsize::new(0),
            bits: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            word: AtomicUsize::new(0),
        }
    }

    /// The row of a subject at a site, if it stands where it is looked for first.
    #[inline(always)]
    fn known(&self, key: u64, who: u64) -> Option<Row<'_>> {
        let rows = Rows::nothing();
        self.show(&rows);
        rows.look(key, who)
    }

    /// Points to its rows.
    pub fn show(&self, rows: &Rows) {
        match self.rows.load(Relaxed) as *const RowCells {
            own if own.is_null() => rows.forget(),
            own => rows.point(own, self.bits.load(Relaxed) as u32),
        }
    }

    /// The row of a subject at a site, made if need be; the row of the site's others if there is no room; `None` if
    /// there is not even that.
    pub fn row(&self, log: &Log, lane: u64, key: u64, who: u64) -> Option<Row<'_>> {
        self.known(key, who).or_else(|| self.search(log, lane, key, who))
    }

    #[inline(never)]
    fn search(&self, log: &Log, lane: u64, key: u64, who: u64) -> Option<Row<'_>> {
        if let Some(row) = self.probe(key, who, 4) {
            return Some(row);
        }
        if self.grow(log, lane)
            && let Some(row) = self.probe(key, who, 4)
        {
            return Some(row);
        }
        // No room for a row of its own: it joins the others of its site, for which an eighth of the page is kept.
        let who = Who { kind: OTHERS, ..Who::unpack(who) };
        let row = self.probe(0, who.pack(), 8);
        if row.is_some() {
            log.count(sb::OTHERS, 1);
        }
        row
    }

    /// Finds or makes a row, as long as at most `eighths` of the page are in use.
    fn probe(&self, key: u64, who: u64, eighths: usize) -> Option<Row<'_>> {
        let rows = self.rows.load(Relaxed) as *const [AtomicU64; ROW_WORDS];
        if rows.is_null() {
            return None;
        }
        let mask = self.mask.load(Relaxed);
        let mut at = row::first(key, who, mask.count_ones());
        for _ in 0..=mask {
            // SAFETY: as in `row`; `at` is masked.
            let row = unsafe { &*rows.add(at) };
            let found = row[row::WHO].load(Relaxed);
            if found == who && row[row::KEY].load(Relaxed) == key {
                return Some(Row(row));
            }
            if found == 0 {
                if self.used.load(Relaxed) * 8 >= (mask + 1) * eighths {
                    return None;
                }
                self.used.store(self.used.load(Relaxed) + 1, Relaxed);
                row[row::KEY].store(key, Relaxed);
                // A reader that sees whose row it is sees its key as well.
                row[row::WHO].store(who, Release);
                return Some(Row(row));
            }
            at = (at + 1) & mask;
        }
        None
    }

    /// Goes on in a new page, twice as large, or in one that an ended thread left.
    #[cold]
    fn grow(&self, log: &Log, lane: u64) -> bool {
        let rows = match self.rows.load(Relaxed) {
            0 => FIRST_ROWS,
            _ => (self.mask.load(Relaxed) + 1) * 2,
        };
        if rows > MOST_ROWS {
            return false;
        }
        let inherited = (rows == FIRST_ROWS).then(|| log.inherit_page()).flatten();
        let Some((word, rows)) = inherited.or_else(|| log.new_page(rows)) else { return false };
        let cells = log.cells();
        cells[word + head::LANE].store(lane, Relaxed);
        let first = word + head::HEADER_WORDS;
        let used = (0..rows).filter(|at| cells[first + at * ROW_WORDS + row::WHO].load(Relaxed) != 0).count();
        self.word.store(word, Relaxed);
        self.used.store(used, Relaxed);
        self.mask.store(rows - 1, Relaxed);
        self.bits.store(rows.trailing_zeros() as usize, Relaxed);
        self.rows.store(std::ptr::from_ref(&cells[first]) as usize, Relaxed);
        true
    }

    /// Leaves the page where it is: its lane goes on in another recording.
    pub fn forget(&self) {
        self.rows.store(0, Relaxed);
        self.mask.store(0, Relaxed);
        self.used.store(0, Relaxed);
        self.word.store(0, Relaxed);
    }

    /// The page, for the next thread: place and rows.
    pub fn hand_on(&self) -> Option<(usize, usize)> {
        let page = (self.rows.load(Relaxed) != 0).then(|| (self.word.load(Relaxed), self.mask.load(Relaxed) + 1));
        self.forget();
        page
    }
}

impl Log {
    /// A page that an ended thread left. Not waited for: whoever finds the lock taken makes a new page.
    fn inherit_page(&self) -> Option<(usize, usize)> {
        self.lanes.try_lock().ok()?.pages.pop()
    }

    /// A new page: its first word, and rows.
    fn new_page(&self, rows: usize) -> Option<(usize, usize)> {
        let area = self.layout.pages;
        let length = |rows: u64| {
            rows.saturating_mul(ROW_WORDS as u64).saturating_add(head::HEADER_WORDS as u64).saturating_mul(8)
        };
        let first = |at: u64| {
            let has_room = at.saturating_add(length(rows as u64)) <= area.bytes as u64;
            has_room.then(|| &self.cells()[area.word() + at as usize / 8 + head::ROWS])
        };
        let at = claim(self.word(sb::PAGES_USED), rows as u64, length, first)?;
        Some((area.word() + at as usize / 8, rows))
    }

    /// Does something with a row of the page of threads that have no lane. Not waited for: false if it was taken, or
    /// full.
    #[must_use]
    pub(super) fn late_row(&self, key: u64, who: u64, f: impl FnOnce(Row<'_>)) -> bool {
        let Ok(page) = self.late.try_lock() else { return false };
        page.row(self, u64::from(u32::MAX), key, who).map(f).is_some()
    }
}

//! Tally pages: the rows in which a lane counts calls without events. They lie in the recording,
//! belong to one lane at a time, and are written with relaxed stores. So a reader sees them whether
//! the thread runs, idles or hangs.
//!
//! Readers take the pages one after another, not lane by lane. When a thread ends, the next thread
//! gets its page with all rows in place. Rows do not move, because a reader could count a moved
//! call twice.

use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::Release};

use crate::event::Outcome;
use crate::format::row::{self, FREED, ROW_WORDS, page as head};
use crate::format::superblock as sb;
use crate::platform::lock::{try_lock, try_lock_soon};
use crate::recorder::boundaries::{Boundaries, given_up};
use crate::recorder::counter::{self, Counter};
use crate::recorder::fold_rows::others_of;
use crate::recorder::log::Log;
use crate::recorder::merged_rows::{Merged, merge_epochs};
use crate::site;

/// Rows of a lane's first page.
const FIRST_ROWS: usize = 64;
/// Rows of a page at most.
const MOST_ROWS: usize = 1 << 16;
/// Eighths of a page that rows of subjects may use: while epochs are merged, and else.
const MERGED_EIGHTHS: usize = 5;
const EIGHTHS: usize = 4;
/// Eighths of the places that rows, freed ones included, may use before the rows are merged:
/// searches become long.
const PLACES: usize = 7;

/// Attempts to read boundaries that change.
const TRIES: usize = 100;

/// The newest page of a lane. Rows in its older pages stay and count, but no call finds them again.
pub struct Page {
    /// Address of the first row; 0 = no page.
    rows: AtomicUsize,
    /// Capacity minus one.
    mask: AtomicUsize,
    /// Bits of an index.
    bits: AtomicUsize,
    used: AtomicUsize,
    /// Rows that were freed. Searches go on behind them.
    freed: AtomicUsize,
    /// Its place in the recording: the first word of its header.
    word: AtomicUsize,
    /// Eighths of it that may be used.
    eighths: AtomicUsize,
    /// How many boundaries had been given up when its rows were merged.
    merged_at: AtomicUsize,
}

/// The thread that uses a page.
#[derive(Clone, Copy)]
pub struct Owner {
    /// The number of its lane.
    pub lane: u64,
    /// Forgets the rows that its cells show.
    pub forget_rows: fn(),
}

/// The words of a row.
pub(crate) type RowCells = [AtomicU64; ROW_WORDS];

/// The address and the number of rows in one word, so that a change by a signal handler is seen
/// completely or not at all.
///
/// Rows are aligned to their 64 bytes, so the low bits of their address have room for the shift
/// that makes an index.
pub struct Rows(AtomicPtr<RowCells>);

const SHIFT: usize = 63;

#[repr(align(64))]
struct Nothing {
    _rows: [RowCells; 2],
}

/// Rows that no call matches, for a lane without a page.
static NOTHING: Nothing =
    Nothing { _rows: [const { [const { AtomicU64::new(0) }; ROW_WORDS] }; 2] };

impl Rows {
    /// Rows that no call matches.
    pub const fn nothing() -> Self {
        Rows(AtomicPtr::new((&raw const NOTHING).cast_mut().wrapping_byte_add(63).cast()))
    }

    /// Points to `1 << bits` rows, at least two, that are never unmapped.
    pub fn point(&self, rows: *const RowCells, bits: u32) {
        debug_assert!(rows.addr() & SHIFT == 0 && bits > 0, "{rows:?}, {bits} bits");
        self.0.store(rows.wrapping_byte_add(64 - bits as usize).cast_mut(), Relaxed);
    }

    /// Points to no rows.
    pub fn forget(&self) {
        self.0.store(Rows::nothing().0.into_inner(), Relaxed);
    }

    /// The row of a subject at a site, if it is at its first place and takes outcomes.
    #[inline(always)]
    pub fn look(&self, key: u64, who: u64) -> Option<TallyPageRow<'static>> {
        let rows = self.0.load(Relaxed);
        let first = row::product(key, who).wrapping_shr(rows.addr() as u32) as usize;
        // SAFETY: `point` received `1 << bits` rows that are never unmapped, and the index has that
        // many bits.
        let row = unsafe { &*rows.map_addr(|address| address & !SHIFT).add(first) };
        Some(TallyPageRow(row)).filter(|row| row.is_of(key, who))
    }

    /// The row of a subject at a site, at any place.
    #[inline]
    pub fn look_further(&self, key: u64, who: u64) -> Option<TallyPageRow<'static>> {
        let rows = self.0.load(Relaxed);
        let bits = 64 - (rows.addr() & SHIFT);
        let rows = rows.map_addr(|address| address & !SHIFT);
        let mask = (1 << bits) - 1;
        let first = row::first(key, who, bits as u32);
        for at in (first..=mask).chain(0..first) {
            // SAFETY: as in `look`; `at` has no more bits than an index.
            let row = unsafe { &*rows.add(at) };
            match row[row::WHO].load(Relaxed) {
                0 => return None,
                _ if TallyPageRow(row).is_of(key, who) => return Some(TallyPageRow(row)),
                _ => {}
            }
        }
        None
    }
}

/// A row of a tally page. Only its lane writes it.
#[derive(Clone, Copy)]
pub struct TallyPageRow<'a>(&'a RowCells);

impl<'a> TallyPageRow<'a> {
    /// True if it is the row of this subject, and takes outcomes. A row that does not is followed
    /// by another one.
    #[inline(always)]
    fn is_of(self, key: u64, who: u64) -> bool {
        let [own, owner, _, failed, cancelled, ..] = self.0;
        own.load(Relaxed) == key
            && owner.load(Relaxed) == who
            && row::has_room(failed.load(Relaxed), cancelled.load(Relaxed))
    }

    /// Makes it the row of a subject.
    fn begin(self, key: u64, who: u64) {
        self.0[row::COUNT..].iter().for_each(|word| word.store(0, Relaxed));
        self.0[row::KEY].store(key, Relaxed);
        // A reader that sees the row's owner sees its key as well.
        self.0[row::WHO].store(who, Release);
    }

    /// The words in which calls are counted that are no events.
    #[inline(always)]
    pub fn counter(self) -> Counter<'a> {
        Counter::new(self.0[row::COUNT..].first_chunk().expect("a row has more words"))
    }

    #[inline(always)]
    fn add(self, word: usize, by: u64) {
        counter::add(&self.0[word], by);
    }

    /// Counts calls that begin.
    #[inline(always)]
    pub fn begun(self, calls: u64) {
        self.add(row::COUNT, calls);
    }

    /// Counts the outcome of a call that this row has counted before.
    #[inline]
    pub fn outcome(self, outcome: Outcome) {
        let (failed_panicked, cancelled) = row::outcome_words(outcome);
        self.add(row::FAILED_PANICKED, failed_panicked);
        self.add(row::CANCELLED_RUNNING, cancelled);
    }

    /// Counts the end of an event that the collector has moved out of the window.
    pub(crate) fn late_end(self, outcome: Outcome, ticks: Option<u64>, counts_time: bool) {
        self.outcome(outcome);
        self.add(row::CANCELLED_RUNNING, row::ONE_RUNNING);
        if let Some(ticks) = ticks {
            self.add(row::TIMED, 1);
            if counts_time {
                self.add(row::TOTAL, ticks);
            }
            self.0[row::MAX].store(self.0[row::MAX].load(Relaxed).max(ticks), Relaxed);
        }
    }

    /// Adds ticks of a call that other calls around it count already.
    pub fn again(self, ticks: u64) {
        self.add(row::TOTAL, ticks);
    }
}

impl Page {
    pub const fn none() -> Self {
        Page {
            rows: AtomicUsize::new(0),
            mask: AtomicUsize::new(0),
            bits: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
            freed: AtomicUsize::new(0),
            word: AtomicUsize::new(0),
            eighths: AtomicUsize::new(EIGHTHS),
            merged_at: AtomicUsize::new(0),
        }
    }

    /// The row of a subject at a site, if it is at its first place.
    #[inline(always)]
    fn known(&self, key: u64, who: u64) -> Option<TallyPageRow<'_>> {
        let rows = Rows::nothing();
        self.show(&rows);
        rows.look(key, who)
    }

    /// True if the lane has one.
    pub fn is_some(&self) -> bool {
        self.rows.load(Relaxed) != 0
    }

    /// Points to its rows.
    pub fn show(&self, rows: &Rows) {
        match self.rows.load(Relaxed) as *const RowCells {
            own if own.is_null() => rows.forget(),
            own => rows.point(own, self.bits.load(Relaxed) as u32),
        }
    }

    /// The row of a subject at a site, created if it is missing. Without room it is the site's
    /// others row, and without room for that it is `None`.
    pub fn row(&self, log: &Log, owner: Owner, key: u64, who: u64) -> Option<TallyPageRow<'_>> {
        self.known(key, who).or_else(|| self.search(log, owner, key, who))
    }

    #[inline(never)]
    fn search(&self, log: &Log, owner: Owner, key: u64, who: u64) -> Option<TallyPageRow<'_>> {
        let eighths = || self.eighths.load(Relaxed);
        let probe = |eighths, places| self.probe(key, who, eighths, places);
        let found = probe(eighths(), PLACES)
            .or_else(|| match self.merge(log, owner) {
                Some(true) => probe(eighths(), 8),
                Some(false) => None,
                // They can be merged a little later, so the page does not grow before nearly all of
                // it is in use.
                None => probe(MERGED_EIGHTHS + 2, 8),
            })
            .or_else(|| if self.grow(log, owner.lane) { probe(eighths(), PLACES) } else { None })
            // There is no larger page, and rows can be merged later.
            .or_else(
                || if eighths() == MERGED_EIGHTHS { probe(MERGED_EIGHTHS + 2, 8) } else { None },
            );
        if found.is_some() {
            return found;
        }
        // There is no room for a row of its own: it joins the site's others row. An eighth of the
        // page is kept for those.
        let row = self.probe(0, others_of(who), 8, 8);
        if row.is_some() {
            log.count(sb::OTHERS, 1);
        }
        row
    }

    /// Finds a row, or creates one while at most `eighths` eighths of the page are in use, and
    /// `places` with freed rows.
    fn probe(&self, key: u64, who: u64, eighths: usize, places: usize) -> Option<TallyPageRow<'_>> {
        let rows = self.rows.load(Relaxed) as *const [AtomicU64; ROW_WORDS];
        if rows.is_null() {
            return None;
        }
        let mask = self.mask.load(Relaxed);
        let mut at = row::first(key, who, mask.count_ones());
        let mut freed = None;
        for _ in 0..=mask {
            // SAFETY: as in `row`; `at` is masked.
            let row = TallyPageRow(unsafe { &*rows.add(at) });
            if row.is_of(key, who) {
                return Some(row);
            }
            match row.0[row::WHO].load(Relaxed) {
                FREED => freed = freed.or(Some(row)),
                0 if freed.is_some() => break,
                0 => return self.has_room(eighths, places).then(|| self.begin(row, key, who)),
                _ => {}
            }
            at = (at + 1) & mask;
        }
        let row = freed?;
        self.freed.store(self.freed.load(Relaxed) - 1, Relaxed);
        Some(self.begin(row, key, who))
    }

    /// True if an unused place may be used. One stays unused, where searches end, unless all rows
    /// are of subjects.
    fn has_room(&self, eighths: usize, places: usize) -> bool {
        let (used, freed, rows) =
            (self.used.load(Relaxed), self.freed.load(Relaxed), self.mask.load(Relaxed) + 1);
        used * 8 < rows * eighths && (freed == 0 || (used + freed + 1) * 8 <= rows * places)
    }

    /// Makes an unused row the one of a subject. It may have been another one's.
    fn begin<'r>(&self, row: TallyPageRow<'r>, key: u64, who: u64) -> TallyPageRow<'r> {
        self.used.store(self.used.load(Relaxed) + 1, Relaxed);
        row.begin(key, who);
        row
    }

    /// Merges the rows of epochs that no view distinguishes. True if there is room for more rows;
    /// `None` if they cannot be merged at this moment.
    #[cold]
    fn merge(&self, log: &Log, owner: Owner) -> Option<bool> {
        let given_up = given_up();
        let word = self.word.load(Relaxed);
        let rows = self.mask.load(Relaxed) + 1;
        if self.merged_at.load(Relaxed) == given_up || self.rows.load(Relaxed) == 0 {
            return Some(false);
        }
        let boundaries = (0..TRIES).find_map(|_| Boundaries::now());
        let (mut folder, boundaries) = log.folder_to_merge().zip(boundaries)?;
        // A signal handler counts in no row of this page meanwhile, nor later in a row that is
        // freed.
        (owner.forget_rows)();
        let Merged { used, freed, emptied, freed_now } =
            merge_epochs(log.tables(), &mut folder, &boundaries, word + head::HEADER_WORDS, rows);
        log.count(sb::ROWS_FREED, freed_now as u64);
        self.used.store(used, Relaxed);
        self.freed.store(freed, Relaxed);
        // Emptied rows are freed in the next turn.
        self.merged_at.store(if emptied == 0 { given_up } else { usize::MAX }, Relaxed);
        let is_worth_it = (used - emptied) * 8 < rows * EIGHTHS;
        self.eighths.store(if is_worth_it { MERGED_EIGHTHS } else { EIGHTHS }, Relaxed);
        Some(is_worth_it)
    }

    /// Continues in a page of an ended thread, or in a new one of twice the size.
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
        inherited
            .or_else(|| log.new_page(rows))
            .is_some_and(|page| self.continue_in(log, lane, page))
    }

    fn continue_in(&self, log: &Log, lane: u64, (word, rows): (usize, usize)) -> bool {
        let cells = log.cells();
        cells[word + head::LANE].store(lane, Relaxed);
        let first = word + head::HEADER_WORDS;
        let who = |at: usize| cells[first + at * ROW_WORDS + row::WHO].load(Relaxed);
        let used = (0..rows).filter(|&at| ![0, FREED].contains(&who(at))).count();
        self.freed.store((0..rows).filter(|&at| who(at) == FREED).count(), Relaxed);
        self.word.store(word, Relaxed);
        self.eighths.store(EIGHTHS, Relaxed);
        self.used.store(used, Relaxed);
        self.mask.store(rows - 1, Relaxed);
        self.bits.store(rows.trailing_zeros() as usize, Relaxed);
        self.rows.store(std::ptr::from_ref(&cells[first]) as usize, Relaxed);
        true
    }

    /// Leaves the page in place: its lane continues in another recording.
    pub fn forget(&self) {
        self.rows.store(0, Relaxed);
        self.mask.store(0, Relaxed);
        self.used.store(0, Relaxed);
        self.freed.store(0, Relaxed);
        self.word.store(0, Relaxed);
    }

    /// The page, for the next thread: place and rows.
    pub fn hand_on(&self) -> Option<(usize, usize)> {
        let page = (self.rows.load(Relaxed) != 0)
            .then(|| (self.word.load(Relaxed), self.mask.load(Relaxed) + 1));
        self.forget();
        page
    }
}

impl Log {
    /// A page of an ended thread. Threads that begin together each find one. If a holder of the
    /// lock has lost its processor, the caller creates a new page.
    fn inherit_page(&self) -> Option<(usize, usize)> {
        try_lock_soon(&self.lanes)?.pages.pop()
    }

    /// A new page: its first word, and rows.
    fn new_page(&self, rows: usize) -> Option<(usize, usize)> {
        self.tables().new_page(rows).map(|word| (word, rows))
    }

    /// Makes the page of threads without a lane, before lanes take all room: two rows for each site
    /// of the program, in an eighth of the room at most.
    pub(super) fn reserve_late_page(&self) {
        let most = (self.layout.pages.bytes() / 8 / (ROW_WORDS * 8)).clamp(FIRST_ROWS, MOST_ROWS);
        let rows =
            (site::entries().len() * 2).next_power_of_two().clamp(FIRST_ROWS, 1 << most.ilog2());
        if let (Some(late), Some(page)) = (try_lock(&self.late), self.new_page(rows)) {
            late.continue_in(self, u64::from(u32::MAX), page);
        }
    }

    /// Calls `f` with a row in the page of threads without a lane. It does not wait for a holder
    /// that has lost its processor: false if the page is locked, or full.
    #[must_use]
    pub(super) fn late_row(&self, key: u64, who: u64, f: impl FnOnce(TallyPageRow<'_>)) -> bool {
        let Some(page) = try_lock_soon(&self.late) else { return false };
        page.row(self, Owner { lane: u64::from(u32::MAX), forget_rows: || {} }, key, who)
            .map(f)
            .is_some()
    }

    /// As [`Log::late_row`], with the row for all subjects of the site.
    #[must_use]
    pub(super) fn late_others_row(&self, who: u64, f: impl FnOnce(TallyPageRow<'_>)) -> bool {
        let is_found = self.late_row(0, others_of(who), f);
        self.count(sb::OTHERS, is_found.into());
        is_found
    }
}

#[cfg(test)]
#[path = "tally_page_tests.rs"]
mod tests;

//! The counters of a thread: one cell per site, so that a call that is only counted is a few
//! comparisons and one increment.
//!
//! A cell remembers the row of its site. This costs two thirds of a search for the row at each
//! call. The cells of a thread serve every copy of this package in the program.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::hook::guard::NOT_OBSERVED;
use crate::hook::lean::COUNTED;
use crate::{Site, Subject};

/// The counters of a thread: a [`Cell`] for each site that the linker collected, or null.
///
/// Each copy of this package in a program has its own thread-local word; the core points all of
/// them to the same cells.
#[repr(transparent)]
pub struct Counters(AtomicPtr<Cell>);

/// The counters of one site on one thread.
///
/// Rows begin with two words: the calls that began, and how they ended ([`Entered`](crate::Entered)
/// has the address of the first).
#[repr(C, align(64))]
pub struct Cell {
    /// The cell is valid while this is the word that `Site::counted` points to, with the kind of
    /// the subjects ([`with_kind`]).
    pub who: AtomicU64,
    /// The first row, marked with [`COUNTED`]. Unmarked: the word of a method profiler, which
    /// counts no outcomes.
    pub rows: AtomicPtr<u8>,
    /// How many rows follow each other, for the keys from 0 on.
    pub length: AtomicU64,
    /// The core's rows of other keys.
    pub buckets: AtomicPtr<u8>,
    /// Calls that the core had to search a row for.
    pub misses: AtomicU64,
    /// The object that is counted there, or [`ANY`].
    pub receiver: AtomicU64,
    /// The kind of that object, as [`Seen::kind`](crate::Seen::kind).
    pub kind: AtomicU64,
    /// Beside the word of a method profiler: a marked row that is counted up as well, or null.
    pub also: AtomicPtr<u8>,
}

/// In a cell: calls about any object are counted there.
pub const ANY: u64 = u64::MAX;

/// The word of sites whose calls no cell counts: no cell holds it.
pub const NO_CELL: u64 = 1;

/// The two words with which a row begins, as one step between rows that follow each other.
type RowHead = [AtomicU64; 2];

/// The word of a row of a site, for subjects of this kind.
#[inline(always)]
pub const fn with_kind(who: u64, kind: u16) -> u64 {
    who | (kind as u64) << 20
}

impl Counters {
    /// No cells.
    pub const fn none() -> Self {
        Counters(AtomicPtr::new(null_mut()))
    }

    /// Points to other cells, or to none. Only their thread may call this, and the cells must stay
    /// as long as they are pointed to.
    pub fn point(&self, cells: *mut Cell) {
        self.0.store(cells, Ordering::Relaxed);
    }

    /// The counters of this thread, in this copy of the package.
    #[cfg(not(metaspy_bare))]
    #[inline(always)]
    pub fn of_thread() -> *const Counters {
        std::thread_local! {
            // Constant and without a destructor: it exists as long as its thread, and one
            // instruction reaches it.
            static COUNTERS: Counters = const { Counters::none() };
        }
        COUNTERS.with(core::ptr::from_ref)
    }

    /// Without `std` threads have no counters: the core counts each call.
    #[cfg(metaspy_bare)]
    pub fn of_thread() -> *const Counters {
        static NONE: Counters = Counters::none();
        &raw const NONE
    }

    /// Counts a call, if this thread counted one at this site before and nothing has changed since.
    /// Returns the pointer for [`Adapter::leave`](crate::Adapter::leave) if the call does not end
    /// well.
    #[inline(always)]
    pub(crate) fn count(site: &Site, receiver: (u64, u64)) -> Option<*mut u8> {
        if !site.counts() || crate::hook::guard::is_panicking() {
            return None;
        }
        Counters::cell_of(site)?.count(site, receiver)
    }

    /// As [`Counters::count`], in a thread that does not unwind.
    #[inline(always)]
    pub(crate) fn count_calm(site: &Site, receiver: (u64, u64)) -> Option<*mut u8> {
        Counters::cell(site)?.count(site, receiver)
    }

    /// The cell of a site that counts. Cells stay until their thread ends. If the thread unwinds,
    /// the core must remember that it did, so that nothing is counted here.
    #[inline(always)]
    pub fn cell(site: &Site) -> Option<&'static Cell> {
        if site.counts() { Counters::cell_of(site) } else { None }
    }

    #[inline(always)]
    fn cell_of(site: &Site) -> Option<&'static Cell> {
        // SAFETY: the word of a thread exists as long as the thread.
        let cells = unsafe { &*Counters::of_thread() }.0.load(Ordering::Relaxed);
        if cells.is_null() {
            return None;
        }
        // SAFETY: there is a cell for each site that the linker collected. The others point to the
        // first one, which nothing matches.
        Some(unsafe { &*cells.byte_add(again(site).cell.load(Ordering::Relaxed) as usize) })
    }
}

/// The same site, as if its address were another one: to keep it across a possible call, the
/// compiler would save a register more, even where the site is not armed.
#[inline(always)]
fn again(site: &Site) -> &Site {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut same = core::ptr::from_ref(site);
        // SAFETY: no instruction at all.
        #[expect(clippy::pointers_in_nomem_asm_block, reason = "nothing is read by the pointer")]
        unsafe {
            core::arch::asm!("/* {} */", inout(reg) same, options(pure, nomem, nostack, preserves_flags));
            &*same
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    site
}

impl Cell {
    /// Counts a call about a receiver.
    #[inline(always)]
    fn count(&self, site: &Site, receiver: (u64, u64)) -> Option<*mut u8> {
        let who = again(site).counted();
        if self.who.load(Ordering::Relaxed) != who {
            return None;
        }
        let row = self.rows.load(Ordering::Relaxed);
        if !is_row(who) {
            return self.count_settled(row, receiver);
        }
        count_up(row);
        Some(row)
    }

    /// Counts a call about a subject whose key is the index of its row.
    #[inline(always)]
    pub(crate) fn count_about(&self, site: &Site, subject: Subject) -> Option<*mut u8> {
        // A cell that is compared with another word than that of a row has none.
        let is_own =
            self.who.load(Ordering::Relaxed) == with_kind(again(site).counted(), subject.kind.0);
        if !is_own || subject.key >= self.length.load(Ordering::Relaxed) {
            return None;
        }
        let row = self
            .rows
            .load(Ordering::Relaxed)
            .wrapping_add(subject.key as usize * size_of::<RowHead>());
        count_up(row);
        Some(row)
    }

    /// Counts a call for method profilers that only count, in a cell that is valid.
    #[doc(hidden)]
    #[inline(always)]
    pub fn count_settled(&self, word: *mut u8, (receiver, kind): (u64, u64)) -> Option<*mut u8> {
        let only = self.receiver.load(Ordering::Relaxed);
        if only != ANY && (only != receiver || self.kind.load(Ordering::Relaxed) != kind) {
            return None;
        }
        if word.addr() & COUNTED != 0 {
            count_up(word);
            return Some(word);
        }
        count_up(word.wrapping_add(COUNTED));
        let also = self.also.load(Ordering::Relaxed);
        if also.is_null() {
            return Some(NOT_OBSERVED);
        }
        count_up(also);
        Some(also)
    }
}

/// True if this is the word of a row, and not the one that method profilers compare with.
#[inline(always)]
const fn is_row(who: u64) -> bool {
    (who as i64) < 0
}

/// Counts up a word that no other thread writes, at an address that is marked with [`COUNTED`]. To
/// readers it is one store, and a signal handler of this thread runs before or after it.
#[inline(always)]
fn count_up(marked: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the word is aligned and writable: a cell with a `who` has its rows, and rows stay.
    unsafe {
        core::arch::asm!("inc qword ptr [{} - {mark}]", in(reg) marked, mark = const COUNTED, options(nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: as above.
    unsafe { &*marked.wrapping_sub(COUNTED).cast::<AtomicU64>() }.fetch_add(1, Ordering::Relaxed);
}

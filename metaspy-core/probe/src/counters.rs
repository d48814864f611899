//! The counters of a thread: one cell per site, so that a call that is only counted is one comparison and one increment.

use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::Site;
use crate::guard::{COUNTED, NOT_OBSERVED, UNWINDING};

/// The counters of a thread: a [`Cell`] for each site that the linker collected, or null.
///
/// Each copy of this package in a program has its own thread-local word; the core points all of them to the same cells.
#[repr(transparent)]
pub struct Counters(AtomicPtr<Cell>);

/// The counter of one site on one thread.
#[repr(C)]
pub struct Cell {
    /// A copy of the word that `Site::counted` points to: the cell is valid as long as both are equal.
    pub who: AtomicU64,
    /// The row: [`COUNT`] is the place of the word that is counted up. If its address is odd, the row is that word alone,
    /// and the outcome of a call is not counted there.
    pub row: AtomicPtr<u8>,
    /// The object that is counted there, or [`ANY`].
    pub receiver: AtomicU64,
    /// The kind of that object, as [`Seen::kind`](crate::Seen::kind).
    pub kind: AtomicU64,
    /// Of a bare row: another word that is counted up, or null.
    pub also: AtomicPtr<AtomicU64>,
}

/// In a cell: calls about any object are counted there.
pub const ANY: u64 = u64::MAX;
/// In the address of a row: it is a count and nothing else.
pub const BARE: usize = 1;
/// The place of the count in a row.
pub const COUNT: usize = 2;

impl Counters {
    /// No cells.
    pub const fn none() -> Self {
        Counters(AtomicPtr::new(null_mut()))
    }

    /// Points to other cells, or to none. Only their thread may call this, and the cells must stay as long as they are
    /// pointed to.
    pub fn point(&self, cells: *mut Cell) {
        self.0.store(cells, Ordering::Relaxed);
    }

    /// The counters of this thread, in this copy of the package.
    #[cfg(not(metaspy_bare))]
    #[inline(always)]
    pub fn of_thread() -> *const Counters {
        std::thread_local! {
            // Constant and without a destructor: it exists as long as its thread, and one instruction reaches it.
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

    /// Counts a call, if this thread counted one at this site before and nothing has changed since. Returns what
    /// [`Adapter::leave`](crate::Adapter::leave) takes if the call does not end well.
    #[inline(always)]
    pub(crate) fn count(site: &Site, (receiver, kind): (u64, u64)) -> Option<*mut u8> {
        let who = site.counted();
        if who == 0 {
            return None;
        }
        // SAFETY: the word of a thread exists as long as the thread.
        let cells = unsafe { &*Counters::of_thread() }.0.load(Ordering::Relaxed);
        if cells.is_null() {
            return None;
        }
        // SAFETY: there is a cell for each site that the linker collected, and only those have a word to compare.
        let cell = unsafe { &*cells.add(site.id.load(Ordering::Relaxed) as usize) };
        if cell.who.load(Ordering::Relaxed) != who {
            return None;
        }
        let row = cell.row.load(Ordering::Relaxed);
        let only = cell.receiver.load(Ordering::Relaxed);
        if only != ANY && (only != receiver || cell.kind.load(Ordering::Relaxed) != kind) {
            return None;
        }
        // SAFETY: a cell with a `who` has its row, and rows stay.
        let count = unsafe { &*row.map_addr(|address| address & !BARE).cast::<AtomicU64>().add(COUNT) };
        count_up(count);
        let mut counted_in = row;
        if row.addr() & BARE != 0 {
            // The row that counts outcomes is the other one, if there is one.
            let also = cell.also.load(Ordering::Relaxed);
            // SAFETY: it is null, or a word of a row, and rows stay.
            match unsafe { also.as_ref() } {
                Some(word) => count_up(word),
                None => return Some(NOT_OBSERVED),
            }
            counted_in = also.wrapping_sub(COUNT).cast();
        }
        Some(counted(counted_in))
    }
}

/// What [`Adapter::enter`](crate::Adapter::enter) returns for a call that it only counted in this row.
#[inline(always)]
pub fn counted(row: *mut u8) -> *mut u8 {
    // Rows are aligned, so their addresses have room for marks.
    let marks = if crate::guard::is_panicking() { COUNTED | UNWINDING } else { COUNTED };
    row.map_addr(|address| address | marks)
}

/// Counts up a word that no other thread writes; to readers it is one store, and a signal handler of this thread runs
/// before or after it.
#[inline(always)]
fn count_up(word: &AtomicU64) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the word is aligned and writable.
    unsafe {
        core::arch::asm!("inc qword ptr [{}]", in(reg) word.as_ptr(), options(nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    word.fetch_add(1, Ordering::Relaxed);
}

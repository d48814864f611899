//! The counter cells of a thread: for each linked site the row that its calls were last counted in.

use std::alloc::Layout;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, compiler_fence};

use metaspy_probe::{ANY, BARE, COUNT, Cell, Counters, Site};

use crate::format::row;
use crate::platform::own_pages;
use crate::recorder::Row;

const _: () = assert!(COUNT == row::COUNT);

/// Copies of the probe in a program whose counters a thread can use: the graph's own, and the two flavours that woven
/// crates call.
const COPIES: usize = 4;

/// How many sites the linker collected: they have the first numbers, from 1 on, and only they have cells. Set once, before any
/// of them is armed.
pub(crate) static LINKED: AtomicUsize = AtomicUsize::new(0);

/// The cells of a thread, made when it first counts a call of a linked site.
pub(crate) struct Cells {
    /// The words of this thread, one for each copy of the probe, that point to the cells.
    counters: [AtomicPtr<Counters>; COPIES],
    cells: AtomicPtr<Cell>,
}

/// Where calls are counted that a profiler has settled: nothing else of them is recorded.
pub(crate) struct Settled<'r> {
    /// The counter of a method profiler.
    pub count: Option<&'static AtomicU64>,
    /// The row of the tally.
    pub row: Option<Row<'r>>,
    /// The object, and its kind.
    pub receiver: (u64, u64),
}

impl Cells {
    pub const fn none() -> Self {
        Cells { counters: [const { AtomicPtr::new(null_mut()) }; COPIES], cells: AtomicPtr::new(null_mut()) }
    }

    /// Remembers the row that calls with this tally word are counted in. Called with the lane busy.
    pub fn note(&self, counters: *const Counters, site: &Site, who: u64, row: Row<'_>) {
        self.fill(counters, site, who, row.place().cast_mut().cast(), (ANY, 0), null_mut());
    }

    /// Remembers the word that calls about a receiver are counted in, and the row, if they are also recorded; nothing else
    /// is to be told of them. As [`Cells::note`].
    pub fn settle(&self, counters: *const Counters, site: &Site, who: u64, to: Settled<'_>) {
        let (row, also) = match (to.count, to.row) {
            (None, None) => return,
            (None, Some(row)) => (row.place().cast_mut().cast(), null_mut()),
            (Some(count), row) => {
                let bare = count.as_ptr().wrapping_sub(COUNT).cast::<u8>().map_addr(|address| address | BARE);
                let also = row.map(|row| row.place().cast::<AtomicU64>().wrapping_add(COUNT).cast_mut());
                (bare, also.unwrap_or(null_mut()))
            }
        };
        self.fill(counters, site, who, row, to.receiver, also);
    }

    fn fill(
        &self,
        counters: *const Counters,
        site: &Site,
        who: u64,
        row: *mut u8,
        receiver: (u64, u64),
        also: *mut AtomicU64,
    ) {
        let number = site.id.load(Relaxed) as usize;
        let cells = if number > LINKED.load(Relaxed) { null_mut() } else { self.cells_for(counters) };
        if cells.is_null() {
            return;
        }
        // SAFETY: there is one for each number.
        let cell = unsafe { &*cells.add(number) };
        // A signal handler of this thread finds a whole cell or none.
        cell.who.store(0, Relaxed);
        compiler_fence(Release);
        cell.row.store(row, Relaxed);
        cell.receiver.store(receiver.0, Relaxed);
        cell.kind.store(receiver.1, Relaxed);
        cell.also.store(also, Relaxed);
        compiler_fence(Release);
        cell.who.store(who, Relaxed);
    }

    /// The cells, which these counters point to from now on; null if there is no memory.
    fn cells_for(&self, counters: *const Counters) -> *mut Cell {
        let own = self.counters.iter().find(|own| [null(), counters].contains(&own.load(Relaxed).cast_const()));
        // A library that was loaded later, with a copy of the probe that is one too many, counts without cells.
        let Some(own) = own else { return null_mut() };
        if self.cells.load(Relaxed).is_null()
            && let Some(layout) = layout()
        {
            // Zeroes are cells that nothing matches.
            self.cells.store(own_pages::take(layout).cast(), Relaxed);
        }
        if own.load(Relaxed).is_null() {
            own.store(counters.cast_mut(), Relaxed);
            self.aim(true);
        }
        self.cells.load(Relaxed)
    }

    /// Lets hooks count by themselves, or not.
    #[inline]
    pub fn aim(&self, counts_itself: bool) {
        for own in &self.counters {
            // SAFETY: it is null, or memory of this thread, without a destructor.
            let Some(own) = (unsafe { own.load(Relaxed).as_ref() }) else { return };
            own.point(if counts_itself { self.cells.load(Relaxed) } else { null_mut() });
        }
    }

    /// Forgets all rows.
    pub fn clear(&self) {
        let cells = self.cells.load(Relaxed);
        for number in 0..(LINKED.load(Relaxed) + 1) * usize::from(!cells.is_null()) {
            // SAFETY: there is one for each number.
            unsafe { &*cells.add(number) }.who.store(0, Relaxed);
        }
    }

    /// The thread ends: its later calls are reported.
    pub fn give_up(&self) {
        self.aim(false);
        self.counters.iter().for_each(|own| own.store(null_mut(), Relaxed));
        let cells = self.cells.swap(null_mut(), Relaxed);
        if let Some(layout) = layout()
            && !cells.is_null()
        {
            // SAFETY: they were taken so, and no pointer to them is left.
            unsafe { own_pages::give_back(cells.cast(), layout) };
        }
    }
}

/// Of a cell for each number of a linked site; they begin at 1.
fn layout() -> Option<Layout> {
    Layout::array::<Cell>(LINKED.load(Relaxed) + 1).ok()
}

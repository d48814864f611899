//! The counter cells of a thread: for each linked site the rows that its calls were last counted
//! in.
//!
//! Counting is one increment, and the lane's busy byte is not set: a signal handler runs before or
//! after one instruction. For this, a site carries the word of its row, epoch included, and a cell
//! counts only while it has the same word. Each new epoch writes that word anew.

use std::alloc::Layout;
use std::mem::offset_of;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, compiler_fence};

use metaspy_probe::{ANY, COUNTED, Cell, Counters, Site, hash, object_word};

use crate::format::row::Who;
use crate::platform::own_pages;
use crate::recorder::arrays::{Array, ArrayOwner, Arrays, Buckets};
use crate::recorder::cached_observers::{CachedCell, CachedObservers};
use crate::recorder::counter::Counter;
use crate::recorder::entry_cells::Entries;
use crate::recorder::spare_cells as spare;
use crate::site::LINKED;

/// Copies of the probe in a program whose counters a thread can use: the graph's own, and the two
/// flavours that woven crates call.
const COPIES: usize = 4;
/// Calls that are searched before the subjects of a site are counted in arrays, and before subjects
/// of another kind take its cell.
const OFTEN: u64 = 128;
/// The further cells of a thread: 64 KiB, taken when calls at one site are about several objects. A
/// power of two.
const FURTHER_CELLS: usize = 1024;

/// The cells of a thread, made when it first counts a call of a linked site.
pub struct Cells {
    /// The words of this thread, one for each copy of the probe, that point to the cells.
    counters: [AtomicPtr<Counters>; COPIES],
    cells: AtomicPtr<Cell>,
    /// The cells as long as they count; else null.
    shown: AtomicPtr<Cell>,
    arrays: Arrays,
    /// Cells of further objects of settled sites, by a hash of object and site; null = none yet.
    /// Their `length` is the place of the site's own cell.
    further: AtomicPtr<Cell>,
    /// The cells of hooks that only count.
    pub entries: Entries,
}

/// Where calls are counted that a profiler has settled: nothing else of them is recorded.
pub struct Settled<'r> {
    /// The counter of a method profiler.
    pub count: Option<&'static AtomicU64>,
    /// The row of the tally.
    pub row: Option<Counter<'r>>,
    /// The object, and its kind.
    pub receiver: (u64, u64),
}

/// The words of a cell, but for `who`.
struct Content {
    rows: *mut u8,
    length: u64,
    buckets: Buckets,
    receiver: (u64, u64),
    also: *mut u8,
}

impl Content {
    const NOTHING: Self = Content {
        rows: null_mut(),
        length: 0,
        buckets: Buckets::NONE,
        receiver: (ANY, 0),
        also: null_mut(),
    };
}

impl Cells {
    /// Where the cells are that count.
    pub const SHOWN: usize = offset_of!(Cells, shown);

    pub const fn none() -> Self {
        let counters = [const { AtomicPtr::new(null_mut()) }; COPIES];
        let [cells, shown, further] = [const { AtomicPtr::new(null_mut()) }; 3];
        Cells { counters, cells, shown, arrays: Arrays::none(), further, entries: Entries::none() }
    }

    /// Remembers the row of calls without a subject. Called with the lane busy.
    pub fn note(&self, counters: *const Counters, site: &Site, who: u64, row: Counter<'_>) {
        if let Some(cell) = self.cell_for(counters, site)
            && is_free_for(cell, who)
        {
            fill(cell, who, Content { rows: row.marked(), length: 1, ..Content::NOTHING });
        }
    }

    /// The row of a subject that its cell does not show. Where subjects are often searched they get
    /// rows that are found without a search. As [`Cells::note`].
    pub fn row<'l>(
        &self,
        counters: *const Counters,
        site: &Site,
        owner: ArrayOwner<'l>,
        key: u64,
    ) -> Option<Counter<'l>> {
        let cell = self.cell_for(counters, site)?;
        if cell.who.load(Relaxed) != owner.who {
            if !is_free_for(cell, owner.who) {
                return None;
            }
            self.show(cell, owner);
        }
        let misses = cell.misses.load(Relaxed) + 1;
        cell.misses.store(misses % OFTEN, Relaxed);
        let grows = misses == OFTEN;
        if grows && self.arrays.grow_dense(owner, key) {
            self.show(cell, owner);
        }
        if key < cell.length.load(Relaxed) {
            return self.arrays.largest(owner.who, true)?.row(owner.log, key);
        }
        if let Some(known) = Buckets(cell.buckets.load(Relaxed)).look(key, owner.who) {
            return Some(known);
        }
        if grows && self.arrays.grow_buckets(owner) {
            self.show(cell, owner);
        }
        self.arrays.largest(owner.who, false)?.insert(owner.log, key)
    }

    /// Shows the largest arrays of these rows to a cell.
    fn show(&self, cell: &Cell, owner: ArrayOwner<'_>) {
        let dense = self.arrays.largest(owner.who, true);
        let (rows, length) =
            dense.map_or((null_mut(), 0), |array| (array.first_row(owner.log), array.length()));
        let buckets = self
            .arrays
            .largest(owner.who, false)
            .map_or(Buckets::NONE, |array| array.buckets(owner.log));
        fill(cell, owner.who, Content { rows, length, buckets, ..Content::NOTHING });
    }

    /// Remembers the word that calls about a receiver are counted in, and the row, if they are also
    /// recorded; nothing else of them is recorded. As [`Cells::note`].
    pub fn settle(&self, counters: *const Counters, site: &Site, who: u64, to: Settled<'_>) {
        let row = to.row.map_or(null_mut(), Counter::marked);
        let (rows, also) = match to.count {
            None if row.is_null() => return,
            None => (row, null_mut()),
            Some(count) => (count.as_ptr().cast(), row),
        };
        let content = || Content { rows, receiver: to.receiver, also, ..Content::NOTHING };
        let Some(cell) = self.cell_for(counters, site) else { return };
        let other = cell.receiver.load(Relaxed);
        if cell.who.load(Relaxed) == who
            && ![ANY, to.receiver.0].contains(&other)
            && to.receiver.0 != ANY
        {
            // Calls are about several objects in turn, and the cell of the site holds one of them.
            let place = site.cell.load(Relaxed);
            if let Some(further) = self.further_cell(place, to.receiver.0) {
                fill(further, who, Content { length: place.into(), ..content() });
            }
        }
        fill(cell, who, content());
    }

    /// Counts a call at a settled site about an object that is not the last one, if this thread has
    /// settled it, too. Returns the same pointer as [`Counters`]; the thread does not unwind.
    #[inline(always)]
    pub fn count_further(&self, cell: u32, who: u64, receiver: (u64, u64)) -> Option<*mut u8> {
        let further = self.further.load(Relaxed);
        if further.is_null() || cell == 0 || self.shown.load(Relaxed).is_null() {
            return None;
        }
        // SAFETY: there are as many cells as places.
        let further = unsafe { &*further.add(further_place(cell, receiver.0)) };
        let is_own =
            further.who.load(Relaxed) == who && further.length.load(Relaxed) == u64::from(cell);
        if is_own { further.count_settled(further.rows.load(Relaxed), receiver) } else { None }
    }

    /// The row that calls at a settled site about a receiver are counted in, and the receiver as
    /// one word; `None` instead if about any. Nothing if more than a row is counted up.
    pub fn settled(
        &self,
        site: &Site,
        who: u64,
        receiver: (u64, u64),
    ) -> Option<(&'static AtomicU64, Option<u64>)> {
        let place = site.cell.load(Relaxed);
        let cells = self.cells.load(Relaxed);
        if place == 0 || cells.is_null() {
            return None;
        }
        let further = self.further.load(Relaxed);
        // SAFETY: there is a cell for each place that a site has, and as many further ones as
        // places of objects.
        let (own, further) = unsafe {
            let further =
                (!further.is_null()).then(|| &*further.add(further_place(place, receiver.0)));
            (
                &*cells.byte_add(place as usize),
                further.filter(|it| it.length.load(Relaxed) == u64::from(place)),
            )
        };
        let cell = [Some(own), further].into_iter().flatten().find(|cell| {
            let only = cell.receiver.load(Relaxed);
            let is_about = only == ANY || (only, cell.kind.load(Relaxed)) == receiver;
            cell.who.load(Relaxed) == who && is_about
        })?;
        let row = cell.rows.load(Relaxed);
        if row.addr() & COUNTED == 0 || !cell.also.load(Relaxed).is_null() {
            return None;
        }
        // A hook without an object asks for none.
        let is_of_all = cell.receiver.load(Relaxed) == ANY || receiver == (0, 0);
        // SAFETY: a marked row of a cell with a word is a row, and rows stay.
        let row = unsafe { &*row.wrapping_sub(COUNTED).cast::<AtomicU64>() };
        Some((row, (!is_of_all).then(|| object_word(receiver.0, receiver.1))))
    }

    /// The further cell of an object at a site; `None` if there is no memory.
    fn further_cell(&self, cell: u32, receiver: u64) -> Option<&Cell> {
        if self.further.load(Relaxed).is_null() {
            // Zeroes are cells that nothing matches.
            self.further.store(own_pages::take(FURTHER).cast(), Relaxed);
        }
        // SAFETY: it is null, or there are as many cells as places.
        unsafe { self.further.load(Relaxed).add(further_place(cell, receiver)).as_ref() }
    }

    /// The cached observers of the site with this cell while sites are compared with this word;
    /// nothing while the thread is not at level 0.
    #[inline(always)]
    pub fn cached(&self, cell: u32, who: u64) -> Option<CachedCell<'_>> {
        let cells = self.shown.load(Relaxed);
        if cell == 0 || cells.is_null() {
            return None;
        }
        // SAFETY: there is a cell for each place that a site has.
        CachedCell::under(who, unsafe { &*cells.byte_add(cell as usize) })
    }

    /// Notes this of a site, as long as sites are compared with this word. As [`Cells::note`].
    pub fn cache_observers(
        &self,
        counters: *const Counters,
        site: &Site,
        who: u64,
        observers: CachedObservers,
    ) {
        if let Some(cell) = self.cell_for(counters, site) {
            CachedCell::fill(cell, who, observers);
        }
    }

    /// Shows other cells to hooks. Returns those before.
    pub(super) fn swap_shown(&self, cells: *mut Cell) -> *mut Cell {
        self.shown.swap(cells, Relaxed)
    }

    /// The cell of a site, which these counters find from now on; `None` if it has none, or there
    /// is no memory.
    fn cell_for(&self, counters: *const Counters, site: &Site) -> Option<&Cell> {
        let at = site.cell.load(Relaxed) as usize;
        let cells = if at == 0 { null_mut() } else { self.cells_for(counters) };
        // SAFETY: there is one for each place that a site has.
        if cells.is_null() { None } else { Some(unsafe { &*cells.byte_add(at) }) }
    }

    /// The cells, which these counters point to from now on; null if there is no memory.
    fn cells_for(&self, counters: *const Counters) -> *mut Cell {
        let own = self
            .counters
            .iter()
            .find(|own| [null(), counters].contains(&own.load(Relaxed).cast_const()));
        // A library that was loaded later, with a copy of the probe that is one too many, counts
        // without cells.
        let Some(own) = own else { return null_mut() };
        if self.cells.load(Relaxed).is_null()
            && let Some(layout) = layout()
        {
            // Zeroes are cells that nothing matches.
            self.cells.store(spare::take(layout), Relaxed);
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
        let shown = if counts_itself { self.cells.load(Relaxed) } else { null_mut() };
        self.shown.store(shown, Relaxed);
        self.entries.aim(counts_itself);
        for own in &self.counters {
            // SAFETY: it is null, or memory of this thread, without a destructor.
            let Some(own) = (unsafe { own.load(Relaxed).as_ref() }) else { return };
            own.point(shown);
        }
    }

    /// Forgets all rows.
    pub fn clear(&self) {
        self.entries.clear();
        let cells = self.cells.load(Relaxed);
        if !cells.is_null() {
            // SAFETY: there is one for each number of a linked site, and they stay until the thread
            // ends.
            spare::clear(unsafe { std::slice::from_raw_parts(cells, LINKED.load(Relaxed) + 1) });
        }
        let further = self.further.load(Relaxed);
        if !further.is_null() {
            // SAFETY: as above, of places.
            spare::clear(unsafe { std::slice::from_raw_parts(further, FURTHER_CELLS) });
        }
    }

    /// Forgets all rows and arrays: the lane continues in another recording.
    pub fn leave(&self) {
        self.clear();
        self.arrays.retain(|_| false);
    }

    /// The arrays, for the next thread. No cell counts in them any more.
    pub fn hand_on(&self, to: &mut Vec<Array>) {
        self.let_go();
        self.arrays.retain(|array| {
            to.push(*array);
            false
        });
    }

    /// Forgets the array at this place of the recording, which takes no more outcomes.
    pub(crate) fn drop_array(&self, word: usize) {
        self.clear();
        self.arrays.retain(|array| !array.is_at(word));
    }

    /// The thread ends: its later calls are reported.
    pub fn give_up(&self) {
        self.let_go();
        self.arrays.give_up();
        self.entries.give_up();
        self.counters.iter().for_each(|own| own.store(null_mut(), Relaxed));
    }

    /// Gives the cells to a later thread, or back to the system.
    fn let_go(&self) {
        self.aim(false);
        let cells = self.cells.swap(null_mut(), Relaxed);
        if let Some(layout) = layout()
            && !cells.is_null()
        {
            // SAFETY: `cells_for` took them so, and no pointer to them is left.
            unsafe { spare::give_back(cells, layout) };
        }
        self.entries.let_go();
        let further = self.further.swap(null_mut(), Relaxed);
        if !further.is_null() {
            // SAFETY: `further_cell` took them so, and no pointer to them is left.
            unsafe { own_pages::give_back(further.cast(), FURTHER) };
        }
    }
}

/// Of the further cells of a thread.
const FURTHER: Layout = match Layout::array::<Cell>(FURTHER_CELLS) {
    Ok(layout) => layout,
    Err(_) => panic!("more cells than memory"),
};

/// The place of an object among the further cells, at the site with this cell.
#[inline(always)]
fn further_place(cell: u32, receiver: u64) -> usize {
    hash::bucket(receiver.wrapping_add(u64::from(cell)), FURTHER_CELLS.trailing_zeros())
}

/// The row of a subject in the buckets of its site.
#[inline(always)]
pub(super) fn look_in_buckets(cell: &Cell, who: u64, key: u64) -> Option<Counter<'static>> {
    if cell.who.load(Relaxed) == who {
        Buckets(cell.buckets.load(Relaxed)).look(key, who)
    } else {
        None
    }
}

/// True if a row of a site may take its cell. Where subjects of several kinds meet, each has it for
/// a while.
fn is_free_for(cell: &Cell, who: u64) -> bool {
    let rivals = cell.misses.load(Relaxed) + 1;
    let is_free = !Who::are_of_site(cell.who.load(Relaxed), who) || rivals == OFTEN;
    cell.misses.store(if is_free { 0 } else { rivals }, Relaxed);
    is_free
}

/// A signal handler of this thread finds a whole cell or none.
fn fill(cell: &Cell, who: u64, content: Content) {
    cell.who.store(0, Relaxed);
    compiler_fence(Release);
    let marked = content.rows;
    debug_assert!(
        marked.is_null() || marked.addr() % 8 <= COUNTED,
        "{marked:?} is a word, marked or not"
    );
    cell.rows.store(marked, Relaxed);
    cell.length.store(content.length, Relaxed);
    cell.buckets.store(content.buckets.0, Relaxed);
    cell.receiver.store(content.receiver.0, Relaxed);
    cell.kind.store(content.receiver.1, Relaxed);
    cell.also.store(content.also, Relaxed);
    compiler_fence(Release);
    cell.who.store(who, Relaxed);
}

/// Of a cell for each number of a linked site; they begin at 1.
fn layout() -> Option<Layout> {
    Layout::array::<Cell>(LINKED.load(Relaxed) + 1).ok()
}

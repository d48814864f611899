//! The cells of a thread at sites whose hooks only count: at one distance from the sites that the
//! linker collected.

use std::alloc::Layout;
use std::ptr::{from_ref, null_mut};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64, compiler_fence};

use metaspy_probe::{EntryCell, EntryCells, KNOWN_OBJECTS, KnownObject, Site, known_place};

use crate::platform::own_pages;
use crate::recorder::counter::Counter;
use crate::site;

/// The cells of a thread, made when it first counts a call of such a hook.
pub struct Entries {
    /// The word of this thread that hooks find the cells by; null before the first of them.
    word: AtomicPtr<EntryCells>,
    /// The first cell; null without cells.
    cells: AtomicPtr<EntryCell>,
    /// Further objects of settled sites: 32 KiB, taken when calls at one site are on several
    /// objects. Null = none yet.
    known: AtomicPtr<KnownObject>,
}

/// Of the objects that a thread knows.
const KNOWN: Layout = match Layout::array::<KnownObject>(KNOWN_OBJECTS) {
    Ok(layout) => layout,
    Err(_) => panic!("more objects than memory"),
};

impl Entries {
    pub const fn none() -> Self {
        let cells = AtomicPtr::new(null_mut());
        let known = AtomicPtr::new(null_mut());
        Entries { word: AtomicPtr::new(null_mut()), cells, known }
    }

    /// Remembers the row of a site, as long as the site has this word. Called with the lane busy,
    /// at level 0.
    pub fn note(&self, word: &EntryCells, site: &'static Site, who: u64, row: Counter<'_>) {
        if let Some(cell) = self.cell(word, site) {
            self.fill(cell, who, row.calls(), None);
        }
    }

    /// As [`Entries::note`], of calls on an object, or on any.
    pub(crate) fn note_settled(
        &self,
        word: &EntryCells,
        site: &'static Site,
        who: u64,
        (row, object): (&'static AtomicU64, Option<u64>),
    ) {
        let Some(cell) = self.cell(word, site) else { return };
        if let Some(object) = object
            && cell.who_of_object.load(Relaxed) == who
            && cell.object.load(Relaxed) != object
            && let Some(known) = self.known(object, site)
        {
            known.who.store(0, Relaxed);
            compiler_fence(Release);
            known.object.store(object, Relaxed);
            known.site.store(from_ref(site).addr(), Relaxed);
            known.row.store(from_ref(row).cast_mut(), Relaxed);
            compiler_fence(Release);
            known.who.store(who, Relaxed);
        }
        self.fill(cell, who, row, object);
    }

    /// Lets a cell count calls on an object, or on any, in a row.
    fn fill(&self, cell: &EntryCell, who: u64, row: &AtomicU64, object: Option<u64>) {
        // A signal handler of this thread finds a whole cell or none.
        cell.who.store(0, Relaxed);
        cell.who_of_object.store(0, Relaxed);
        compiler_fence(Release);
        cell.row.store(from_ref(row).cast_mut(), Relaxed);
        if let Some(object) = object {
            cell.object.store(object, Relaxed);
            cell.known.store(self.known.load(Relaxed), Relaxed);
        }
        compiler_fence(Release);
        let matched = if object.is_some() { &cell.who_of_object } else { &cell.who };
        matched.store(who, Relaxed);
        self.aim(true);
    }

    /// The cell of a site, which hooks find by this word from now on; `None` if it has none, or
    /// there is no memory.
    fn cell(&self, word: &EntryCells, site: &'static Site) -> Option<&EntryCell> {
        let at = place(site)?;
        let own = self.word.load(Relaxed).cast_const();
        // A library that was loaded later has a word of its own, and counts without cells.
        if !own.is_null() && !std::ptr::eq(own, word) {
            return None;
        }
        if self.cells.load(Relaxed).is_null()
            && let Some(layout) = layout()
        {
            // Zeroes are cells that nothing matches.
            self.cells.store(own_pages::take(layout).cast(), Relaxed);
        }
        self.word.store(from_ref(word).cast_mut(), Relaxed);
        // SAFETY: there is a cell for each place.
        unsafe { self.cells.load(Relaxed).byte_add(at).as_ref() }
    }

    /// The place of an object at a site among those that this thread knows; `None` if there is no
    /// memory.
    fn known(&self, object: u64, site: &'static Site) -> Option<&KnownObject> {
        if self.known.load(Relaxed).is_null() {
            // Zeroes are objects of no site.
            self.known.store(own_pages::take(KNOWN).cast(), Relaxed);
        }
        // SAFETY: it is null, or there are as many as places.
        unsafe { self.known.load(Relaxed).add(known_place(object, from_ref(site).addr())).as_ref() }
    }

    /// Lets hooks count by themselves, or not.
    #[inline]
    pub fn aim(&self, counts_itself: bool) {
        // SAFETY: it is null, or memory of this thread, without a destructor.
        let Some(word) = (unsafe { self.word.load(Relaxed).as_ref() }) else { return };
        let cells = self.cells.load(Relaxed);
        let is_there = counts_itself && !cells.is_null();
        word.point(if is_there { cells.expose_provenance().wrapping_sub(first_site()) } else { 0 });
    }

    /// Forgets all rows. Cells that hold nothing are not written, so their pages stay untouched.
    pub fn clear(&self) {
        let cells = self.cells.load(Relaxed);
        if cells.is_null() {
            return;
        }
        for at in (0..size_of_val(site::linked())).step_by(size_of::<Site>()) {
            // SAFETY: there is a cell for each place.
            let cell = unsafe { &*cells.byte_add(at) };
            for who in
                [&cell.who, &cell.who_of_object].into_iter().filter(|who| who.load(Relaxed) != 0)
            {
                who.store(0, Relaxed);
            }
        }
        let known = self.known.load(Relaxed);
        if !known.is_null() {
            // SAFETY: there are as many as places.
            let known = unsafe { std::slice::from_raw_parts(known, KNOWN_OBJECTS) };
            known.iter().for_each(|known| known.who.store(0, Relaxed));
        }
    }

    /// Gives the cells back.
    pub fn let_go(&self) {
        self.aim(false);
        let cells = self.cells.swap(null_mut(), Relaxed);
        if let Some(layout) = layout()
            && !cells.is_null()
        {
            // SAFETY: `note` took them so, and no pointer to them is left.
            unsafe { own_pages::give_back(cells.cast(), layout) };
        }
        let known = self.known.swap(null_mut(), Relaxed);
        if !known.is_null() {
            // SAFETY: `known` took them so, and the cells that pointed to them are gone.
            unsafe { own_pages::give_back(known.cast(), KNOWN) };
        }
    }

    /// The thread ends.
    pub fn give_up(&self) {
        self.word.store(null_mut(), Relaxed);
    }
}

fn first_site() -> usize {
    site::linked().as_ptr().addr()
}

/// The place of the cell of a site, in bytes; `None` if the linker did not collect it.
fn place(site: &Site) -> Option<usize> {
    let at = from_ref(site).addr().checked_sub(first_site())?;
    (at < size_of_val(site::linked())).then_some(at)
}

/// Of all cells: they are as far from each other as the sites.
fn layout() -> Option<Layout> {
    let sites = site::linked();
    if sites.is_empty() { None } else { Some(Layout::for_value(sites)) }
}

//! The cells of a thread at sites whose hooks only count: at one distance from the sites that the linker collected.

use std::alloc::Layout;
use std::ptr::{from_ref, null_mut};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, compiler_fence};

use metaspy_probe::{EntryCell, EntryCells, Site};

use crate::platform::own_pages;
use crate::recorder::counter::Counter;
use crate::site;

/// The cells of a thread, made when it first counts a call of such a hook.
pub struct Entries {
    /// The word of this thread that hooks find the cells by; null before the first of them.
    word: AtomicPtr<EntryCells>,
    /// The first cell; null without cells.
    cells: AtomicPtr<EntryCell>,
}

impl Entries {
    pub const fn none() -> Self {
        Entries { word: AtomicPtr::new(null_mut()), cells: AtomicPtr::new(null_mut()) }
    }

    /// Remembers the row of a site, as long as the site has this word. Called with the lane busy, at level 0.
    pub fn note(&self, word: &EntryCells, site: &'static Site, who: u64, row: Counter<'_>) {
        let Some(at) = place(site) else { return };
        let own = self.word.load(Relaxed).cast_const();
        // A library that was loaded later has a word of its own, and counts without cells.
        if !own.is_null() && !std::ptr::eq(own, word) {
            return;
        }
        if self.cells.load(Relaxed).is_null()
            && let Some(layout) = layout()
        {
            // Zeroes are cells that nothing matches.
            self.cells.store(own_pages::take(layout).cast(), Relaxed);
        }
        self.word.store(from_ref(word).cast_mut(), Relaxed);
        // SAFETY: there is a cell for each place.
        let Some(cell) = (unsafe { self.cells.load(Relaxed).byte_add(at).as_ref() }) else { return };
        // A signal handler of this thread finds a whole cell or none.
        cell.who.store(0, Relaxed);
        compiler_fence(Release);
        cell.row.store(from_ref(row.calls()).cast_mut(), Relaxed);
        compiler_fence(Release);
        cell.who.store(who, Relaxed);
        self.aim(true);
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
            if cell.who.load(Relaxed) != 0 {
                cell.who.store(0, Relaxed);
            }
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

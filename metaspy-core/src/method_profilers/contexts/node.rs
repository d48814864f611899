//! A calling context as one thread knows it.

use std::mem::offset_of;
use std::ptr::{null, null_mut};
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, compiler_fence};

use metaspy_probe::{ContextHead, ContextTable};

use crate::method_profilers::table::{ContextRow, Written};

/// The depth of a context that stands for all calls below one that has no room.
pub(super) const CUT: u32 = u32::MAX;
/// Places for children in a node itself. A power of two.
pub(super) const CHILDREN: usize = 4;
/// Up to so many places, a table grows as soon as two children have one place.
const FEW_PLACES: usize = 64;
/// The most places of a table.
const MOST_PLACES: usize = 1024;
/// A larger table has this many times the places.
const GROWTH: usize = 4;

/// A context that a node remembers; null = none.
pub(super) type Child = AtomicPtr<Node>;

/// A table of the contexts that were entered from a node, by the lowest bits of their sites. Those
/// in one place are a list. Tables stay, and have one size for ever: a node is never seen with the
/// mask of another table.
type Table = ContextTable;

/// The table that is a part of a node.
#[repr(C)]
struct OwnTable {
    head: Table,
    places: [Child; CHILDREN],
}

/// A calling context as its thread knows it: two lines of the cache.
///
/// Only its thread writes it. Its words are atomics because signal handlers run on the same thread.
/// It is made in its place and stays there.
#[repr(C, align(64))]
pub(crate) struct Node {
    /// The words for hooks that count calls in contexts and record nothing else. Its table of
    /// children is the node's own one, or a larger one.
    head: ContextHead,
    /// A hash of the sites from the root to it; 0 = the root.
    pub id: u64,
    pub site: u32,
    pub depth: u32,
    /// The recording that the row is of.
    written: AtomicPtr<()>,
    row: AtomicU32,
    /// The words of this thread in the row; null if it shares them.
    words: AtomicPtr<AtomicU64>,
    own_table: OwnTable,
}

const _: () = assert!(size_of::<Node>() == 128 && size_of::<Child>() == 8);

/// The name of a context, the same in all threads.
#[derive(Clone, Copy)]
pub(crate) struct Name {
    pub id: u64,
    pub site: u32,
    pub depth: u32,
}

impl Name {
    pub(super) const ROOT: Self = Name { id: 0, site: 0, depth: 0 };
}

impl Node {
    /// Where its words are, for hooks in assembly.
    pub const SITE: usize = offset_of!(Node, site);
    pub const WRITTEN: usize = offset_of!(Node, written);
    pub const COUNTED: usize = offset_of!(Node, head.counted);
    pub const TABLE: usize = offset_of!(Node, head.table);
    pub const MASK_OF_TABLE: usize = offset_of!(Table, mask);
    pub const PLACES_OF_TABLE: usize = size_of::<Table>();
    pub const NEXT: usize = offset_of!(Node, head.next);

    /// Makes a node in its place. It has the table of the node that was there before.
    ///
    /// # Safety
    /// The place has room for a node, which is zeroed or a node that its thread does not use any
    /// more, and nothing else uses it from now on.
    pub(super) unsafe fn make_at(place: *mut Node, name: Name) -> &'static Self {
        // SAFETY: as the caller states; zeroes are a null pointer.
        let before = unsafe { (*place).head.table.load(Relaxed) };
        // SAFETY: the place has room for a node.
        let own = unsafe { (&raw mut (*place).own_table).cast::<Table>() };
        let table = if before.is_null() { own } else { before };
        // SAFETY: as the caller states.
        unsafe { place.write(Node::new(name, table)) };
        // SAFETY: it was written just now, and nodes stay.
        let node = unsafe { &*place };
        node.forget_children();
        node
    }

    fn new(name: Name, table: *mut Table) -> Self {
        let mask = (CHILDREN - 1) * size_of::<Child>();
        let counted = AtomicPtr::new(null_mut());
        Node {
            head: ContextHead {
                who: AtomicU64::new(0),
                counted,
                table: AtomicPtr::new(table),
                next: AtomicPtr::new(null_mut()),
            },
            id: name.id,
            site: name.site,
            depth: name.depth,
            written: AtomicPtr::new(null_mut()),
            row: AtomicU32::new(0),
            words: AtomicPtr::new(null_mut()),
            own_table: OwnTable {
                head: Table { mask },
                places: [const { AtomicPtr::new(null_mut()) }; CHILDREN],
            },
        }
    }

    /// The places of its table.
    fn places(&self) -> &'static [Child] {
        let table = self.head.table.load(Relaxed).cast_const();
        // SAFETY: each node has a table, which stays, and whose places follow it.
        unsafe {
            let places = (*table).mask / size_of::<Child>() + 1;
            std::slice::from_raw_parts(table.add(1).cast::<Child>(), places)
        }
    }

    /// The place of a site in its table.
    #[inline(always)]
    fn place(&self, site: u32) -> &'static Child {
        let table = self.head.table.load(Relaxed).cast_const();
        // SAFETY: as above. The mask finds places of the table.
        unsafe {
            let at = (site as usize * size_of::<Child>()) & (*table).mask;
            &*table.add(1).cast::<Child>().byte_add(at)
        }
    }

    /// The contexts in a place.
    #[inline(always)]
    fn list(place: &Child) -> impl Iterator<Item = &'static Node> {
        // SAFETY: they are null, or nodes, and nodes stay.
        let first = unsafe { place.load(Relaxed).as_ref() };
        // SAFETY: as above: the head of a node is its first field.
        std::iter::successors(first, |node| unsafe {
            node.head.next.load(Relaxed).cast::<Node>().as_ref()
        })
    }

    /// The number of places that a larger table has, if the child would share its place with
    /// another one. A table that is not small grows only if its children are many: its size follows
    /// their number.
    pub(super) fn wanted_places(&self, child: &Node) -> Option<usize> {
        Node::list(self.place(child.site)).next()?;
        let places = self.places();
        let more = places.len() * GROWTH;
        let children = places.iter().flat_map(Node::list).count();
        (more <= FEW_PLACES || more <= MOST_PLACES && children * GROWTH >= places.len())
            .then_some(more)
    }

    /// The words of a table with this many places.
    pub(super) const fn words_of(places: usize) -> usize {
        places + size_of::<Table>() / size_of::<Child>()
    }

    /// Moves its children into a larger table, made of words that nothing else uses: as many as
    /// [`Node::words_of`] of a number of places. A signal handler meanwhile may miss some of them.
    pub(super) fn grow(&self, words: &'static mut [Child]) {
        let places = self.places();
        words.iter().for_each(|word| word.store(null_mut(), Relaxed));
        let mask = (words.len() - Node::words_of(1)) * size_of::<Child>();
        let table: *mut Table = words.as_mut_ptr().cast();
        // SAFETY: the words have room for it and for its places.
        unsafe { table.write(Table { mask }) };
        compiler_fence(Release);
        self.head.table.store(table, Relaxed);
        for place in places {
            // The list knows the one behind a child before that has another one behind it.
            Node::list(place).for_each(|child| self.remember(child));
        }
    }

    /// Returns the name of the context, the same in all threads.
    pub fn name(&self) -> Name {
        Name { id: self.id, site: self.site, depth: self.depth }
    }

    /// True if its row is of this recording.
    #[inline]
    pub fn is_of(&self, written: Written) -> bool {
        std::ptr::eq(self.written.load(Relaxed), written.address())
    }

    /// Its row in the recording that it is of.
    #[inline]
    pub fn row(&self) -> ContextRow {
        let written = Written::at(self.written.load(Relaxed));
        ContextRow { written, row: self.row.load(Relaxed), words: self.words.load(Relaxed) }
    }

    /// The word that its calls are counted in; `None` if this thread has none for itself.
    #[inline]
    pub fn counted(&self) -> Option<&'static AtomicU64> {
        // SAFETY: it is null, or a word of a page, and pages are never unmapped.
        unsafe { self.head.counted.load(Relaxed).as_ref() }
    }

    /// Words of its row; `None` if this thread has none for itself.
    #[inline(always)]
    pub fn words<const N: usize>(&self, columns: [usize; N]) -> Option<[&'static AtomicU64; N]> {
        let words = self.words.load(Relaxed).cast_const();
        // SAFETY: a row has a word for each column, and pages are never unmapped.
        (!words.is_null()).then(|| columns.map(|column| unsafe { &*words.add(column) }))
    }

    /// Gives it a row of a recording, whose calls are counted in this column. A signal handler of
    /// this thread finds a whole row or none.
    pub fn put(&self, row: ContextRow, column: usize) {
        self.head.who.store(0, Relaxed);
        self.written.store(null_mut(), Relaxed);
        compiler_fence(Release);
        self.row.store(row.row, Relaxed);
        self.words.store(row.words.cast_mut(), Relaxed);
        let counted = if row.words.is_null() { null() } else { row.words.wrapping_add(column) };
        self.head.counted.store(counted.cast_mut(), Relaxed);
        compiler_fence(Release);
        self.written.store(row.written.address().cast_mut(), Relaxed);
    }

    /// Lets hooks count calls of its site here, as long as the site has this word.
    pub fn count_at_hooks(&self, who: u64) {
        if self.depth != CUT && self.counted().is_some() {
            self.head.who.store(who, Relaxed);
        }
    }

    /// Forgets its row and its children: another thread has the node from now on, with words of its
    /// own.
    pub fn forget(&self) {
        self.head.who.store(0, Relaxed);
        self.written.store(null_mut(), Relaxed);
        self.forget_children();
    }

    fn forget_children(&self) {
        self.places().iter().for_each(|place| place.store(null_mut(), Relaxed));
    }

    /// The context of a call of this site from here, if the node remembers it.
    #[inline(always)]
    pub fn child(&self, site: u32) -> Option<&'static Node> {
        Node::list(self.place(site)).find(|child| child.site == site)
    }

    /// Remembers a context that was entered from here, and is not remembered yet. Its thread's
    /// nodes are busy.
    pub(super) fn remember(&self, child: &'static Node) {
        let place = self.place(child.site);
        child.head.next.store(place.load(Relaxed).cast(), Relaxed);
        compiler_fence(Release);
        place.store(std::ptr::from_ref(child).cast_mut(), Relaxed);
    }
}

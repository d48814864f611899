//! The calling contexts that a thread knows, and the one that it is in.
//!
//! A hook finds the context of a call by one comparison, if the context around remembers it.
//!
//! A thread knows its contexts as nodes, and each node knows all contexts entered from it, in a
//! table that grows with their number. With a context by value in each frame, the processor
//! waited for a wide load of narrow stores: that was two thirds of the time. A hook that finds all
//! words in this way calls no other function and saves no registers. A tree alone is counted in
//! assembly, and every other case goes the long way.

use std::alloc::Layout;
use std::cell::{Cell, UnsafeCell};
use std::ptr::{null, null_mut};
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use metaspy_probe::hash;

use crate::method_profilers::contexts::node::{CUT, Child, Name, Node};
use crate::method_profilers::table::{ContextRow, Written};
use crate::platform::lock::lock;
use crate::platform::own_pages;
use crate::platform::page_vec::PageVec;
use crate::platform::thread_end::watch_this_thread;
use crate::recorder::{self, ProfilerState};

/// Nodes that are made at once.
const CHUNK: usize = 256;
/// The most nodes of a thread: 64 MiB.
const MOST: usize = 1 << 19;
/// Words for tables of children that are taken at once: 64 KiB.
const WORDS: usize = 1 << 13;
/// How often they are taken at most: 64 MiB.
const MOST_WORDS: usize = 1 << 10;

/// The nodes of a thread. They are never freed, because a frame may refer to one: a later thread
/// has their memory.
pub(super) struct Nodes {
    root: Node,
    /// Stands for contexts without memory: counts in it are lost.
    lost: Node,
    made: UnsafeCell<Made>,
}

/// The nodes below the root.
struct Made {
    chunks: PageVec<*mut Node>,
    length: usize,
    /// By the hash of the id; null = free. At most half of them are used.
    index: PageVec<*const Node>,
    /// The words of tables of nodes with many children, and how many of the last ones are used.
    words: PageVec<*mut Child>,
    used: usize,
}

/// The nodes of threads that have ended.
static FREE: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

struct Kept(*mut Nodes);
// SAFETY: its thread has ended, and the next one takes it out of the list.
unsafe impl Send for Kept {}

struct Local {
    nodes: Cell<*mut Nodes>,
    /// True while nodes are searched: a signal handler of this thread leaves them alone.
    is_busy: Cell<bool>,
    has_ended: Cell<bool>,
}

thread_local! {
    // Constant and without a destructor: the first hook of a thread may be in a signal handler.
    static LOCAL: Local = const {
        Local { nodes: Cell::new(null_mut()), is_busy: Cell::new(false), has_ended: Cell::new(false) }
    };
}

/// The context of this thread; `None` at the root.
#[inline]
pub(crate) fn current_context() -> Option<&'static Node> {
    context_in(&recorder::own_lane().profilers)
}

/// The context of a thread; `None` at the root.
#[inline(always)]
pub(crate) fn context_in(observed: &ProfilerState) -> Option<&'static Node> {
    // SAFETY: it is null, or a node, and nodes stay.
    unsafe { observed.context.load(Relaxed).cast::<Node>().as_ref() }
}

/// Moves this thread to another context, and returns the one before.
#[inline]
pub(crate) fn go_to(node: Option<&'static Node>) -> Option<&'static Node> {
    let observed = &recorder::own_lane().profilers;
    let before = context_in(observed);
    go_in(observed, node);
    before
}

/// Moves a thread to another context.
#[inline(always)]
pub(crate) fn go_in(observed: &ProfilerState, node: Option<&'static Node>) {
    let node = node.map_or(null(), std::ptr::from_ref);
    observed.context.store(node.cast_mut().cast(), Relaxed);
}

/// The nodes of this thread; `None` if it ends, or has no memory.
pub(super) fn of_this_thread() -> Option<&'static Nodes> {
    LOCAL.with(|local| {
        let nodes = match local.nodes.get() {
            known if !known.is_null() => known,
            _ => take(local),
        };
        // SAFETY: it is null, or `Nodes::take` made it, and it stays.
        unsafe { nodes.as_ref() }
    })
}

#[cold]
fn take(local: &Local) -> *mut Nodes {
    if local.has_ended.get() || !watch_this_thread() {
        return null_mut();
    }
    let nodes = Nodes::take();
    local.nodes.set(nodes);
    nodes
}

/// This thread ends. Gives its nodes to a later one.
pub(super) fn end_thread() {
    LOCAL.with(|local| {
        local.has_ended.set(true);
        go_to(None);
        let nodes = local.nodes.replace(null_mut());
        if !nodes.is_null() {
            // SAFETY: `Nodes::take` made it, and it stays.
            unsafe { &*nodes }.forget();
            lock(&FREE).push(Kept(nodes));
        }
    });
}

impl Nodes {
    /// Takes nodes for a thread, without the allocator and without waiting, because the first hook
    /// of a thread may run in a signal handler.
    fn take() -> *mut Nodes {
        if let Some(Kept(nodes)) = FREE.try_lock().ok().and_then(|mut free| free.pop()) {
            return nodes;
        }
        let made: *mut Nodes = own_pages::take(Layout::new::<Nodes>()).cast();
        if !made.is_null() {
            let chunks = PageVec::empty();
            let index = PageVec::empty();
            let below = Made { chunks, length: 0, index, words: PageVec::empty(), used: WORDS };
            let lost = Name { site: u32::MAX, depth: CUT, ..Name::ROOT };
            // SAFETY: the memory is new, zeroed, and aligned to a page. Nothing else uses it yet.
            unsafe {
                Node::make_at(&raw mut (*made).root, Name::ROOT);
                Node::make_at(&raw mut (*made).lost, lost);
                (&raw mut (*made).made).write(UnsafeCell::new(below));
            }
        }
        made
    }

    /// Forgets all nodes, for another thread, which has their memory.
    fn forget(&'static self) {
        self.root.forget();
        self.search(|made| {
            made.length = 0;
            made.index.fill(null());
            None
        });
    }

    /// The context of code without hooks.
    pub fn root(&'static self) -> &'static Node {
        &self.root
    }

    /// Returns the node that stands for contexts without memory. Counts in it are lost.
    pub fn lost(&'static self, written: Written) -> &'static Node {
        self.lost.put(ContextRow::none(written), 0);
        &self.lost
    }

    /// The node of a context, if this thread knows it.
    pub fn find(&'static self, id: u64) -> Option<&'static Node> {
        self.search(|made| made.find(id))
    }

    /// The node of a context, made if it is new. `None` if there is no memory.
    pub fn find_or_make(&'static self, name: Name) -> Option<&'static Node> {
        self.search(|made| made.find_or_make(name))
    }

    /// Lets a node remember a context that was entered from it.
    pub fn remember(&'static self, parent: &'static Node, child: &'static Node) {
        self.search(|made| {
            // It may be remembered of another recording.
            if parent.child(child.site).is_none() {
                if let Some(places) = parent.wanted_places(child)
                    && let Some(words) = made.words(Node::words_of(places))
                {
                    parent.grow(words);
                }
                parent.remember(child);
            }
            None
        });
    }

    /// `None` also if this is a signal handler that interrupted another search.
    fn search(
        &'static self,
        search: impl FnOnce(&mut Made) -> Option<&'static Node>,
    ) -> Option<&'static Node> {
        LOCAL.with(|local| {
            if local.is_busy.replace(true) {
                return None;
            }
            // SAFETY: only the thread of these nodes calls this, and `is_busy` keeps its signal
            // handlers out.
            let node = search(unsafe { &mut *self.made.get() });
            local.is_busy.set(false);
            node
        })
    }
}

impl Made {
    fn find(&self, id: u64) -> Option<&'static Node> {
        // SAFETY: it is null, or a node, and nodes stay.
        if self.index.is_empty() { None } else { unsafe { self.index[self.place(id)].as_ref() } }
    }

    fn find_or_make(&mut self, name: Name) -> Option<&'static Node> {
        if self.index.len() <= 2 * self.length && !self.grow_index() {
            return None;
        }
        let place = self.place(name.id);
        if self.index[place].is_null() {
            self.index[place] = self.make(name)?;
        }
        // SAFETY: it was made, and nodes stay.
        unsafe { self.index[place].as_ref() }
    }

    /// The place of an id in the index, or the free one that it would have.
    fn place(&self, id: u64) -> usize {
        let mask = self.index.len() - 1;
        let mut place = hash::scatter(id) as usize & mask;
        // SAFETY: it is null, or a node, and nodes stay.
        while unsafe { self.index[place].as_ref() }.is_some_and(|node| node.id != id) {
            place = (place + 1) & mask;
        }
        place
    }

    fn make(&mut self, name: Name) -> Option<*const Node> {
        let chunk = self.length / CHUNK;
        let at = self.length % CHUNK;
        if chunk == self.chunks.len() {
            if self.length == MOST || !self.chunks.has_room() {
                return None;
            }
            let made: *mut Node = own_pages::take(Layout::array::<Node>(CHUNK).ok()?).cast();
            if made.is_null() {
                return None;
            }
            self.chunks.push(made);
        }
        // SAFETY: a chunk has that many nodes.
        let place = unsafe { self.chunks[chunk].add(at) };
        // SAFETY: this one is not used.
        let node = unsafe { Node::make_at(place, name) };
        self.length += 1;
        Some(node)
    }

    /// Words for a table, which stay. `None` if there is no memory.
    fn words(&mut self, count: usize) -> Option<&'static mut [Child]> {
        if WORDS - self.used < count {
            if self.words.len() == MOST_WORDS || !self.words.has_room() {
                return None;
            }
            let taken: *mut Child = own_pages::take(Layout::array::<Child>(WORDS).ok()?).cast();
            if taken.is_null() {
                return None;
            }
            self.words.push(taken);
            self.used = 0;
        }
        let first = self.words.last()?.wrapping_add(self.used);
        self.used += count;
        // SAFETY: so many are left, zeroes are words, and nothing else uses them.
        Some(unsafe { std::slice::from_raw_parts_mut(first, count) })
    }

    fn grow_index(&mut self) -> bool {
        let length = (self.index.len() * 2).max(2 * CHUNK);
        let mut larger = PageVec::empty();
        if !larger.extend_to(length, null()) {
            return false;
        }
        let smaller = std::mem::replace(&mut self.index, larger);
        for &node in smaller.iter().filter(|node| !node.is_null()) {
            // SAFETY: as in `place`.
            let place = self.place(unsafe { (*node).id });
            self.index[place] = node;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method_profilers::contexts::node::CHILDREN;

    #[test]
    fn a_thread_finds_each_context_that_it_made() {
        let names = (1..5_000_u32).map(|number| Name {
            id: hash::scatter(number.into()),
            site: number,
            depth: 1,
        });
        let made_and_found = std::thread::spawn(move || {
            // SAFETY: it is null, or nodes that stay.
            let nodes = unsafe { Nodes::take().as_ref() }.expect("there is memory");
            let made: Vec<&Node> = names
                .clone()
                .map(|name| nodes.find_or_make(name).expect("there is memory"))
                .collect();
            assert!(nodes.find(0).is_none() && made.iter().all(|node| node.child(7).is_none()));
            nodes.remember(nodes.root(), made[6]);
            assert_eq!(nodes.root().child(7).map(|node| node.id), Some(made[6].id));
            assert!(
                nodes.root().child(7 + CHILDREN as u32).is_none(),
                "another site in the same place"
            );
            let found = names
                .clone()
                .zip(made)
                .filter(|(name, node)| {
                    nodes.find(name.id).is_some_and(|found| std::ptr::eq(found, *node))
                })
                .count();
            // A later thread that found these nodes would count in words of this thread.
            nodes.forget();
            assert!(
                nodes.root().child(7).is_none()
                    && names.clone().all(|name| nodes.find(name.id).is_none())
            );
            found
        });
        assert_eq!(made_and_found.join().expect("it returns"), 4_999);
    }

    /// How many of so many children, entered in turn, a node remembers; and how many after its
    /// memory went to another thread.
    fn remembered(sites: impl Iterator<Item = u32> + Clone + Send + 'static) -> (usize, usize) {
        let counted = std::thread::spawn(move || {
            // SAFETY: it is null, or nodes that stay.
            let nodes = unsafe { Nodes::take().as_ref() }.expect("there is memory");
            let name = |site: u32| Name { id: hash::scatter(u64::from(site) + 1), site, depth: 2 };
            let parent = nodes.find_or_make(name(0)).expect("there is memory");
            // Twice: when a table grows, those that were forgotten before are entered again.
            for site in sites.clone().chain(sites.clone()) {
                nodes.remember(parent, nodes.find_or_make(name(site)).expect("there is memory"));
            }
            let known = || {
                sites
                    .clone()
                    .filter(|site| parent.child(*site).is_some_and(|child| child.site == *site))
                    .count()
            };
            let before = known();
            nodes.forget();
            nodes.find_or_make(name(0)).expect("there is memory");
            (before, known())
        });
        counted.join().expect("it returns")
    }

    #[test]
    fn a_node_remembers_as_many_children_as_it_has() {
        assert_eq!(remembered(1..6), (5, 0));
        assert_eq!(remembered(1..100), (99, 0));
        assert_eq!(remembered(100..600), (500, 0));
        // A few children need no large table.
        assert_eq!(remembered([1, 9].into_iter()), (2, 0));
        // Those with the same lowest bits are a list.
        assert_eq!(remembered((0..40).map(|number| 1 + number * 4096)), (40, 0));
    }
}

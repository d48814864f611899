//! Calling contexts: how often a method was called on each path of calls.

mod births;
mod lifetime;
mod live;
mod node;
mod nodes;
mod tree;

use crate::format::profile::built_in;
use crate::method_profilers::{Call, CallEnd, MethodProfiler, MethodSpy, Tables};

pub(crate) use births::{Birth, born, died};
pub(crate) use node::Node;
pub(crate) use nodes::{context_in, current_context, go_in, go_to};
pub(super) use tree::publish;
pub(crate) use tree::{Paused, Tree, alone_at};

/// This thread ends.
pub(super) fn end_thread() {
    births::end_thread();
    nodes::end_thread();
}

/// Counts the calls of each method in each of its calling contexts, in a tree (*Augmenting Static
/// Source Views in IDEs with Dynamic Metrics*, section 4.2).
///
/// A context is a path of calls from the first observed method of a thread. Contexts with the same
/// path are one, in all threads and processes. Calls of async functions are below the call that
/// polled them first, on whatever thread they continue. The times of contexts are measured if
/// another profiler, such as [`Calls`](crate::method_profilers::Calls), takes the time of calls.
///
/// Its table is `tree`: its rows are contexts ([`RowKey::Context`](crate::store::RowKey::Context)),
/// with the columns `context` (an id), `calls`, `cut`, `total` and `self`. Where the recording has
/// no room for another context, and where calls are nested more than 1,024 deep, calls are counted
/// as `cut` in the last context above them. One such profiler can be installed at a time.
#[derive(Default)]
pub struct Contexts {
    tree: ContextTree,
}

impl MethodProfiler for Contexts {
    const NAME: &'static str = built_in::CONTEXTS;
    const TRUSTED: bool = true;
    const ONLY_ENDS: bool = true;
    const ONLY_CONTEXTS: bool = true;
    type Package = ();
    type Type = ();
    type Method = ();
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.tree = ContextTree(Some(Tree::install(tables, false)));
    }

    fn context_tree(&self) -> ContextTree {
        self.tree
    }

    fn after(&self, _: &MethodSpy<Self>, _: &Call<'_>, end: &CallEnd<'_>) {
        self.tree.add_time(end);
    }
}

/// Counts the objects on the heap that each method allocates in each of its calling contexts, and
/// all that [`Contexts`] counts (*Augmenting Static Source Views in IDEs with Dynamic Metrics*,
/// sections 3 and 4.2).
///
/// The program's allocator must be a [`Counting`](crate::hook::Counting); otherwise only calls are
/// counted. Further columns of the table `tree` are `objects` and `bytes`; `freed`, `freed bytes`
/// and `lifetime` of the objects that were allocated in the context and freed anywhere; `timed`,
/// the number of objects that `lifetime` is a sum over; and in the row of code without hooks
/// `peak`, the most bytes that were alive at once. Allocations of metaspy are left out, and so are
/// objects from before the installation.
#[derive(Default)]
pub struct Allocations {
    tree: ContextTree,
}

impl MethodProfiler for Allocations {
    const NAME: &'static str = built_in::ALLOCATIONS;
    const TRUSTED: bool = true;
    const ONLY_ENDS: bool = true;
    const ONLY_CONTEXTS: bool = true;
    type Package = ();
    type Type = ();
    type Method = ();
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.tree = ContextTree(Some(Tree::install(tables, true)));
    }

    fn context_tree(&self) -> ContextTree {
        self.tree
    }

    fn after(&self, _: &MethodSpy<Self>, _: &Call<'_>, end: &CallEnd<'_>) {
        self.tree.add_time(end);
    }
}

/// The tree that a profiler counts in; none by default.
#[doc(hidden)]
#[derive(Clone, Copy, Default)]
pub struct ContextTree(pub(crate) Option<&'static Tree>);

impl ContextTree {
    fn add_time(self, end: &CallEnd<'_>) {
        if let Some(tree) = self.0.filter(|_| end.ticks() > 0) {
            tree.add_time(end.ticks(), end.own_ticks());
        }
    }
}

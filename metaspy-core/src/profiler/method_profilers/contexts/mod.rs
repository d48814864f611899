//! Calling contexts: how often a method was called on each path of calls.

mod tree;

use crate::method_profilers::{Call, CallEnd, MethodProfiler, MethodSpy, Tables};

pub(crate) use tree::{Node, Tree, alone_at, go_to};
pub(super) use tree::{here, publish_alone};

/// Counts the calls of each method in each of its calling contexts, in a tree (*Augmenting Static Source Views in IDEs with
/// Dynamic Metrics*, section 4.2).
///
/// A context is a path of calls from the first observed method of a thread. Contexts with the same path are one, in all
/// threads and processes. Calls of async functions are below the call that polled them first, on whatever thread they
/// continue. The times of contexts are measured if another profiler, such as [`Calls`](crate::method_profilers::Calls),
/// takes the time of calls.
///
/// Its table is `tree`: its rows are contexts ([`RowKey::Context`](crate::store::RowKey::Context)), with the columns
/// `context` (an id), `calls`, `cut`, `total` and `self`. Where the recording has no room for another context, and where
/// calls are nested more than 1,024 deep, calls are counted as `cut` in the last context above them. One such profiler can
/// be installed at a time.
#[derive(Default)]
pub struct Contexts {
    tree: ContextTree,
}

impl MethodProfiler for Contexts {
    const NAME: &'static str = "contexts";
    const TRUSTED: bool = true;
    const ONLY_ENDS: bool = true;
    type Package = ();
    type Type = ();
    type Method = ();
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.tree = ContextTree(Some(Tree::install(tables)));
    }

    fn context_tree(&self) -> ContextTree {
        self.tree
    }

    fn after(&self, _: &MethodSpy<Self>, _: &Call<'_>, end: &CallEnd<'_>) {
        if let ContextTree(Some(tree)) = self.tree
            && end.ticks() > 0
        {
            tree.add_time(end.ticks(), end.own_ticks());
        }
    }
}

/// The tree that a profiler counts in; none by default.
#[doc(hidden)]
#[derive(Clone, Copy, Default)]
pub struct ContextTree(pub(crate) Option<&'static Tree>);

/// Two trees were requested at once.
#[derive(Debug)]
pub(crate) struct OtherTree;

impl std::fmt::Display for OtherTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a profiler of calling contexts is installed; uninstall it first")
    }
}

impl std::error::Error for OtherTree {}

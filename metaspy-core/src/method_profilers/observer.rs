//! A method profiler as hooks see it, whatever its type.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use metaspy_probe::Value;

use crate::method_profilers::block::Block;
use crate::method_profilers::call::CallEnd;
use crate::method_profilers::call_stack::Entry;
use crate::method_profilers::contexts::Tree;
use crate::method_profilers::table::Table;

/// A profiler of any type, with its mirror.
pub(crate) trait Observer: Any + Send + Sync {
    /// The tables that it made.
    fn tables(&self) -> &[Arc<Table>];
    /// The number of its profiler's installation.
    fn installation(&self) -> u32;
    /// True if it observes the calls of a site.
    fn is_interested(&self, site: usize) -> bool;
    /// The block that its profiler is installed around.
    fn block(&self) -> Option<&Block>;
    fn is_timed(&self) -> bool;
    /// True if it is called at the ends of calls only, and at each.
    fn sees_only_ends(&self) -> bool;
    /// The number of the table of callers, if all that it does at the end of a call is to add its
    /// times there and at its method.
    fn callers(&self) -> Option<u32>;
    /// The tree that calls are counted in by their contexts.
    fn context_tree(&self) -> Option<&'static Tree>;
    /// A panic in the profiler is caught.
    fn before(
        &self,
        entry: &Entry,
        around: &[Entry],
        seen: Sight<'_>,
    ) -> Option<Box<dyn Any + Send>>;
    /// If further calls only need to be counted: the counter of this thread beside the tally, and
    /// true if those on any object.
    fn settled(
        &self,
        entry: &Entry,
        around: &[Entry],
        test: u32,
    ) -> Option<(Option<&'static AtomicU64>, bool)>;
    /// As [`Observer::before`].
    fn after(&self, entry: &Entry, around: &[Entry], test: u32, ended: &CallEnd<'_>);
}

/// A call that begins, beside its entry.
#[derive(Clone, Copy)]
pub(crate) struct Sight<'s> {
    pub test: u32,
    pub arguments: &'s [Value<'s>],
}

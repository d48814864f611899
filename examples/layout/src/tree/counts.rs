//! Plain counters of the work, without any profiler. They check the profiler, and serve where there
//! is none.

/// How often each thing was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames laid out.
    pub frames: u64,
    /// Changes of the page.
    pub changes: u64,
    /// Nodes made dirty.
    pub dirtied: u64,
    /// Re-layouts: the cache had no answer.
    pub layouts: u64,
    /// Re-layouts with no change at the node, below it or above it, which gave the earlier result
    /// again.
    pub needless: u64,
    /// Re-layouts of hidden nodes.
    pub hidden: u64,
    /// Texts measured.
    pub measures: u64,
    /// Questions for the size of a node.
    pub size_requests: u64,
    /// Questions for the size of a node that the cache answered.
    pub size_hits: u64,
    /// Questions for the layout of a node.
    pub layout_requests: u64,
    /// Questions for the layout of a node that the cache answered.
    pub layout_hits: u64,
    /// Results given to the cache.
    pub stores: u64,
    /// Results given to the cache that it did not keep.
    pub forgotten: u64,
    /// Nodes painted.
    pub painted: u64,
}

impl std::ops::Sub for Counts {
    type Output = Counts;

    fn sub(self, before: Counts) -> Counts {
        Counts {
            frames: self.frames - before.frames,
            changes: self.changes - before.changes,
            dirtied: self.dirtied - before.dirtied,
            layouts: self.layouts - before.layouts,
            needless: self.needless - before.needless,
            hidden: self.hidden - before.hidden,
            measures: self.measures - before.measures,
            size_requests: self.size_requests - before.size_requests,
            size_hits: self.size_hits - before.size_hits,
            layout_requests: self.layout_requests - before.layout_requests,
            layout_hits: self.layout_hits - before.layout_hits,
            stores: self.stores - before.stores,
            forgotten: self.forgotten - before.forgotten,
            painted: self.painted - before.painted,
        }
    }
}

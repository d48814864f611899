//! The cache of each node, as taffy reads and fills it.

use taffy::{CacheTree, CollapsibleMarginSet, LayoutInput, LayoutOutput, NodeId, RunMode};

use metaspy::observe;

use super::Scene;

impl CacheTree for Scene {
    fn cache_get(&mut self, id: NodeId, input: &LayoutInput) -> Option<LayoutOutput> {
        match input.run_mode {
            RunMode::ComputeSize => self.recall_size(id.into(), input),
            _ => self.recall_layout(id.into(), input),
        }
    }

    fn cache_store(&mut self, id: NodeId, input: &LayoutInput, output: LayoutOutput) {
        let _ = self.store(id.into(), input, output);
    }

    fn cache_clear(&mut self, id: NodeId) {
        self[id].cache.clear();
    }
}

/// A result that the cache did not keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Forgotten;

#[observe(only)]
impl Scene {
    /// Asks the cache of a node for its size in some space. A hit succeeds, a miss fails.
    #[observe(subject = (&self.owner, node))]
    fn recall_size(&mut self, node: u64, input: &LayoutInput) -> Option<LayoutOutput> {
        let hit = self[NodeId::from(node)].cache.get(input);
        self.counts.size_requests += 1;
        self.counts.size_hits += u64::from(hit.is_some());
        hit
    }

    /// Asks the cache of a node for its layout. A hit succeeds, a miss fails.
    #[observe(subject = (&self.owner, node))]
    fn recall_layout(&mut self, node: u64, input: &LayoutInput) -> Option<LayoutOutput> {
        let hit = self[NodeId::from(node)].cache.get(input);
        self.counts.layout_requests += 1;
        self.counts.layout_hits += u64::from(hit.is_some());
        hit
    }

    /// Gives a result to the cache of a node. It fails where the cache does not keep it.
    #[observe(subject = (&self.owner, node))]
    fn store(
        &mut self,
        node: u64,
        input: &LayoutInput,
        output: LayoutOutput,
    ) -> Result<(), Forgotten> {
        let kept = is_kept(input, &output);
        self[NodeId::from(node)].cache.store(input, output);
        self.counts.stores += 1;
        self.counts.forgotten += u64::from(!kept);
        if kept { Ok(()) } else { Err(Forgotten) }
    }
}

/// True if taffy's cache keeps such a result. It does not keep a size whose margins collapse with
/// those around it.
fn is_kept(input: &LayoutInput, output: &LayoutOutput) -> bool {
    input.run_mode == RunMode::PerformLayout
        || (output.top_margin == CollapsibleMarginSet::ZERO
            && output.bottom_margin == CollapsibleMarginSet::ZERO
            && !output.margins_can_collapse_through)
}

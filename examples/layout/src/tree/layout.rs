//! Laying out one node: ask its cache, else let taffy compute it.

use taffy::{
    AvailableSpace, Display, Layout, LayoutInput, LayoutOutput, LayoutPartialTree, NodeId, RunMode,
    Size, Style, compute_block_layout, compute_cached_layout, compute_flexbox_layout,
    compute_grid_layout, compute_hidden_layout, compute_leaf_layout, compute_oof_layout,
};

use metaspy::{EventId, current, link, observe};

use super::{Content, Scene, Why};

impl LayoutPartialTree for Scene {
    type CoreContainerStyle<'a> = &'a Style;
    type CustomIdent = String;

    fn get_core_container_style(&self, id: NodeId) -> &Style {
        &self[id].style
    }

    fn set_unrounded_layout(&mut self, id: NodeId, layout: &Layout) {
        self[id].unrounded = *layout;
    }

    fn compute_child_layout(&mut self, id: NodeId, inputs: LayoutInput) -> LayoutOutput {
        if inputs.run_mode == RunMode::PerformHiddenLayout {
            self.counts.hidden += 1;
            self[id].place = Layout::new();
            return compute_hidden_layout(self, id);
        }
        compute_cached_layout(self, id, inputs, |scene, id, inputs| {
            // A profiler may observe this node alone: this separates its event from the one around.
            let around = if scene[id].reasons.is_empty() { None } else { current() };
            scene.layout(id.into(), inputs, around)
        })
    }
}

#[observe(only)]
impl Scene {
    /// Lays out a node: the cache had no answer.
    #[observe(subject = (&self.owner, node), args(mode = inputs.run_mode))]
    fn layout(&mut self, node: u64, inputs: LayoutInput, around: Option<EventId>) -> LayoutOutput {
        let id = NodeId::from(node);
        if self.work == 0 {
            return LayoutOutput::HIDDEN;
        }
        self.work -= 1;
        self.counts.layouts += 1;
        let is_repeated = self[id].requests.note(&inputs);
        match self.why(id, is_repeated) {
            Why::Dirty => self.link_reasons(id, around),
            Why::Above | Why::Beside => {}
            Why::Needless => self.needless(node),
        }
        let mut output = match (&self[id].content, self[id].style.display) {
            (_, Display::None) => compute_hidden_layout(self, id),
            (Content::Text(_), _) => self.layout_text(id, inputs),
            _ if self[id].children.is_empty() => {
                compute_leaf_layout(inputs, &self[id].style, |_, _| 0.0, |_, _| Size::ZERO)
            }
            (_, Display::Block) => compute_block_layout(self, id, inputs, None),
            (_, Display::FlowRoot) => compute_block_layout(self, id, inputs, None),
            (_, Display::Flex) => compute_flexbox_layout(self, id, inputs),
            (_, Display::Grid) => compute_grid_layout(self, id, inputs),
        };
        if inputs.run_mode == RunMode::PerformLayout {
            compute_oof_layout(self, id, &mut output);
        }
        output
    }

    /// Says that a node is laid out with no change at it, below it or above it, in a space that it
    /// has filled before.
    #[observe(subject = (&self.owner, node))]
    fn needless(&mut self, node: u64) {
        let _ = node;
        self.counts.needless += 1;
    }

    /// Links this re-layout to every change that made the node dirty.
    fn link_reasons(&self, id: NodeId, around: Option<EventId>) {
        if self[id].reasons.is_empty() {
            return;
        }
        let Some(event) = current().filter(|&event| Some(event) != around) else { return };
        for change in self.reasons(id).filter_map(|cause| cause.event) {
            link(event, change);
        }
    }

    fn layout_text(&mut self, id: NodeId, inputs: LayoutInput) -> LayoutOutput {
        let style = self[id].style.clone();
        compute_leaf_layout(
            inputs,
            &style,
            |_, _| 0.0,
            |_, available| self.measure(id.into(), available.width),
        )
    }

    /// Measures the text of a node in a space.
    #[observe(subject = (&self.owner, node))]
    fn measure(&mut self, node: u64, available: AvailableSpace) -> Size<f32> {
        self.counts.measures += 1;
        match &self[NodeId::from(node)].content {
            Content::Text(text) => text.measure(available),
            _ => Size::ZERO,
        }
    }
}

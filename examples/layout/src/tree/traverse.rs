//! How taffy walks the tree, and reads the styles of its nodes.

use taffy::{Layout, NodeId, RoundTree, Style, TraversePartialTree, TraverseTree};

use super::Scene;

impl TraversePartialTree for Scene {
    type ChildIter<'a> = std::iter::Copied<std::slice::Iter<'a, NodeId>>;

    #[inline]
    fn child_ids(&self, parent: NodeId) -> Self::ChildIter<'_> {
        self[parent].children.iter().copied()
    }

    #[inline]
    fn child_count(&self, parent: NodeId) -> usize {
        self[parent].children.len()
    }

    #[inline]
    fn get_child_id(&self, parent: NodeId, index: usize) -> NodeId {
        self[parent].children[index]
    }
}

impl TraverseTree for Scene {}

impl RoundTree for Scene {
    fn get_unrounded_layout(&self, id: NodeId) -> Layout {
        self[id].unrounded
    }

    fn set_final_layout(&mut self, id: NodeId, layout: &Layout) {
        self[id].place = *layout;
    }

    fn is_out_of_flow(&self, id: NodeId) -> bool {
        self[id].style.position.is_out_of_flow()
    }

    fn hoisted_child_count(&self, id: NodeId) -> usize {
        self[id].hoisted.len()
    }

    fn get_hoisted_child_id(&self, id: NodeId, index: usize) -> NodeId {
        self[id].hoisted[index]
    }
}

impl taffy::LayoutContainingBlock for Scene {
    type OofItemStyle<'a> = &'a Style;

    fn get_oof_item_style(&self, id: NodeId) -> &Style {
        &self[id].style
    }

    fn clear_hoisted_children(&mut self, id: NodeId) {
        self[id].hoisted.clear();
    }

    fn add_hoisted_children(&mut self, id: NodeId, hoisted: &[NodeId]) {
        self[id].hoisted.extend_from_slice(hoisted);
    }
}

impl taffy::LayoutBlockContainer for Scene {
    type BlockContainerStyle<'a> = &'a Style;
    type BlockItemStyle<'a> = &'a Style;

    fn get_block_container_style(&self, id: NodeId) -> &Style {
        &self[id].style
    }

    fn get_block_child_style(&self, id: NodeId) -> &Style {
        &self[id].style
    }
}

impl taffy::LayoutFlexboxContainer for Scene {
    type FlexboxContainerStyle<'a> = &'a Style;
    type FlexboxItemStyle<'a> = &'a Style;

    fn get_flexbox_container_style(&self, id: NodeId) -> &Style {
        &self[id].style
    }

    fn get_flexbox_child_style(&self, id: NodeId) -> &Style {
        &self[id].style
    }
}

impl taffy::LayoutGridContainer for Scene {
    type GridContainerStyle<'a> = &'a Style;
    type GridItemStyle<'a> = &'a Style;

    fn get_grid_container_style(&self, id: NodeId) -> &Style {
        &self[id].style
    }

    fn get_grid_child_style(&self, id: NodeId) -> &Style {
        &self[id].style
    }
}

//! A deep tree of flex boxes of automatic size, as in the benchmarks of taffy.

use crate::taffy::prelude::*;

/// The depth of the tree; each box has two within.
const DEPTH: u32 = 9;

/// Lays the tree out once, and returns its width.
pub fn layout() -> f32 {
    let mut tree: TaffyTree<()> = TaffyTree::new();
    let root = node(&mut tree, DEPTH);
    tree.compute_layout(root, Size::MAX_CONTENT).expect("the tree is sound");
    tree.layout(root).expect("it is laid out").size.width
}

fn node(tree: &mut TaffyTree<()>, depth: u32) -> NodeId {
    let style = Style { flex_grow: 1.0, margin: Rect::length(1.0), ..Style::default() };
    if depth == 0 {
        return tree.new_leaf(Style { size: Size::from_lengths(10.0, 10.0), ..style }).expect("there is memory");
    }
    let within = [node(tree, depth - 1), node(tree, depth - 1)];
    tree.new_with_children(style, &within).expect("its children are there")
}

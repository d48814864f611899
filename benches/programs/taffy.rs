//! taffy: a flexbox of grids is laid out anew.

use ::taffy::prelude::*;

pub fn main() {
    let mut tree: TaffyTree<()> = TaffyTree::new();
    let leaf = Style { size: Size { width: length(20.0), height: length(10.0) }, flex_grow: 1.0, ..Style::default() };
    let grid = Style {
        display: Display::Grid,
        grid_template_columns: vec![fr(1.0), length(40.0), auto()],
        ..Style::default()
    };
    let cells = |tree: &mut TaffyTree<()>| -> Vec<NodeId> { (0..9).map(|_| tree.new_leaf(leaf.clone()).unwrap()).collect() };
    let rows: Vec<NodeId> = (0..10)
        .map(|_| {
            let cells = cells(&mut tree);
            tree.new_with_children(grid.clone(), &cells).unwrap()
        })
        .collect();
    let column = Style { flex_direction: FlexDirection::Column, flex_wrap: FlexWrap::Wrap, ..Style::default() };
    let root = tree.new_with_children(column, &rows).unwrap();
    crate::measure::measure(|at| {
        rows.iter().for_each(|row| tree.mark_dirty(tree.child_at_index(*row, 0).unwrap()).unwrap());
        let width = AvailableSpace::Definite(300.0 + (at % 100) as f32);
        tree.compute_layout(root, Size { width, height: AvailableSpace::Definite(500.0) }).unwrap();
        tree.layout(rows[9]).unwrap().location.y as u64
    });
}

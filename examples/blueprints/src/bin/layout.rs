//! A page of flex rows, grids and blocks, laid out at three widths by taffy.

use taffy::prelude::*;

/// Sections of the page.
const SECTIONS: usize = 60;
/// Cards of each grid.
const CARDS: usize = 12;
/// The widths of the window.
const WIDTHS: [f32; 3] = [400.0, 900.0, 1_400.0];

fn main() -> Result<(), taffy::TaffyError> {
    let mut tree: TaffyTree<Text> = TaffyTree::new();
    let sections: Vec<NodeId> = (0..SECTIONS).map(|at| section(&mut tree, at)).collect::<Result<_, _>>()?;
    let page = tree.new_with_children(block(), &sections)?;
    let mut nodes = 0;
    for width in WIDTHS {
        let window = Size { width: AvailableSpace::Definite(width), height: AvailableSpace::MaxContent };
        tree.compute_layout_with_measure(page, window, |inputs, _, text, style| {
            let measure = |known, space| text.map_or(Size::ZERO, |text| text.measure(known, space));
            taffy::compute_leaf_layout(inputs, style, |_, _| 0.0, measure)
        })?;
        nodes = tree.total_node_count();
        println!("{width} wide: {} high", tree.layout(page)?.size.height);
    }
    println!("{nodes} nodes");
    Ok(())
}

/// Some words.
struct Text {
    letters: usize,
}

impl Text {
    /// The size of the words, which wrap where there is no room.
    fn measure(&self, known: Size<Option<f32>>, space: Size<AvailableSpace>) -> Size<f32> {
        let whole = self.letters as f32 * 7.0;
        let width = known.width.unwrap_or(match space.width {
            AvailableSpace::Definite(width) => whole.min(width),
            AvailableSpace::MinContent => 49.0_f32.min(whole),
            AvailableSpace::MaxContent => whole,
        });
        let lines = (whole / width.max(1.0)).ceil().max(1.0);
        Size { width, height: known.height.unwrap_or(lines * 16.0) }
    }
}

fn block() -> Style {
    Style { display: Display::Block, padding: taffy::Rect::length(4.0), ..Style::default() }
}

/// A heading, a grid of cards, and a row of buttons.
fn section(tree: &mut TaffyTree<Text>, at: usize) -> Result<NodeId, taffy::TaffyError> {
    let heading = tree.new_leaf_with_context(block(), Text { letters: 10 + at % 17 })?;
    let cards: Vec<NodeId> = (0..CARDS).map(|card| self::card(tree, at + card)).collect::<Result<_, _>>()?;
    let columns = match at % 3 {
        0 => vec![fr(1.0); 4],
        1 => vec![auto(); 3],
        _ => vec![minmax(length(80.0), fr(1.0)), auto(), fr(2.0)],
    };
    let grid =
        Style { display: Display::Grid, grid_template_columns: columns, gap: Size::length(6.0), ..Style::default() };
    let grid = tree.new_with_children(grid, &cards)?;
    let buttons: Vec<NodeId> = (0..4)
        .map(|button| {
            let style = Style { padding: taffy::Rect::length(3.0), flex_grow: button as f32, ..Style::default() };
            tree.new_leaf_with_context(style, Text { letters: 4 + button })
        })
        .collect::<Result<_, _>>()?;
    let row = Style { display: Display::Flex, flex_wrap: FlexWrap::Wrap, ..Style::default() };
    let row = tree.new_with_children(row, &buttons)?;
    tree.new_with_children(block(), &[heading, grid, row])
}

/// A picture beside a title and some text.
fn card(tree: &mut TaffyTree<Text>, at: usize) -> Result<NodeId, taffy::TaffyError> {
    let picture = tree.new_leaf(Style { size: Size::from_lengths(32.0, 32.0), ..Style::default() })?;
    let title = tree.new_leaf_with_context(block(), Text { letters: 6 + at % 9 })?;
    let text = tree.new_leaf_with_context(block(), Text { letters: 30 + at * 7 % 60 })?;
    let words = Style { flex_grow: 1.0, ..block() };
    let words = tree.new_with_children(words, &[title, text])?;
    let row = Style { display: Display::Flex, padding: taffy::Rect::length(5.0), ..Style::default() };
    tree.new_with_children(row, &[picture, words])
}

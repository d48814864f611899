//! Nodes of the graph, drawn over the lines of its edges.

use super::canvas::Canvas;
use super::theme;
use crate::crawler::layout::Area;
use crate::crawler::state::pane::Pane;
use crate::crawler::state::pane::graph::Target;

/// Draws the nodes in a line of the drawing, which begins one column in.
pub fn draw(canvas: &mut Canvas<'_>, line: Area, pane: &Pane, at: usize) {
    for (index, node) in pane.graph.nodes.iter().enumerate().filter(|(_, node)| node.line == at) {
        let x = line.x + 1 + node.column as u16;
        let room = (line.x + line.width).saturating_sub(x);
        let style = match node.target {
            Target::Here => theme::STRONG,
            Target::Event(event) => theme::outcome(event.outcome).1,
            Target::Subject(_) => theme::PLAIN,
        };
        let used = canvas.text(x, line.y, room, &node.text, style);
        if pane.has_focus() && index == pane.graph.at {
            canvas.paint(Area { x, y: line.y, width: used, height: 1 }, theme::CURSOR);
        }
    }
}

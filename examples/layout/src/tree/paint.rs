//! Painting: a walk over the visible part of the page.

use taffy::{Display, NodeId, Point};

use metaspy::observe;

use super::Scene;

/// The result of painting a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Painted {
    /// Nodes painted.
    pub nodes: u64,
    /// The picture in short: equal pictures have equal sums.
    pub sum: u64,
}

#[observe(only)]
impl Scene {
    /// Paints the part of the page that begins `scroll` pixels below its top.
    pub fn paint_window(&mut self, scroll: f32) -> Painted {
        let mut painted = Painted::default();
        self.paint(self.root.into(), Point { x: 0.0, y: -scroll }, &mut painted);
        self.counts.painted += painted.nodes;
        painted
    }

    /// How far below the top of the page a node begins.
    pub fn top(&self, id: NodeId) -> f32 {
        let mut top = 0.0;
        let mut next = Some(id);
        while let Some(id) = next {
            top += self[id].place.location.y;
            next = self[id].parent;
        }
        top
    }

    /// Paints a node and its children. Nodes outside the window are passed over.
    #[observe(subject = (&self.owner, node))]
    fn paint(&mut self, node: u64, at: Point<f32>, painted: &mut Painted) {
        let id = NodeId::from(node);
        let node = &self[id];
        let at = Point { x: at.x + node.place.location.x, y: at.y + node.place.location.y };
        painted.nodes += 1;
        for number in [at.x, at.y, node.place.size.width, node.place.size.height] {
            painted.sum =
                (painted.sum ^ u64::from(number.to_bits())).wrapping_mul(0x0000_0100_0000_01B3);
        }
        for index in 0..self[id].children.len() {
            let child = self[id].children[index];
            if self.is_visible(child, at) {
                self.paint(child.into(), at, painted);
            }
        }
    }

    /// True if the window shows a node whose parent is visible.
    fn is_visible(&self, id: NodeId, parent: Point<f32>) -> bool {
        let node = &self[id];
        let top = parent.y + node.place.location.y;
        let (height, overflow) =
            (node.place.size.height, node.place.scrollable_overflow_rect.bottom);
        node.style.display != Display::None
            && top <= self.window.height
            && top + height.max(overflow) >= 0.0
    }
}

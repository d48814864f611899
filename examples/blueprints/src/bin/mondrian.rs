//! Figures within figures, as Mondrian draws them (*Execution profiling blueprints*, section 5.3):
//! the bounds of a figure are those of all figures within it, and each figure on the way to a leaf
//! asks for them. With `cached` they are computed once.

use std::cell::OnceCell;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rect {
    x: u32,
    y: u32,
    right: u32,
    bottom: u32,
}

impl Rect {
    fn union(self, other: Rect) -> Rect {
        let x = self.x.min(other.x);
        let y = self.y.min(other.y);
        Rect { x, y, right: self.right.max(other.right), bottom: self.bottom.max(other.bottom) }
    }
}

struct Figure {
    shape: Rect,
    nodes: Vec<Figure>,
    known: Option<OnceCell<Rect>>,
}

impl Figure {
    fn new(depth: u32, at: (u32, u32), is_cached: bool) -> Figure {
        let count = if depth == 0 { 0 } else { 4 };
        let nodes = (0..count).map(|n| Figure::new(depth - 1, (at.0 + n * 3 * depth, at.1 + n * 2), is_cached));
        let shape = Rect { x: at.0, y: at.1, right: at.0 + 9, bottom: at.1 + 7 };
        Figure { shape, nodes: nodes.collect(), known: is_cached.then(OnceCell::new) }
    }

    fn bounds(&self) -> Rect {
        match &self.known {
            Some(known) => *known.get_or_init(|| self.measure()),
            None => self.measure(),
        }
    }

    fn measure(&self) -> Rect {
        self.nodes.iter().fold(self.shape, |all, node| all.union(node.bounds()))
    }

    fn display_on(&self, canvas: &mut Canvas) {
        canvas.rectangle(self.bounds());
        self.nodes.iter().for_each(|node| node.display_on(canvas));
    }
}

#[derive(Default)]
struct Canvas {
    pixels: u64,
}

impl Canvas {
    fn rectangle(&mut self, Rect { x, y, right, bottom }: Rect) {
        for row in y..bottom.min(y + 40) {
            for column in x..right.min(x + 40) {
                self.pixels = self.pixels.rotate_left(5) ^ u64::from(row * 7 + column);
            }
        }
    }
}

fn main() {
    let is_cached = std::env::args().any(|argument| argument == "cached");
    let view = Figure::new(5, (0, 0), is_cached);
    let mut canvas = Canvas::default();
    (0..60).for_each(|_| view.display_on(&mut canvas));
    println!("{}", canvas.pixels);
}

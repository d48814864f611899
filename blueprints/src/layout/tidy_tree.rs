//! Tidy tree of boxes of any size: callees below their caller, as close together as their outlines
//! allow.
//!
//! The outlines are kept in strips of four pixels, because boxes of different heights have no
//! common rows (after van der Ploeg, *Drawing non-layered tidy trees in linear time*; his threads
//! are not needed at these sizes).

use crate::scene::Rect;

/// Minimum height of a strip of an outline, in pixels.
const STRIP: f64 = 4.0;
/// Maximum number of strips of a tree. Heights come from recordings, which may be damaged, and each
/// strip takes memory.
const STRIPS: f64 = 4096.0;
/// Space between a caller and its callees.
const BELOW: f64 = 16.0;
/// Space between two boxes beside each other.
const BESIDE: f64 = 6.0;
/// Maximum number of leaf callees in a row. More leaf callees are placed in columns.
const FEW: usize = 3;
/// Height of such a column, unless a box is higher.
const COLUMN: f64 = 160.0;
/// Space between two boxes of a column.
const STACKED: f64 = 4.0;

/// Tree to lay out: the sizes of its boxes, and the children of each.
pub struct Input<'t> {
    /// Width and height of each box, without its label.
    pub sizes: &'t [(f64, f64)],
    /// Width and height of the label beside each box, at its upper end.
    pub labels: &'t [(f64, f64)],
    /// Indices of the children of each box.
    pub children: &'t [Vec<usize>],
    /// Index of the root.
    pub root: usize,
}

/// Left and right sides of a subtree, in strips of equal height.
#[derive(Default)]
struct Outline {
    /// Offset to add to all sides.
    shift: f64,
    /// Index of the strip at the upper end.
    first: usize,
    /// Sides from the lowest strip up, so that a box above is pushed at the end.
    strips: Vec<(f64, f64)>,
}

/// Lays out the tree, and returns the boxes in the order of the sizes, and the size of the whole
/// with labels.
pub(crate) fn tidy_tree(input: &Input<'_>) -> (Vec<Rect>, (f64, f64)) {
    let mut rects: Vec<Rect> =
        input.sizes.iter().map(|&(w, h)| Rect { x: 0.0, y: 0.0, w, h }).collect();
    let order = downwards(input, &mut rects);
    let height = rects.iter().map(Rect::bottom).fold(0.0, f64::max);
    let strip = STRIP.max(height / STRIPS);
    // Works from the leaves up: each subtree is relative to the left side of its root's box.
    let mut outlines: Vec<Outline> = Vec::new();
    outlines.resize_with(input.sizes.len(), Outline::default);
    let mut shift = vec![0.0; input.sizes.len()];
    for &at in order.iter().rev() {
        outlines[at] = join(input, at, (&rects, strip), &mut outlines, &mut shift);
    }
    for &at in &order {
        for &child in &input.children[at] {
            shift[child] += shift[at];
        }
    }
    let whole = &outlines[input.root];
    let left = whole.strips.iter().map(|strip| strip.0 + whole.shift).fold(0.0, f64::min);
    let mut size = (0.0_f64, 0.0_f64);
    for &at in &order {
        rects[at].x = shift[at] - left;
        size = (size.0.max(rects[at].right() + input.labels[at].0), size.1.max(rects[at].bottom()));
    }
    (rects, size)
}

/// Sets the upper sides, and returns the boxes with each parent before its children.
fn downwards(input: &Input<'_>, rects: &mut [Rect]) -> Vec<usize> {
    let mut order = vec![input.root];
    let mut next = 0;
    while let Some(&at) = order.get(next) {
        next += 1;
        let top = rects[at].bottom() + BELOW;
        let mut column_top = top;
        for &child in &input.children[at] {
            if is_stacked(input, at, child) {
                if column_top > top && column_top + rects[child].h > top + COLUMN {
                    column_top = top;
                }
                rects[child].y = column_top;
                column_top += rects[child].h + STACKED;
            } else {
                rects[child].y = top;
                // Another column begins beside this child.
                column_top = top;
            }
            order.push(child);
        }
    }
    order
}

/// Returns true if a child is in a column with others.
fn is_stacked(input: &Input<'_>, at: usize, child: usize) -> bool {
    let is_leaf = |child: &usize| input.children[*child].is_empty();
    is_leaf(&child) && input.children[at].iter().filter(|child| is_leaf(child)).count() > FEW
}

/// Places the children of a box beside each other, and returns their common outline.
fn join(
    input: &Input<'_>,
    at: usize,
    (rects, strip): (&[Rect], f64),
    outlines: &mut [Outline],
    shift: &mut [f64],
) -> Outline {
    let mut all = Outline::default();
    // Left end and lower end of the current column.
    let mut column: Option<(f64, f64)> = None;
    for (order, &child) in input.children[at].iter().enumerate() {
        // The boxes further down in the same column may be wider.
        let mut bottom = rects[child].bottom();
        let below = input.children[at][order + 1..].iter().take_while(|&&next| {
            let is_below = is_stacked(input, at, child)
                && is_stacked(input, at, next)
                && rects[next].y >= bottom;
            bottom = rects[next].bottom();
            is_below
        });
        let apart = below.map(|&next| all.distance_to(&outlines[next])).fold(0.0, f64::max);
        let outline = std::mem::take(&mut outlines[child]);
        let rect = &rects[child];
        let continued =
            column.filter(|&(_, bottom)| is_stacked(input, at, child) && rect.y >= bottom);
        shift[child] = match continued {
            Some((x, _)) => x,
            None => all.distance_to(&outline).max(apart),
        };
        column = is_stacked(input, at, child).then_some((shift[child], rect.bottom()));
        all.add(outline, shift[child]);
    }
    // The box is centred above the boxes of its children.
    let w = rects[at].w;
    let label = input.labels[at];
    let ends =
        input.children[at].iter().map(|&child| (shift[child], shift[child] + rects[child].w));
    let ends = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    let own = ends.map_or(0.0, |(left, right)| ((left + right - w) / 2.0).max(0.0));
    for &child in &input.children[at] {
        shift[child] -= own;
    }
    all.shift -= own;
    all.add(Outline::of(&rects[at], label, strip), 0.0);
    all
}

impl Outline {
    fn of(rect: &Rect, (label, line): (f64, f64), strip: f64) -> Outline {
        let first = (rect.y / strip) as usize;
        // Boxes do not touch.
        let last = ((rect.bottom().max(rect.y + line) + strip) / strip) as usize;
        let labelled = (((rect.y + line) / strip) as usize + 1).min(last + 1);
        let mut strips = vec![(0.0, rect.w); last + 1 - labelled];
        strips.resize(last + 1 - first, (0.0, rect.w + label));
        Outline { shift: 0.0, first, strips }
    }

    /// Returns the index after the lowest strip.
    fn end(&self) -> usize {
        self.first + self.strips.len()
    }

    /// Computes the distance by which another outline must move right to stand beside this outline.
    fn distance_to(&self, other: &Outline) -> f64 {
        let both = self.first.max(other.first)..self.end().min(other.end());
        let gaps = both.map(|strip| {
            let (_, right) = self.strips[self.end() - 1 - strip];
            let (left, _) = other.strips[other.end() - 1 - strip];
            right + self.shift + BESIDE - left - other.shift
        });
        gaps.reduce(f64::max).unwrap_or(0.0)
    }

    /// Adds another outline, moved to the right. The outline that ends higher is copied into the
    /// other.
    fn add(&mut self, mut other: Outline, x: f64) {
        other.shift += x;
        if self.strips.is_empty() || other.end() > self.end() {
            std::mem::swap(self, &mut other);
        }
        let by = other.shift - self.shift;
        let lowest = other.end();
        for (at, &(left, right)) in other.strips.iter().enumerate() {
            let moved = (left + by, right + by);
            let strip = lowest - 1 - at;
            // A strip between the two outlines gets the sides of both.
            while self.first > strip {
                let above = if self.first == strip + 1 {
                    moved
                } else {
                    *self.strips.last().unwrap_or(&moved)
                };
                self.strips.push(above);
                self.first -= 1;
            }
            let at = self.end() - 1 - strip;
            let own = &mut self.strips[at];
            *own = (own.0.min(moved.0), own.1.max(moved.1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if a box or its label overlaps another box or its label.
    fn overlap(a: &Rect, a_label: (f64, f64), b: &Rect, b_label: (f64, f64)) -> bool {
        let label = |of: &Rect, (w, h): (f64, f64)| Rect { x: of.right(), w, h, ..*of };
        let meet = |a: &Rect, b: &Rect| {
            a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom()
        };
        let a_label = label(a, a_label);
        let b_label = label(b, b_label);
        meet(a, b) || meet(a, &b_label) || meet(&a_label, b) || meet(&a_label, &b_label)
    }

    #[test]
    fn no_boxes_and_labels_of_random_trees_overlap_and_children_are_below() {
        let mut dice = 3_u64;
        let mut roll = |sides: usize| {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) as usize % sides
        };
        for round in 0..40 {
            let count = 2 + roll(120);
            let mut children = vec![Vec::new(); count];
            (1..count).for_each(|at| children[roll(at)].push(at));
            let sizes: Vec<(f64, f64)> =
                (0..count).map(|_| (6.0 + roll(40) as f64, 3.0 + roll(200) as f64)).collect();
            let labels: Vec<(f64, f64)> =
                (0..count).map(|_| if roll(3) == 0 { (40.0, 3.0) } else { (0.0, 0.0) }).collect();
            let (rects, (w, h)) =
                tidy_tree(&Input { sizes: &sizes, labels: &labels, children: &children, root: 0 });
            for (at, rect) in rects.iter().enumerate() {
                assert!(
                    rect.x >= -1e-6
                        && rect.right() + labels[at].0 <= w + 1e-6
                        && rect.bottom() <= h + 1e-6
                );
                for (more, other) in rects.iter().enumerate().skip(at + 1) {
                    assert!(
                        !overlap(rect, labels[at], other, labels[more]),
                        "round {round}: {rect:?} {other:?}"
                    );
                }
                for &child in &children[at] {
                    assert!(rects[child].y >= rect.bottom(), "round {round}");
                }
            }
        }
    }

    #[test]
    fn leaves_are_in_columns_if_they_are_more_than_a_few() {
        let sizes = vec![(10.0, 20.0); 21];
        let labels = vec![(0.0, 0.0); 21];
        let mut children = vec![Vec::new(); 21];
        children[0] = (1..21).collect();
        let (rects, (w, h)) =
            tidy_tree(&Input { sizes: &sizes, labels: &labels, children: &children, root: 0 });
        assert_eq!(rects[1].x, rects[2].x);
        assert!(rects[2].y > rects[1].y && w < 60.0 && h < 220.0, "{w} × {h}");
    }
}

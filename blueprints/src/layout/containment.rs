//! Layout of boxes in boxes: a frame holds a parent with its children below, packed like the types
//! of a module.

use super::skyline::Pack;
use crate::scene::Rect;

/// Space between a frame and its contents, and between two boxes.
const GAP: f64 = 2.0;

/// Boxes and frames of a subtree, relative to its own origin.
#[derive(Default)]
pub struct Group {
    /// Size of the whole group.
    pub size: (f64, f64),
    /// Frames around each parent and its children; an outer frame comes before its inner frames.
    pub frames: Vec<(usize, Rect)>,
    /// Boxes, each with the index of its element.
    pub boxes: Vec<(usize, Rect)>,
}

/// Places everything below the tops by `pack`. `order` has each parent before its children.
pub fn contained(
    order: &[usize],
    tops: &[usize],
    children: &[Vec<usize>],
    pack: Pack,
    size: impl Fn(usize) -> (f64, f64),
) -> Group {
    let mut groups: Vec<Option<Group>> = Vec::new();
    groups.resize_with(children.len(), || None);
    for &at in order.iter().rev() {
        let (w, h) = size(at);
        let inside = packed(&children[at], &mut groups, pack);
        let mut group = Group {
            boxes: vec![(at, Rect { x: 0.0, y: 0.0, w, h })],
            size: (w, h),
            ..Group::default()
        };
        if !inside.boxes.is_empty() {
            let frame = (w.max(inside.size.0) + 2.0 * GAP, h + inside.size.1 + 3.0 * GAP);
            group.boxes[0].1 = group.boxes[0].1.moved(GAP, GAP);
            group.size = frame;
            group.frames.push((at, Rect { x: 0.0, y: 0.0, w: frame.0, h: frame.1 }));
            group.add(inside, GAP, h + 2.0 * GAP);
        }
        groups[at] = Some(group);
    }
    packed(tops, &mut groups, pack)
}

fn packed(members: &[usize], groups: &mut [Option<Group>], pack: Pack) -> Group {
    let members: Vec<Group> = members.iter().filter_map(|&at| groups[at].take()).collect();
    let sizes: Vec<(f64, f64)> = members.iter().map(|group| group.size).collect();
    let (places, size) = pack(&sizes, GAP);
    let mut all = Group { size, ..Group::default() };
    members.into_iter().zip(places).for_each(|(group, (x, y))| all.add(group, x, y));
    all
}

impl Group {
    fn add(&mut self, other: Group, x: f64, y: f64) {
        self.frames.extend(other.frames.into_iter().map(|(at, rect)| (at, rect.moved(x, y))));
        self.boxes.extend(other.boxes.into_iter().map(|(at, rect)| (at, rect.moved(x, y))));
    }
}

#[cfg(test)]
mod tests {
    use super::super::skyline::pack;
    use super::*;

    #[test]
    fn boxes_are_in_the_frames_of_their_parents_and_overlap_nothing() {
        let mut children = vec![Vec::new(); 200];
        (1..200).for_each(|at: usize| children[(at - 1) / 3].push(at));
        let order: Vec<usize> = (0..200).collect();
        let group = contained(&order, &[0], &children, pack, |at| {
            (4.0 + (at % 7) as f64, 3.0 + (at % 5) as f64)
        });
        assert_eq!((group.boxes.len(), group.frames.len()), (200, 67));
        let inside = |a: &Rect, b: &Rect| {
            a.x >= b.x - 1e-6
                && a.y >= b.y - 1e-6
                && a.right() <= b.right() + 1e-6
                && a.bottom() <= b.bottom() + 1e-6
        };
        for (at, (child, rect)) in group.boxes.iter().enumerate() {
            if let Some((_, frame)) =
                group.frames.iter().find(|(parent, _)| *child > 0 && *parent == (child - 1) / 3)
            {
                assert!(inside(rect, frame), "{child}: {rect:?} {frame:?}");
            }
            for (_, b) in &group.boxes[at + 1..] {
                assert!(
                    rect.right() <= b.x
                        || b.right() <= rect.x
                        || rect.bottom() <= b.y
                        || b.bottom() <= rect.y
                );
            }
        }
    }
}

//! The order of the elements under the same parent.

use std::cmp::Ordering;

use super::Program;
use super::element::Element;

impl Program {
    /// Sorts the elements under the same parent, which are given by their places. Puts all in the order of the tree.
    pub fn sort_siblings(&mut self, compare: impl Fn(usize, usize) -> Ordering) {
        let mut elements: Vec<Option<Element>> = std::mem::take(&mut self.elements).into_iter().map(Some).collect();
        let mut under: Vec<Vec<usize>> = vec![Vec::new(); elements.len() + 1];
        for (at, element) in elements.iter().enumerate() {
            under[element.as_ref().and_then(|element| element.under).map_or(0, |at| at + 1)].push(at);
        }
        for siblings in &mut under {
            siblings.sort_by(|&a, &b| compare(a, b));
        }
        let hang = |of: usize, parent: Option<usize>| {
            let children = &under[of];
            let last = children.len().saturating_sub(1);
            children.iter().enumerate().rev().map(move |(at, &child)| (child, parent, at == last))
        };
        let mut next: Vec<_> = hang(0, None).collect();
        while let Some((at, parent, is_last)) = next.pop() {
            let Some(element) = elements[at].take() else { continue };
            next.extend(hang(at + 1, Some(self.elements.len())));
            self.elements.push(Element { under: parent, is_last, ..element });
        }
    }
}

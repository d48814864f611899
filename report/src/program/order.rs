//! The order of what stands under the same element.

use std::cmp::{Ordering, Reverse};

use super::Structure;
use super::element::Element;

/// A column to sort by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The name.
    Name,
    /// Calls.
    Calls,
    /// Methods that never ran.
    NeverRan,
    /// Distinct objects.
    Receivers,
    /// Time with what was called.
    Total,
    /// Time without.
    SelfTime,
    /// Lines.
    Lines,
    /// Cyclomatic complexity.
    Complexity,
}

impl Column {
    const ALL: [Column; 8] = [
        Column::Name,
        Column::Calls,
        Column::NeverRan,
        Column::Receivers,
        Column::Total,
        Column::SelfTime,
        Column::Lines,
        Column::Complexity,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Column::Name => "name",
            Column::Calls => "calls",
            Column::NeverRan => "never ran",
            Column::Receivers => "receivers",
            Column::Total => "total",
            Column::SelfTime => "self",
            Column::Lines => "lines",
            Column::Complexity => "complexity",
        }
    }
}

/// How the elements are sorted: names from A, the largest number first; or the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// By this column.
    pub column: Column,
    /// The other way round.
    pub reversed: bool,
}

impl Default for Order {
    fn default() -> Self {
        Order { column: Column::Name, reversed: false }
    }
}

impl Order {
    /// By the next column.
    pub fn next(self) -> Self {
        self.turned(1)
    }

    /// By the column before.
    pub fn previous(self) -> Self {
        self.turned(Column::ALL.len() - 1)
    }

    fn turned(self, by: usize) -> Self {
        let at = Column::ALL.iter().position(|&column| column == self.column).unwrap_or(0);
        Order { column: Column::ALL[(at + by) % Column::ALL.len()], reversed: false }
    }

    fn compare(self, a: &Element, b: &Element) -> Ordering {
        let number = |of: &Element| match self.column {
            Column::Name => None,
            Column::Calls => Some(of.measure.count),
            Column::NeverRan => Some((of.methods - of.ran).into()),
            Column::Receivers => Some(of.receivers.count),
            // What is no method has none.
            Column::Total => of.total_ticks().or(of.self_ticks()),
            Column::SelfTime => of.self_ticks(),
            Column::Lines => Some(of.lines),
            Column::Complexity => of.complexity.map(Into::into),
        };
        let compared = Reverse(number(a)).cmp(&Reverse(number(b))).then_with(|| a.name.cmp(&b.name));
        if self.reversed { compared.reverse() } else { compared }
    }
}

impl Structure {
    /// Sorts what stands under the same element, and puts all in the order of the tree.
    pub fn sort(&mut self, order: Order) {
        self.order = order;
        let mut elements: Vec<Option<Element>> = std::mem::take(&mut self.elements).into_iter().map(Some).collect();
        let mut under: Vec<Vec<usize>> = vec![Vec::new(); elements.len() + 1];
        for (at, element) in elements.iter().enumerate() {
            under[element.as_ref().and_then(|element| element.under).map_or(0, |at| at + 1)].push(at);
        }
        for siblings in &mut under {
            // Of one name and number, the place among the sites decides.
            siblings.sort_by(|&a, &b| match (&elements[a], &elements[b]) {
                (Some(a), Some(b)) => order.compare(a, b),
                _ => Ordering::Equal,
            });
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

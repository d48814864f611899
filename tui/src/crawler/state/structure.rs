//! The structure of the program as it is seen: a tree of which parts are folded away.

use std::collections::HashSet;
use std::sync::Arc;

use metaspy_core::Store;

use super::table::SortChange;
use crate::crawler::command::Step;
use crate::structure::{Element, Key, Of, Order, Structure};

/// A program with more elements than this is shown without its methods at first.
const SMALL: usize = 100;
/// Lines below the tree: what is known of the element under the cursor.
const FOOTER: usize = 4;

/// The tree as it is seen.
#[derive(Clone, Debug, Default)]
pub struct StructureView {
    /// All of it. `None` before the first look.
    pub whole: Option<Arc<Structure>>,
    /// The rows: the places of the elements that are not folded away.
    pub rows: Arc<Vec<usize>>,
    /// What is folded.
    pub folded: Arc<HashSet<Key>>,
    /// How what stands under the same element is sorted.
    pub order: Order,
    /// The row under the cursor.
    pub cursor: usize,
    /// The first row that is seen.
    pub top: usize,
    /// Rows that are seen at once.
    pub height: usize,
    /// When it was read, in ns since the crawler began.
    pub read_ns: u64,
    /// Whether it was read before: what is folded is the reader's choice from then on.
    was_read: bool,
}

impl StructureView {
    /// Fits it to so many rows.
    pub fn resize(&mut self, rows: usize) {
        self.height = rows.saturating_sub(1 + Self::footer_height(rows));
        self.select(self.cursor);
    }

    /// Lines below the tree where there are so many in all: few leave all room to the tree.
    pub fn footer_height(rows: usize) -> usize {
        if rows < 3 * FOOTER { 0 } else { FOOTER }
    }

    /// The element under the cursor.
    pub fn current(&self) -> Option<&Element> {
        self.whole.as_ref()?.elements.get(*self.rows.get(self.cursor)?)
    }

    /// Moves the cursor.
    pub fn step(&mut self, step: Step) {
        self.select(step.apply(self.cursor, self.rows.len(), self.height));
    }

    /// Puts the cursor on a row.
    pub fn select(&mut self, at: usize) {
        self.cursor = at.min(self.rows.len().saturating_sub(1));
        self.top = self.top.clamp((self.cursor + 1).saturating_sub(self.height.max(1)), self.cursor);
    }

    /// Takes in what was read. The cursor stays on its element.
    pub fn accept(&mut self, mut structure: Arc<Structure>, now_ns: u64) {
        self.read_ns = now_ns;
        // The reader may have chosen another order since it was asked for.
        if structure.order != self.order {
            Arc::make_mut(&mut structure).sort(self.order);
        }
        if !self.was_read && structure.elements.len() > SMALL {
            self.folded = Arc::new(with_methods(&structure));
        }
        self.was_read = true;
        let key = self.current().map(|element| element.key.clone());
        self.whole = Some(structure);
        self.unroll(key.as_ref());
    }

    /// Whether what stands within an element is folded away.
    pub fn is_folded(&self, element: &Element) -> bool {
        self.folded.contains(&element.key)
    }

    /// Shows what stands within the row, or goes there.
    pub fn unfold(&mut self) {
        let Some(key) = self.current().filter(|element| element.site().is_none()).map(|it| it.key.clone()) else {
            return;
        };
        match Arc::make_mut(&mut self.folded).remove(&key) {
            true => self.unroll(Some(&key)),
            false => self.step(Step::Down),
        }
    }

    /// Hides what stands within the row, or goes to what is around it.
    pub fn fold(&mut self) {
        let Some(element) = self.current() else { return };
        let (key, under) = (element.key.clone(), element.under);
        if element.site().is_none() && Arc::make_mut(&mut self.folded).insert(key.clone()) {
            self.unroll(Some(&key));
        } else if let Some(row) = under.and_then(|under| self.rows.binary_search(&under).ok()) {
            self.select(row);
        }
    }

    /// Shows everything.
    pub fn unfold_all(&mut self) {
        let key = self.current().map(|element| element.key.clone());
        self.folded = Arc::default();
        self.unroll(key.as_ref());
    }

    /// Hides the methods.
    pub fn fold_methods(&mut self) {
        let Some(structure) = &self.whole else { return };
        let folded = with_methods(structure);
        let owner = self.current().and_then(|element| element.under).filter(|_| self.current_is_method());
        let stays = owner.map(|at| &structure.elements[at]).or(self.current()).map(|element| element.key.clone());
        self.folded = Arc::new(folded);
        self.unroll(stays.as_ref());
    }

    fn current_is_method(&self) -> bool {
        self.current().is_some_and(|element| element.site().is_some())
    }

    /// Sorts by another column, or the other way round. The cursor goes to the first row, as in the tables.
    pub fn change_sort(&mut self, turn: SortChange) {
        self.order = match turn {
            SortChange::Next => self.order.next(),
            SortChange::Previous => self.order.previous(),
            SortChange::Reverse => Order { reversed: !self.order.reversed, ..self.order },
        };
        if let Some(structure) = &mut self.whole {
            Arc::make_mut(structure).sort(self.order);
            (self.cursor, self.top) = (0, 0);
            self.unroll(None);
        }
    }

    /// Goes to the next element whose name has `text` in it, after the cursor and then from the top; its path, where the
    /// text is one.
    pub fn find(&mut self, store: &Store, text: &str) -> bool {
        let text = text.to_lowercase();
        self.go_to(|element| {
            let name = if text.contains("::") { element.path(store) } else { &element.name };
            name.to_lowercase().contains(&text)
        })
    }

    /// Goes to the next method that never ran.
    pub fn next_that_never_ran(&mut self) -> bool {
        self.go_to(|element| element.site().is_some() && element.never_ran())
    }

    /// Goes to the next element that is wanted, and shows what it stands in.
    fn go_to(&mut self, is_wanted: impl Fn(&Element) -> bool) -> bool {
        let Some(structure) = self.whole.clone() else { return false };
        let (elements, from) = (&structure.elements, self.rows.get(self.cursor).copied().unwrap_or(0));
        let len = elements.len();
        let Some(at) = (1..=len).map(|by| (from + by) % len).find(|&at| is_wanted(&elements[at])) else { return false };
        let mut around = elements[at].under;
        while let Some(element) = around.map(|at| &elements[at]) {
            if self.is_folded(element) {
                Arc::make_mut(&mut self.folded).remove(&element.key);
            }
            around = element.under;
        }
        self.unroll(None);
        if let Ok(row) = self.rows.binary_search(&at) {
            self.select(row);
        }
        true
    }

    /// Lays out the rows anew, the cursor on the element with this key, and on its line of the screen.
    fn unroll(&mut self, key: Option<&Key>) {
        let Some(structure) = &self.whole else { return };
        let line = self.cursor.saturating_sub(self.top);
        let mut hidden = vec![false; structure.elements.len()];
        let mut rows = Vec::new();
        for (at, element) in structure.elements.iter().enumerate() {
            let is_hidden = element
                .under
                .is_some_and(|under| hidden[under] || self.folded.contains(&structure.elements[under].key));
            hidden[at] = is_hidden;
            if !is_hidden {
                rows.push(at);
            }
        }
        let found = key.and_then(|key| rows.iter().position(|&at| structure.elements[at].key == *key));
        self.rows = Arc::new(rows);
        // A reader who never moved looks at the head of the tree.
        if let (Some(row), true) = (found, self.cursor > 0) {
            self.top = row.saturating_sub(line);
            self.select(row);
        }
        self.select(self.cursor);
    }
}

/// What has methods right under it.
fn with_methods(structure: &Structure) -> HashSet<Key> {
    let elements = structure.elements.iter();
    elements.filter(|it| matches!(it.of, Of::Type { .. } | Of::Functions)).map(|it| it.key.clone()).collect()
}

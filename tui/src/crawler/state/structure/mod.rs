//! Structure of the program: a tree whose parts can be folded away.

pub(crate) mod columns;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::{Filter, Store};
use metaspy_report::program::{Element, Key, Of, Program};
use metaspy_report::types::Types;

use super::cursor::Cursor;
use super::event_list::Side;
use super::filter_edit;
use super::profiles::Profiles;
use super::table::{Arrangement, Rows, Sort, SortChange, TableList};
use crate::crawler::command::Step;

/// Maximum number of elements of a program whose methods are shown at first.
const SMALL: usize = 100;
/// Lines below the tree, for the facts of the element under the cursor.
const FOOTER: usize = 4;

/// Screen of the structure.
#[derive(Clone, Debug)]
pub struct StructureView {
    /// Whole program; `None` before the first reading.
    pub whole: Option<Arc<Program>>,
    /// Indices of the elements that are not folded away.
    pub rows: Arc<Vec<usize>>,
    /// Types that arrived at methods.
    pub types: Arc<Types>,
    /// Columns of method profilers.
    pub profiles: Profiles<Key>,
    /// Arrangement of the columns that are shown.
    pub(crate) arrangement: Arrangement,
    /// Elements whose contents are folded away.
    pub folded: Arc<HashSet<Key>>,
    /// Order of the elements under the same parent.
    pub sort: Sort,
    /// Cursor over the rows.
    pub cursor: Cursor,
    /// True if all calls are counted, not only those that pass a filter.
    pub is_complete: bool,
    /// True after the first reading. From then on, the user decides which elements are folded.
    was_read: bool,
}

impl Default for StructureView {
    fn default() -> Self {
        StructureView {
            whole: None,
            rows: Arc::default(),
            types: Arc::default(),
            profiles: Profiles::default(),
            arrangement: Arrangement::default(),
            folded: Arc::default(),
            sort: Sort::by("name"),
            cursor: Cursor::default(),
            is_complete: true,
            was_read: false,
        }
    }
}

impl StructureView {
    /// Reads the program, and the calls that pass the filter.
    pub fn read(mut self, store: &Store, filter: &Filter) -> Self {
        let whole = Program::read(store, filter);
        let places: HashMap<SiteId, usize> = whole
            .elements
            .iter()
            .enumerate()
            .filter_map(|(at, element)| Some((element.site()?, at)))
            .collect();
        // A value belongs to the method, and to every element around it.
        self.profiles = self.profiles.read(store, |key| {
            let method = places.get(&key.site()).and_then(|&at| whole.elements.get(at));
            let around = |element: &&Element| element.under.and_then(|at| whole.elements.get(at));
            std::iter::successors(method, around).map(|element| element.key.clone()).collect()
        });
        self.types = Arc::new(Types::read([store]));
        self.whole = Some(Arc::new(whole));
        self.is_complete = filter.is_all();
        self.sorted(store)
    }

    /// Describes the types that arrived at a method, in one line.
    pub fn types_of(&self, element: &Element) -> String {
        let site = element.method.as_ref().map(|method| &method.site);
        let types = site.and_then(|site| self.types.method(&site.path, site.lines.0));
        types.map_or(String::new(), |types| types.short_lines().join("   "))
    }

    /// Sorts the elements under the same parent.
    fn sorted(mut self, store: &Store) -> Self {
        let keys = self.sort.keys(store, &self);
        if let Some(whole) = &mut self.whole {
            let names: Vec<String> =
                whole.elements.iter().map(|element| element.name.clone()).collect();
            let reversed = self.sort.reversed;
            Arc::make_mut(whole).sort_siblings(|a, b| {
                let order = keys[a].cmp(&keys[b]).then_with(|| names[a].cmp(&names[b]));
                if reversed { order.reverse() } else { order }
            });
        }
        self
    }

    /// Returns the number of lines below the tree, given the height of the screen. A low screen
    /// leaves all lines to the tree.
    pub(crate) fn footer_height(lines: usize) -> usize {
        if lines < 3 * FOOTER { 0 } else { FOOTER }
    }

    /// Returns the element under the cursor.
    pub fn current(&self) -> Option<&Element> {
        self.whole.as_ref()?.elements.get(*self.rows.get(self.cursor.row)?)
    }

    /// Returns false if no call was timed as an event.
    fn has_times(&self) -> bool {
        self.whole
            .as_ref()
            .is_none_or(|whole| whole.crates().any(|element| element.measure.timed > 0))
    }

    fn element(&self, item: usize) -> Option<&Element> {
        self.whole.as_ref()?.elements.get(item)
    }

    fn step(&mut self, step: Step) {
        self.cursor.step(step, self.rows.len());
    }

    fn select(&mut self, row: usize) {
        self.cursor.select(row, self.rows.len());
    }

    /// Shows the result of a reading. The cursor stays on its element.
    pub fn accept(&mut self, store: &Store, read: StructureView) {
        let key = self.current().map(|element| element.key.clone());
        // The user may have chosen another order since the job was started.
        let is_stale = read.sort != self.sort;
        (self.whole, self.is_complete) = (read.whole, read.is_complete);
        self.profiles.accept(read.profiles);
        if is_stale {
            self.whole = self.clone().sorted(store).whole;
        }
        if let Some(structure) =
            self.whole.as_ref().filter(|it| !self.was_read && it.elements.len() > SMALL)
        {
            self.folded = Arc::new(with_methods(structure));
        }
        self.was_read = true;
        self.unroll(key.as_ref());
    }

    /// Returns true if the contents of an element are folded away.
    pub fn is_folded(&self, element: &Element) -> bool {
        self.folded.contains(&element.key)
    }

    /// Unfolds the row; if it is unfolded, goes to its first child.
    pub fn unfold(&mut self) {
        let Some(key) =
            self.current().filter(|element| element.site().is_none()).map(|it| it.key.clone())
        else {
            return;
        };
        if Arc::make_mut(&mut self.folded).remove(&key) {
            self.unroll(Some(&key));
        } else {
            self.step(Step::Down);
        }
    }

    /// Folds the row; if it is folded or a method, goes to its parent.
    pub fn fold(&mut self) {
        let Some(element) = self.current() else { return };
        let key = element.key.clone();
        let under = element.under;
        if element.site().is_none() && Arc::make_mut(&mut self.folded).insert(key.clone()) {
            self.unroll(Some(&key));
        } else if let Some(row) = under.and_then(|under| self.rows.binary_search(&under).ok()) {
            self.select(row);
        }
    }

    /// Unfolds all elements.
    pub(crate) fn unfold_all(&mut self) {
        let key = self.current().map(|element| element.key.clone());
        self.folded = Arc::default();
        self.unroll(key.as_ref());
    }

    /// Folds all types and groups of free functions, which hides their methods.
    pub(crate) fn fold_methods(&mut self) {
        let Some(structure) = &self.whole else { return };
        let folded = with_methods(structure);
        let owner =
            self.current().and_then(|element| element.under).filter(|_| self.current_is_method());
        let stays = owner
            .map(|at| &structure.elements[at])
            .or(self.current())
            .map(|element| element.key.clone());
        self.folded = Arc::new(folded);
        self.unroll(stays.as_ref());
    }

    fn current_is_method(&self) -> bool {
        self.current().is_some_and(|element| element.site().is_some())
    }

    /// Goes to the next method that never ran.
    pub(crate) fn next_that_never_ran(&mut self) -> bool {
        self.go_to(Side::After, |element| element.site().is_some() && element.never_ran())
    }

    /// Selects the next matching element and unfolds its parents.
    fn go_to(&mut self, side: Side, is_wanted: impl Fn(&Element) -> bool) -> bool {
        let Some(structure) = self.whole.clone() else { return false };
        let (elements, from) =
            (&structure.elements, self.rows.get(self.cursor.row).copied().unwrap_or(0));
        let len = elements.len();
        let by = |steps| if side == Side::After { steps } else { len - steps };
        let mut order = (1..=len).map(|steps| (from + by(steps)) % len);
        let Some(at) = order.find(|&at| is_wanted(&elements[at])) else { return false };
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

    /// Rebuilds the rows. The cursor stays on the element with this key, and on its line of the
    /// screen.
    fn unroll(&mut self, key: Option<&Key>) {
        let Some(structure) = &self.whole else { return };
        let mut hidden = vec![false; structure.elements.len()];
        let mut rows = Vec::new();
        for (at, element) in structure.elements.iter().enumerate() {
            let is_hidden = element.under.is_some_and(|under| {
                hidden[under] || self.folded.contains(&structure.elements[under].key)
            });
            hidden[at] = is_hidden;
            if !is_hidden {
                rows.push(at);
            }
        }
        let found =
            key.and_then(|key| rows.iter().position(|&at| structure.elements[at].key == *key));
        self.rows = Arc::new(rows);
        self.cursor.follow(found, self.rows.len());
    }
}

impl Rows for StructureView {
    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    fn discard(&mut self) {
        self.whole = None;
    }

    fn resize(&mut self, lines: usize) {
        self.cursor.height = lines.saturating_sub(1 + Self::footer_height(lines));
        self.select(self.cursor.row);
    }

    fn row_name(&self, _: &Store, row: usize) -> String {
        self.element(self.item(row)).map_or(String::new(), |element| element.name.clone())
    }

    /// Searches for a name, also in elements that are folded away. A text with `::` is searched in
    /// the paths.
    fn find(&mut self, store: &Store, text: &str, side: Side) -> bool {
        let text = text.to_lowercase();
        self.go_to(side, |element| {
            let name = if text.contains("::") { element.path(store) } else { &element.name };
            name.to_lowercase().contains(&text)
        })
    }

    fn site(&self) -> Option<SiteId> {
        self.current().and_then(Element::site)
    }

    fn filter_term(&self, store: &Store) -> Option<String> {
        filter_edit::element_term(store, self.whole.as_ref()?, *self.rows.get(self.cursor.row)?)
    }

    fn sort(&self) -> Option<&Sort> {
        Some(&self.sort)
    }

    fn profile(&self) -> Option<&str> {
        self.profiles.shown()
    }

    fn next_profile(&self) -> Option<&str> {
        self.profiles.next()
    }

    fn show_next_profile(&mut self, store: &Store) {
        self.profiles.show_next();
        if self.columns(store).iter().all(|column| column.name != self.sort.column) {
            self.sort = Sort::by("name");
            self.whole = self.clone().sorted(store).whole;
            self.unroll(None);
        }
    }

    fn change_sort(&mut self, store: &Store, change: SortChange) {
        self.sort = self.sort.changed(&self.columns(store), change);
        if self.whole.is_some() {
            self.whole = self.clone().sorted(store).whole;
            self.cursor.reset();
            self.unroll(None);
        }
    }
}

/// Returns the elements that directly contain methods.
fn with_methods(structure: &Program) -> HashSet<Key> {
    let elements = structure.elements.iter();
    elements
        .filter(|it| matches!(it.of, Of::Type { .. } | Of::Functions))
        .map(|it| it.key.clone())
        .collect()
}

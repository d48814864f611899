//! Productions of a grammar: productions that matched, that failed each time, and that were never
//! entered.

mod tree;

use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::{Measure, Store};
use metaspy_report::text::last_segment;

pub use tree::{Production, Tree};

use super::cursor::Cursor;
use super::event_list::Side;
use super::table::{Arrangement, Cell, Column, Kind, Rows, TableList, Tone, Width};
use super::{filter_edit, indent};

/// Screen of productions.
#[derive(Clone, Debug, Default)]
pub struct ProductionsView {
    /// Tree of productions; `None` before the first reading.
    pub tree: Option<Arc<Tree>>,
    /// Source of the production under the cursor.
    pub source: Source,
    /// Cursor over the productions.
    pub cursor: Cursor,
    /// Arrangement of the columns that are shown.
    pub(crate) arrangement: Arrangement,
    /// Lines of the screen, including head and footer.
    lines: usize,
}

/// Line of the source.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// Production that begins on the line.
    pub production: Option<SiteId>,
    /// Text of the line; `None` if it was not read yet, or cannot be read.
    pub line: Option<String>,
}

/// Progress of the inputs with a production.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Matched at least once.
    Matched,
    /// Entered, and never matched.
    NeverMatched,
    /// Never entered.
    NeverEntered,
    /// No run can reach it.
    Skipped,
}

impl Coverage {
    /// Derives the coverage from the counts of a production.
    pub fn new(store: &Store, production: &Production) -> Self {
        let site = store.site(production.site);
        match (production.measure.count, matched(&production.measure)) {
            _ if site.is_some_and(|site| site.skipped.is_some()) => Coverage::Skipped,
            (0, _) => Coverage::NeverEntered,
            (_, 0) => Coverage::NeverMatched,
            _ => Coverage::Matched,
        }
    }

    /// Returns true if no input matched the production, although an input could.
    pub(crate) fn is_uncovered(self) -> bool {
        matches!(self, Coverage::NeverMatched | Coverage::NeverEntered)
    }
}

/// Counts the activations that ended without a match.
fn failed(measure: &Measure) -> u64 {
    measure.failed.saturating_add(measure.cancelled).saturating_add(measure.panicked)
}

/// Counts the activations that matched.
fn matched(measure: &Measure) -> u64 {
    measure.count.saturating_sub(failed(measure)).saturating_sub(measure.running)
}

impl ProductionsView {
    /// Returns the number of lines below the table: the source of a production and, if any is
    /// shadowed, the reason why it never matched.
    pub(crate) fn footer_height(&self) -> usize {
        1 + usize::from(self.tree.as_ref().is_some_and(|tree| !tree.shadows.is_empty()))
    }

    /// Shows the result of a reading. The cursor stays on its production.
    pub fn accept(&mut self, tree: Tree) {
        let site = self.current().map(|production| production.site);
        let is_it = |production: &Production| Some(production.site) == site;
        // A production may occur in the tree more than once.
        let same_row =
            tree.productions.get(self.cursor.row).is_some_and(is_it).then_some(self.cursor.row);
        let found = same_row.or_else(|| tree.productions.iter().position(is_it));
        self.tree = Some(Arc::new(tree));
        self.resize(self.lines);
        self.cursor.follow(found, self.row_count());
    }

    /// Returns the productions, in the order of the tree.
    pub fn productions(&self) -> &[Production] {
        self.tree.as_ref().map_or(&[], |tree| &tree.productions)
    }

    /// Returns the production under the cursor.
    pub fn current(&self) -> Option<&Production> {
        self.productions().get(self.cursor.row)
    }

    /// Returns the number of productions that matched, and of all that can match.
    pub fn covered(&self, store: &Store) -> (usize, usize) {
        let first = self.productions().iter().filter(|production| !production.again);
        let coverage = first.map(|production| Coverage::new(store, production));
        coverage.fold((0, 0), |(matched, of), coverage| match coverage {
            Coverage::Matched => (matched + 1, of + 1),
            Coverage::Skipped => (matched, of),
            _ => (matched, of + 1),
        })
    }

    /// Moves to the next production that never matched. Returns false if there is none.
    pub(crate) fn find_uncovered(&mut self, store: &Store) -> bool {
        let productions = self.productions();
        let found = self.cursor.find(productions.len(), Side::After, |row| {
            !productions[row].again && Coverage::new(store, &productions[row]).is_uncovered()
        });
        let rows = productions.len();
        found.inspect(|&row| self.cursor.select(row, rows)).is_some()
    }

    fn name<'a>(&self, store: &'a Store, row: usize) -> &'a str {
        last_segment(store.site_path(self.productions()[row].site))
    }

    /// Makes a column of activations. A production that cannot run has a remark in the first
    /// column.
    fn number(name: &'static str, number: fn(&Measure) -> u64) -> Column<Self> {
        Column::new(name, Kind::Number, Width::Cells(10), move |store, list: &Self, item| {
            let production = &list.productions()[item];
            let skipped = store.site(production.site).and_then(|site| site.skipped.as_deref());
            match skipped {
                Some(why) if name == "entered" => Cell::note(why),
                Some(_) => Cell::blank(),
                None => Cell::amount(number(&production.measure)).toned(production.tone(store)),
            }
        })
    }

    fn bar(&self, store: &Store, item: usize) -> Cell {
        let production = &self.productions()[item];
        let Some(tree) = self.tree.as_ref().filter(|_| !production.again) else {
            return Cell::blank();
        };
        // Numbers that are not exact may hide an activation.
        let question = if tree.exact { "" } else { "?" };
        match Coverage::new(store, production) {
            Coverage::Skipped => Cell::blank(),
            Coverage::NeverMatched if tree.is_complete => {
                Cell::alert(format!(" NEVER MATCHED{question} "))
            }
            Coverage::NeverEntered if tree.is_complete => {
                Cell::alert(format!(" NEVER ENTERED{question} "))
            }
            _ => Cell::amount(production.measure.count),
        }
    }
}

impl Production {
    fn tone(&self, store: &Store) -> Tone {
        if self.again || Coverage::new(store, self) == Coverage::Skipped {
            Tone::Faint
        } else {
            Tone::Plain
        }
    }
}

impl TableList for ProductionsView {
    fn columns(&self, _: &Store) -> Vec<Column<Self>> {
        let name = |store: &Store, list: &Self, item: usize| {
            let production = &list.productions()[item];
            let sign = if production.again { "↑" } else { "" };
            Cell::text(format!("{sign}{}", list.name(store, item))).toned(production.tone(store))
        };
        self.arrangement.of(vec![
            Column::name("rule", name),
            Self::number("entered", |measure| measure.count),
            Self::number("matched", matched),
            Self::number("failed", failed),
            Column::new(
                "bar",
                Kind::Bar,
                Width::Part { of: (2, 5), min: 17 },
                |store, list: &Self, item| list.bar(store, item),
            )
            .titled(""),
        ])
    }

    fn tree_lines(&self, item: usize, levels: usize) -> String {
        self.tree.as_ref().map_or(String::new(), |tree| tree.lines(item, levels))
    }
}

impl Rows for ProductionsView {
    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn row_count(&self) -> usize {
        self.productions().len()
    }

    fn discard(&mut self) {
        self.tree = None;
    }

    fn resize(&mut self, lines: usize) {
        self.lines = lines;
        self.cursor.height = lines.saturating_sub(1 + self.footer_height());
    }

    fn row_name(&self, store: &Store, row: usize) -> String {
        store.site_path(self.productions()[row].site).to_owned()
    }

    fn site(&self) -> Option<SiteId> {
        self.current().map(|production| production.site)
    }

    fn filter_term(&self, store: &Store) -> Option<String> {
        self.site().map(|site| filter_edit::site_term(store, site))
    }
}

impl Tree {
    /// Draws the tree lines before a production.
    fn lines(&self, item: usize, levels: usize) -> String {
        indent::tree_lines(item, levels, |at| {
            (self.productions[at].parent, self.productions[at].is_last)
        })
    }
}

//! What a reader looks at, whole: a walk keeps it, and `Backspace` brings it back as it was.

use metaspy_core::SiteId;
use metaspy_core::store::{By, Filter};

use super::event_list::EventList;
use super::lanes::LanesView;
use super::pane::Pane;
use super::productions::ProductionsView;
use super::structure::StructureView;
use super::table::TableView;
use crate::crawler::command::Screen;
use crate::crawler::layout::Layout;

/// How many events pass a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// So many, those that left the window among them.
    pub events: u64,
    /// Whether that is all, and exact.
    pub exact: bool,
}

/// A view on a recording.
#[derive(Clone)]
pub struct View {
    /// The screen that is open.
    pub screen: Screen,
    /// What is let through.
    pub filter: Filter,
    /// Events that pass the filter, once they are counted.
    pub count: Option<Count>,
    /// The list of events.
    pub list: EventList,
    /// The right pane.
    pub pane: Pane,
    /// The table of subjects.
    pub subjects: TableView,
    /// The table of sites.
    pub sites: TableView,
    /// The lanes.
    pub lanes: LanesView,
    /// The tree of productions.
    pub productions: ProductionsView,
    /// The structure of the program.
    pub structure: StructureView,
}

impl View {
    /// The view that a screen of this size begins with.
    pub fn new(width: u16, height: u16) -> Self {
        let mut view = View {
            screen: Screen::Events,
            filter: Filter::all(),
            count: None,
            list: EventList::new(0),
            pane: Pane::new(0, 0),
            subjects: TableView::new(0),
            sites: TableView::new(0),
            lanes: LanesView::default(),
            productions: ProductionsView::new(0),
            structure: StructureView::default(),
        };
        view.resize(width, height);
        view
    }

    /// Fits it to a screen of this size.
    pub fn resize(&mut self, width: u16, height: u16) {
        let layout = Layout::new(width, height, self.pane.focused);
        let rows = layout.body.inner().height as usize;
        self.list.height = rows;
        // The tabs take the pane's first row.
        self.pane.height = rows.saturating_sub(1);
        self.pane.width = Layout::new(width, height, true).pane.inner().width as usize;
        // Head and foot of a table.
        self.subjects.height = rows.saturating_sub(2);
        self.sites.height = rows.saturating_sub(2);
        self.lanes.height = rows.saturating_sub(1);
        self.productions.resize(rows);
        self.structure.resize(rows);
    }

    /// What is let through, and how a table is sorted.
    pub fn filter_and_sort(&self) -> String {
        let filter = (!self.filter.is_all()).then(|| format!("filter: {}", self.filter.text()));
        let sort = match self.screen {
            Screen::Subjects => Some((self.subjects.sort.column.name(), self.subjects.sort.reversed)),
            Screen::Sites => Some((self.sites.sort.column.name(), self.sites.sort.reversed)),
            Screen::Structure => Some((self.structure.order.column.name(), self.structure.order.reversed)),
            _ => None,
        };
        let sort = sort.map(|(column, reversed)| format!("sort: {column} {}", if reversed { '▲' } else { '▼' }));
        filter.into_iter().chain(sort).collect::<Vec<_>>().join("   ")
    }

    /// The production under the cursor, if its line in the source was not asked for yet.
    pub fn unread_source(&self) -> Option<SiteId> {
        let productions = &self.productions;
        let site = productions.table.current().filter(|_| self.screen == Screen::Productions)?.site;
        site.filter(|_| site != productions.source.of)
    }

    /// The open table, and by what it is grouped.
    pub fn table(&mut self) -> Option<(&mut TableView, By)> {
        match self.screen {
            Screen::Subjects => Some((&mut self.subjects, By::Subject)),
            Screen::Sites => Some((&mut self.sites, By::Site)),
            Screen::Productions => Some((&mut self.productions.table, By::Site)),
            Screen::Events | Screen::Lanes | Screen::Structure => None,
        }
    }
}

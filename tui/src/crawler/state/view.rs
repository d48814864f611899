//! Everything on the screen as one value, so that `Backspace` can restore it.

use metaspy_probe::SiteId;
use metaspy_reader::{By, DetailLevel, Filter, Scope, Store};
use metaspy_report::text::clean;

use super::blueprint::BlueprintView;
use super::browser::BrowserView;
use super::event_list::EventList;
use super::findings::FindingsView;
use super::functions::FunctionsView;
use super::lanes::LanesView;
use super::pane::Pane;
use super::productions::ProductionsView;
use super::structure::StructureView;
use super::table::{Arrangement, Rows, Sort};
use super::tally::TallyView;
use super::types::TypesView;
use crate::crawler::command::Screen;
use crate::crawler::config::browser::{Browser, Laid};
use crate::crawler::config::shipped_screens;
use crate::crawler::layout::{Focus, LaneColumns, Layout};

/// Number of events that pass a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// Number of events, including those that left the window.
    pub events: u64,
    /// True if the number is exact.
    pub exact: bool,
}

impl Count {
    /// Counts the events that pass a filter.
    pub fn read(store: &Store, filter: Filter) -> Self {
        let scope = Scope { filter, detail: DetailLevel::Counts, ..Scope::default() };
        let tally = store.tally(By::Site, &scope);
        Count { events: tally.rows.iter().map(|row| row.measure.count).sum(), exact: tally.exact }
    }
}

/// View of a recording.
#[derive(Clone)]
pub struct View {
    /// Screen that is open.
    pub screen: Screen,
    /// Filter that restricts the events.
    pub filter: Filter,
    /// Number of events that pass the filter; `None` until they are counted.
    pub count: Option<Count>,
    /// List of events.
    pub list: EventList,
    /// Right pane.
    pub pane: Pane,
    /// Table of subjects.
    pub subjects: TallyView,
    /// Table of sites.
    pub sites: TallyView,
    /// Columns of a browser.
    pub browser: BrowserView,
    /// Lanes over time.
    pub lanes: LanesView,
    /// The statements of the recording about its program.
    pub findings: FindingsView,
    /// Tree of productions.
    pub productions: ProductionsView,
    /// Structure of the program.
    pub structure: StructureView,
    /// Blueprint of the run.
    pub blueprint: BlueprintView,
    /// Types that arrived at methods.
    pub types: TypesView,
    /// Functions by processor time.
    pub functions: FunctionsView,
}

impl View {
    /// Creates the view with which a screen of this size begins.
    pub fn new(width: u16, height: u16) -> Self {
        let mut view = View {
            screen: Screen::Events,
            filter: Filter::all(),
            count: None,
            list: EventList::new(0),
            pane: Pane::default(),
            subjects: TallyView::new(By::Subject),
            sites: TallyView::new(By::Site),
            browser: BrowserView::default(),
            lanes: LanesView::default(),
            findings: FindingsView::default(),
            productions: ProductionsView::default(),
            structure: StructureView::default(),
            blueprint: BlueprintView::default(),
            types: TypesView::default(),
            functions: FunctionsView::default(),
        };
        shipped_screens().into_iter().for_each(|screen| view.lay_out(screen));
        view.resize(width, height);
        view
    }

    /// Applies the columns of a file to the screen that it lays out.
    pub fn lay_out(&mut self, mut file: Browser) {
        let (Some(screen), Some(tab)) = (file.screen, file.columns.swap_remove(0).pop()) else {
            return;
        };
        let arrangement = match screen {
            Laid::Sites => &mut self.sites.arrangement,
            Laid::Subjects => &mut self.subjects.arrangement,
            Laid::Productions => &mut self.productions.arrangement,
            Laid::Structure => &mut self.structure.arrangement,
        };
        *arrangement = Arrangement::new(tab);
    }

    /// Fits the view to a screen of this size.
    pub fn resize(&mut self, width: u16, height: u16) {
        let layout = Layout::new(width, height, self.pane.focus);
        let lines = layout.body.inner().height as usize;
        self.list.height = lines;
        // The tabs take the first line of the pane.
        self.pane.cursor.height = lines.saturating_sub(1);
        self.pane.width = Layout::new(width, height, Focus::Pane).pane.inner().width as usize;
        self.lanes.columns = LaneColumns::new(layout.body.inner().width).columns.into();
        self.all_rows().into_iter().for_each(|rows| rows.resize(lines));
    }

    /// Describes the filter, the profile and the order, for the line at the top.
    pub fn filter_and_sort(&self) -> String {
        let filter = (!self.filter.is_all()).then(|| format!("filter: {}", self.filter.text()));
        let sort = self.rows().and_then(Rows::sort).map(Sort::label);
        let profile =
            self.rows().and_then(Rows::profile).map(|name| format!("profile: {}", clean(name)));
        filter.into_iter().chain(profile).chain(sort).collect::<Vec<_>>().join("   ")
    }

    /// Returns the production under the cursor, if its line in the source was not read yet.
    pub(crate) fn unread_source(&self) -> Option<SiteId> {
        let productions = &self.productions;
        let site = productions.site().filter(|_| self.screen == Screen::Productions);
        site.filter(|_| site != productions.source.production)
    }

    /// Returns the table of the open screen, if it is about subjects or sites.
    pub fn tally(&self) -> Option<&TallyView> {
        match self.screen {
            Screen::Subjects => Some(&self.subjects),
            Screen::Sites => Some(&self.sites),
            _ => None,
        }
    }

    /// Returns the table of subjects or of sites.
    pub(crate) fn tally_mut(&mut self, by: By) -> &mut TallyView {
        if by == By::Site { &mut self.sites } else { &mut self.subjects }
    }

    /// Returns the rows of the open screen; `None` for events.
    pub fn rows(&self) -> Option<&dyn Rows> {
        match self.screen {
            Screen::Events => None,
            Screen::Subjects => Some(&self.subjects),
            Screen::Sites => Some(&self.sites),
            Screen::Lanes => Some(&self.lanes),
            Screen::Findings => Some(&self.findings),
            Screen::Structure => Some(&self.structure),
            Screen::Browser => Some(&self.browser),
            Screen::Productions => Some(&self.productions),
            Screen::Blueprint => Some(&self.blueprint),
            Screen::Types => Some(&self.types),
            Screen::Functions => Some(&self.functions),
        }
    }

    /// Returns the rows of the open screen, to change them.
    pub(crate) fn rows_mut(&mut self) -> Option<&mut dyn Rows> {
        let screen = self.screen;
        self.all_rows()
            .into_iter()
            .zip(&Screen::ALL[1..])
            .find(|(_, of)| **of == screen)
            .map(|(rows, _)| rows)
    }

    /// Returns the rows of all screens except the first, in the order of their keys.
    pub(crate) fn all_rows(&mut self) -> [&mut dyn Rows; 10] {
        [
            &mut self.subjects,
            &mut self.sites,
            &mut self.lanes,
            &mut self.findings,
            &mut self.structure,
            &mut self.browser,
            &mut self.productions,
            &mut self.blueprint,
            &mut self.types,
            &mut self.functions,
        ]
    }
}

#[cfg(test)]
mod tests {
    use metaspy_core::Recording;

    use super::*;
    use crate::crawler::config::browser::{RowsOf, values};
    use crate::crawler::state::table::TableList;

    /// Checks the columns that a list has without a file. Some appear only with losses, or while
    /// the program runs.
    fn check<L: TableList>(
        view: &mut L,
        rows: RowsOf,
        set: fn(&mut L) -> &mut Arrangement,
        rare: &[&str],
    ) {
        *set(view) = Arrangement::default();
        let recording = Recording::memory().budget(1 << 20).start().expect("a small recording");
        let known: Vec<String> =
            view.columns(&recording.store()).iter().map(|it| it.name.to_string()).collect();
        let expected = values(rows, true).iter().filter(|value| !rare.contains(value));
        let expected: Vec<&str> = std::iter::once("name").chain(expected.copied()).collect();
        assert_eq!(known, expected);
    }

    #[test]
    fn a_file_may_show_every_column_of_a_screen() {
        let mut view = View::new(80, 24);
        check(
            &mut view.sites,
            RowsOf::Site,
            |list| &mut list.arrangement,
            &["lost", "observed", "max wall"],
        );
        check(
            &mut view.subjects,
            RowsOf::Subject,
            |list| &mut list.arrangement,
            &["lost", "max wall"],
        );
        check(&mut view.productions, RowsOf::Production, |list| &mut list.arrangement, &[]);
        check(&mut view.structure, RowsOf::Element, |list| &mut list.arrangement, &[]);
    }
}

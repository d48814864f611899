//! Browsers built from the views that profilers declare, with the title, grouping, values and
//! relations of each view.
//!
//! The first column has the rows of the grouping. The next columns lead to the events, and a tab
//! beside the events leads to the subjects of each relation. A grammar is grouped by its rules,
//! which have no subjects.

use std::collections::HashSet;
use std::sync::Arc;

use metaspy_format::View;
use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::Store;

use super::{Browser, BrowserTab, RowsOf, Show, ValueOf, values};

/// Builds browsers for the views of a recording, the newest view first. A profiler that was
/// installed several times gets a single browser.
pub fn declared(store: &Store) -> Vec<Browser> {
    let mut names = HashSet::new();
    let views = store.views().iter().rev().map(|recorded| &recorded.view);
    views.filter(|view| names.insert(&view.name)).filter_map(|view| browser(store, view)).collect()
}

/// Builds the browser of a view; `None` if the view has no sites.
fn browser(store: &Store, view: &View) -> Option<Browser> {
    let paths: HashSet<&str> = view.sites.iter().map(String::as_str).collect();
    let sites = store.sites().iter().filter(|site| paths.contains(site.path.as_str()));
    let is_grammar = sites.clone().all(|site| site.kind == SiteKind::Production);
    let sites: HashSet<SiteId> = sites.map(|site| site.id).collect();
    if sites.is_empty() {
        return None;
    }
    let shape = Shape { view, sites: Arc::new(sites) };
    let [subject, events] = [RowsOf::Subject, RowsOf::Event];
    let rows: &[RowsOf] = match view.group_by.as_str() {
        _ if is_grammar => &[RowsOf::Site, events],
        "site" => &[RowsOf::Site, subject, events],
        "cause" => &[RowsOf::Root, subject, events],
        _ => &[subject, RowsOf::Site, events],
    };
    let mut columns: Vec<Vec<BrowserTab>> =
        rows.iter().enumerate().map(|(before, &rows)| vec![shape.tab(rows, before)]).collect();
    if let (Some(at), Some(last)) = (rows.iter().position(|of| *of == subject), columns.last_mut())
    {
        last.extend(view.relations.iter().map(|name| shape.relation(name, at + 1)));
    }
    if is_grammar {
        columns[0][0].title = "rule".to_owned();
    }
    Some(Browser { title: view.name.clone(), screen: None, columns })
}

/// Properties that all columns of a view share.
struct Shape<'a> {
    view: &'a View,
    sites: Arc<HashSet<SiteId>>,
}

impl Shape<'_> {
    /// Makes a tab whose column comes after `before` other columns.
    fn tab(&self, rows: RowsOf, before: usize) -> BrowserTab {
        let query =
            (1..=before).map(|before| format!("{{{before}}}")).collect::<Vec<_>>().join(" ");
        BrowserTab {
            title: rows.title().to_owned(),
            rows,
            query,
            value: self.value(),
            show: if rows == RowsOf::Event {
                vec![Show { from: 20, ..Show::of("took") }]
            } else {
                self.show()
            },
            relation: None,
            sites: Some(Arc::clone(&self.sites)),
        }
    }

    /// Makes a tab of the subjects related to the subject that is selected in a column.
    fn relation(&self, name: &str, column: usize) -> BrowserTab {
        let query = format!("{{{column}}}");
        let tab = self.tab(RowsOf::Relation, 0);
        BrowserTab { title: name.to_owned(), query, relation: Some(name.to_owned()), ..tab }
    }

    /// Returns the declared values that a row has. A view that declares none shows its count, and
    /// its time in wide columns.
    fn show(&self) -> Vec<Show> {
        let known = values(RowsOf::Subject, false);
        let declared = self.view.columns.iter().map(|name| Show::of(name));
        let declared = declared.filter(|show| known.contains(&show.name.as_str()));
        // In a narrow column, later values give way to the name.
        let from = |at: usize| if at == 0 { 0 } else { 20 + 10 * at as u16 };
        let shown: Vec<Show> =
            declared.enumerate().map(|(at, show)| Show { from: from(at), ..show }).collect();
        if shown.is_empty() {
            vec![Show::of("calls"), Show { from: 30, ..Show::of("total") }]
        } else {
            shown
        }
    }

    fn value(&self) -> ValueOf {
        let sorting = self.view.columns.iter().find_map(|name| match name.as_str() {
            "calls" | "count" => Some(ValueOf::Count),
            "total" => Some(ValueOf::Total),
            "max" => Some(ValueOf::Max),
            _ => None,
        });
        sorting.unwrap_or_default()
    }
}

//! Browsers that people write: columns side by side, each with a query that takes the selections of
//! the columns before. The table screens of the crawler are written in the same format
//! (`browsers/screens`).
//!
//! ```toml
//! title = "Too often"
//!
//! [[column]]
//! title = "site"
//! rows = "site"                # site, subject, root, sender, asker, relation or event
//! query = "took:>1ms"          # a filter; by default the selections before
//! value = "total"              # count, total or max; the rows are sorted by it
//! show = ["calls", "total"]    # by default the value
//!
//! [[column]]                   # a column with tabs
//!
//! [[column.tab]]
//! rows = "subject"
//! query = "{1} took:>1ms"      # {1} is the term of the row that is selected in the first column
//!
//! [[column.tab]]
//! rows = "event"
//! ```
//!
//! The idea is that of the Glamour browsers of MetaSpy (Ressia et al., "Modeling Domain-Specific
//! Profilers", section 5).
//!
//! A screen that is a table computes the values of its columns in Rust; its file selects, orders
//! and names them. Files have no formulas, because values differ by the known facts (losses, a live
//! program, a tree), and users change only the shown columns.

mod declared;
mod parse;

use std::collections::HashSet;
use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::Filter;
use serde::Deserialize;

pub use declared::declared;

/// Browser, or the layout of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Browser {
    /// Title in the frame of the screen.
    pub title: String,
    /// Screen that the file lays out; `None` for a browser.
    pub screen: Option<Laid>,
    /// Columns, from left to right. Each has at least one tab.
    pub columns: Vec<Vec<BrowserTab>>,
}

/// Content of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserTab {
    /// Title of the column.
    pub title: String,
    /// Kind of its rows.
    pub rows: RowsOf,
    /// Filter, with `{1}` for the selection in the first column.
    pub query: String,
    /// Number that the rows are sorted by.
    pub value: ValueOf,
    /// Values of a row, beside its name.
    pub show: Vec<Show>,
    /// Relation between the rows and the subjects that pass the query; `None` for every relation.
    pub relation: Option<String>,
    /// Sites that are counted; `None` for all. Only the view of a profiler restricts them.
    pub sites: Option<Arc<HashSet<SiteId>>>,
}

/// Value of each row, beside its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Show {
    /// Name of the value.
    pub name: String,
    /// Title that replaces the default title of the value.
    pub title: Option<String>,
    /// Minimum width of a table that shows the value.
    pub from: u16,
}

/// Screen that a file can lay out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Laid {
    /// Table of sites.
    Sites,
    /// Table of subjects.
    Subjects,
    /// The rules of a grammar.
    Productions,
    /// Packages, types and methods.
    Structure,
}

/// Kind of the rows of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RowsOf {
    /// Sites.
    Site,
    /// Subjects.
    Subject,
    /// Sites of root causes.
    Root,
    /// Sites of direct causes.
    Sender,
    /// Subjects of direct causes, at their sites.
    Asker,
    /// Events, the oldest first.
    Event,
    /// Subjects that are related to those that pass the query.
    Relation,
    /// Rules of a grammar, on their screen.
    Production,
    /// Packages, types and methods, on their screen.
    Element,
}

/// Number of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueOf {
    /// Number of calls.
    #[default]
    #[serde(rename = "calls", alias = "count")]
    Count,
    /// Total time of the calls.
    Total,
    /// Time of the longest call.
    #[serde(alias = "longest")]
    Max,
}

impl Show {
    /// Creates a value with its default title, shown in every width.
    pub fn of(name: &str) -> Show {
        // Conditions also count calls, so their word is accepted.
        let name = if name == "count" { "calls" } else { name };
        Show { name: name.to_owned(), title: None, from: 0 }
    }
}

/// Returns the names of the values that rows of this kind can show.
pub fn values(rows: RowsOf, is_screen: bool) -> &'static [&'static str] {
    match (rows, is_screen) {
        (RowsOf::Site, true) => &[
            "calls", "bar", "trend", "lost", "observed", "change", "total", "self", "max",
            "max wall",
        ],
        (RowsOf::Subject, true) => {
            &["calls", "bar", "trend", "lost", "change", "total", "self", "max", "max wall"]
        }
        (
            RowsOf::Site
            | RowsOf::Subject
            | RowsOf::Root
            | RowsOf::Sender
            | RowsOf::Asker
            | RowsOf::Relation,
            _,
        ) => &["calls", "bar", "lost", "total", "self", "max", "max wall"],
        (RowsOf::Event, _) => &["took"],
        (RowsOf::Production, _) => &["entered", "matched", "failed", "bar"],
        (RowsOf::Element, _) => {
            &["calls", "bar", "never ran", "receivers", "total", "self", "lines", "complexity"]
        }
    }
}

impl Laid {
    fn rows(self) -> RowsOf {
        match self {
            Laid::Sites => RowsOf::Site,
            Laid::Subjects => RowsOf::Subject,
            Laid::Productions => RowsOf::Production,
            Laid::Structure => RowsOf::Element,
        }
    }
}

impl ValueOf {
    fn word(self) -> &'static str {
        match self {
            ValueOf::Count => "calls",
            ValueOf::Total => "total",
            ValueOf::Max => "max",
        }
    }
}

impl RowsOf {
    fn word(self) -> &'static str {
        match self {
            RowsOf::Site => "site",
            RowsOf::Subject => "subject",
            RowsOf::Root => "root",
            RowsOf::Sender => "sender",
            RowsOf::Asker => "asker",
            RowsOf::Event => "event",
            RowsOf::Relation => "relation",
            RowsOf::Production => "production",
            RowsOf::Element => "element",
        }
    }

    fn title(self) -> &'static str {
        match self {
            RowsOf::Site => "sites",
            RowsOf::Subject => "subjects",
            RowsOf::Root => "root causes",
            RowsOf::Sender => "senders",
            RowsOf::Asker => "who asked",
            RowsOf::Event => "events",
            RowsOf::Relation => "related",
            RowsOf::Production => "rules",
            RowsOf::Element => "elements",
        }
    }
}

/// Fills the selections of earlier columns into a query. A selection without a term selects
/// everything.
pub fn filled(query: &str, selections: &[Option<String>]) -> Result<Filter, String> {
    let mut text = String::new();
    let mut rest = query;
    while let Some((before, behind)) = rest.split_once('{') {
        let (number, behind) = behind.split_once('}').ok_or("`{` is not closed: write `{1}`")?;
        let known =
            number.parse::<usize>().ok().filter(|number| (1..=selections.len()).contains(number));
        let number = known.ok_or_else(|| {
            format!("`{{{number}}}` is no column before this one: {} precede it", selections.len())
        })?;
        text.push_str(before);
        text.push_str(selections[number - 1].as_deref().unwrap_or_default());
        rest = behind;
    }
    text.push_str(rest);
    text.parse().map_err(|error: metaspy_reader::FilterError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_takes_the_selections_before() {
        let selections = [Some("site:a".to_owned()), None];
        assert_eq!(
            filled("{1} took:>1ms {2}", &selections).map(|it| it.text().to_owned()),
            Ok("site:a took:>1ms".into())
        );
    }
}

//! Browsers that people write: columns side by side, each with a query that takes the selections of the columns before.
//! The table screens of the crawler are written in the same format (`browsers/screens`).
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
//! The idea is that of the Glamour browsers of MetaSpy (Ressia et al., "Modeling Domain-Specific Profilers", section 5).
//!
//! A screen that is a table computes the values of its columns in Rust; its file selects, orders
//! and names them. Files have no formulas, because values differ by what is known (losses, a live
//! program, a tree), and users change only what is shown.

mod declared;
mod parse;

use std::collections::HashSet;
use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::Filter;
use serde::Deserialize;

pub use declared::declared;

/// A browser, or the layout of a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Browser {
    /// Its title.
    pub title: String,
    /// The screen that it lays out.
    pub screen: Option<Laid>,
    /// Its columns, from left to right. Each has one tab at least.
    pub columns: Vec<Vec<BrowserTab>>,
}

/// The content of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserTab {
    /// Its title.
    pub title: String,
    /// What its rows are.
    pub rows: RowsOf,
    /// The filter, with `{1}` for the selection in the first column.
    pub query: String,
    /// The number that the rows are sorted by.
    pub value: ValueOf,
    /// The values of a row.
    pub show: Vec<Show>,
    /// The relation between the rows and the subjects that pass the query; `None` for every relation.
    pub relation: Option<String>,
    /// The sites that are counted; `None` for all. Only the view of a profiler restricts them.
    pub sites: Option<Arc<HashSet<SiteId>>>,
}

/// A value of each row, beside its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Show {
    /// The name of the value.
    pub name: String,
    /// The title, in place of its own one.
    pub title: Option<String>,
    /// Narrower tables leave it out.
    pub from: u16,
}

/// A screen that a file can lay out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Laid {
    /// The sites.
    Sites,
    /// The subjects.
    Subjects,
    /// The rules of a grammar.
    Productions,
    /// Packages, types and methods.
    Structure,
}

/// What the rows of a column are.
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

/// The number of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueOf {
    /// Calls.
    #[default]
    #[serde(rename = "calls", alias = "count")]
    Count,
    /// Their time in all.
    Total,
    /// The time of the longest one.
    #[serde(alias = "longest")]
    Max,
}

impl Show {
    /// A value without a title of its own, in every width.
    pub fn of(name: &str) -> Show {
        // Conditions count calls, too, so their word is accepted.
        let name = if name == "count" { "calls" } else { name };
        Show { name: name.to_owned(), title: None, from: 0 }
    }
}

/// The values of a row.
pub fn values(rows: RowsOf, is_screen: bool) -> &'static [&'static str] {
    match (rows, is_screen) {
        (RowsOf::Site, true) => &["calls", "bar", "trend", "lost", "observed", "change", "total", "self", "max"],
        (RowsOf::Subject, true) => &["calls", "bar", "trend", "lost", "change", "total", "self", "max"],
        (RowsOf::Site | RowsOf::Subject | RowsOf::Root | RowsOf::Sender | RowsOf::Asker | RowsOf::Relation, _) => {
            &["calls", "bar", "lost", "total", "self", "max"]
        }
        (RowsOf::Event, _) => &["took"],
        (RowsOf::Production, _) => &["entered", "matched", "failed", "bar"],
        (RowsOf::Element, _) => &["calls", "bar", "never ran", "receivers", "total", "self", "lines", "complexity"],
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

/// The filter of a query with the terms of the selections before. A selection without a term selects everything.
pub fn filled(query: &str, selections: &[Option<String>]) -> Result<Filter, String> {
    let mut text = String::new();
    let mut rest = query;
    while let Some((before, behind)) = rest.split_once('{') {
        let (number, behind) = behind.split_once('}').ok_or("`{` is not closed: write `{1}`")?;
        let known = number.parse::<usize>().ok().filter(|number| (1..=selections.len()).contains(number));
        let number = known
            .ok_or_else(|| format!("`{{{number}}}` is no column before this one: {} precede it", selections.len()))?;
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

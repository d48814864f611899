//! Browsers that people write: columns side by side, each with a query that takes the selections of the columns before.
//!
//! ```toml
//! title = "Too often"
//!
//! [[column]]
//! title = "site"
//! rows = "site"            # site, subject, root or event
//! query = "took:>1ms"      # a filter; by default the selections before
//! value = "total"          # count, total or longest; the rows are sorted by it
//!
//! [[column]]
//! rows = "subject"
//! query = "{1} took:>1ms"  # {1} is the term of the row that is selected in the first column
//! ```
//!
//! The idea is that of the Glamour browsers of MetaSpy (Ressia et al., "Modeling Domain-Specific Profilers", section 5).

use metaspy_core::store::Filter;
use serde::Deserialize;
use toml::Spanned;

use super::place::sentence;
use super::with_place;

/// Most columns.
const COLUMNS: usize = 6;

/// A browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Browser {
    /// Its title.
    pub title: String,
    /// Its columns, from left to right.
    pub columns: Vec<BrowserColumn>,
}

/// A column of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrowserColumn {
    /// Its title.
    pub title: String,
    /// What its rows are.
    pub rows: RowsOf,
    /// The filter, with `{1}` for the selection in the first column.
    pub query: String,
    /// The number of a row.
    pub value: ValueOf,
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
    /// Events, the oldest first.
    Event,
}

/// The number of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueOf {
    /// Calls.
    #[default]
    Count,
    /// Their time in all.
    Total,
    /// The time of the longest one.
    Longest,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: String,
    #[serde(rename = "column")]
    columns: Vec<Spanned<WrittenColumn>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenColumn {
    title: Option<String>,
    rows: RowsOf,
    query: Option<Spanned<String>>,
    #[serde(default)]
    value: ValueOf,
}

impl Browser {
    /// Parses the text of `file`. An error has the file, the line and the column.
    pub fn parse(file: &str, text: &str) -> Result<Browser, String> {
        let written: Written = toml::from_str(text).map_err(|error| with_place(file, text, &error))?;
        if written.columns.is_empty() || written.columns.len() > COLUMNS {
            return Err(sentence(file, text, 0, &format!("a browser has 1 to {COLUMNS} columns: write `[[column]]`")));
        }
        let mut columns = Vec::new();
        for (before, column) in written.columns.into_iter().enumerate() {
            let at = column.span().start;
            let column = column.into_inner();
            if columns.last().is_some_and(|last: &BrowserColumn| last.rows == RowsOf::Event) {
                return Err(sentence(file, text, at, "events lead to no further column: make them the last one"));
            }
            let query = match column.query {
                Some(query) => {
                    let error = |error: String| sentence(file, text, query.span().start, &error);
                    filled(query.get_ref(), &vec![Some("site:x".to_owned()); before]).map_err(error)?;
                    query.into_inner()
                }
                None => (1..=before).map(|before| format!("{{{before}}}")).collect::<Vec<_>>().join(" "),
            };
            let title = column.title.unwrap_or_else(|| column.rows.name().to_owned());
            columns.push(BrowserColumn { title, rows: column.rows, query, value: column.value });
        }
        Ok(Browser { title: written.title, columns })
    }
}

impl RowsOf {
    fn name(self) -> &'static str {
        match self {
            RowsOf::Site => "sites",
            RowsOf::Subject => "subjects",
            RowsOf::Root => "root causes",
            RowsOf::Event => "events",
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
    text.parse().map_err(|error: metaspy_core::store::FilterError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Browser::parse("b.toml", text).expect_err("it is wrong")
    }

    #[test]
    fn a_query_takes_the_selections_before() {
        let selections = [Some("site:a".to_owned()), None];
        assert_eq!(
            filled("{1} took:>1ms {2}", &selections).map(|it| it.text().to_owned()),
            Ok("site:a took:>1ms".into())
        );
    }

    #[test]
    fn the_default_query_is_all_selections() {
        let browser = Browser::parse("b.toml", "title='x'\n[[column]]\nrows='site'\n[[column]]\nrows='event'\n");
        assert_eq!(browser.expect("a browser").columns[1].query, "{1}");
    }

    #[test]
    fn errors_have_a_line_and_a_column() {
        let column = "title='x'\n[[column]]\nrows = 'site'\n";
        assert!(error("title='x'\n[[column]]\nrows='sites'").starts_with("b.toml:3:6: unknown variant `sites`"));
        assert_eq!(
            error(&format!("{column}query = '{{1}}'")),
            "b.toml:4:9: `{1}` is no column before this one: 0 precede it"
        );
        assert!(error(&format!("{column}query = 'took:x'")).starts_with("b.toml:4:9: `x` is no length of time"));
        assert!(error("title='x'\ncolumn=[]").starts_with("b.toml:1:1: a browser has 1 to 6 columns"));
        let event = "title='x'\n[[column]]\nrows='event'\n[[column]]\nrows='site'";
        assert!(error(event).starts_with("b.toml:4:1: events lead to no further column"), "{}", error(event));
    }

    #[test]
    fn the_browsers_that_are_shipped_are_sound() {
        assert_eq!(super::super::shipped_browsers().len(), 3);
    }
}

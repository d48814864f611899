//! Browsers that people write: columns side by side, each with a query that takes the selections of the columns before.
//! The table screens of the crawler are written in the same format (`browsers/screens`).
//!
//! ```toml
//! title = "Too often"
//!
//! [[column]]
//! title = "site"
//! rows = "site"                # site, subject, root or event
//! query = "took:>1ms"          # a filter; by default the selections before
//! value = "total"              # count, total or max; the rows are sorted by it
//! show = ["count", "total"]    # by default the value
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

use metaspy_core::store::Filter;
use serde::Deserialize;
use toml::Spanned;

use super::place::sentence;
use super::with_place;

/// Most columns.
const COLUMNS: usize = 6;

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
    /// Events, the oldest first.
    Event,
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
    Count,
    /// Their time in all.
    Total,
    /// The time of the longest one.
    #[serde(alias = "longest")]
    Max,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    title: String,
    screen: Option<Spanned<Laid>>,
    #[serde(rename = "column")]
    columns: Vec<Spanned<WrittenColumn>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenColumn {
    title: Option<String>,
    rows: Option<Spanned<RowsOf>>,
    query: Option<Spanned<String>>,
    #[serde(default)]
    value: ValueOf,
    show: Option<Vec<Spanned<WrittenShow>>>,
    #[serde(default)]
    tab: Vec<Spanned<WrittenColumn>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a value is a name, or `{ show = \"count\", title = \"calls\", from = 60 }`")]
enum WrittenShow {
    Name(String),
    Placed(Placed),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Placed {
    show: String,
    title: Option<String>,
    #[serde(default)]
    from: u16,
}

/// A file that is read: its name and its text, for the places of errors.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl Browser {
    /// Parses the text of `file`. An error has the file, the line and the column.
    pub fn parse(file: &str, text: &str) -> Result<Browser, String> {
        let written: Written = toml::from_str(text).map_err(|error| with_place(file, text, &error))?;
        let source = Source { file, text };
        if written.columns.is_empty() || written.columns.len() > COLUMNS {
            return source.error(0, &format!("a browser has 1 to {COLUMNS} columns: write `[[column]]`"));
        }
        let screen = written.screen.as_ref().map(|screen| *screen.get_ref());
        let mut columns: Vec<Vec<BrowserTab>> = Vec::new();
        for (before, column) in written.columns.into_iter().enumerate() {
            let at = column.span().start;
            if columns.last().is_some_and(|last| last.iter().any(|tab| tab.rows == RowsOf::Event)) {
                return source.error(at, "events lead to no further column: make them the last one");
            }
            columns.push(source.column(column, before, screen)?);
        }
        if let Some(laid) = written.screen
            && (columns.len() > 1 || columns[0].len() > 1 || columns[0][0].rows != laid.get_ref().rows())
        {
            let rows = laid.get_ref().rows().word();
            return source.error(laid.span().start, &format!("this screen has one column, with `rows = \"{rows}\"`"));
        }
        Ok(Browser { title: written.title, screen, columns })
    }
}

impl Source<'_> {
    fn error<T>(&self, at: usize, error: &str) -> Result<T, String> {
        Err(sentence(self.file, self.text, at, error))
    }

    /// The tabs of a column. A column without tabs is one.
    fn column(
        &self,
        column: Spanned<WrittenColumn>,
        before: usize,
        screen: Option<Laid>,
    ) -> Result<Vec<BrowserTab>, String> {
        let at = column.span().start;
        let mut column = column.into_inner();
        let tabs = std::mem::take(&mut column.tab);
        if tabs.is_empty() {
            return Ok(vec![self.tab(column, at, before, screen)?]);
        }
        if column.rows.is_some() || column.query.is_some() || column.show.is_some() || column.title.is_some() {
            return self.error(at, "a column with tabs has nothing of its own: write all of it in `[[column.tab]]`");
        }
        let tab = |tab: Spanned<WrittenColumn>| {
            let at = tab.span().start;
            self.tab(tab.into_inner(), at, before, screen)
        };
        tabs.into_iter().map(tab).collect()
    }

    fn tab(&self, tab: WrittenColumn, at: usize, before: usize, screen: Option<Laid>) -> Result<BrowserTab, String> {
        let Some(rows) = tab.rows else { return self.error(at, "`rows` is missing: write `rows = \"site\"`") };
        if !tab.tab.is_empty() {
            return self.error(at, "a tab has no tabs");
        }
        let (at, rows) = (rows.span().start, rows.into_inner());
        if screen.is_none() && matches!(rows, RowsOf::Production | RowsOf::Element) {
            return self.error(at, &format!("`{}` has a screen of its own: write `screen = …` above", rows.word()));
        }
        let query = match tab.query {
            Some(query) => {
                let error = |error: String| sentence(self.file, self.text, query.span().start, &error);
                filled(query.get_ref(), &vec![Some("site:x".to_owned()); before]).map_err(error)?;
                query.into_inner()
            }
            None => (1..=before).map(|before| format!("{{{before}}}")).collect::<Vec<_>>().join(" "),
        };
        let show = match tab.show {
            Some(show) => show.into_iter().map(|show| self.show(show, rows, screen)).collect::<Result<_, _>>()?,
            // In a narrow column it gives way to the name.
            None if rows == RowsOf::Event => vec![Show { from: 20, ..Show::of("took") }],
            None => vec![Show::of(tab.value.word())],
        };
        let title = tab.title.unwrap_or_else(|| rows.title().to_owned());
        Ok(BrowserTab { title, rows, query, value: tab.value, show })
    }

    fn show(&self, show: Spanned<WrittenShow>, rows: RowsOf, screen: Option<Laid>) -> Result<Show, String> {
        let at = show.span().start;
        let show = match show.into_inner() {
            WrittenShow::Name(name) => Show::of(&name),
            WrittenShow::Placed(Placed { show, title, from }) => Show { name: show, title, from },
        };
        let known = values(rows, screen.is_some());
        if !known.contains(&show.name.as_str()) {
            let rows = rows.word();
            return self
                .error(at, &format!("`{rows}` has no value `{}`: choose one of {}", show.name, known.join(", ")));
        }
        Ok(show)
    }
}

impl Show {
    /// A value without a title of its own, in every width.
    pub fn of(name: &str) -> Show {
        Show { name: name.to_owned(), title: None, from: 0 }
    }
}

/// The values of a row.
pub fn values(rows: RowsOf, is_screen: bool) -> &'static [&'static str] {
    match (rows, is_screen) {
        (RowsOf::Site, true) => &["count", "bar", "lost", "observed", "change", "total", "self", "max"],
        (RowsOf::Subject, true) => &["count", "bar", "lost", "change", "total", "self", "max"],
        (RowsOf::Site | RowsOf::Subject | RowsOf::Root, _) => &["count", "bar", "lost", "total", "self", "max"],
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
            ValueOf::Count => "count",
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
            RowsOf::Event => "event",
            RowsOf::Production => "production",
            RowsOf::Element => "element",
        }
    }

    fn title(self) -> &'static str {
        match self {
            RowsOf::Site => "sites",
            RowsOf::Subject => "subjects",
            RowsOf::Root => "root causes",
            RowsOf::Event => "events",
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
        assert_eq!(browser.expect("a browser").columns[1][0].query, "{1}");
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
        let show = |show: &str| error(&format!("{column}show = [{show}]"));
        assert!(show("'count', 'took'").starts_with("b.toml:4:18: `site` has no value `took`: choose one of count,"));
        assert!(
            show("{ show = 'count', form = 3 }").starts_with("b.toml:4:8: a value is a name, or"),
            "{}",
            show("{}")
        );
        let laid = "title='x'\nscreen='sites'\n[[column]]\nrows='subject'";
        assert_eq!(error(laid), "b.toml:2:8: this screen has one column, with `rows = \"site\"`");
        let tabs = "title='x'\n[[column]]\n[[column.tab]]\nrows='site'\n[[column.tab]]\n";
        assert_eq!(error(tabs), "b.toml:5:1: `rows` is missing: write `rows = \"site\"`");
        let event = "title='x'\n[[column]]\nrows='event'\n[[column]]\nrows='site'";
        assert!(error(event).starts_with("b.toml:4:1: events lead to no further column"), "{}", error(event));
    }

    #[test]
    fn the_browsers_that_are_shipped_are_sound() {
        assert_eq!(super::super::shipped_browsers().len(), 3);
    }
}

//! Parser for the TOML text of a browser. Its errors name a line and a column.

use serde::Deserialize;
use toml::Spanned;

use super::{Browser, BrowserTab, Laid, RowsOf, Show, ValueOf, filled, values};
use crate::crawler::config::place::sentence;
use crate::crawler::config::with_place;

/// Maximum number of columns.
const COLUMNS: usize = 6;
/// Maximum number of values of a column, and of its tabs: a screen has no room for more.
const VALUES: usize = 24;

/// Browser file, as it is written.
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
    relation: Option<Spanned<String>>,
    #[serde(default)]
    tab: Vec<Spanned<WrittenColumn>>,
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "a value is a name, or `{ show = \"total\", title = \"time\", from = 60 }`"
)]
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

/// File that is being read. Errors need its name and its text.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl Browser {
    /// Parses the text of `file`. An error names the file, the line and the column.
    pub fn parse(file: &str, text: &str) -> Result<Browser, String> {
        let written: Written =
            toml::from_str(text).map_err(|error| with_place(file, text, &error))?;
        let source = Source { file, text };
        if written.columns.is_empty() || written.columns.len() > COLUMNS {
            return source
                .error(0, &format!("a browser has 1 to {COLUMNS} columns: write `[[column]]`"));
        }
        let screen = written.screen.as_ref().map(|screen| *screen.get_ref());
        let mut columns: Vec<Vec<BrowserTab>> = Vec::new();
        for (before, column) in written.columns.into_iter().enumerate() {
            columns.push(source.column(column, before, screen)?);
        }
        if let Some(laid) = written.screen
            && (columns.len() > 1
                || columns[0].len() > 1
                || columns[0][0].rows != laid.get_ref().rows())
        {
            let rows = laid.get_ref().rows().word();
            return source.error(
                laid.span().start,
                &format!("this screen has one column, with `rows = \"{rows}\"`"),
            );
        }
        Ok(Browser { title: written.title, screen, columns })
    }
}

impl Source<'_> {
    fn error<T>(&self, at: usize, error: &str) -> Result<T, String> {
        Err(sentence(self.file, self.text, at, error))
    }

    /// Builds the tabs of a column. A column without tabs counts as a single tab.
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
        if column.rows.is_some()
            || column.query.is_some()
            || column.show.is_some()
            || column.title.is_some()
        {
            return self.error(
                at,
                "a column with tabs has nothing of its own: write all of it in `[[column.tab]]`",
            );
        }
        if tabs.len() > VALUES {
            return self.error(at, &format!("a column has at most {VALUES} tabs"));
        }
        tabs.into_iter()
            .map(|tab| {
                let at = tab.span().start;
                self.tab(tab.into_inner(), at, before, screen)
            })
            .collect()
    }

    fn tab(
        &self,
        tab: WrittenColumn,
        at: usize,
        before: usize,
        screen: Option<Laid>,
    ) -> Result<BrowserTab, String> {
        let Some(rows) = tab.rows else {
            return self.error(at, "`rows` is missing: write `rows = \"site\"`");
        };
        if !tab.tab.is_empty() {
            return self.error(at, "a tab has no tabs");
        }
        let at = rows.span().start;
        let rows = rows.into_inner();
        if screen.is_none() && matches!(rows, RowsOf::Production | RowsOf::Element) {
            return self.error(
                at,
                &format!("`{}` has a screen of its own: write `screen = …` above", rows.word()),
            );
        }
        let query = match tab.query {
            Some(query) => {
                filled(query.get_ref(), &vec![Some("site:x".to_owned()); before])
                    .map_err(|error| sentence(self.file, self.text, query.span().start, &error))?;
                query.into_inner()
            }
            None => {
                (1..=before).map(|before| format!("{{{before}}}")).collect::<Vec<_>>().join(" ")
            }
        };
        let show = match tab.show {
            Some(show) if show.len() > VALUES => {
                return self.error(
                    show[VALUES].span().start,
                    &format!("a column shows at most {VALUES} values"),
                );
            }
            Some(show) => show
                .into_iter()
                .map(|show| self.show(show, rows, screen))
                .collect::<Result<_, _>>()?,
            // In a narrow column, this value gives way to the name.
            None if rows == RowsOf::Event => vec![Show { from: 20, ..Show::of("took") }],
            None => vec![Show::of(tab.value.word())],
        };
        if let Some(relation) = tab.relation.as_ref().filter(|_| rows != RowsOf::Relation) {
            return self.error(
                relation.span().start,
                "only rows of `relation` have one: write `rows = \"relation\"`",
            );
        }
        let relation = tab.relation.map(Spanned::into_inner);
        let title = tab.title.or(relation.clone()).unwrap_or_else(|| rows.title().to_owned());
        Ok(BrowserTab { title, rows, query, value: tab.value, show, relation, sites: None })
    }

    fn show(
        &self,
        show: Spanned<WrittenShow>,
        rows: RowsOf,
        screen: Option<Laid>,
    ) -> Result<Show, String> {
        let at = show.span().start;
        let show = match show.into_inner() {
            WrittenShow::Name(name) => Show::of(&name),
            WrittenShow::Placed(Placed { show, title, from }) => {
                Show { title, from, ..Show::of(&show) }
            }
        };
        let known = values(rows, screen.is_some());
        if !known.contains(&show.name.as_str()) {
            let rows = rows.word();
            return self.error(
                at,
                &format!(
                    "`{rows}` has no value `{}`: choose one of {}",
                    show.name,
                    known.join(", ")
                ),
            );
        }
        Ok(show)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Browser::parse("b.toml", text).expect_err("it is wrong")
    }

    #[test]
    fn the_default_query_is_all_selections() {
        let browser = Browser::parse(
            "b.toml",
            "title='x'\n[[column]]\nrows='site'\n[[column]]\nrows='event'\n",
        );
        assert_eq!(browser.expect("a browser").columns[1][0].query, "{1}");
    }

    #[test]
    fn errors_have_a_line_and_a_column() {
        let column = "title='x'\n[[column]]\nrows = 'site'\n";
        assert!(
            error("title='x'\n[[column]]\nrows='sites'")
                .starts_with("b.toml:3:6: unknown variant `sites`")
        );
        assert_eq!(
            error(&format!("{column}query = '{{1}}'")),
            "b.toml:4:9: `{1}` is no column before this one: 0 precede it"
        );
        assert!(
            error(&format!("{column}query = 'took:x'"))
                .starts_with("b.toml:4:9: `x` is no length of time")
        );
        assert!(
            error("title='x'\ncolumn=[]").starts_with("b.toml:1:1: a browser has 1 to 6 columns")
        );
        let show = |show: &str| error(&format!("{column}show = [{show}]"));
        assert!(
            show("'count', 'took'")
                .starts_with("b.toml:4:18: `site` has no value `took`: choose one of calls,")
        );
        assert!(
            show("{ show = 'count', form = 3 }").starts_with("b.toml:4:8: a value is a name, or"),
            "{}",
            show("{}")
        );
        let many = error(&format!("{column}show = [{}]", "'count',".repeat(20_000)));
        assert!(
            many.ends_with("a column shows at most 24 values") && many.starts_with("b.toml:4:"),
            "{many}"
        );
        let tabs = error(&format!(
            "title='x'\n[[column]]\n{}",
            "[[column.tab]]\nrows='site'\n".repeat(20_000)
        ));
        assert!(tabs.ends_with("a column has at most 24 tabs"), "{tabs}");
        let relation = error(&format!("{column}relation = 'owner'"));
        assert!(
            relation.starts_with("b.toml:4:12: only rows of `relation` have one"),
            "{relation}"
        );
        let laid = "title='x'\nscreen='sites'\n[[column]]\nrows='subject'";
        assert_eq!(error(laid), "b.toml:2:8: this screen has one column, with `rows = \"site\"`");
        let tabs = "title='x'\n[[column]]\n[[column.tab]]\nrows='site'\n[[column.tab]]\n";
        assert_eq!(error(tabs), "b.toml:5:1: `rows` is missing: write `rows = \"site\"`");
    }

    #[test]
    fn the_browsers_that_are_shipped_are_sound() {
        assert_eq!(crate::crawler::config::shipped_browsers().len(), 4);
    }
}

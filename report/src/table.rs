//! Text tables: columns that are as wide as their content, and the number of rows that are shown.

use std::str::FromStr;

use crate::text::{fit, pad_left, parse_number, shorten, width};

/// Spaces between two columns.
const GAP: &str = "  ";

/// The number of rows that a table shows: `--top N`, or `--top all`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Top {
    /// The default of the table.
    #[default]
    Default,
    /// This number of rows.
    First(usize),
    /// All rows, and rows for items without calls.
    All,
}

impl Top {
    /// The number of rows, for a table with this default.
    pub fn limit(self, default: usize) -> usize {
        match self {
            Top::Default => default,
            Top::First(rows) => rows,
            Top::All => usize::MAX,
        }
    }

    /// True for all rows.
    pub fn is_all(self) -> bool {
        self == Top::All
    }
}

impl FromStr for Top {
    type Err = String;

    fn from_str(text: &str) -> Result<Top, String> {
        match text {
            "all" => Ok(Top::All),
            _ => match parse_number(text) {
                Ok(rows @ 1..) => Ok(Top::First(usize::try_from(rows).unwrap_or(usize::MAX))),
                _ => Err(format!(
                    "`{text}` is not a number of rows: write a number, such as 50 or 10k, or `all`"
                )),
            },
        }
    }
}

/// A table, column by column.
#[derive(Debug, Default)]
pub struct Table {
    columns: Vec<Column>,
}

/// A column: its title, and one cell for each row.
#[derive(Debug)]
pub struct Column {
    title: String,
    cells: Vec<String>,
    is_number: bool,
    least: usize,
    most: usize,
}

impl Column {
    /// A column of words, aligned to the left.
    pub fn words(title: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Column {
        let title = title.into();
        let cells = cells.into_iter().collect();
        Column { title, cells, is_number: false, least: 0, most: usize::MAX }
    }

    /// A column of numbers, aligned to the right.
    pub fn numbers(title: impl Into<String>, cells: impl IntoIterator<Item = String>) -> Column {
        Column { is_number: true, ..Column::words(title, cells) }
    }

    /// Makes the column this wide at least.
    pub fn at_least(mut self, columns: usize) -> Column {
        self.least = columns;
        self
    }

    /// Makes the column this wide at most: longer cells lose their middle.
    pub fn at_most(mut self, columns: usize) -> Column {
        self.most = columns;
        self
    }

    /// The width of the column.
    pub fn width(&self) -> usize {
        let widest =
            self.cells.iter().chain([&self.title]).map(|text| width(text)).max().unwrap_or(0);
        widest.min(self.most).max(self.least)
    }

    fn cell(&self, text: &str, columns: usize) -> String {
        if self.is_number { pad_left(&shorten(text, columns), columns) } else { fit(text, columns) }
    }
}

impl Table {
    /// A table of these columns.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        Table { columns: columns.into_iter().collect() }
    }

    /// The titles, in one line.
    pub fn head(&self) -> String {
        self.line(&self.widths(), |column| &column.title)
    }

    /// The titles, and below them the rows.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let rows = self.columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
        let widths = self.widths();
        let row = move |at: usize| {
            self.line(&widths, |column| column.cells.get(at).map_or("", String::as_str))
        };
        [self.head()].into_iter().chain((0..rows).map(row))
    }

    /// The widths of the columns. Each takes a look at all cells, so a table of a million rows
    /// finds them once.
    fn widths(&self) -> Vec<usize> {
        self.columns.iter().map(Column::width).collect()
    }

    fn line<'t>(&'t self, widths: &[usize], text: impl Fn(&'t Column) -> &'t str) -> String {
        let columns = self.columns.iter().zip(widths);
        let cells: Vec<String> =
            columns.map(|(column, &width)| column.cell(text(column), width)).collect();
        cells.join(GAP).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_rows_is_positive_or_all() {
        let limit = |text: &str| text.parse::<Top>().map(|top| top.limit(20));
        assert_eq!(["5", "10k", "all"].map(limit), [Ok(5), Ok(10_000), Ok(usize::MAX)]);
        assert!(limit("0").is_err() && limit("some").is_err());
        assert_eq!(Top::Default.limit(20), 20);
    }

    #[test]
    fn columns_are_as_wide_as_their_content_and_their_limits_allow() {
        let of = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let table = Table::new([
            Column::words("site", of(&["a", "a::very::long::path"])).at_most(9),
            Column::numbers("count", of(&["1", "1,234"])).at_least(7),
            Column::words("", of(&["", "1 failed"])),
        ]);
        let lines: Vec<String> = table.lines().collect();
        assert_eq!(
            lines,
            ["site         count", "a                1", "a::v…path    1,234  1 failed"]
        );
    }
}

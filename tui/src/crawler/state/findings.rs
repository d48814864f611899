//! Screen of findings: the statements of the recording about its program, with the evidence of the
//! finding under the cursor. The texts and the numbers are those of `metaspy findings`.

use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::Store;
use metaspy_report::findings::text::{self, Part};
use metaspy_report::findings::{Config, Finding, Findings, State};
use metaspy_report::text::{clean, counted};

use super::cursor::Cursor;
use super::table::{Cell, Column, Kind, Rows, TableList, Tone, Width};

/// Minimum number of lines of the table, with its head.
const TABLE: usize = 4;

/// Screen of findings.
#[derive(Clone, Debug, Default)]
pub struct FindingsView {
    /// Settings of the project.
    pub config: Arc<Config>,
    /// Result of the last search; `None` before the first.
    pub read: Option<Arc<Findings>>,
    rows: Arc<Vec<FindingRow>>,
    cursor: Cursor,
    /// Lines for the table and the details.
    lines: usize,
}

/// Row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FindingRow {
    /// Finding with this index.
    Finding(usize),
    /// All findings that cost little.
    Small,
    /// All findings that the settings accept.
    Accepted,
    /// All kinds without a finding.
    FoundNothing,
    /// Kinds of which the recording shows only a part, by the index of the reason.
    PartlyLookedFor(usize),
    /// Kinds that the recording cannot show, by the index of their reason.
    NotLookedFor(usize),
}

/// Texts about a row, below the table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// Sentence, or title.
    pub title: String,
    /// Kind of the finding; empty for other rows.
    pub kind: String,
    /// Evidence and advice of a finding, or the reason for another row.
    pub parts: Vec<Part>,
}

impl FindingsView {
    /// Shows the result of a search. The cursor stays on its finding.
    pub fn accept(&mut self, read: Findings) {
        let before = self.current().map(|finding| finding.fingerprint.clone());
        let listed = read.listed().count();
        let mut rows: Vec<FindingRow> = (0..listed).map(FindingRow::Finding).collect();
        rows.extend(small(&read).next().map(|_| FindingRow::Small));
        rows.extend(accepted(&read).next().map(|_| FindingRow::Accepted));
        rows.extend(read.found_nothing().next().map(|_| FindingRow::FoundNothing));
        rows.extend((0..read.partly_looked_for_by_reason().len()).map(FindingRow::PartlyLookedFor));
        rows.extend((0..read.not_looked_for_by_reason().len()).map(FindingRow::NotLookedFor));
        let found = before
            .and_then(|before| read.listed().position(|finding| finding.fingerprint == before));
        self.read = Some(Arc::new(read));
        self.rows = Arc::new(rows);
        self.cursor.height = self.table_height().saturating_sub(1);
        self.cursor.follow(found, self.rows.len());
    }

    /// Moves the cursor to the finding with this number, counted from 1. Returns false if there is
    /// none.
    pub(crate) fn select_number(&mut self, number: usize) -> bool {
        let row =
            self.rows.iter().position(|&row| number > 0 && row == FindingRow::Finding(number - 1));
        row.inspect(|&row| self.cursor.select(row, self.rows.len())).is_some()
    }

    /// Returns the finding under the cursor.
    pub fn current(&self) -> Option<&Finding> {
        match (self.rows.get(self.cursor.row), &self.read) {
            (Some(&FindingRow::Finding(at)), Some(read)) => read.found.get(at),
            _ => None,
        }
    }

    /// Returns the number of lines of the table, with its head. The details have at least as many,
    /// if there are enough.
    pub(crate) fn table_height(&self) -> usize {
        (self.rows.len() + 1).min((self.lines / 2).max(TABLE))
    }

    /// Returns the texts about the row under the cursor.
    pub fn details(&self) -> Details {
        let (Some(&row), Some(read)) = (self.rows.get(self.cursor.row), &self.read) else {
            return Details::default();
        };
        let plain = |text: String| Part { word: "", text };
        match row {
            FindingRow::Finding(at) => {
                let finding = &read.found[at];
                let parts = text::parts(finding, read);
                Details { title: finding.title.clone(), kind: finding.kind.clone(), parts }
            }
            FindingRow::Small => {
                let parts = small(read)
                    .map(|finding| plain(format!("{}  {}", finding.title, finding.kind)))
                    .collect();
                let title = format!(
                    "less than {} of the time and of the events each",
                    self.least_share(read)
                );
                Details { title, parts, ..Details::default() }
            }
            FindingRow::Accepted => {
                let accepted = accepted(read);
                let text = |(finding, reason): (&Finding, &str)| {
                    format!("{}  {}: {reason}", finding.title, finding.kind)
                };
                let parts = accepted.map(|accepted| plain(text(accepted))).collect();
                Details {
                    title: "accepted by metaspy.toml".to_owned(),
                    parts,
                    ..Details::default()
                }
            }
            FindingRow::FoundNothing => {
                let title = "looked for, and nothing found".to_owned();
                Details { title, parts: vec![plain(self.name(row))], ..Details::default() }
            }
            FindingRow::PartlyLookedFor(at) => {
                let (why, kinds) = &read.partly_looked_for_by_reason()[at];
                let title = format!("only a part of {} can be found", kinds.join(", "));
                Details { title, parts: vec![plain((*why).to_owned())], ..Details::default() }
            }
            FindingRow::NotLookedFor(at) => {
                let (why, kinds) = &read.not_looked_for_by_reason()[at];
                let were = if kinds.len() == 1 { "was" } else { "were" };
                let title = format!("{} {were} not looked for", kinds.join(", "));
                Details { title, parts: vec![plain((*why).to_owned())], ..Details::default() }
            }
        }
    }

    /// Returns the text of a row in the column of titles.
    fn name(&self, row: FindingRow) -> String {
        let Some(read) = &self.read else { return String::new() };
        match row {
            FindingRow::Finding(at) => clean(&read.found[at].title).into_owned(),
            FindingRow::Small => counted(small(read).count() as u64, "finding"),
            FindingRow::Accepted => counted(accepted(read).count() as u64, "finding"),
            FindingRow::FoundNothing => read.found_nothing().collect::<Vec<_>>().join(", "),
            FindingRow::PartlyLookedFor(at) => {
                let (why, kinds) = &read.partly_looked_for_by_reason()[at];
                format!("{}: {why}", kinds.join(", "))
            }
            FindingRow::NotLookedFor(at) => {
                let (why, kinds) = &read.not_looked_for_by_reason()[at];
                format!("{}: {why}", kinds.join(", "))
            }
        }
    }

    /// Returns the share that small findings do not reach, in words.
    fn least_share(&self, read: &Findings) -> String {
        let usual = self.config.least_share;
        let is_usual =
            small(read).all(|finding| self.config.least_share_of(&finding.kind) == usual);
        if is_usual { format!("{} %", usual * 100.0) } else { "the threshold".to_owned() }
    }

    /// Returns the finding of a row.
    fn finding(&self, item: usize) -> Option<&Finding> {
        match self.rows[item] {
            FindingRow::Finding(at) => self.read.as_ref().map(|read| &read.found[at]),
            _ => None,
        }
    }
}

/// Iterates over the findings that cost less than the least share.
fn small(read: &Findings) -> impl Iterator<Item = &Finding> {
    read.found.iter().filter(|finding| finding.is_small && finding.state.is_open())
}

/// Iterates over the findings that the settings accept, with the reasons.
fn accepted(read: &Findings) -> impl Iterator<Item = (&Finding, &str)> {
    read.found.iter().filter_map(|finding| match &finding.state {
        State::Accepted(reason) => Some((finding, reason.as_str())),
        State::Open | State::Known => None,
    })
}

impl TableList for FindingsView {
    fn columns(&self, _: &Store) -> Vec<Column<Self>> {
        let number = |_: &Store, list: &Self, item: usize| match list.rows[item] {
            FindingRow::Finding(at) => Cell::amount(at as u64 + 1),
            _ => Cell::blank(),
        };
        let cost = |_: &Store, list: &Self, item: usize| match list.rows[item] {
            FindingRow::Finding(_) => {
                Cell::text(list.finding(item).map_or_else(String::new, |it| text::cost(&it.cost)))
            }
            FindingRow::Small => {
                let share =
                    list.read.as_ref().map_or_else(String::new, |read| list.least_share(read));
                Cell::text(format!("below {share}")).toned(Tone::Faint)
            }
            FindingRow::Accepted => Cell::text("accepted").toned(Tone::Faint),
            FindingRow::FoundNothing => Cell::text("nothing found by").toned(Tone::Faint),
            FindingRow::PartlyLookedFor(_) => Cell::text("partly looked for").toned(Tone::Faint),
            FindingRow::NotLookedFor(_) => Cell::text("not looked for").toned(Tone::Faint),
        };
        let title = |_: &Store, list: &Self, item: usize| {
            let row = list.rows[item];
            let tone =
                if matches!(row, FindingRow::Finding(_)) { Tone::Plain } else { Tone::Faint };
            Cell::text(list.name(row)).toned(tone)
        };
        let kind = |_: &Store, list: &Self, item: usize| {
            list.finding(item).map_or(Cell::blank(), |finding| Cell::text(finding.kind.clone()))
        };
        vec![
            Column::new("number", Kind::Number, Width::Cells(4), number).titled("").shown_from(50),
            Column::new("cost", Kind::Text, Width::Cells(21), cost).shown_from(45),
            Column::name("finding", title),
            Column::new("kind", Kind::Text, Width::Cells(17), kind).shown_from(100),
        ]
    }

    /// A finding that another one implies stands below that one.
    fn tree_lines(&self, item: usize, _: usize) -> String {
        let is_implied = self.finding(item).is_some_and(|finding| finding.implied_by.is_some());
        if is_implied { "└ ".to_owned() } else { String::new() }
    }
}

impl Rows for FindingsView {
    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Findings are about all events.
    fn discard(&mut self) {}

    fn resize(&mut self, lines: usize) {
        self.lines = lines;
        self.cursor.height = self.table_height().saturating_sub(1);
        self.cursor.select(self.cursor.row, self.rows.len());
    }

    fn row_name(&self, _: &Store, row: usize) -> String {
        let kind = self.finding(row).map_or("", |finding| &finding.kind);
        format!("{} {kind}", self.name(self.rows[row]))
    }

    fn site(&self) -> Option<SiteId> {
        self.current()?.sites.first().map(|site| site.id)
    }

    fn filter_term(&self, _: &Store) -> Option<String> {
        self.current()
            .map(|finding| finding.evidence.filter.clone())
            .filter(|filter| !filter.is_empty())
    }
}

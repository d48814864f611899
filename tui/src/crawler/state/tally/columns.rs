//! Columns of subjects and of sites.

use metaspy_reader::control::Observed;
use metaspy_reader::{By, Store};
use metaspy_report::text::time;

use super::super::name;
use super::super::pane::times::spark;
use super::super::table::{Cell, Column, Key, Kind, TableList, Tone, Value, Width};
use super::trend::BARS;
use super::{TableRow, TallyView};

impl TableList for TallyView {
    fn columns(&self, store: &Store) -> Vec<Column<Self>> {
        let name = Column::name(
            if self.by == By::Site { "site" } else { "subject" },
            |store, list: &Self, item| match list.row(item) {
                TableRow { site: Some(site), .. } => {
                    Cell::new(Value::Path(store.site_path(*site).to_owned()))
                }
                row => row.subject().map_or_else(
                    || Cell::text(row.name(store)),
                    |subject| Cell::new(Value::Subject(subject)),
                ),
            },
        )
        .sorted_by(|store, list, item| Key::Text(list.row(item).name(store)));
        if self.lists_unobserved {
            let kind = |store: &Store, list: &Self, item| {
                let kind = list.row(item).subject().and_then(|subject| store.kind(subject.kind));
                Cell::text(kind.map_or(String::new(), |kind| kind.name.clone()))
            };
            return vec![
                name,
                Column::new("kind", Kind::Text, Width::Part { of: (1, 3), min: 8 }, kind),
            ];
        }
        let count = |_: &Store, list: &Self, item: usize| {
            let row = list.row(item);
            Cell::optional(Some(row.count), row.sign())
        };
        let bar = |store: &Store, list: &Self, item| {
            let row = list.row(item);
            list.remark(store, row).unwrap_or(Cell::amount(row.count))
        };
        let delta = |store: &Store, list: &Self, item| {
            let row = list.row(item);
            if list.remark(store, row).is_some() {
                Cell::blank()
            } else {
                Cell::optional(row.delta(), "+")
            }
        };
        let mut columns = vec![
            name,
            Column::new("calls", Kind::Number, Width::Cells(13), count),
            Column::new("bar", Kind::Bar, Width::Part { of: (2, 5), min: 8 }, bar).titled(""),
        ];
        if let Some(profile) = self.profiles.columns(|store, list: &Self, item| {
            let row = list.row(item);
            list.remark(store, row).is_none().then(|| row.key())
        }) {
            columns.extend(profile);
            return columns;
        }
        columns.extend(self.has_events.then(|| self.trend()));
        if self.has_losses {
            let lost = |_: &Store, list: &Self, item| {
                let lost = list.row(item).lost;
                Cell::optional((lost > 0).then_some(lost), "")
            };
            columns.push(Column::new("lost", Kind::Number, Width::Cells(10), lost));
        }
        if !self.observed.is_empty() {
            columns.push(Column::new("observed", Kind::Text, Width::Cells(10), Self::observed));
        }
        // A recording that has ended no longer changes.
        if store.grows() {
            let since =
                self.since_ns.map_or("Δ".into(), |ns| format!("Δ {:.1} s", ns as f64 / 1e9));
            columns
                .push(Column::new("change", Kind::Change, Width::Cells(10), delta).titled(since));
        }
        if self.has_events {
            columns.extend([
                Self::time("total", |row| Some(row.total_ticks), |row| row.total_sign),
                Self::time("self", TableRow::self_ticks, |row| {
                    if row.is_partly_timed { "~" } else { "" }
                }),
                Self::time("max", TableRow::max_ticks, at_least),
            ]);
            columns.extend(
                self.has_walls.then(|| Self::time("max wall", TableRow::max_wall_ticks, at_least)),
            );
        }
        self.arrangement.of(columns)
    }

    fn largest(&self, column: &str) -> Option<u64> {
        self.largest.get(column).copied()
    }
}

/// Returns the sign before the longest time: calls without a time may be longer.
fn at_least(row: &TableRow) -> &'static str {
    if row.is_partly_timed { "≥" } else { "" }
}

impl TallyView {
    /// Returns the subjects that the process observes at the site of a row.
    fn observed(_: &Store, list: &Self, item: usize) -> Cell {
        let state = list.row(item).site.and_then(|site| list.observed.get(&site));
        Cell::text(state.map_or(String::new(), |state| match state.observed {
            Observed::Nothing if state.kept => "by others".into(),
            observed => name::observed(observed),
        }))
    }

    /// Returns a remark in place of the bar of a site without events.
    fn remark(&self, store: &Store, row: &TableRow) -> Option<Cell> {
        let site = store.site(row.site.filter(|_| row.count == 0)?);
        let skipped = site.and_then(|site| site.skipped.as_deref());
        Some(Cell::note(skipped.map_or("never called".into(), |why| format!("skipped: {why}"))))
    }

    /// Makes a column of times.
    fn time(
        name: &'static str,
        ticks: fn(&TableRow) -> Option<u64>,
        sign: fn(&TableRow) -> &'static str,
    ) -> Column<Self> {
        Column::new(name, Kind::Time, Width::Cells(10), move |store, list: &Self, item| {
            let row = list.row(item);
            match row.count {
                0 => Cell::blank(),
                _ => Cell::optional(
                    ticks(row).filter(|_| row.is_timed).map(|it| store.span_ns(it)),
                    sign(row),
                ),
            }
        })
    }

    /// Makes the column of a row's events over time. Each row has its own scale, and the title
    /// shows the time of a bar.
    fn trend(&self) -> Column<Self> {
        let name = if self.trends.of_window { "window" } else { "trend" };
        let title = match self.trends.bar_ns {
            0 => "trend".to_owned(),
            ns => format!("{name}, {}", time(ns)),
        };
        let text =
            move |_: &Store, list: &Self, item: usize| match list.trends.of(list.row(item).key()) {
                _ if list.row(item).count == 0 => Cell::blank(),
                Some(bars) if bars.iter().any(|&count| count > 0) => Cell::text(spark(bars, BARS)),
                Some(_) => Cell::new(Value::Unknown),
                None => Cell::text("…").toned(Tone::Faint),
            };
        Column::new("trend", Kind::Trend, Width::Cells(BARS as u16 + 1), text).titled(title)
    }
}

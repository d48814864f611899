//! Columns of the structure.

use std::cmp::Reverse;

use metaspy_reader::Store;
use metaspy_report::program::Element;

use super::super::indent;
use super::super::table::{Cell, Column, Key as SortKey, Kind, TableList, Tone, Width};
use super::StructureView;

impl TableList for StructureView {
    fn columns(&self, _: &Store) -> Vec<Column<Self>> {
        let ns = |store: &Store, ticks: Option<u64>| ticks.map(|ticks| store.span_ns(ticks));
        let key = |number: Option<u64>| SortKey::Amount(Reverse(number));
        let mut columns = vec![
            Column::name("element", |store, list: &Self, item| list.name_cell(store, item))
                .sorted_by(|_, list, item| {
                    SortKey::Text(list.element(item).map_or(String::new(), |it| it.name.clone()))
                }),
            Self::number("calls", Kind::Number, 11, |_, element| {
                Cell::amount(element.measure.count)
            }),
            Column::new(
                "bar",
                Kind::Bar,
                Width::Part { of: (1, 4), min: 8 },
                |store, list: &Self, item| list.bar(store, item),
            )
            .titled(""),
        ];
        if let Some(profile) = self.profiles.columns(|_, list: &Self, item| {
            let element = list
                .element(item)
                .filter(|element| element.site().is_none() || element.measure.count > 0);
            element.map(|element| element.key.clone())
        }) {
            columns.extend(profile);
            return columns;
        }
        columns.extend([
            Column::new("never ran", Kind::Number, Width::Cells(8), |_, list: &Self, item| {
                list.ran_cell(item)
            })
            .sorted_by(move |_, list, item| {
                key(list.element(item).map(|it| (it.methods - it.ran).into()))
            }),
            Self::number("receivers", Kind::Number, 10, |_, element| {
                let receivers = element.receivers;
                if element.has_unknown_receivers() {
                    return Cell::text("n/a").toned(Tone::Faint);
                }
                Cell::optional(
                    Some(receivers.count).filter(|&count| count > 0),
                    if receivers.is_least { "≥" } else { "" },
                )
            }),
        ]);
        if self.has_times() {
            columns.extend([
                Self::number("total", Kind::Time, 10, move |store, element| {
                    Cell::optional(ns(store, element.total_ticks()), element.measure.total_sign())
                })
                .sorted_by(move |_, list, item| {
                    key(list.element(item).and_then(|it| it.total_ticks().or(it.self_ticks())))
                }),
                Self::number("self", Kind::Time, 10, move |store, element| {
                    let sign = if element.measure.is_partly_timed() { "~" } else { "" };
                    Cell::optional(ns(store, element.self_ticks()), sign)
                }),
            ]);
        }
        columns.extend([
            Self::number("lines", Kind::Number, 11, |_, element| {
                Cell::optional(Some(element.lines).filter(|&lines| lines > 0), "")
            }),
            Self::number("complexity", Kind::Number, 11, |_, element| {
                Cell::optional(element.complexity.map(Into::into), "")
            }),
        ]);
        self.arrangement.of(columns)
    }

    fn item_count(&self) -> usize {
        self.whole.as_ref().map_or(0, |whole| whole.elements.len())
    }

    fn item(&self, row: usize) -> usize {
        self.rows.get(row).copied().unwrap_or_default()
    }

    fn tree_lines(&self, item: usize, levels: usize) -> String {
        indent::tree_lines(item, levels, |at| {
            self.element(at).map_or((None, true), |element| (element.under, element.is_last))
        })
    }
}

impl StructureView {
    fn name_cell(&self, store: &Store, item: usize) -> Cell {
        let Some(element) = self.element(item) else { return Cell::blank() };
        let sign = if self.is_folded(element) { "▸" } else { "" };
        let tone = match element.site() {
            None => Tone::Strong,
            Some(_) if element.skipped(store).is_some() => Tone::Faint,
            Some(_) => Tone::Plain,
        };
        Cell::text(format!("{sign}{}", element.name)).toned(tone)
    }

    /// Draws the bar of the calls, or the reason why there are none.
    fn bar(&self, store: &Store, item: usize) -> Cell {
        let Some(element) = self.element(item) else { return Cell::blank() };
        if let Some(why) = element.skipped(store) {
            return Cell::note(format!("skipped: {why}"));
        }
        // Under a filter, a method without calls may still have run.
        if self.is_complete && element.never_ran() && element.site().is_some() {
            // Numbers that are not exact may hide a call.
            let question =
                if self.whole.as_ref().is_some_and(|whole| whole.exact) { "" } else { "?" };
            return Cell::alert(format!(" NEVER RAN{question} "));
        }
        Cell::amount(element.measure.count)
    }

    fn ran_cell(&self, item: usize) -> Cell {
        let element =
            self.element(item).filter(|element| element.site().is_none() && element.methods > 0);
        match element.filter(|_| self.is_complete) {
            Some(element) => {
                let tone = if element.never_ran() { Tone::Alert } else { Tone::Plain };
                Cell::text(format!("{}/{}", element.ran, element.methods)).toned(tone)
            }
            None => Cell::blank(),
        }
    }

    /// Makes a column of numbers of an element. A method that cannot run has no number.
    fn number(
        name: &'static str,
        kind: Kind,
        cells: u16,
        cell: impl Fn(&Store, &Element) -> Cell + Send + Sync + 'static,
    ) -> Column<Self> {
        Column::new(name, kind, Width::Cells(cells), move |store, list: &Self, item| {
            let element = list.element(item).filter(|element| element.skipped(store).is_none());
            element.map_or(Cell::blank(), |element| cell(store, element))
        })
    }
}

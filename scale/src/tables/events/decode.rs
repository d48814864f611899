//! Events become columns. Texts are gathered from tables that are made once for each recording.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, StringViewArray, UInt32Array,
    UInt64Array, new_null_array,
};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::error::Result;
use metaspy_core::format::facts::Returns;
use metaspy_probe::{KindId, SiteId};
use metaspy_reader::{Event, EventId, LaneId, Outcome, Store};

use super::{COLUMNS, Column};
use crate::borders::Border;
use crate::recordings::Recording;
use crate::tables::columns::KindNames;

/// The words of the outcomes, by their numbers in the table of names. A failed call has the word of
/// its site.
pub fn outcome_words() -> impl Iterator<Item = (&'static str, Outcome)> {
    let failures =
        [Returns::Option, Returns::Result].map(|returns| (returns.failure(), Outcome::Failed));
    Outcome::ALL.iter().map(|outcome| (outcome.name(), *outcome)).chain(failures)
}

/// What turns the events of a recording into columns.
pub struct Decoder {
    recording: Recording,
    pub(super) store: Store,
    /// Run, host and process.
    pub(super) names: [NameTable; 3],
    pub(super) sites: NameTable,
    pub(super) kinds: NameTable,
    pub(super) lanes: NameTable,
    pub(super) outcomes: NameTable,
    /// The places of the words for failed calls, by site.
    failures: HashMap<SiteId, usize>,
}

/// Names by number. A number without a name has the last entry.
#[derive(Debug)]
pub struct NameTable {
    names: StringViewArray,
}

impl NameTable {
    fn new(named: impl Iterator<Item = (usize, String)>, unknown: &str) -> Self {
        let mut names: Vec<String> = Vec::new();
        for (number, name) in named {
            names.resize(names.len().max(number + 1), unknown.to_owned());
            names[number] = name;
        }
        names.push(unknown.to_owned());
        NameTable { names: StringViewArray::from_iter_values(names) }
    }

    /// The table with the name of everything.
    fn one(name: &str) -> Self {
        NameTable::new(std::iter::empty(), name)
    }

    /// The numbers that have entries.
    pub(super) fn len(&self) -> usize {
        self.names.len() - 1
    }

    /// All entries, by number.
    pub(super) fn every_name(&self) -> ArrayRef {
        Arc::new(self.names.clone())
    }

    /// The entry of a number.
    pub fn name(&self, number: usize) -> &str {
        self.names.value(number.min(self.len()))
    }

    fn rows(&self, numbers: impl Iterator<Item = usize>) -> Cells<'_> {
        let last = self.len();
        Cells::Names(
            self,
            UInt32Array::from_iter_values(numbers.map(|number| number.min(last) as u32)),
        )
    }

    fn some_rows(&self, numbers: impl Iterator<Item = Option<usize>>) -> Cells<'_> {
        let last = self.len();
        Cells::Names(
            self,
            numbers.map(|number| number.map(|number| number.min(last) as u32)).collect(),
        )
    }
}

/// A column of some rows.
pub enum Cells<'a> {
    /// The values.
    Values(ArrayRef),
    /// Entries of a table, by number.
    Names(&'a NameTable, UInt32Array),
    /// Numbers, of which few differ.
    Numbers(UInt32Array),
}

impl Cells<'_> {
    fn into_array(self) -> Result<ArrayRef> {
        match self {
            Cells::Values(values) => Ok(values),
            Cells::Names(table, rows) => Ok(take(&table.names, &rows, None)?),
            Cells::Numbers(rows) => {
                Ok(Arc::new(Int32Array::new(rows.values().inner().clone().into(), None)))
            }
        }
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "decoder of {}", self.recording.path.display())
    }
}

impl Decoder {
    /// The decoder of a recording, with its names as of now.
    pub fn new(recording: &Recording) -> Self {
        let store = recording.store.clone();
        let kinds = KindNames::of(recording);
        Decoder {
            names: [&recording.run, &recording.host, &recording.process]
                .map(|name| NameTable::one(name)),
            sites: NameTable::new(
                store.sites().iter().map(|it| (it.id.0 as usize, it.path.clone())),
                "site ?",
            ),
            kinds: NameTable::new(kinds.iter().map(|(id, name)| (id.into(), name.to_owned())), "?"),
            lanes: NameTable::new(
                store.lanes().into_iter().map(|it| (it.id.0 as usize, it.name)),
                "",
            ),
            outcomes: NameTable::new(
                outcome_words().zip(0..).map(|((word, _), at)| (at, word.to_owned())),
                "?",
            ),
            failures: store
                .sites()
                .iter()
                .map(|site| (site.id, failure_at(site.failure())))
                .collect(),
            recording: recording.clone(),
            store,
        }
    }

    /// All columns of some events, in the order of the schema.
    pub fn every_column(&self, events: &[Event]) -> impl Iterator<Item = Cells<'_>> {
        COLUMNS.iter().map(|(column, ..)| self.cells(events, *column))
    }

    /// The requested columns of some events.
    pub(super) fn batch(
        &self,
        events: &[Event],
        columns: &[Column],
        schema: &SchemaRef,
    ) -> Result<RecordBatch> {
        let columns = columns
            .iter()
            .map(|column| self.cells(events, *column).into_array())
            .collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(events.len()));
        Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
    }

    fn cells(&self, events: &[Event], column: Column) -> Cells<'_> {
        let store = &self.store;
        let all = || events.iter();
        Cells::Values(match column {
            Column::Run => return self.names[0].rows(all().map(|_| 0)),
            Column::Host => return self.names[1].rows(all().map(|_| 0)),
            Column::Process => return self.names[2].rows(all().map(|_| 0)),
            Column::Site => return self.sites.rows(all().map(|event| event.site.0 as usize)),
            Column::SubjectKind => {
                return self.kinds.some_rows(all().map(|event| Some(event.subject?.kind.0.into())));
            }
            Column::CauseSite => {
                return self.sites.some_rows(
                    all().map(|event| Some(store.site_of_reason(event.cause?)?.0 as usize)),
                );
            }
            Column::Thread => return self.lanes.rows(all().map(|event| event.lane.0 as usize)),
            Column::Outcome => {
                return self.outcomes.rows(all().map(|event| self.outcome_at(event)));
            }
            Column::Event => integers(all().map(|event| event.id.raw() as i64)),
            Column::TimeNs => integers(all().map(|event| store.time_ns(event.start) as i64)),
            Column::TookNs => Arc::new(Int64Array::from_iter(
                all().map(|event| Some(store.span_ns(event.span?) as i64)),
            )),
            Column::SiteId => return numbers(all().map(|event| event.site.0)),
            Column::SubjectKey => {
                Arc::new(UInt64Array::from_iter(all().map(|event| Some(event.subject?.key))))
            }
            Column::Cause => Arc::new(Int64Array::from_iter(
                all().map(|event| Some(self.cause(event)?.raw() as i64)),
            )),
            Column::Lane => return numbers(all().map(|event| event.lane.0)),
            Column::Timed => {
                Arc::new(BooleanArray::from_iter(all().map(|event| Some(event.timed))))
            }
            Column::Epoch => return numbers(all().map(|event| event.epoch)),
            Column::Trace => {
                self.border_numbers(events, |border| Some(format!("{:032x}", border.trace)))
            }
            Column::Span => {
                self.border_numbers(events, |border| Some(format!("{:016x}", border.span)))
            }
            Column::RemoteParent => self
                .border_numbers(events, |border| Some(format!("{:016x}", border.remote_parent?))),
        })
    }

    /// The cause in this recording. One in another process is no event that a row can be joined
    /// with.
    fn cause(&self, event: &Event) -> Option<EventId> {
        event.cause.filter(|_| !self.recording.borders().is_caused_from_outside(&self.store, event))
    }

    /// A number in `traceparent` of the events that have one, as text.
    fn border_numbers(&self, events: &[Event], number: fn(Border) -> Option<String>) -> ArrayRef {
        let borders = self.recording.borders();
        if borders.is_empty() {
            return new_null_array(&DataType::Utf8View, events.len());
        }
        let numbers = events.iter().map(|event| number(borders.numbers(&self.store, event)?));
        Arc::new(StringViewArray::from_iter(numbers))
    }

    /// The place of the word for the outcome of an event.
    fn outcome_at(&self, event: &Event) -> usize {
        let failure = || self.failures.get(&event.site).copied();
        let of_site = if event.outcome == Outcome::Failed { failure() } else { None };
        of_site.unwrap_or(event.outcome as usize)
    }

    /// All sites that an event can have.
    pub(super) fn every_site(&self) -> impl Iterator<Item = SiteId> {
        (0..self.sites.names.len() as u32).map(SiteId)
    }

    /// All kinds that an event can have; 0 = no subject.
    pub(super) fn every_kind(&self) -> impl Iterator<Item = KindId> {
        (0..self.kinds.names.len() as u32).map(|kind| KindId(kind as u16))
    }

    /// All lanes that an event can have.
    pub(super) fn every_lane(&self) -> impl Iterator<Item = LaneId> {
        (0..self.lanes.names.len() as u32).map(LaneId)
    }
}

/// The place of a word for failed calls.
fn failure_at(word: &str) -> usize {
    let place = outcome_words().position(|(of_outcome, _)| of_outcome == word);
    place.unwrap_or(Outcome::Failed as usize)
}

fn integers(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn numbers<'a>(values: impl Iterator<Item = u32>) -> Cells<'a> {
    Cells::Numbers(UInt32Array::from_iter_values(values))
}

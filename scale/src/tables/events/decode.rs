//! Events become columns. Texts are gathered from tables that are made once for each recording.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BooleanArray, Int32Array, Int64Array, StringViewArray, UInt32Array, UInt64Array,
};
use datafusion::arrow::compute::take;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use datafusion::error::Result;
use metaspy_probe::{KindId, SiteId};
use metaspy_reader::{Event, LaneId, Outcome, Store};

use super::{COLUMNS, Column};
use crate::recordings::Recording;
use crate::tables::columns::KindNames;

/// The outcomes, by number.
pub const OUTCOMES: [Outcome; 8] = [
    Outcome::Running,
    Outcome::Returned,
    Outcome::Succeeded,
    Outcome::Failed,
    Outcome::Panicked,
    Outcome::Cancelled,
    Outcome::Instant,
    Outcome::Moved,
];

/// What turns the events of a recording into columns.
#[derive(Debug)]
pub struct Decoder {
    pub(super) store: Store,
    /// Run, host and process, one row each.
    pub(super) names: [StringViewArray; 3],
    pub(super) sites: NameTable,
    pub(super) kinds: NameTable,
    pub(super) lanes: NameTable,
    pub(super) outcomes: NameTable,
}

/// Names by number. A number without a name has the last entry.
#[derive(Debug)]
pub struct NameTable {
    pub names: ArrayRef,
}

impl NameTable {
    fn new(named: impl Iterator<Item = (usize, String)>, unknown: Option<&str>) -> Self {
        let mut names: Vec<Option<String>> = Vec::new();
        for (number, name) in named {
            names.resize(names.len().max(number + 1), unknown.map(str::to_owned));
            names[number] = Some(name);
        }
        names.push(unknown.map(str::to_owned));
        NameTable { names: Arc::new(StringViewArray::from_iter(names)) }
    }

    /// The numbers that have entries.
    pub fn len(&self) -> usize {
        self.names.len() - 1
    }

    fn gather(&self, numbers: impl Iterator<Item = Option<usize>>) -> Result<ArrayRef> {
        let last = self.len();
        let rows: UInt32Array = numbers.map(|number| number.map(|number| number.min(last) as u32)).collect();
        Ok(take(&self.names, &rows, None)?)
    }

    fn gather_all(&self, numbers: impl Iterator<Item = usize>) -> Result<ArrayRef> {
        let last = self.len();
        let rows = UInt32Array::from_iter_values(numbers.map(|number| number.min(last) as u32));
        Ok(take(&self.names, &rows, None)?)
    }
}

impl Decoder {
    /// The decoder of a recording, with its names as of now.
    pub fn new(recording: &Recording) -> Self {
        let store = recording.store.clone();
        let one = |text: &String| StringViewArray::from_iter_values([text]);
        let kinds = KindNames::of(recording);
        Decoder {
            names: [one(&recording.run), one(&recording.host), one(&recording.process)],
            sites: NameTable::new(store.sites().iter().map(|it| (it.id.0 as usize, it.path.clone())), Some("site ?")),
            kinds: NameTable::new(kinds.iter().map(|(id, name)| (id.into(), name.to_owned())), Some("?")),
            lanes: NameTable::new(store.lanes().into_iter().map(|it| (it.id.0 as usize, it.name)), Some("")),
            outcomes: NameTable::new(OUTCOMES.iter().map(|it| (*it as usize, it.name().to_owned())), None),
            store,
        }
    }

    /// All columns of some events.
    pub fn every_column(&self, events: &[Event], schema: &SchemaRef) -> Result<RecordBatch> {
        self.batch(events, &COLUMNS.map(|(column, ..)| column), schema)
    }

    /// The requested columns of some events.
    pub(super) fn batch(&self, events: &[Event], columns: &[Column], schema: &SchemaRef) -> Result<RecordBatch> {
        let columns = columns.iter().map(|column| self.column(events, *column)).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(events.len()));
        Ok(RecordBatch::try_new_with_options(schema.clone(), columns, &options)?)
    }

    fn column(&self, events: &[Event], column: Column) -> Result<ArrayRef> {
        let store = &self.store;
        let all = || events.iter();
        Ok(match column {
            Column::Run => repeated(&self.names[0], events.len())?,
            Column::Host => repeated(&self.names[1], events.len())?,
            Column::Process => repeated(&self.names[2], events.len())?,
            Column::Event => integers(all().map(|event| event.id.raw() as i64)),
            Column::TimeNs => integers(all().map(|event| store.time_ns(event.start) as i64)),
            Column::TookNs => {
                Arc::new(Int64Array::from_iter(all().map(|event| Some(store.span_ns(event.span?) as i64))))
            }
            Column::SiteId => small(all().map(|event| event.site.0 as i32)),
            Column::Site => self.sites.gather_all(all().map(|event| event.site.0 as usize))?,
            Column::SubjectKind => self.kinds.gather(all().map(|event| Some(event.subject?.kind.0.into())))?,
            Column::SubjectKey => Arc::new(UInt64Array::from_iter(all().map(|event| Some(event.subject?.key)))),
            Column::Cause => Arc::new(Int64Array::from_iter(all().map(|event| Some(event.cause?.raw() as i64)))),
            Column::CauseSite => {
                self.sites.gather(all().map(|event| Some(store.site_of_reason(event.cause?)?.0 as usize)))?
            }
            Column::Lane => small(all().map(|event| event.lane.0 as i32)),
            Column::Thread => self.lanes.gather_all(all().map(|event| event.lane.0 as usize))?,
            Column::Outcome => self.outcomes.gather_all(all().map(|event| event.outcome as usize))?,
            Column::Timed => Arc::new(BooleanArray::from_iter(all().map(|event| Some(event.timed)))),
            Column::Epoch => small(all().map(|event| event.epoch as i32)),
        })
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

fn integers(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn small(values: impl Iterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

/// A column with one text in every row.
fn repeated(one: &StringViewArray, rows: usize) -> Result<ArrayRef> {
    Ok(take(one, &UInt32Array::from_value(0, rows), None)?)
}

//! Functions on events that SQL lacks: `causes`, `effects` and `root`.
//!
//! With one recording the argument is the number of an event. Otherwise the names of the recording follow, because numbers
//! of events are unique in one recording only: `process`, or `run`, `host`, `process`. They are null for an event of a
//! sealed set.
//!
//! Numbers of events are not made unique for a query, so they are the same in the crawler, in JSON,
//! and for every engine.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int64Array, Int64Builder, ListBuilder, StringViewArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Int64Type};
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use metaspy_reader::EventId;

use crate::recordings::Recording;

/// Where the events of a query are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Events {
    /// In recordings.
    InPlace,
    /// In recordings and in sealed sets.
    AlsoSealed,
}

/// Adds the functions to a session.
pub fn register(context: &SessionContext, recordings: &Arc<[Recording]>, events: Events) {
    for which in Which::ALL {
        context.register_udf(ScalarUDF::from(EventFunction::new(which, recordings.clone(), events)));
    }
}

/// What a function returns about an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Which {
    /// The chain of causes, nearest first.
    Causes,
    /// The direct effects, in the order of their numbers.
    Effects,
    /// The last event of the chain of causes: the event itself if it has no cause in the recording.
    Root,
}

impl Which {
    const ALL: [Which; 3] = [Which::Causes, Which::Effects, Which::Root];

    fn name(self) -> &'static str {
        match self {
            Which::Causes => "causes",
            Which::Effects => "effects",
            Which::Root => "root",
        }
    }
}

/// The names of the functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    Which::ALL.into_iter().map(Which::name)
}

struct EventFunction {
    which: Which,
    recordings: Arc<[Recording]>,
    events: Events,
    signature: Signature,
}

impl EventFunction {
    fn new(which: Which, recordings: Arc<[Recording]>, events: Events) -> Self {
        let with =
            |names: usize| TypeSignature::Exact([vec![DataType::Int64], vec![DataType::Utf8View; names]].concat());
        let signature = Signature::one_of([0, 1, 3].map(with).to_vec(), Volatility::Stable);
        EventFunction { which, recordings, events, signature }
    }

    /// The recordings of the rows, by the columns of their names.
    fn recordings_of(&self, names: &[ArrayRef], rows: usize) -> Result<Vec<Option<usize>>> {
        let names = names.iter().map(|names| cast(names, &DataType::Utf8View)).collect::<Result<Vec<_>, _>>()?;
        let names: Vec<&StringViewArray> = names.iter().map(|names| names.as_string_view()).collect();
        let name = |column: usize, row: usize| names[column].is_valid(row).then(|| names[column].value(row));
        let all = || self.recordings.iter().zip(0..);
        match (names.len(), self.events) {
            (3, _) => {
                let at: HashMap<(&str, &str, &str), usize> =
                    all().map(|(it, at)| ((&*it.run, &*it.host, &*it.process), at)).collect();
                Ok((0..rows).map(|row| at.get(&(name(0, row)?, name(1, row)?, name(2, row)?)).copied()).collect())
            }
            (_, Events::AlsoSealed) => self.ambiguous("a sealed set"),
            (1, Events::InPlace) => {
                let at: HashMap<&str, usize> = all().map(|(recording, at)| (&*recording.process, at)).collect();
                match at.len() < self.recordings.len() {
                    true => self.ambiguous("several recordings of one process"),
                    false => Ok((0..rows).map(|row| at.get(name(0, row)?).copied()).collect()),
                }
            }
            (_, Events::InPlace) if self.recordings.len() > 1 => self.ambiguous("several recordings"),
            (_, Events::InPlace) => Ok(vec![Some(0); rows]),
        }
    }

    fn ambiguous<T>(&self, why: &str) -> Result<T> {
        let name = self.name();
        exec_err!(
            "the query reads {why}, so `{name}` needs the names of the row: write {name}(event, run, host, process)"
        )
    }
}

impl ScalarUDFImpl for EventFunction {
    fn name(&self) -> &str {
        self.which.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.which {
            Which::Root => DataType::Int64,
            Which::Causes | Which::Effects => DataType::List(Arc::new(Field::new_list_field(DataType::Int64, true))),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let events = columns[0].as_primitive::<Int64Type>();
        let recordings = self.recordings_of(&columns[1..], events.len())?;
        let rows = recordings.iter().zip(events).map(|(recording, event)| {
            let id = EventId::from_raw(u64::try_from(event?).ok()?)?;
            Some((&self.recordings[(*recording)?], id))
        });
        let column: ArrayRef = match self.which {
            Which::Root => Arc::new(Int64Array::from_iter(rows.map(|row| {
                let (recording, id) = row?;
                Some(recording.roots().root(id)?.raw() as i64)
            }))),
            Which::Causes => Arc::new(lists(rows, |recording, id| {
                recording.store.event(id)?;
                Some(recording.store.causes(id).map(|event| event.id).collect())
            })),
            Which::Effects => Arc::new(lists(rows, |recording, id| {
                recording.store.event(id)?;
                Some(recording.effects().effects(id))
            })),
        };
        // A call with constants only has one row.
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        match constant && column.len() == 1 {
            true => Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&column, 0)?)),
            false => Ok(ColumnarValue::Array(column)),
        }
    }
}

fn lists<'r>(
    rows: impl Iterator<Item = Option<(&'r Recording, EventId)>>,
    list: impl Fn(&'r Recording, EventId) -> Option<Vec<EventId>>,
) -> datafusion::arrow::array::ListArray {
    let mut lists = ListBuilder::new(Int64Builder::new());
    for row in rows {
        let of_event = row.and_then(|(recording, id)| list(recording, id));
        for id in of_event.iter().flatten() {
            lists.values().append_value(id.raw() as i64);
        }
        lists.append(of_event.is_some());
    }
    lists.finish()
}

// Two functions are equal if they do the same on the same recordings.
impl PartialEq for EventFunction {
    fn eq(&self, other: &Self) -> bool {
        self.which == other.which && self.events == other.events && Arc::ptr_eq(&self.recordings, &other.recordings)
    }
}

impl Eq for EventFunction {}

impl Hash for EventFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.which.hash(state);
    }
}

impl std::fmt::Debug for EventFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EventFunction").field(&self.which).finish()
    }
}

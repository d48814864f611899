//! Functions on events that SQL lacks: `causes`, `effects` and `root`.
//!
//! With one recording the argument is the number of an event, and so is the result. Otherwise the
//! names of the recording follow, because numbers of events are unique in one recording only:
//! `process`, or `run`, `host`, `process`. The result then has names as well, because causes and
//! effects may be in other recordings. Results are null for an event of a sealed set.
//!
//! Numbers of events are not made unique for a query, so they are the same in the crawler, in JSON,
//! and for every engine.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, Int64Array, ListArray, StringViewArray, StructArray,
};
use datafusion::arrow::buffer::{NullBuffer, OffsetBuffer};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Fields, Int64Type};
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use metaspy_reader::EventId;

use crate::crossings::{Place, causes, effects, root};
use crate::recordings::Recording;

/// Places of the events of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Events {
    /// All events are in recordings.
    InPlace,
    /// Events are in recordings and in sealed sets.
    AlsoSealed,
}

/// Adds the functions to a session.
pub fn register(context: &SessionContext, recordings: &Arc<[Recording]>, events: Events) {
    for which in Which::ALL {
        context.register_udf(ScalarUDF::from(EventFunction::new(
            which,
            recordings.clone(),
            events,
        )));
    }
}

/// Functions on an event, by their result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Which {
    /// Chain of causes, nearest first.
    Causes,
    /// Direct effects, in the order of their numbers.
    Effects,
    /// Last event of the chain of causes: the event itself if it has no cause in the recording.
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
        let with = |names: usize| {
            TypeSignature::Exact([vec![DataType::Int64], vec![DataType::Utf8View; names]].concat())
        };
        let signature = Signature::one_of([0, 1, 3].map(with).to_vec(), Volatility::Stable);
        EventFunction { which, recordings, events, signature }
    }

    /// Finds the recording of each row by the columns with its names.
    fn recordings_of(&self, names: &[ArrayRef], rows: usize) -> Result<Vec<Option<usize>>> {
        let names = names
            .iter()
            .map(|names| cast(names, &DataType::Utf8View))
            .collect::<Result<Vec<_>, _>>()?;
        let names: Vec<&StringViewArray> =
            names.iter().map(|names| names.as_string_view()).collect();
        let name = |column: usize, row: usize| {
            names[column].is_valid(row).then(|| names[column].value(row))
        };
        let all = || self.recordings.iter().zip(0..);
        match (names.len(), self.events) {
            (3, _) => {
                let at: HashMap<(&str, &str, &str), usize> =
                    all().map(|(it, at)| ((&*it.run, &*it.host, &*it.process), at)).collect();
                Ok((0..rows)
                    .map(|row| at.get(&(name(0, row)?, name(1, row)?, name(2, row)?)).copied())
                    .collect())
            }
            (_, Events::AlsoSealed) => self.ambiguous("a sealed set"),
            (1, Events::InPlace) => {
                let at: HashMap<&str, usize> =
                    all().map(|(recording, at)| (&*recording.process, at)).collect();
                if at.len() < self.recordings.len() {
                    self.ambiguous("several recordings of one process")
                } else {
                    Ok((0..rows).map(|row| at.get(name(0, row)?).copied()).collect())
                }
            }
            (_, Events::InPlace) if self.recordings.len() > 1 => {
                self.ambiguous("several recordings")
            }
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

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        let event =
            if arguments.len() > 1 { DataType::Struct(named_fields()) } else { DataType::Int64 };
        Ok(match self.which {
            Which::Root => event,
            Which::Causes | Which::Effects => {
                DataType::List(Arc::new(Field::new_list_field(event, true)))
            }
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let columns = ColumnarValue::values_to_arrays(&args.args)?;
        let events = columns[0].as_primitive::<Int64Type>();
        let recordings = self.recordings_of(&columns[1..], events.len())?;
        let all = &*self.recordings;
        let places = recordings.iter().zip(events).map(|(recording, event)| {
            let event = EventId::from_raw(u64::try_from(event?).ok()?)?;
            Some(Place { recording: (*recording)?, event })
        });
        let has_names = args.args.len() > 1;
        let column = match self.which {
            Which::Root => {
                let roots: Vec<_> = places.map(|place| root(all, place?)).collect();
                if has_names { Arc::new(self.named(&roots)) } else { numbers(&roots) }
            }
            Which::Causes => self.lists(places.map(|place| causes(all, place?)), has_names)?,
            Which::Effects => self.lists(places.map(|place| effects(all, place?)), has_names)?,
        };
        // A call with nothing but constants has one row.
        let constant = args.args.iter().all(|arg| matches!(arg, ColumnarValue::Scalar(_)));
        if constant && column.len() == 1 {
            Ok(ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&column, 0)?))
        } else {
            Ok(ColumnarValue::Array(column))
        }
    }
}

impl EventFunction {
    /// Makes a column of events with the names of their recordings.
    fn named(&self, places: &[Option<Place>]) -> StructArray {
        let name = |of: fn(&Recording) -> &str| -> ArrayRef {
            Arc::new(StringViewArray::from_iter(
                places.iter().map(|place| Some(of(&self.recordings[(*place)?.recording]))),
            ))
        };
        let columns = vec![
            name(|recording| &recording.run),
            name(|recording| &recording.host),
            name(|recording| &recording.process),
            numbers(places),
        ];
        let nulls = NullBuffer::from_iter(places.iter().map(Option::is_some));
        StructArray::new(named_fields(), columns, Some(nulls))
    }

    fn lists(
        &self,
        lists: impl Iterator<Item = Option<Vec<Place>>>,
        has_names: bool,
    ) -> Result<ArrayRef> {
        let mut all = Vec::new();
        let mut lengths = Vec::new();
        let mut is_there = Vec::new();
        for list in lists {
            is_there.push(list.is_some());
            lengths.push(list.as_ref().map_or(0, Vec::len));
            all.extend(list.into_iter().flatten().map(Some));
        }
        let values: ArrayRef = if has_names { Arc::new(self.named(&all)) } else { numbers(&all) };
        let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
        let (offsets, nulls) =
            (OffsetBuffer::from_lengths(lengths), NullBuffer::from_iter(is_there));
        Ok(Arc::new(ListArray::try_new(field, offsets, values, Some(nulls))?))
    }
}

fn numbers(places: &[Option<Place>]) -> ArrayRef {
    Arc::new(Int64Array::from_iter(places.iter().map(|place| Some((*place)?.event.raw() as i64))))
}

/// Returns the fields of an event with the names of its recording.
fn named_fields() -> Fields {
    let name = |name: &str| Field::new(name, DataType::Utf8View, true);
    Fields::from(vec![
        name("run"),
        name("host"),
        name("process"),
        Field::new("event", DataType::Int64, true),
    ])
}

// Two functions are equal if they do the same on the same recordings.
impl PartialEq for EventFunction {
    fn eq(&self, other: &Self) -> bool {
        self.which == other.which
            && self.events == other.events
            && Arc::ptr_eq(&self.recordings, &other.recordings)
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

//! Columns of the small tables, from iterators.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, StringViewArray, UInt64Array,
};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use metaspy_probe::Subject;

use crate::recordings::Recording;

/// A column with its name.
pub type Column = (String, ArrayRef);

/// A column of texts.
pub fn texts<T: AsRef<str>>(name: &str, values: impl IntoIterator<Item = Option<T>>) -> Column {
    (name.to_owned(), Arc::new(StringViewArray::from_iter(values)))
}

/// A column of numbers below 2⁶³.
pub fn integers(name: &str, values: impl IntoIterator<Item = Option<u64>>) -> Column {
    let values =
        values.into_iter().map(|value| value.map(|value| value.min(i64::MAX as u64) as i64));
    (name.to_owned(), Arc::new(Int64Array::from_iter(values)))
}

/// A column of small numbers.
pub fn small(name: &str, values: impl IntoIterator<Item = Option<u32>>) -> Column {
    (
        name.to_owned(),
        Arc::new(Int32Array::from_iter(
            values.into_iter().map(|value| value.map(|value| value as i32)),
        )),
    )
}

/// A column of keys: any 64 bits.
pub fn keys(name: &str, values: impl IntoIterator<Item = Option<u64>>) -> Column {
    (name.to_owned(), Arc::new(UInt64Array::from_iter(values)))
}

/// A column of shares: 1 is all.
pub fn shares(name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Column {
    (name.to_owned(), Arc::new(Float64Array::from_iter(values)))
}

/// A column of truth values.
pub fn flags(name: &str, values: impl IntoIterator<Item = Option<bool>>) -> Column {
    (name.to_owned(), Arc::new(BooleanArray::from_iter(values)))
}

/// The columns of a subject: `subject_kind` and `subject_key`.
pub fn subjects(
    recording: &Recording,
    prefix: &str,
    values: impl Iterator<Item = Option<Subject>> + Clone,
) -> [Column; 2] {
    let kinds = KindNames::of(recording);
    let kind =
        texts(&format!("{prefix}_kind"), values.clone().map(|subject| Some(kinds.name(subject?))));
    let key = keys(&format!("{prefix}_key"), values.map(|subject| Some(subject?.key)));
    [kind, key]
}

/// The rows of one recording.
pub fn batch(
    recording: &Recording,
    columns: impl IntoIterator<Item = Column>,
) -> Result<RecordBatch> {
    let columns: Vec<Column> = columns.into_iter().collect();
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    let constant = |name: &str, value: &str| texts(name, std::iter::repeat_n(Some(value), rows));
    let own = [
        constant("run", &recording.run),
        constant("host", &recording.host),
        constant("process", &recording.process),
    ];
    let all: Vec<Column> = own.into_iter().chain(columns).collect();
    let fields: Vec<Field> = all
        .iter()
        .map(|(name, column)| Field::new(name, column.data_type().clone(), true))
        .collect();
    let columns = all.into_iter().map(|(_, column)| column).collect();
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}

/// The names of the kinds of subjects. Kinds with equal names are distinguished: `NodeId`,
/// `NodeId (2)`.
pub struct KindNames {
    /// Sorted by the number of the kind.
    names: Vec<(u16, String)>,
}

impl KindNames {
    /// The names in a recording.
    pub fn of(recording: &Recording) -> Self {
        let mut kinds: Vec<(u16, String)> =
            recording.store.kinds().map(|kind| (kind.id.0, kind.whole_name())).collect();
        kinds.sort();
        let mut names: Vec<(u16, String)> = Vec::with_capacity(kinds.len());
        for (number, name) in &kinds {
            let before =
                kinds.iter().filter(|(other, same)| same == name && other < number).count();
            let name = if before == 0 { name.clone() } else { format!("{name} ({})", before + 1) };
            names.push((*number, name));
        }
        KindNames { names }
    }

    /// The name of the kind of a subject.
    pub fn name(&self, subject: Subject) -> &str {
        let at = self.names.binary_search_by_key(&subject.kind.0, |(number, _)| *number);
        at.map_or("?", |at| &self.names[at].1)
    }

    /// All kinds with their names.
    pub fn iter(&self) -> impl Iterator<Item = (u16, &str)> {
        self.names.iter().map(|(number, name)| (*number, name.as_str()))
    }
}

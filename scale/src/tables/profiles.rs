//! The tables of method profilers, with the columns that the profilers declared.

use std::collections::BTreeMap;

use datafusion::arrow::array::new_null_array;
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::error::Result;
use metaspy_probe::{KindId, SiteId, Subject};
use metaspy_reader::{
    ColumnKind, KeyKind, ProfileRow, ProfileTable, RowKey, Store, TypeKey, Value,
};

use crate::recordings::Recording;
use crate::tables::columns::{Column, batch, flags, integers, keys, small, subjects, texts};

/// The tables that these recordings have, each with its meaning.
pub fn names(recordings: &[Recording]) -> Vec<(String, String)> {
    let mut names = BTreeMap::new();
    for recording in recordings {
        for profile in recording.store.profiles() {
            for table in &profile.tables {
                let about = match table.name.as_str() {
                    "" => format!("the methods of the profiler `{}`", profile.name),
                    name => format!("{name} of the profiler `{}`", profile.name),
                };
                names.insert(sql_name(&profile.name, &table.name), about);
            }
        }
    }
    names.into_iter().collect()
}

/// The rows of a table, one batch for each recording that has it. All batches have the same
/// columns.
pub fn batches(recordings: &[Recording], name: &str) -> Result<Vec<RecordBatch>> {
    let mut batches = Vec::new();
    for recording in recordings {
        for profile in recording.store.profiles() {
            let wanted =
                profile.tables.iter().filter(|table| sql_name(&profile.name, &table.name) == name);
            for table in wanted {
                batches.push(rows(recording, profile.installation, table)?);
            }
        }
    }
    let union = Schema::try_merge(batches.iter().map(|batch| batch.schema().as_ref().clone()))?;
    batches.into_iter().map(|batch| widened(batch, &union)).collect()
}

/// A batch with all columns of a schema; those that it lacks are null.
fn widened(batch: RecordBatch, union: &Schema) -> Result<RecordBatch> {
    let column = |field: &std::sync::Arc<Field>| match batch.column_by_name(field.name()) {
        Some(column) => column.clone(),
        None => new_null_array(field.data_type(), batch.num_rows()),
    };
    let columns = union.fields().iter().map(column).collect();
    Ok(RecordBatch::try_new(std::sync::Arc::new(union.clone()), columns)?)
}

/// The name of a table in SQL: `calls`, `test_coverage_by_test`.
fn sql_name(profile: &str, table: &str) -> String {
    let mut name = String::new();
    for part in [profile, table].into_iter().filter(|part| !part.is_empty()) {
        if !name.is_empty() {
            name.push('_');
        }
        name.push_str(&snake(part));
    }
    name
}

/// Lower case, with `_` between words.
fn snake(text: &str) -> String {
    let mut snake = String::new();
    let mut before = ' ';
    for letter in text.chars() {
        let begins_word = letter.is_uppercase() && (before.is_lowercase() || before.is_numeric());
        before = letter;
        match letter {
            _ if letter.is_uppercase() => {
                snake.extend(begins_word.then_some('_').into_iter().chain(letter.to_lowercase()));
            }
            _ if letter.is_alphanumeric() => snake.push(letter),
            _ if snake.ends_with('_') || snake.is_empty() => {}
            _ => snake.push('_'),
        }
    }
    snake
}

fn rows(recording: &Recording, installation: u32, table: &ProfileTable) -> Result<RecordBatch> {
    let store = &recording.store;
    let all = &table.rows;
    let mut columns = vec![
        small("installation", all.iter().map(|_| Some(installation))),
        small("site_id", all.iter().map(|row| Some(row.key.site().0))),
        texts("site", all.iter().map(|row| Some(store.site_path(row.key.site())))),
    ];
    match table.key {
        KeyKind::Site => {}
        KeyKind::Subject => columns.extend(subjects(recording, "subject", all.iter().map(subject))),
        KeyKind::Caller => columns.push(texts(
            "caller",
            all.iter().map(|row| match row.key {
                RowKey::Caller(_, caller) => Some(store.site_path(caller?)),
                _ => None,
            }),
        )),
        KeyKind::Context => columns.push(keys(
            "caller_context",
            all.iter().map(|row| match row.key {
                RowKey::Context(_, caller) => Some(caller),
                _ => None,
            }),
        )),
        KeyKind::Type => columns.extend(types(store, all)),
        KeyKind::Sampled => {
            columns.extend([
                texts(
                    "subject_kind",
                    all.iter().map(|row| {
                        sampled(row).and_then(|(kind, _)| Some(store.kind(kind)?.name.clone()))
                    }),
                ),
                keys("number", all.iter().map(|row| sampled(row).map(|(_, number)| number))),
            ]);
        }
    }
    for (at, declared) in table.columns.iter().enumerate() {
        let values = || all.iter().map(move |row| row.value(table, at));
        let name = match declared.kind {
            ColumnKind::Ticks => format!("{}_ns", snake(&declared.name)),
            _ => snake(&declared.name),
        };
        columns.push(column(&name, &declared.kind, values()));
        if declared.at_most.is_some() {
            let is_bound = |value: Value| Some(matches!(value, Value::AtLeast(_)));
            columns.push(flags(&format!("{name}_at_least"), values().map(is_bound)));
        }
    }
    batch(recording, columns)
}

/// The types that arrive: of which value, at calls of which caller, and which variant.
fn types(store: &Store, all: &[ProfileRow]) -> [Column; 4] {
    let keys = || {
        all.iter().map(|row| match row.key {
            RowKey::Type(_, kind, key) => Some((kind, key)),
            _ => None,
        })
    };
    let caller =
        |(_, key): (_, TypeKey)| (key.caller != 0).then(|| store.site_path(SiteId(key.caller)));
    [
        texts("caller", keys().map(|key| caller(key?))),
        small("position", keys().map(|key| Some(key?.1.position.into()))),
        texts("type", keys().map(|key| Some(store.kind(key?.0)?.name.clone()))),
        small("variant", keys().map(|key| key?.1.variant)),
    ]
}

fn column(name: &str, kind: &ColumnKind, values: impl Iterator<Item = Value>) -> Column {
    match kind {
        ColumnKind::Number => keys(name, values.map(|value| value.number())),
        ColumnKind::Ticks => integers(name, values.map(|value| value.number())),
        ColumnKind::Choice(_) | ColumnKind::Flags(_) => {
            texts(name, values.map(|value| (value != Value::Empty).then(|| value.to_string())))
        }
    }
}

/// The kind of the subject, and the number.
fn sampled(row: &ProfileRow) -> Option<(KindId, u64)> {
    match row.key {
        RowKey::Sampled(_, kind, number) => Some((kind, number)),
        _ => None,
    }
}

fn subject(row: &ProfileRow) -> Option<Subject> {
    match row.key {
        RowKey::Subject(_, subject) => Some(subject),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_profiles_are_names_in_sql() {
        assert_eq!(sql_name("TestCoverage", ""), "test_coverage");
        assert_eq!(sql_name("calls", "by caller"), "calls_by_caller");
        assert_eq!(sql_name("CPU samples", "v8-Frames"), "cpu_samples_v8_frames");
    }
}

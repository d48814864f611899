//! Conditions on `run`, `host` and `process`, which are the same in all rows of a recording: they
//! exclude whole recordings.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::Session;
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::Expr;

/// The columns of every table that say which recording a row is of.
const COLUMNS: [&str; 3] = ["run", "host", "process"];

/// Whether rows of each recording can pass some filters. `names` has the run, the host and the
/// process of each.
pub fn passing(
    state: &dyn Session,
    schema: &SchemaRef,
    filters: &[Expr],
    names: &[ArrayRef; 3],
) -> Result<Vec<bool>> {
    let mut passing = vec![true; names[0].len()];
    for filter in filters {
        let of = filter.column_refs();
        if of.is_empty() || !of.iter().all(|column| COLUMNS.contains(&column.name())) {
            continue;
        }
        let columns = COLUMNS.into_iter().zip(names.iter().cloned()).collect();
        if let Some(rows) = rows_passing(state, schema, filter, columns)? {
            passing.iter_mut().zip(rows).for_each(|(passing, passes)| *passing &= passes);
        }
    }
    Ok(passing)
}

/// Whether each row of some columns passes a filter; `None` if the engine cannot evaluate it.
pub fn rows_passing(
    state: &dyn Session,
    schema: &SchemaRef,
    filter: &Expr,
    columns: Vec<(&str, ArrayRef)>,
) -> Result<Option<Vec<bool>>> {
    let mut fields: Vec<Field> = Vec::new();
    for (name, column) in &columns {
        let declared = schema.field_with_name(name)?;
        fields.push(Field::new(
            *name,
            column.data_type().clone(),
            declared.is_nullable() || column.null_count() > 0,
        ));
    }
    let schema = Arc::new(Schema::new(fields));
    let rows = RecordBatch::try_new(
        schema.clone(),
        columns.into_iter().map(|(_, column)| column).collect(),
    )?;
    let Ok(compiled) = state.create_physical_expr(filter.clone(), &DFSchema::try_from(schema)?)
    else {
        return Ok(None);
    };
    let Ok(value) = compiled.evaluate(&rows) else { return Ok(None) };
    let passes = value.into_array(rows.num_rows())?;
    Ok(passes
        .as_boolean_opt()
        .map(|passes| passes.iter().map(|passes| passes == Some(true)).collect()))
}

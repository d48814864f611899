//! SQL conditions become [`Conditions`] on numbers.
//!
//! A condition on a column with few values, such as `site LIKE '%measure'`, is evaluated by the
//! engine itself on all of these values. So every expression over such a column excludes chunks.
//! Other conditions are comparisons with a number.
//!
//! SQL is not translated into filters, so there is one meaning of an expression.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Int32Array, StringViewArray};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::Session;
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use metaspy_reader::Conditions;

use super::decode::{Decoder, outcome_words};
use crate::tables::partitions::{self, rows_passing};

/// The conditions that some filters put on the events of a recording; `None` if no event can pass.
pub fn pushed_down(
    state: &dyn Session,
    decoder: &Decoder,
    schema: &SchemaRef,
    filters: &[Expr],
) -> Result<Option<Conditions>> {
    let one = [0, 1, 2].map(|at| decoder.names[at].every_name());
    if partitions::passing(state, schema, filters, &one)? == [false] {
        return Ok(None);
    }
    let mut conditions = Conditions::default();
    for filter in filters {
        let names: HashSet<String> =
            filter.column_refs().into_iter().map(|column| column.name.clone()).collect();
        let only = |allowed: &[&str]| {
            !names.is_empty() && names.iter().all(|name| allowed.contains(&name.as_str()))
        };
        let passing = |columns: Vec<(&str, ArrayRef)>| rows_passing(state, schema, filter, columns);
        if only(&["site", "site_id"]) {
            let columns = vec![
                ("site_id", numbers(decoder.sites.len() + 1)),
                ("site", decoder.sites.every_name()),
            ];
            let last = decoder.sites.len();
            keep(&mut conditions.sites, passing(columns)?, decoder.every_site(), last);
        } else if only(&["lane", "thread"]) {
            let columns = vec![
                ("lane", numbers(decoder.lanes.len() + 1)),
                ("thread", decoder.lanes.every_name()),
            ];
            let last = decoder.lanes.len();
            keep(&mut conditions.lanes, passing(columns)?, decoder.every_lane(), last);
        } else if only(&["subject_kind"]) {
            let column = with_null_first(&decoder.kinds.every_name());
            let last = decoder.kinds.len();
            keep(
                &mut conditions.kinds,
                passing(vec![("subject_kind", column)])?,
                decoder.every_kind(),
                last,
            );
        } else if only(&["outcome"]) {
            let names = decoder.outcomes.every_name().slice(0, outcome_words().count());
            if let Some(rows) = passing(vec![("outcome", names)])? {
                let passing = outcome_words()
                    .zip(rows)
                    .filter(|(_, passes)| *passes)
                    .map(|((_, outcome), _)| outcome);
                let before = conditions.outcomes.take();
                conditions.outcomes = Some(
                    passing
                        .filter(|it| before.as_ref().is_none_or(|before| before.contains(it)))
                        .collect(),
                );
            }
        } else if only(&["subject_key"]) {
            if let Some(keys) = keys(filter) {
                let before = conditions.keys.take();
                conditions.keys = Some(
                    keys.into_iter()
                        .filter(|key| before.as_ref().is_none_or(|it| it.contains(key)))
                        .collect(),
                );
            }
        } else if only(&["time_ns"])
            && let Some((from, to)) = times(filter)
        {
            let from = from.max(0) as u64;
            let to = to.max(0) as u64;
            // A tick more at both ends, because the conversion rounds.
            let from = decoder.store.tick_at_ns(from.saturating_sub(1)).saturating_sub(1);
            let to = if to == i64::MAX as u64 {
                u64::MAX
            } else {
                decoder.store.tick_at_ns(to + 1).saturating_add(1)
            };
            let (first, last) = conditions.ticks.take().unwrap_or(0..=u64::MAX).into_inner();
            conditions.ticks = Some(first.max(from)..=last.min(to));
        }
    }
    Ok(Some(conditions))
}

/// Intersects a set with the numbers whose row passes. The row at `last` stands for all numbers
/// without a name: if it passes, the condition cannot be a set.
fn keep<T: Copy + Eq + Hash>(
    set: &mut Option<HashSet<T>>,
    rows: Option<Vec<bool>>,
    all: impl Iterator<Item = T>,
    last: usize,
) {
    let Some(rows) = rows.filter(|rows| !rows.get(last).copied().unwrap_or(true)) else { return };
    let passing = all.zip(rows).filter(|(_, passes)| *passes).map(|(number, _)| number);
    let before = set.take();
    *set = Some(
        passing.filter(|it| before.as_ref().is_none_or(|before| before.contains(it))).collect(),
    );
}

fn numbers(count: usize) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(0..count as i32))
}

/// The names of kinds. Kind 0 is no kind: its events have no subject.
fn with_null_first(names: &ArrayRef) -> ArrayRef {
    let names = names.as_string_view().iter().enumerate();
    Arc::new(StringViewArray::from_iter(names.map(|(kind, name)| name.filter(|_| kind != 0))))
}

/// The keys that a condition on the column `subject_key` admits. One on an expression over it is
/// not pushed down.
fn keys(filter: &Expr) -> Option<HashSet<u64>> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => {
            let (_, value) = compared(left, Operator::Eq, right)?;
            Some(HashSet::from([key(value)?]))
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            let mut both = keys(left)?;
            both.extend(keys(right)?);
            Some(both)
        }
        Expr::InList(list) if !list.negated && is_column(&list.expr) => {
            list.list.iter().map(key).collect()
        }
        _ => None,
    }
}

fn key(expr: &Expr) -> Option<u64> {
    match expr {
        Expr::Literal(ScalarValue::UInt64(value), _) => *value,
        Expr::Literal(ScalarValue::Int64(value), _) => u64::try_from((*value)?).ok(),
        _ => None,
    }
}

/// The first and the last time that a condition on the column `time_ns` admits.
fn times(filter: &Expr) -> Option<(i64, i64)> {
    match filter {
        Expr::Between(Between { expr, negated: false, low, high }) if is_column(expr) => {
            Some((time(low)?, time(high)?))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            let (op, value) = compared(left, *op, right)?;
            let value = time(value)?;
            match op {
                Operator::Lt | Operator::LtEq => Some((0, value)),
                Operator::Gt | Operator::GtEq => Some((value, i64::MAX)),
                Operator::Eq => Some((value, value)),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The operator and the other side of a comparison with a column; the column may be at either side.
fn compared<'e>(left: &'e Expr, op: Operator, right: &'e Expr) -> Option<(Operator, &'e Expr)> {
    match (is_column(left), is_column(right)) {
        (true, false) => Some((op, right)),
        (false, true) => Some((op.swap()?, left)),
        _ => None,
    }
}

/// True for a column itself. Filters with names of other columns do not come here.
fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(_))
}

fn time(expr: &Expr) -> Option<i64> {
    match expr {
        Expr::Literal(ScalarValue::Int64(value), _) => *value,
        _ => None,
    }
}

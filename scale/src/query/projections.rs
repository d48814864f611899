//! Optimizer rule that keeps the computations of nested projections.
//!
//! `OptimizeProjections` of DataFusion 55 drops the outer of two adjacent projections if their
//! expressions are equal, so `SELECT a + a AS a FROM (SELECT a + a AS a FROM …)` doubles once
//! (<https://github.com/apache/datafusion/pull/24686>, which is in no release of 55). This rule
//! runs the same optimization on a plan in which no two projections are equal.

use std::sync::Arc;

use datafusion::common::tree_node::Transformed;
use datafusion::error::Result;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::expr::Alias;
use datafusion::logical_expr::{Expr, LogicalPlan, Projection};
use datafusion::optimizer::optimize_projections::OptimizeProjections;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

/// First part of the alias that tells an expression from an equal expression in another projection.
const MARK: &str = "__projection_";

/// Replaces the engine's rule in a session by this rule.
pub fn with_distinct_projections(state: SessionState) -> SessionState {
    let mut rules = state.optimizers().to_vec();
    for rule in &mut rules {
        if rule.name() == OptimizeProjections::new().name() {
            *rule = Arc::new(DistinctProjections(OptimizeProjections::new()));
        }
    }
    SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build()
}

/// Engine's rule, applied to expressions with marks.
#[derive(Debug)]
struct DistinctProjections(OptimizeProjections);

impl OptimizerRule for DistinctProjections {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        config: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        let mut number = 0;
        let marked = with_expressions(plan, |expr| {
            number += 1;
            mark(expr, number)
        })?;
        let rewritten = self.0.rewrite(marked, config)?;
        rewritten.map_data(|plan| with_expressions(plan, unmark))
    }
}

/// Changes the expressions of all projections. Names and types must stay the same.
fn with_expressions(
    plan: LogicalPlan,
    mut change: impl FnMut(Expr) -> Expr,
) -> Result<LogicalPlan> {
    let changed = plan.transform_down_with_subqueries(|plan| match plan {
        LogicalPlan::Projection(Projection { expr, input, schema, .. }) => {
            let expr = expr.into_iter().map(&mut change).collect();
            Ok(Transformed::yes(LogicalPlan::Projection(Projection::try_new_with_schema(
                expr, input, schema,
            )?)))
        }
        plan => Ok(Transformed::no(plan)),
    });
    Ok(changed?.data)
}

/// Adds a mark as a further alias inside the name of an expression. Columns get no mark, because
/// they are the same in each projection.
fn mark(expr: Expr, number: usize) -> Expr {
    let mark = format!("{MARK}{number}");
    match expr {
        Expr::Column(_) => expr,
        Expr::Alias(alias) => {
            Expr::Alias(Alias { expr: Box::new(alias.expr.alias(mark)), ..alias })
        }
        expr => {
            let name = expr.schema_name().to_string();
            expr.alias(mark).alias(name)
        }
    }
}

/// Removes the alias that `mark` added. The engine's rule has removed some of these aliases
/// already.
fn unmark(expr: Expr) -> Expr {
    let Expr::Alias(Alias { expr: within, relation, name, metadata }) = expr else { return expr };
    let unmarked = match *within {
        Expr::Alias(mark) if mark.name.starts_with(MARK) => *mark.expr,
        expr => return Expr::Alias(Alias { expr: Box::new(expr), relation, name, metadata }),
    };
    let is_column = matches!(unmarked, Expr::Column(_));
    if relation.is_none()
        && metadata.is_none()
        && !is_column
        && unmarked.schema_name().to_string() == name
    {
        return unmarked;
    }
    Expr::Alias(Alias { expr: Box::new(unmarked), relation, name, metadata })
}

//! Which rules a run can reach, in the grammar as written and as optimised.

use std::collections::HashSet;

use pest_meta::ast::{Expr, Rule};
use pest_meta::optimizer::{OptimizedExpr, OptimizedRule};

use crate::productions::Role;

/// What each rule's role is, in the order of `rules`.
pub(super) fn roles(rules: &[Rule], optimised: &[OptimizedRule], start: &str) -> Vec<Role> {
    let written = reach(rules.iter().map(|rule| (rule.name.as_str(), written_names(&rule.expr))).collect(), start);
    let run = reach(optimised.iter().map(|rule| (rule.name.as_str(), run_names(&rule.expr))).collect(), start);
    let role = |rule: &Rule| match (written.contains(rule.name.as_str()), run.contains(rule.name.as_str())) {
        (_, true) => Role::InUse,
        (true, false) => Role::OptimisedAway,
        (false, false) => Role::Unused,
    };
    rules.iter().map(role).collect()
}

/// The names that can be reached from a rule; white space and comments are reached from wherever they are skipped.
fn reach<'g>(rules: Vec<(&'g str, Vec<&'g str>)>, start: &str) -> HashSet<&'g str> {
    let mut reached: HashSet<&str> = HashSet::new();
    let is_root = |name: &str| name == start || name == "WHITESPACE" || name == "COMMENT";
    let mut todo: Vec<&str> = rules.iter().map(|(name, _)| *name).filter(|name| is_root(name)).collect();
    while let Some(name) = todo.pop() {
        if reached.insert(name) {
            todo.extend(rules.iter().filter(|rule| rule.0 == name).flat_map(|rule| rule.1.iter().copied()));
        }
    }
    reached
}

fn written_names(expr: &Expr) -> Vec<&str> {
    let mut names = Vec::new();
    let mut todo = vec![expr];
    while let Some(expr) = todo.pop() {
        match expr {
            Expr::Ident(name) => names.push(name.as_str()),
            Expr::Seq(a, b) | Expr::Choice(a, b) => todo.extend([&**a, &**b]),
            Expr::PosPred(a) | Expr::NegPred(a) | Expr::Opt(a) | Expr::Rep(a) | Expr::RepOnce(a) | Expr::Push(a) => {
                todo.push(a);
            }
            Expr::RepExact(a, _) | Expr::RepMin(a, _) | Expr::RepMax(a, _) | Expr::RepMinMax(a, ..) => todo.push(a),
            Expr::NodeTag(a, _) => todo.push(a),
            Expr::Str(_) | Expr::Insens(_) | Expr::Range(..) | Expr::PeekSlice(..) | Expr::Skip(_) => {}
            Expr::PushLiteral(_) => {}
        }
    }
    names
}

fn run_names(expr: &OptimizedExpr) -> Vec<&str> {
    use OptimizedExpr as E;
    let mut names = Vec::new();
    let mut todo = vec![expr];
    while let Some(expr) = todo.pop() {
        match expr {
            E::Ident(name) => names.push(name.as_str()),
            E::Seq(a, b) | E::Choice(a, b) => todo.extend([&**a, &**b]),
            E::PosPred(a) | E::NegPred(a) | E::Opt(a) | E::Rep(a) | E::RepOnce(a) | E::Push(a) => todo.push(a),
            E::NodeTag(a, _) | E::RestoreOnErr(a) => todo.push(a),
            E::Str(_) | E::Insens(_) | E::Range(..) | E::PeekSlice(..) | E::Skip(_) | E::PushLiteral(_) => {}
        }
    }
    names
}

//! Which rules a run can reach, in the grammar as written and as optimised.

use std::collections::{HashMap, HashSet};

use pest_meta::ast::{Expr, Rule, RuleType};
use pest_meta::optimizer::{OptimizedExpr, OptimizedRule};

use crate::productions::Role;

/// What each rule's role is, in the order of `rules`.
pub(super) fn roles(rules: &[Rule], optimised: &[OptimizedRule], start: &str) -> Vec<Role> {
    let written = rules.iter().map(|rule| Node::new(&rule.name, rule.ty, written_names(&rule.expr), skips(&rule.expr)));
    let run = optimised.iter().map(|rule| Node::new(&rule.name, rule.ty, run_names(&rule.expr), run_skips(&rule.expr)));
    let (written, run) = (reach(&written.collect::<Vec<_>>(), start), reach(&run.collect::<Vec<_>>(), start));
    let role = |rule: &Rule| match (written.contains(rule.name.as_str()), run.contains(rule.name.as_str())) {
        (_, true) => Role::InUse,
        (true, false) => Role::OptimisedAway,
        (false, false) => Role::Unused,
    };
    rules.iter().map(role).collect()
}

/// The rules that a rule refers to, each once, in the order that it does.
pub(super) fn references(rule: &Rule, numbers: &HashMap<String, usize>) -> Vec<usize> {
    let mut references = Vec::new();
    for number in written_names(&rule.expr).into_iter().filter_map(|name| numbers.get(name).copied()) {
        if !references.contains(&number) {
            references.push(number);
        }
    }
    references
}

/// A rule in the graph of the grammar.
struct Node<'g> {
    name: &'g str,
    kind: RuleType,
    names: Vec<&'g str>,
    /// Whether white space may stand in it, if it is not atomic.
    skips: bool,
}

impl<'g> Node<'g> {
    fn new(name: &'g str, kind: RuleType, names: Vec<&'g str>, skips: bool) -> Self {
        Node { name, kind, names, skips }
    }

    /// Whether its body is atomic if what calls it is.
    fn is_atomic(&self, around: bool) -> bool {
        match self.kind {
            RuleType::Atomic | RuleType::CompoundAtomic => true,
            RuleType::NonAtomic => false,
            RuleType::Normal | RuleType::Silent => around,
        }
    }
}

/// The names that can be reached from a rule. White space and comments are reached where they are skipped: between the
/// steps of a rule that is not atomic.
fn reach<'g>(rules: &[Node<'g>], start: &'g str) -> HashSet<&'g str> {
    let mut reached: HashSet<(&str, bool)> = HashSet::new();
    let mut todo: Vec<(&str, bool)> = vec![(start, false)];
    while let Some((name, around)) = todo.pop() {
        if !reached.insert((name, around)) {
            continue;
        }
        for rule in rules.iter().filter(|rule| rule.name == name) {
            let is_atomic = rule.is_atomic(around);
            todo.extend(rule.names.iter().map(|&name| (name, is_atomic)));
            if rule.skips && !is_atomic {
                todo.extend([("WHITESPACE", true), ("COMMENT", true)]);
            }
        }
    }
    reached.into_iter().map(|(name, _)| name).collect()
}

fn skips(expr: &Expr) -> bool {
    let is_between = |expr: Expr| matches!(expr, Expr::Seq(..) | Expr::Rep(_) | Expr::RepOnce(_));
    let is_repeated =
        |expr: &Expr| matches!(expr, Expr::RepExact(..) | Expr::RepMin(..) | Expr::RepMax(..) | Expr::RepMinMax(..));
    expr.iter_top_down().any(|expr| is_repeated(&expr) || is_between(expr))
}

fn run_skips(expr: &OptimizedExpr) -> bool {
    use OptimizedExpr as E;
    expr.iter_top_down().any(|expr| matches!(expr, E::Seq(..) | E::Rep(_) | E::RepOnce(_)))
}

fn written_names(expr: &Expr) -> Vec<&str> {
    let mut names = Vec::new();
    let mut todo = vec![expr];
    while let Some(expr) = todo.pop() {
        match expr {
            Expr::Ident(name) => names.push(name.as_str()),
            // What is written first is taken first.
            Expr::Seq(a, b) | Expr::Choice(a, b) => todo.extend([&**b, &**a]),
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

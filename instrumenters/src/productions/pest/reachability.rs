//! Reachability of rules, in the grammar as written and as optimised.

use std::collections::{HashMap, HashSet};

use pest_meta::ast::{Expr, Rule, RuleType};
use pest_meta::optimizer::{OptimizedExpr, OptimizedRule};

use crate::productions::Role;

/// Returns the role of each rule, in the order of `rules`.
pub(super) fn roles(rules: &[Rule], optimised: &[OptimizedRule], start: &str) -> Vec<Role> {
    let written = rules.iter().map(|rule| {
        Node::new(&rule.name, rule.ty, written_names(&rule.expr), written_skips(&rule.expr))
    });
    let run = optimised
        .iter()
        .map(|rule| Node::new(&rule.name, rule.ty, run_names(&rule.expr), run_skips(&rule.expr)));
    let (written, run) =
        (reach(&written.collect::<Vec<_>>(), start), reach(&run.collect::<Vec<_>>(), start));
    rules
        .iter()
        .map(|rule| {
            match (written.contains(rule.name.as_str()), run.contains(rule.name.as_str())) {
                (_, true) => Role::InUse,
                (true, false) => Role::OptimisedAway,
                (false, false) => Role::Unused,
            }
        })
        .collect()
}

/// Returns the distinct rules that a rule refers to, in order.
pub(super) fn references(rule: &Rule, numbers: &HashMap<String, usize>) -> Vec<usize> {
    let mut references = Vec::new();
    for number in
        written_names(&rule.expr).into_iter().filter_map(|name| numbers.get(name).copied())
    {
        if !references.contains(&number) {
            references.push(number);
        }
    }
    references
}

/// Rule in the graph of the grammar.
struct Node<'g> {
    name: &'g str,
    kind: RuleType,
    names: Vec<&'g str>,
    /// Set if white space is skipped in the rule, unless it is atomic.
    skips: bool,
}

impl<'g> Node<'g> {
    fn new(name: &'g str, kind: RuleType, names: Vec<&'g str>, skips: bool) -> Self {
        Node { name, kind, names, skips }
    }

    /// Returns true if the rule's body is atomic. `around` tells the same about its caller.
    fn is_atomic(&self, around: bool) -> bool {
        match self.kind {
            RuleType::Atomic | RuleType::CompoundAtomic => true,
            RuleType::NonAtomic => false,
            RuleType::Normal | RuleType::Silent => around,
        }
    }
}

/// Returns the names that can be reached from a rule. White space and comments are reached between
/// the steps of a rule that is not atomic.
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

/// Returns an expression and all its parts, in the order of the text. (The iterators of `pest_meta`
/// leave out tags, the repetitions of its extras, and restored parts.)
fn all<'e, E>(root: &'e E, inside: impl Fn(&'e E) -> Vec<&'e E>) -> Vec<&'e E> {
    let mut found = Vec::new();
    let mut todo = vec![root];
    while let Some(expr) = todo.pop() {
        found.push(expr);
        todo.extend(inside(expr).into_iter().rev());
    }
    found
}

fn written(root: &Expr) -> Vec<&Expr> {
    all(root, |expr| match expr {
        Expr::Seq(a, b) | Expr::Choice(a, b) => vec![a, b],
        Expr::PosPred(a)
        | Expr::NegPred(a)
        | Expr::Opt(a)
        | Expr::Rep(a)
        | Expr::RepOnce(a)
        | Expr::Push(a) => vec![a],
        Expr::RepExact(a, _) | Expr::RepMin(a, _) | Expr::RepMax(a, _) | Expr::RepMinMax(a, ..) => {
            vec![a]
        }
        Expr::NodeTag(a, _) => vec![a],
        Expr::Ident(_) | Expr::Str(_) | Expr::Insens(_) | Expr::Range(..) | Expr::PeekSlice(..) => {
            Vec::new()
        }
        Expr::Skip(_) | Expr::PushLiteral(_) => Vec::new(),
    })
}

fn run(root: &OptimizedExpr) -> Vec<&OptimizedExpr> {
    use OptimizedExpr as E;
    all(root, |expr| match expr {
        E::Seq(a, b) | E::Choice(a, b) => vec![a, b],
        E::PosPred(a) | E::NegPred(a) | E::Opt(a) | E::Rep(a) | E::RepOnce(a) | E::Push(a) => {
            vec![a]
        }
        E::NodeTag(a, _) | E::RestoreOnErr(a) => vec![a],
        E::Ident(_) | E::Str(_) | E::Insens(_) | E::Range(..) | E::PeekSlice(..) => Vec::new(),
        E::Skip(_) | E::PushLiteral(_) => Vec::new(),
    })
}

/// Returns the rules that an expression names.
fn written_names(expr: &Expr) -> Vec<&str> {
    let names = written(expr).into_iter().filter_map(|expr| match expr {
        Expr::Ident(name) => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}

fn run_names(expr: &OptimizedExpr) -> Vec<&str> {
    let names = run(expr).into_iter().filter_map(|expr| match expr {
        OptimizedExpr::Ident(name) => Some(name.as_str()),
        _ => None,
    });
    names.collect()
}

/// Returns true if white space is skipped between the steps of an expression.
fn written_skips(expr: &Expr) -> bool {
    use Expr as E;
    written(expr).into_iter().any(|expr| {
        matches!(expr, E::Seq(..) | E::Rep(_) | E::RepOnce(_) | E::RepExact(..) | E::RepMin(..))
            || matches!(expr, E::RepMax(..) | E::RepMinMax(..))
    })
}

fn run_skips(expr: &OptimizedExpr) -> bool {
    use OptimizedExpr as E;
    run(expr).into_iter().any(|expr| matches!(expr, E::Seq(..) | E::Rep(_) | E::RepOnce(_)))
}

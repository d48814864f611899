//! Compiler from the rules that `pest_meta` has optimised to a program.

use std::collections::HashMap;

use pest_meta::ast::RuleType;
use pest_meta::optimizer::{OptimizedExpr as Expr, OptimizedRule};

use super::builtin::Builtin;
use super::program::{Kind, Node, Program};
use crate::productions::Alternative;

/// Compiled grammar.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    pub programs: Vec<Program>,
    pub alternatives: Vec<Alternative>,
    /// Names of Unicode properties, which [`Node::Property`] refers to by number.
    pub properties: Vec<String>,
    choices: usize,
}

/// Compiles the rules, in the order of `numbers`.
pub(super) fn compile(rules: &[OptimizedRule], numbers: &HashMap<String, usize>) -> Compiled {
    let mut built = Compiled::default();
    for (number, rule) in rules.iter().enumerate() {
        let body = built.node(number, &rule.expr, numbers);
        built.programs.push(Program { kind: kind(rule), body });
    }
    built
}

/// Returns the kind of a rule. White space and comments are atomic, in every grammar.
fn kind(rule: &OptimizedRule) -> Kind {
    let is_skipped = rule.name == "WHITESPACE" || rule.name == "COMMENT";
    match rule.ty {
        RuleType::Silent if is_skipped => Kind::SilentAtomic,
        RuleType::Normal | RuleType::Atomic if is_skipped => Kind::Atomic,
        RuleType::NonAtomic if is_skipped => Kind::AtomicFirst,
        RuleType::Normal => Kind::Normal,
        RuleType::Silent => Kind::Silent,
        RuleType::Atomic => Kind::Atomic,
        RuleType::CompoundAtomic => Kind::Compound,
        RuleType::NonAtomic => Kind::NonAtomic,
    }
}

impl Compiled {
    fn node(&mut self, rule: usize, expr: &Expr, numbers: &HashMap<String, usize>) -> Node {
        let mut boxed = |expr: &Expr| Box::new(self.node(rule, expr, numbers));
        match expr {
            Expr::Str(text) => Node::Str(text.as_str().into()),
            Expr::Insens(text) => Node::Insensitive(text.as_str().into()),
            Expr::Range(from, to) => {
                // Each bound is a single character, as `pest_meta` has checked.
                Node::Range(from.chars().next().unwrap_or('\0'), to.chars().next().unwrap_or('\0'))
            }
            Expr::Ident(name) => self.name(name, numbers),
            Expr::PeekSlice(from, to) => Node::PeekSlice(*from, *to),
            Expr::PosPred(expr) => Node::Ahead(boxed(expr)),
            Expr::NegPred(expr) => Node::NotAhead(boxed(expr)),
            Expr::Seq(..) => {
                let mut steps = Vec::new();
                flatten(expr, &mut steps, |expr| match expr {
                    Expr::Seq(first, rest) => Some((first, rest)),
                    _ => None,
                });
                Node::Sequence(
                    steps.into_iter().map(|expr| self.node(rule, expr, numbers)).collect(),
                )
            }
            Expr::Choice(..) => {
                let mut texts = Vec::new();
                flatten(expr, &mut texts, |expr| match expr {
                    Expr::Choice(first, rest) => Some((first, rest)),
                    _ => None,
                });
                let first = self.alternatives.len();
                let choice = self.choices;
                self.choices += 1;
                self.alternatives.extend(texts.iter().map(|&expr| Alternative {
                    production: rule,
                    choice,
                    text: expr.to_string(),
                    first: first_rule(expr, numbers),
                }));
                Node::Choice(
                    first as u32,
                    texts.into_iter().map(|expr| self.node(rule, expr, numbers)).collect(),
                )
            }
            Expr::Opt(expr) => Node::Optional(boxed(expr)),
            Expr::Rep(expr) => Node::Repeat(boxed(expr)),
            Expr::RepOnce(expr) => Node::RepeatOnce(boxed(expr)),
            Expr::Push(expr) => Node::Push(boxed(expr)),
            Expr::PushLiteral(text) => Node::PushLiteral(text.as_str().into()),
            Expr::Skip(strings) => {
                Node::SkipUntil(strings.iter().map(|text| text.as_str().into()).collect())
            }
            Expr::NodeTag(expr, tag) => Node::Tag(boxed(expr), tag.as_str().into()),
            Expr::RestoreOnErr(expr) => Node::Restore(boxed(expr)),
        }
    }

    fn name(&mut self, name: &str, numbers: &HashMap<String, usize>) -> Node {
        if let Some(&rule) = numbers.get(name) {
            return Node::Rule(rule as u32);
        }
        if let Some(builtin) = Builtin::by_name(name) {
            return Node::Builtin(builtin);
        }
        // `pest_meta` has checked all names, so this must be a property.
        let known = self.properties.iter().position(|property| property == name);
        let at = known.unwrap_or_else(|| {
            self.properties.push(name.to_owned());
            self.properties.len() - 1
        });
        Node::Property(at as u32)
    }
}

/// Collects the parts of a chain that nests to the right.
fn flatten<'e>(
    expr: &'e Expr,
    into: &mut Vec<&'e Expr>,
    split: impl Fn(&'e Expr) -> Option<(&'e Expr, &'e Expr)> + Copy,
) {
    let mut rest = expr;
    while let Some((first, more)) = split(rest) {
        into.push(first);
        rest = more;
    }
    into.push(rest);
}

/// Returns the rule that an expression begins with.
fn first_rule(expr: &Expr, numbers: &HashMap<String, usize>) -> Option<usize> {
    match expr {
        Expr::Ident(name) => numbers.get(name).copied(),
        Expr::Seq(first, _) => first_rule(first, numbers),
        Expr::RestoreOnErr(inner) | Expr::NodeTag(inner, _) | Expr::Push(inner) => {
            first_rule(inner, numbers)
        }
        _ => None,
    }
}

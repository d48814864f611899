//! Cyclomatic complexity of a function: the number of independent paths through its body.

use syn::visit::{self, Visit};
use syn::{
    BinOp, Block, ExprBinary, ExprClosure, ExprForLoop, ExprIf, ExprMatch, ExprTry, ExprWhile,
    Item, PatGuard,
};

/// Computes the complexity of a body.
///
/// It is 1, plus 1 for each `if`, loop with a condition, arm of a `match` except the first, guard
/// of an arm, `?`, `&&` and `||`. Closures count with their function; nested functions do not
/// count.
pub fn of(block: &Block) -> u32 {
    let mut ways = Ways(1);
    ways.visit_block(block);
    ways.0
}

/// Computes the complexity of a closure.
pub fn of_closure(closure: &ExprClosure) -> u32 {
    let mut ways = Ways(1);
    ways.visit_expr(&closure.body);
    ways.0
}

struct Ways(u32);

impl<'ast> Visit<'ast> for Ways {
    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_expr_if(&mut self, it: &'ast ExprIf) {
        self.0 += 1;
        visit::visit_expr_if(self, it);
    }

    fn visit_expr_while(&mut self, it: &'ast ExprWhile) {
        self.0 += 1;
        visit::visit_expr_while(self, it);
    }

    fn visit_expr_for_loop(&mut self, it: &'ast ExprForLoop) {
        self.0 += 1;
        visit::visit_expr_for_loop(self, it);
    }

    fn visit_expr_match(&mut self, it: &'ast ExprMatch) {
        self.0 += it.arms.len().saturating_sub(1) as u32;
        visit::visit_expr_match(self, it);
    }

    fn visit_pat_guard(&mut self, it: &'ast PatGuard) {
        self.0 += 1;
        visit::visit_pat_guard(self, it);
    }

    fn visit_expr_try(&mut self, it: &'ast ExprTry) {
        self.0 += 1;
        visit::visit_expr_try(self, it);
    }

    fn visit_expr_binary(&mut self, it: &'ast ExprBinary) {
        self.0 += u32::from(matches!(it.op, BinOp::And(_) | BinOp::Or(_)));
        visit::visit_expr_binary(self, it);
    }
}

#[cfg(test)]
mod tests {
    fn check(body: &str, expected: u32) {
        let block = syn::parse_str(&format!("{{ {body} }}")).expect("a body");
        assert_eq!(super::of(&block), expected, "{body}");
    }

    #[test]
    fn each_way_counts_once() {
        check("", 1);
        check("if a { b } else if c { d } else { e }", 3);
        check("while a && b || c { for x in y { loop { break } } }", 5);
        check("match a { B => 1, C if d => 2, _ => 3 }", 4);
        check("a?.b()?; let f = |x| if x { 1 } else { 2 };", 4);
    }

    #[test]
    fn a_nested_function_does_not_count() {
        check("fn g() { if a { } } g();", 1);
    }
}

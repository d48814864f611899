//! Closures: which can have a hook, and its place.
//!
//! Closures are selected with their function: `pub a::** lines>=10 --closures` selects the closures
//! of these functions. They have no conditions of their own, because a closure has no visibility,
//! and no lines that matter.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, MacroDelimiter};

use crate::source::signature::Properties;

/// The function around closures.
pub(super) struct Around {
    /// The closures found in it so far.
    pub closures: u32,
    /// Its properties, which its closures have too.
    pub properties: Properties,
    /// The reason why none of them can be woven.
    pub skipped: Option<&'static str>,
}

/// The reason why a closure cannot be woven; `None` if it can.
pub(super) fn reason(closure: &ExprClosure) -> Option<&'static str> {
    if closure.asyncness.is_some() {
        return Some("a call of an async closure does not run its body");
    }
    if closure.constness.is_some() {
        return Some("a const closure also runs at compile time, where a hook cannot");
    }
    let begins_with_block = !is_block_like(&closure.body) && is_block_like(leftmost(&closure.body));
    begins_with_block
        .then_some("its expression begins with a block, and would end there behind a hook")
}

/// The bytes of its body: within the braces, or of the expression.
pub(super) fn body(
    closure: &ExprClosure,
    insert_at: impl Fn(&syn::ExprBlock) -> usize,
) -> Range<usize> {
    match &*closure.body {
        Expr::Block(block) if block.label.is_none() => {
            insert_at(block)..block.block.brace_token.span.close().byte_range().start
        }
        body => body.span().byte_range(),
    }
}

/// True for expressions that end a statement without a semicolon.
fn is_block_like(expr: &Expr) -> bool {
    match expr {
        Expr::Macro(call) => matches!(call.mac.delimiter, MacroDelimiter::Brace(_)),
        Expr::Block(_)
        | Expr::Unsafe(_)
        | Expr::Const(_)
        | Expr::Async(_)
        | Expr::If(_)
        | Expr::Match(_)
        | Expr::Loop(_)
        | Expr::While(_)
        | Expr::ForLoop(_)
        | Expr::TryBlock(_) => true,
        _ => false,
    }
}

fn leftmost(expr: &Expr) -> &Expr {
    let left = match expr {
        Expr::Assign(it) => &it.left,
        Expr::Await(it) => &it.base,
        Expr::Binary(it) => &it.left,
        Expr::Call(it) => &it.func,
        Expr::Cast(it) => &it.expr,
        Expr::Field(it) => &it.base,
        Expr::Index(it) => &it.expr,
        Expr::MethodCall(it) => &it.receiver,
        Expr::Range(syn::ExprRange { start: Some(start), .. }) => start,
        Expr::Try(it) => &it.expr,
        other => return other,
    };
    leftmost(left)
}

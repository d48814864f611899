//! Expressions that run no code of the program, whatever the types in them: they cannot panic, call
//! observed code or take long.
//!
//! The way in which the value is then identified depends on its type, which only the compiler
//! resolves.

use syn::Expr;

/// Returns true if the expression only names, borrows and groups: `node`, `self.id`, `(&self.owner,
/// node)`, `NodeId(node)`.
pub fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Field(field) => is_plain(&field.base),
        Expr::Reference(reference) => is_plain(&reference.expr),
        Expr::Paren(inner) => is_plain(&inner.expr),
        Expr::Group(inner) => is_plain(&inner.expr),
        Expr::Cast(cast) => is_plain(&cast.expr),
        Expr::Tuple(tuple) => tuple.elems.iter().all(is_plain),
        Expr::Call(call) => is_constructor(&call.func) && call.args.iter().all(is_plain),
        _ => false,
    }
}

/// Returns true if a call makes a tuple struct or a variant, by its capital letter: `NodeId(node)`.
fn is_constructor(func: &Expr) -> bool {
    matches!(func, Expr::Path(path)
        if path.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase)))
}

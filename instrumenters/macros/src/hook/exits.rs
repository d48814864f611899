//! Early ways out of a body that can be seen: `return`.
//!
//! A `?` is left alone, as rewriting it would take hints from the type checker: where a function returns a `Result` or
//! an `Option`, an early way out that nobody announced is a failure.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprAsync, ExprClosure, ExprConst, ExprReturn, Item};

/// Lets every visible `return` of the body say its value first: `announce` is put between the value, which is bound
/// to `__value`, and the way out.
pub fn announce(block: &mut Block, ty: &TokenStream, announce: &TokenStream) {
    Exits { ty, announce }.visit_block_mut(block);
}

struct Exits<'a> {
    ty: &'a TokenStream,
    announce: &'a TokenStream,
}

impl VisitMut for Exits<'_> {
    fn visit_expr_return_mut(&mut self, exit: &mut ExprReturn) {
        visit_mut::visit_expr_return_mut(self, exit);
        if let Some(value) = &exit.expr {
            let (ty, announce) = (self.ty, self.announce);
            let said = quote_spanned!(Span::mixed_site()=> {
                let __value: #ty = #value;
                #[allow(unreachable_code)]
                { #announce }
                #[allow(unreachable_code)]
                __value
            });
            exit.expr = Some(Box::new(Expr::Verbatim(said)));
        }
    }

    // A `return` in these leaves something else.
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}
    fn visit_expr_const_mut(&mut self, _: &mut ExprConst) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

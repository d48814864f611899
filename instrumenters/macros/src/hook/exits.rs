//! Visible early exits of a body, which are `return` expressions.
//!
//! A `?` is left alone, because rewriting it would take hints from the type checker. Where a
//! function returns a `Result` or an `Option`, an exit without an announcement is a failure. That
//! includes exits that a macro hides, such as `bail!`, unless the macro gets a `return` to place.
//! Such a function is only known to have returned.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote_spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprAsync, ExprClosure, ExprConst, ExprReturn, Item, Macro};

/// Makes every visible `return` of the body announce its value.
///
/// The code `announce` is put between the value, which is bound to `__value`, and the exit. The
/// result is true if those were all exits: a macro may place a `return` of its arguments anywhere.
pub fn announce(block: &mut Block, ty: &TokenStream, announce: &TokenStream) -> bool {
    let mut exits = Exits { ty, announce, all: true };
    exits.visit_block_mut(block);
    exits.all
}

struct Exits<'a> {
    ty: &'a TokenStream,
    announce: &'a TokenStream,
    all: bool,
}

impl VisitMut for Exits<'_> {
    fn visit_expr_return_mut(&mut self, exit: &mut ExprReturn) {
        visit_mut::visit_expr_return_mut(self, exit);
        if let Some(value) = &exit.expr {
            let ty = self.ty;
            let announce = self.announce;
            let value = quote_spanned!(Span::mixed_site()=> {
                let __value: #ty = #value;
                #[allow(unreachable_code)]
                { #announce }
                #[allow(unreachable_code)]
                __value
            });
            exit.expr = Some(Box::new(Expr::Verbatim(value)));
        }
    }

    fn visit_macro_mut(&mut self, made: &mut Macro) {
        self.all &= !has_return(made.tokens.clone());
    }

    // A `return` in these leaves an inner function or closure.
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut ExprAsync) {}
    fn visit_expr_const_mut(&mut self, _: &mut ExprConst) {}
    fn visit_item_mut(&mut self, _: &mut Item) {}
}

fn has_return(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "return",
        TokenTree::Group(group) => has_return(group.stream()),
        _ => false,
    })
}

//! Hook in a body. The body is emitted once, after a guard, and never inside of a closure.
//!
//! A closure around the body would break `impl Trait`, returned borrows and `return`.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Attribute, Block, Error, Expr, Path, Result, ReturnType, Signature, Stmt, parse_quote};

use crate::hook::entry::Entry;
use crate::hook::exits;
use crate::hook::future;
use crate::hook::output::Output;
use crate::hook::self_type::SelfType;
use crate::options::Options;

/// Function that gets a hook.
pub struct Call<'a> {
    pub krate: &'a Path,
    pub options: &'a Options,
    pub self_type: SelfType,
    /// Statements and an expression that make the function's site known in its body.
    pub statics: TokenStream,
    pub site: TokenStream,
}

impl Call<'_> {
    /// Returns true if the function returns a future. Then the future is observed, and not its
    /// creation.
    pub fn is_async(sig: &Signature, block: &Block) -> bool {
        sig.asyncness.is_some() || future::is_tail(sig, block)
    }

    /// Inserts the hook into a function.
    pub fn hook(
        &self,
        attrs: &mut Vec<Attribute>,
        sig: &Signature,
        block: &mut Block,
    ) -> Result<()> {
        if let (Some(span), true) = (self.options.caller, sig.asyncness.is_some()) {
            return Err(Error::new(span, NO_CALLER));
        }
        if self.options.caller.is_some()
            && !attrs.iter().any(|attr| attr.path().is_ident("track_caller"))
        {
            attrs.push(parse_quote!(#[track_caller]));
        }
        if Call::is_async(sig, block) {
            future::hook(self, sig, block)
        } else {
            self.hook_body(sig, block)?
        }
        Ok(())
    }

    fn hook_body(&self, sig: &Signature, block: &mut Block) -> Result<()> {
        let Call { krate, statics, site, .. } = self;
        let output = Output::of(&sig.output);
        let shows_value = self.shows_value(&output)?;
        let mut is_announced = true;
        let ty = if output.is_whole() || output.shows_outcome() || shows_value {
            output.ty()
        } else {
            None
        };
        if let Some(ty) = &ty
            && (output.shows_outcome() || shows_value)
        {
            let value = self.value_statement(shows_value);
            let outcome = self.outcome(&output, quote_spanned!(Span::mixed_site()=> &__value));
            let announce = quote_spanned!(Span::mixed_site()=> #value __call.exit(#outcome););
            is_announced = exits::announce(block, ty, &announce);
        }
        let entry = Entry { call: self, sig }.tokens();
        // An early exit without a mark is a `?`.
        let may_fail_unannounced = output.shows_outcome() && is_announced;
        let failing = may_fail_unannounced
            .then(|| quote_spanned!(Span::mixed_site()=> __began.exit(#krate::__private::Outcome::Failed);));
        let stmts = &block.stmts;
        let body = match ty {
            None => quote_spanned!(Span::mixed_site()=> { #(#stmts)* }),
            Some(_) if matches!(output, Output::Unit) && !shows_value => {
                quote_spanned!(Span::mixed_site()=>
                    { #(#stmts)* }
                    #[allow(unreachable_code)]
                    __call.done(#krate::__private::Outcome::Returned)
                )
            }
            Some(ty) => {
                let value = self.value_statement(shows_value);
                let outcome = self.outcome(&output, quote_spanned!(Span::mixed_site()=> &__value));
                quote_spanned!(Span::mixed_site()=>
                    #[allow(clippy::diverging_sub_expression)]
                    let __value: #ty = { #(#stmts)* };
                    #[allow(unreachable_code)]
                    { #value __call.done(#outcome); }
                    #[allow(unreachable_code)]
                    __value
                )
            }
        };
        replace(
            block,
            quote_spanned!(Span::mixed_site()=>
                #statics
                let __site: &'static #krate::__private::Site = #site;
                let mut __frame = #krate::__private::Frame::vacant();
                #[allow(unused_mut)]
                let mut __call = if __site.is_armed() {
                    #[allow(unused_mut)]
                    let mut __began = #krate::__private::Guard::of(__site, { #entry });
                    #failing
                    __began
                } else {
                    #krate::__private::Guard::unarmed(__site)
                };
                #body
            ),
        );
        Ok(())
    }

    /// Generates the outcome that a value shows.
    pub fn outcome(&self, output: &Output, value: TokenStream) -> TokenStream {
        let krate = self.krate;
        if !output.shows_outcome() {
            return quote_spanned!(Span::mixed_site()=> #krate::__private::Outcome::Returned);
        }
        // A type called `QueryResult` may be anything, so the compiler decides if it has an
        // outcome.
        quote_spanned!(Span::mixed_site()=> {
            #[allow(unused_imports)]
            use #krate::__private::WithoutOutcome as _;
            #krate::__private::Returned(#value).outcome()
        })
    }

    fn shows_value(&self, output: &Output) -> Result<bool> {
        match self.options.ret {
            Some(span) if output.ty().is_none() => {
                Err(Error::new(span, "`ret` needs a value that can be held: no `!`"))
            }
            ret => Ok(ret.is_some()),
        }
    }

    fn value_statement(&self, shows_value: bool) -> TokenStream {
        if shows_value {
            quote_spanned!(Span::mixed_site()=> __call.returns(&__value);)
        } else {
            TokenStream::new()
        }
    }
}

const NO_CALLER: &str = "the compiler tells no async fn who called it: write `fn … -> impl Future` with an `async move` \
                         block as its last expression, or leave `caller` out";

/// Replaces the statements of a block. Its braces stay where they were, so that messages about its
/// end still point there.
pub fn replace(block: &mut Block, tokens: TokenStream) {
    block.stmts = vec![Stmt::Expr(Expr::Verbatim(tokens), None)];
}

/// Returns the type that a signature returns, if it has any.
pub fn returned(sig: &Signature) -> Option<&syn::Type> {
    match &sig.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(ty),
    }
}

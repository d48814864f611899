//! Functions that make a future: one event from its first poll to its end, or to its drop.
//!
//! No guard lives across an await: what a future keeps of a call are ids, which may go anywhere.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Block, Expr, ExprAsync, Signature, Stmt};

use crate::hook::call::{Call, replace, returned};
use crate::hook::entry::Entry;
use crate::hook::output::{self, Output};

/// Puts the hook into a function that [`is_tail`] or is async.
pub fn hook(call: &Call<'_>, sig: &Signature, block: &mut Block) {
    let before = before(call, sig);
    if sig.asyncness.is_some() {
        let output = Output::of(&sig.output);
        let body = hint(&output, &block.stmts);
        let polled = polled(call, &output, quote_spanned!(Span::mixed_site()=> async move { #body }));
        replace(block, quote_spanned!(Span::mixed_site()=> #before #polled));
    } else if let Some(made) = tail(sig, block) {
        let output = returned(sig).and_then(output::of_future).unwrap_or(Output::Opaque);
        let (capture, stmts) = (&made.capture, &made.block.stmts);
        let polled = polled(call, &output, quote_spanned!(Span::mixed_site()=> async #capture { #(#stmts)* }));
        // What was captured by reference is a reference that outlives the function, or it could not be returned.
        made.capture.get_or_insert_with(Default::default);
        replace(&mut made.block, polled);
        block.stmts.insert(0, Stmt::Expr(Expr::Verbatim(before), None));
    }
}

/// Whether the function's last expression is an async block: `#[async_trait]` makes such functions.
pub fn is_tail(sig: &Signature, block: &Block) -> bool {
    let mut block = block.clone();
    tail(sig, &mut block).is_some()
}

/// Statements that ask whom the call is about, while the arguments are still there.
fn before(call: &Call<'_>, sig: &Signature) -> TokenStream {
    let Call { krate, statics, site, .. } = call;
    let subject = Entry { call, sig }.subject();
    quote_spanned!(Span::mixed_site()=>
        #statics
        let __site: &'static #krate::__private::Site = #site;
        let __subject = if __site.is_armed() { #subject } else { #krate::__private::Subject::NONE };
    )
}

/// Statements that poll a future, with the hook around each poll.
fn polled(call: &Call<'_>, output: &Output, future: TokenStream) -> TokenStream {
    let krate = call.krate;
    let outcome = match output.ty() {
        Some(ty) if output.tells() => {
            let outcome = call.outcome(output, quote_spanned!(Span::mixed_site()=> __value));
            quote_spanned!(Span::mixed_site()=> { let __value: &#ty = __value; #outcome })
        }
        _ => quote_spanned!(Span::mixed_site()=> { let _ = __value; #krate::__private::Outcome::Returned }),
    };
    // `pin!` is given a name only: some attributes look for `self` in what a macro is given, and guess.
    quote_spanned!(Span::mixed_site()=>
        let mut __call = #krate::__private::AsyncCall::new(__site);
        let __future = #future;
        let mut __future = ::core::pin::pin!(__future);
        ::core::future::poll_fn(move |__context| {
            __call.poll(
                || __subject,
                || ::core::future::Future::poll(__future.as_mut(), __context),
                |__value| #outcome,
            )
        })
        .await
    )
}

/// The body, told first what it returns: inside of an async block nothing else says so.
fn hint(output: &Output, stmts: &[Stmt]) -> TokenStream {
    let Some(ty) = output.ty() else {
        return quote_spanned!(Span::mixed_site()=> #(#stmts)*);
    };
    let told = quote_spanned!(Span::mixed_site()=>
        if let ::core::option::Option::Some(__value) = ::core::option::Option::None::<#ty> {
            return __value;
        }
    );
    match output {
        Output::Unit => quote_spanned!(Span::mixed_site()=> #told #(#stmts)*),
        _ => quote_spanned!(Span::mixed_site()=>
            #told
            let __value: #ty = { #(#stmts)* };
            #[allow(unreachable_code)]
            __value
        ),
    }
}

/// The async block that is the last expression of a function, bare or in `Box::pin`.
fn tail<'a>(sig: &Signature, block: &'a mut Block) -> Option<&'a mut ExprAsync> {
    returned(sig).and_then(output::of_future)?;
    match block.stmts.last_mut()? {
        Stmt::Expr(expr, None) => made(expr),
        _ => None,
    }
}

fn made(expr: &mut Expr) -> Option<&mut ExprAsync> {
    match expr {
        Expr::Async(made) => Some(made),
        Expr::Call(call) if call.args.len() == 1 => match &*call.func {
            Expr::Path(path) if is_box_pin(&path.path) => made(&mut call.args[0]),
            _ => None,
        },
        _ => None,
    }
}

fn is_box_pin(path: &syn::Path) -> bool {
    let mut last = path.segments.iter().rev();
    last.next().is_some_and(|last| last.ident == "pin") && last.next().is_some_and(|owner| owner.ident == "Box")
}

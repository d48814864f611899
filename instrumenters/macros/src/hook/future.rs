//! Hooks of functions that make a future. The event lasts from its first poll to its end, or to its
//! drop.
//!
//! No guard lives across an await. A future only keeps the ids of a call, which may move between
//! threads.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Block, Expr, ExprAsync, Signature, Stmt};

use crate::hook::call::{Call, replace, returned};
use crate::hook::entry::Entry;
use crate::hook::output::{self, Output};

/// Inserts the hook into a function that [`is_tail`] or is async.
pub fn hook(call: &Call<'_>, sig: &Signature, block: &mut Block) {
    let before = before(call, sig);
    if sig.asyncness.is_some() {
        let output = Output::of(&sig.output);
        let body = hint(&output, &block.stmts);
        let polled =
            polled(call, &output, quote_spanned!(Span::mixed_site()=> async move { #body }));
        replace(block, quote_spanned!(Span::mixed_site()=> #before #polled));
    } else if let Some(made) = tail(sig, block) {
        let output = returned(sig).and_then(output::of_future).unwrap_or(Output::Opaque);
        let capture = &made.capture;
        let stmts = &made.block.stmts;
        let polled = polled(
            call,
            &output,
            quote_spanned!(Span::mixed_site()=> async #capture { #(#stmts)* }),
        );
        // A capture by reference outlives the function, or the block could not be returned.
        made.capture.get_or_insert_with(Default::default);
        replace(&mut made.block, polled);
        block.stmts.insert(0, Stmt::Expr(Expr::Verbatim(before), None));
    }
}

/// Returns true if the function's last expression is an async block: `#[async_trait]` makes such
/// functions.
pub fn is_tail(sig: &Signature, block: &Block) -> bool {
    let mut block = block.clone();
    tail(sig, &mut block).is_some()
}

/// Generates statements that record the subject and the arguments of the call, while these still
/// exist.
///
/// An async fn runs them at its first poll, any other function when it is called.
fn before(call: &Call<'_>, sig: &Signature) -> TokenStream {
    let Call { krate, statics, site, .. } = call;
    let entry = Entry { call, sig };
    let subject = entry.subject();
    let caller = entry.caller();
    let shown = entry.arguments().map(|arguments| {
        quote_spanned!(Span::mixed_site()=>
            #caller
            let __shown = if __site.is_armed() {
                #krate::__private::show(__site, __subject, |__reify| { #arguments })
            } else {
                #krate::__private::Shown::NOTHING
            };
        )
    });
    quote_spanned!(Span::mixed_site()=>
        #statics
        let __site: &'static #krate::__private::Site = #site;
        let __subject = if __site.is_armed() { #subject } else { #krate::__private::Subject::NONE };
        #shown
    )
}

/// Generates statements that poll a future, with the hook around each poll.
fn polled(call: &Call<'_>, output: &Output, future: TokenStream) -> TokenStream {
    let krate = call.krate;
    let value = call.options.ret.map(|span| {
        // With this span, the compiler's error points at a value that is not `Debug`.
        let value = quote_spanned!(Span::mixed_site().located_at(span)=> __value);
        quote_spanned!(Span::mixed_site()=> __returned.value(#value);)
    });
    let outcome = match output.ty() {
        Some(ty) if output.shows_outcome() => {
            let outcome = call.outcome(output, quote_spanned!(Span::mixed_site()=> __value));
            quote_spanned!(Span::mixed_site()=> {
                #[allow(clippy::ref_option_ref)]
                let __value: &#ty = __value;
                #value
                #outcome
            })
        }
        _ => quote_spanned!(Span::mixed_site()=> { #value #krate::__private::Outcome::Returned }),
    };
    let made = if call.options.args.is_empty() && call.options.caller.is_none() {
        quote_spanned!(Span::mixed_site()=> #krate::__private::AsyncCall::new(__site))
    } else {
        quote_spanned!(Span::mixed_site()=> #krate::__private::AsyncCall::showing(__site, __shown))
    };
    let names = match (&value, output.shows_outcome()) {
        (Some(_), _) => quote_spanned!(Span::mixed_site()=> __value, __returned),
        (None, true) => quote_spanned!(Span::mixed_site()=> __value, _),
        (None, false) => quote_spanned!(Span::mixed_site()=> _, _),
    };
    // `pin!` only gets a name: some attributes look for `self` in a macro's arguments, and guess.
    quote_spanned!(Span::mixed_site()=>
        let mut __call = #made;
        let __future = #future;
        let mut __future = ::core::pin::pin!(__future);
        // The pin may be used after a panic if the future may. The code beside it checks that.
        ::core::panic::AssertUnwindSafe(::core::future::poll_fn(move |__context| {
            __call.poll(
                || __subject,
                || ::core::future::Future::poll(__future.as_mut(), __context),
                |#names| #outcome,
            )
        }))
        .await
    )
}

/// Adds the returned type to the body, because an async block cannot state it in any other way.
fn hint(output: &Output, stmts: &[Stmt]) -> TokenStream {
    let Some(ty) = output.ty() else {
        return quote_spanned!(Span::mixed_site()=> #(#stmts)*);
    };
    let begin = quote_spanned!(Span::mixed_site()=>
        if let ::core::option::Option::Some(__value) = ::core::option::Option::None::<#ty> {
            return __value;
        }
    );
    match output {
        Output::Unit => quote_spanned!(Span::mixed_site()=> #begin #(#stmts)*),
        _ => quote_spanned!(Span::mixed_site()=>
            #begin
            #[allow(clippy::diverging_sub_expression)]
            let __value: #ty = { #(#stmts)* };
            #[allow(unreachable_code)]
            __value
        ),
    }
}

/// Finds the async block that is the last expression of a function, bare or in `Box::pin`.
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
    last.next().is_some_and(|last| last.ident == "pin")
        && last.next().is_some_and(|owner| owner.ident == "Box")
}

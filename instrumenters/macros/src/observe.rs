//! `#[observe]`: reads, judges, and hands on.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Error, ImplItem, ItemImpl, ItemTrait, Result, Signature, TraitItem};

use crate::hook;
use crate::item::{self, Item};
use crate::lone;
use crate::options::{self, Options};
use crate::proxy;
use crate::unobservable::{self, LEFT_OUT, MADE_BY_A_MACRO};

/// What becomes of one item of an `impl` or a trait.
pub enum Verdict {
    Observe(Box<Options>),
    /// It is listed, with this reason, and never observed.
    Skip(&'static str),
    /// It is no function, or nobody asked for it.
    Leave,
}

pub fn observe(options: TokenStream, item: TokenStream) -> TokenStream {
    // What was wrong is said beside the item itself, so that the compiler does not also miss the item.
    expand(options, item.clone()).unwrap_or_else(|error| {
        let error = error.to_compile_error();
        quote!(#item #error)
    })
}

fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = options::parse(options)?;
    match item::parse(item)? {
        Item::Function(function) => lone::observe(options, function),
        Item::Impl(item) => implementation(options, item),
        Item::Trait(item) => declaration(options, item),
    }
}

fn implementation(options: Options, mut item: ItemImpl) -> Result<TokenStream> {
    options.check_block(false)?;
    let verdicts: Vec<Verdict> = (item.items.iter_mut())
        .map(|item| match item {
            ImplItem::Fn(method) => judge(&options, &mut method.attrs, &method.sig),
            ImplItem::Macro(_) if options.only.is_none() => Ok(Verdict::Skip(MADE_BY_A_MACRO)),
            _ => Ok(Verdict::Leave),
        })
        .collect::<Result<_>>()?;
    hook::implementation(item, verdicts, &options)
}

fn declaration(options: Options, mut item: ItemTrait) -> Result<TokenStream> {
    options.check_block(true)?;
    if options.proxy.is_some() {
        return proxy::declare(options, item);
    }
    let verdicts: Vec<Verdict> = (item.items.iter_mut())
        .map(|item| match item {
            TraitItem::Fn(method) => {
                let verdict = judge(&options, &mut method.attrs, &method.sig)?;
                Ok(if method.default.is_some() { verdict } else { Verdict::Leave })
            }
            TraitItem::Macro(_) if options.only.is_none() => Ok(Verdict::Skip(MADE_BY_A_MACRO)),
            _ => Ok(Verdict::Leave),
        })
        .collect::<Result<_>>()?;
    hook::declaration(item, verdicts, &options)
}

/// Judges a method, and takes its own `#[observe]` away.
pub fn judge(outer: &Options, attrs: &mut Vec<Attribute>, sig: &Signature) -> Result<Verdict> {
    let own = Options::take(attrs)?;
    let asked_for = own.is_some();
    let own = own.unwrap_or_default();
    own.check_function()?;
    if own.skip.is_some() {
        return Ok(Verdict::Skip(LEFT_OUT));
    }
    if outer.only.is_some() && !asked_for {
        return Ok(Verdict::Leave);
    }
    match unobservable::reason(sig, attrs) {
        Some(reason) if asked_for => Err(unobservable_error(sig, reason)),
        Some(reason) => Ok(Verdict::Skip(reason)),
        None => Ok(Verdict::Observe(Box::new(own.within(outer, sig)))),
    }
}

/// The attribute stands directly on a function that cannot be observed.
pub fn unobservable_error(sig: &Signature, reason: &str) -> Error {
    Error::new(sig.ident.span(), format!("`{}` cannot be observed: {reason}", sig.ident))
}

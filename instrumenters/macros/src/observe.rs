//! `#[observe]`: parses its options and its item, decides what is observed, and calls `hook`.

use metaspy_syntax::refusal::{self, LEFT_OUT, MADE_BY_A_MACRO};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Error, ImplItem, ItemFn, ItemImpl, ItemTrait, Result, Signature, TraitItem};

use crate::hook;
use crate::item::{self, Item};
use crate::options::{self, Options};
use crate::proxy;

/// What becomes of one item of an `impl` or a trait.
pub enum Verdict {
    Observe(Box<Options>),
    /// It is listed, with this reason, and never observed.
    Skip(&'static str),
    /// It is no function, or not selected.
    Leave,
}

pub fn observe(options: TokenStream, item: TokenStream) -> TokenStream {
    // The item stays beside its error, so that the compiler does not report it as missing, too.
    expand(options, item.clone()).unwrap_or_else(|error| {
        let error = error.to_compile_error();
        quote!(#item #error)
    })
}

fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let options = options::parse(options)?;
    match item::parse(item)? {
        Item::Function(function) => self::function(options, function),
        Item::Impl(item) => implementation(options, item),
        Item::Trait(item) => declaration(options, item),
    }
}

/// The attribute on a free function, or on a method whose `impl` has none.
fn function(options: Options, function: ItemFn) -> Result<TokenStream> {
    options.check_function()?;
    if options.skip.is_some() {
        return Ok(function.into_token_stream());
    }
    match refusal::reason(&function.sig, &function.attrs) {
        Some(reason) => Err(refused(&function.sig, reason)),
        None => hook::function(function, &options),
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

/// Decides what becomes of a method, and removes its own `#[observe]`.
pub fn judge(outer: &Options, attrs: &mut Vec<Attribute>, sig: &Signature) -> Result<Verdict> {
    let own = Options::take(attrs)?;
    let is_selected = own.is_some();
    let own = own.unwrap_or_default();
    own.check_function()?;
    if own.skip.is_some() {
        return Ok(Verdict::Skip(LEFT_OUT));
    }
    if outer.only.is_some() && !is_selected {
        return Ok(Verdict::Leave);
    }
    match refusal::reason(sig, attrs) {
        Some(reason) if is_selected => Err(refused(sig, reason)),
        Some(reason) => Ok(Verdict::Skip(reason)),
        None => Ok(Verdict::Observe(Box::new(own.within(outer, sig)))),
    }
}

/// The error of an attribute directly on a function that cannot be observed.
pub fn refused(sig: &Signature, reason: &str) -> Error {
    Error::new(sig.ident.span(), format!("`{}` cannot be observed: {reason}", sig.ident))
}

//! Parser of `#[observe]`: its options and its item. It calls `hook` with the observed functions.

use metaspy_syntax::refusal::{self, MADE_BY_A_MACRO};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{ImplItem, ItemFn, ItemImpl, ItemTrait, Result, TraitItem};

use crate::hook;
use crate::item::{self, Item};
use crate::options::{self, Options};
use crate::proxy;
use crate::verdict::{Verdict, judge, refused};

pub fn observe(options: TokenStream, item: TokenStream) -> TokenStream {
    // The item stays beside its error. Otherwise the compiler would report it as missing, too.
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

/// Expands the attribute on a free function, or on a method whose `impl` has none.
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

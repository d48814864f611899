//! Items that can have the attribute.

use proc_macro2::TokenStream;
use syn::{Error, ItemFn, ItemImpl, ItemTrait, Result, TraitItemFn};

/// Item that can be made observable.
pub enum Item {
    /// A free function, or a single method. An attribute cannot distinguish them.
    Function(ItemFn),
    Impl(ItemImpl),
    Trait(ItemTrait),
}

/// Reads the item. The error is the reason why nothing in it can be observed.
pub fn parse(tokens: TokenStream) -> Result<Item> {
    if let Ok(TraitItemFn { default: None, sig, .. }) = syn::parse2(tokens.clone()) {
        let message = "there is no body to observe here: put `#[observe]` on the `impl`, or `#[observe(proxy)]` on the trait";
        return Err(Error::new(sig.ident.span(), message));
    }
    match syn::parse2::<syn::Item>(tokens)? {
        syn::Item::Fn(function) => Ok(Item::Function(function)),
        syn::Item::Impl(item) => Ok(Item::Impl(item)),
        syn::Item::Trait(item) => Ok(Item::Trait(item)),
        syn::Item::Macro(item) => Err(Error::new_spanned(
            item,
            format!(
                "`#[observe]` cannot observe a macro call: {}",
                metaspy_syntax::refusal::MADE_BY_A_MACRO
            ),
        )),
        other => Err(Error::new_spanned(
            other,
            "`#[observe]` goes on an `impl`, a trait, a function or a method",
        )),
    }
}

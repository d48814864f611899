//! What makes code that no source shows.

use syn::punctuated::Punctuated;
use syn::{Item, ItemEnum, ItemStruct, ItemUnion, Meta, Path, Token};

/// What is made beside what is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacroGenerated {
    /// Calls of macros where items stand: each may make functions.
    pub macros: usize,
    /// Traits that are derived.
    pub derives: usize,
}

/// How many traits an item derives, whatever conditions that is under.
pub(super) fn derives(item: &Item) -> usize {
    match item {
        Item::Struct(ItemStruct { attrs, .. })
        | Item::Enum(ItemEnum { attrs, .. })
        | Item::Union(ItemUnion { attrs, .. }) => attrs.iter().map(|attr| named(&attr.meta)).sum(),
        _ => 0,
    }
}

fn named(meta: &Meta) -> usize {
    match meta {
        Meta::List(list) if list.path.is_ident("derive") => {
            let traits = list.parse_args_with(Punctuated::<Path, Token![,]>::parse_terminated);
            traits.map_or(0, |traits| traits.len())
        }
        Meta::List(list) if list.path.is_ident("cfg_attr") => {
            let said = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            said.into_iter().flatten().skip(1).map(|meta| named(&meta)).sum()
        }
        _ => 0,
    }
}

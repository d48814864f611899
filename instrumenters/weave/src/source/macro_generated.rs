//! Code that is not in the source: macros and derives generate it.

use syn::punctuated::Punctuated;
use syn::{Item, ItemEnum, ItemStruct, ItemUnion, Meta, Path, Token};

/// The calls that generate code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MacroGenerated {
    /// Calls of item macros: each may generate functions.
    pub macros: usize,
    /// Derived traits.
    pub derives: usize,
}

/// The number of traits that an item derives, under any condition.
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
            let metas = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
            metas.into_iter().flatten().skip(1).map(|meta| named(&meta)).sum()
        }
        _ => 0,
    }
}

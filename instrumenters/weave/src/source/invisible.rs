//! What makes code that no source shows.

use syn::{Attribute, Item, ItemEnum, ItemStruct, ItemUnion};

/// What is made beside what is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Invisible {
    /// Calls of macros where items stand: each may make functions.
    pub macros: usize,
    /// Traits that are derived.
    pub derives: usize,
}

/// How many traits an item derives.
pub(super) fn derives(item: &Item) -> usize {
    match item {
        Item::Struct(ItemStruct { attrs, .. })
        | Item::Enum(ItemEnum { attrs, .. })
        | Item::Union(ItemUnion { attrs, .. }) => attrs.iter().map(named).sum(),
        _ => 0,
    }
}

fn named(attr: &Attribute) -> usize {
    let mut count = 0;
    if attr.path().is_ident("derive") {
        let _ = attr.parse_nested_meta(|_| {
            count += 1;
            Ok(())
        });
    }
    count
}

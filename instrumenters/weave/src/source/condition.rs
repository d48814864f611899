//! Conditions under which a build contains an item, by the attributes of the item and of the modules around it.

use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token};

/// When a build contains an item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Condition {
    #[default]
    Always,
    /// If it is a build of tests.
    Test,
    /// If a condition is true that only the compiler and macros know.
    Other,
}

impl Condition {
    /// The condition of these attributes.
    pub fn of(attrs: &[Attribute]) -> Self {
        attrs.iter().map(|attr| Condition::of_meta(&attr.meta)).max().unwrap_or_default()
    }

    fn of_meta(meta: &Meta) -> Self {
        match meta {
            Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string() == "test" => Condition::Test,
            Meta::List(list) if list.path.is_ident("cfg_attr") => {
                let metas = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated);
                // Others, such as `no_std` and derives, remove nothing.
                let removes = |meta: &Meta| ["cfg", "cfg_attr", "path"].iter().any(|name| meta.path().is_ident(name));
                let is_condition = metas.map_or(true, |metas| metas.iter().skip(1).any(removes));
                if is_condition { Condition::Other } else { Condition::Always }
            }
            meta if meta.path().is_ident("cfg") => Condition::Other,
            _ => Condition::Always,
        }
    }

    /// The condition of an item that may have items in it, or is an implementation.
    pub fn of_item(item: &Item) -> Self {
        match item {
            Item::Mod(item) => Condition::of(&item.attrs),
            Item::Impl(item) => Condition::of(&item.attrs),
            Item::Trait(item) => Condition::of(&item.attrs),
            Item::Fn(item) => Condition::of(&item.attrs),
            Item::Const(item) => Condition::of(&item.attrs),
            Item::Macro(item) => Condition::of(&item.attrs),
            _ => Condition::Always,
        }
    }
}

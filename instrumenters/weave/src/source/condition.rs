//! Conditions under which a build contains an item, by the attributes of the item and of the modules around it.

use syn::{Attribute, Item, Meta};

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
        let of_attr = |attr: &Attribute| match &attr.meta {
            Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string() == "test" => Condition::Test,
            meta if meta.path().is_ident("cfg") || meta.path().is_ident("cfg_attr") => Condition::Other,
            _ => Condition::Always,
        };
        attrs.iter().map(of_attr).max().unwrap_or_default()
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

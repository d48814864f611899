//! Enums, traits and implementations of a file, which reports about types need.
//!
//! What macros and derives make is not among them.

use metaspy_syntax::name;
use syn::{Attribute, Expr, ExprLit, ExprUnary, Item, ItemEnum, Lit, TypeParamBound, UnOp};

use crate::source::scope::TypeRef;

/// An item, and the scope in which it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypeItem {
    pub scope: usize,
    pub of: OfItem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum OfItem {
    /// An enum: its name, and its variants as one word.
    Enum(String, String),
    /// A trait: its name, and its supertraits.
    Trait(String, Vec<TypeRef>),
    /// An implementation: its trait and its type.
    Impl(TypeRef, TypeRef),
}

impl OfItem {
    /// An item, if types are reported by it.
    pub fn of(item: &Item) -> Option<OfItem> {
        match item {
            Item::Enum(item) => Some(OfItem::Enum(name::of_ident(&item.ident), variants(item)?)),
            Item::Trait(item) => {
                let supertraits = item.supertraits.iter().filter_map(|bound| match bound {
                    TypeParamBound::Trait(bound) if bound.maybe.is_none() => Some(TypeRef::of_path(&bound.path)),
                    _ => None,
                });
                Some(OfItem::Trait(name::of_ident(&item.ident), supertraits.collect()))
            }
            Item::Impl(item) if !has_condition(&item.attrs) => {
                let (path, _) = item.trait_.as_ref().filter(|_| item.modifiers.polarity.is_none())?;
                Some(OfItem::Impl(TypeRef::of_path(path), TypeRef::new(&item.self_ty, &item.generics)))
            }
            _ => None,
        }
    }
}

/// The variants as one word: `Circle,Square=5`. `None` if their discriminants are not known before the program is compiled.
fn variants(item: &ItemEnum) -> Option<String> {
    let mut variants = Vec::new();
    for variant in &item.variants {
        if has_condition(&variant.attrs) {
            return None;
        }
        let name = name::of_ident(&variant.ident);
        variants.push(match &variant.discriminant {
            None => name,
            Some((_, value)) => format!("{name}={}", number(value)?),
        });
    }
    Some(variants.join(","))
}

fn number(value: &Expr) -> Option<i64> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|number| -number),
        _ => None,
    }
}

fn has_condition(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("cfg") || attr.path().is_ident("cfg_attr"))
}

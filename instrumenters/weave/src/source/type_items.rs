//! Enums, traits and implementations of a file, which reports about types need.
//!
//! Items that macros and derives make are not among them.

use metaspy_syntax::name;
use syn::{Expr, ExprLit, ExprUnary, Item, ItemEnum, Lit, Type, TypeParamBound, UnOp};

use crate::source::condition::Condition;
use crate::source::scope::TypeRef;

/// An item, the scope in which it is written, and its condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypeItem {
    pub scope: usize,
    pub condition: Condition,
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
                    TypeParamBound::Trait(bound) if bound.maybe.is_none() => {
                        Some(TypeRef::of_path(&bound.path))
                    }
                    _ => None,
                });
                Some(OfItem::Trait(name::of_ident(&item.ident), supertraits.collect()))
            }
            Item::Impl(item) => {
                let (path, _) =
                    item.trait_.as_ref().filter(|_| item.modifiers.polarity.is_none())?;
                Some(OfItem::Impl(
                    TypeRef::of_path(path),
                    TypeRef::new(&item.self_ty, &item.generics),
                ))
            }
            _ => None,
        }
    }
}

/// The variants that may exist as one word: `Circle,Square=5`. `None` if their discriminants are
/// not known before the program is compiled.
fn variants(item: &ItemEnum) -> Option<String> {
    let mut variants = Vec::new();
    let mut next = 0_i64;
    let mut is_gap = false;
    for variant in &item.variants {
        if !Condition::of(&variant.attrs).is_always() {
            return None;
        }
        let number =
            variant.discriminant.as_ref().map_or(Some(next), |(_, value)| number(value))?;
        let has_number = is_gap || variant.discriminant.is_some();
        is_gap = variant.fields.iter().any(|field| is_empty(&field.ty));
        if !is_gap {
            let name = name::of_ident(&variant.ident);
            variants.push(if has_number { format!("{name}={number}") } else { name });
        }
        next = number.wrapping_add(1);
    }
    Some(variants.join(","))
}

/// True for a type that has no values.
fn is_empty(ty: &Type) -> bool {
    match ty {
        Type::Never(_) => true,
        Type::Path(path) => {
            path.path.segments.last().is_some_and(|last| last.ident == "Infallible")
        }
        _ => false,
    }
}

fn number(value: &Expr) -> Option<i64> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => number(expr).map(|number| -number),
        _ => None,
    }
}

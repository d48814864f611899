//! What methods stand in: an `impl` or a trait.

use syn::spanned::Spanned;
use syn::{ItemImpl, ItemTrait, Signature, TypeParamBound};

use crate::source::facts::{Facts, Receiver, Seen};
use crate::source::{naming, skip};

/// An `impl`, a trait, or neither.
#[derive(Debug, Default)]
pub(super) struct Owner {
    ty: Option<String>,
    /// The type as it is written, without spaces.
    written: String,
    of_trait: Option<String>,
    supertraits: Vec<String>,
    /// Of a trait, who sees it.
    seen: Option<Seen>,
    /// Why nothing in it can be woven.
    pub refused: Option<&'static str>,
}

impl Owner {
    /// Of an `impl`.
    pub fn of_impl(item: &ItemImpl, source: &str) -> Self {
        let of_trait = item.trait_.as_ref().map(|(path, ..)| naming::path(path));
        let is_allocator = of_trait.as_ref().is_some_and(|of| of == "GlobalAlloc");
        let observed = skip::is_observed(&item.attrs).then_some(skip::OBSERVED);
        let written = source.get(item.self_ty.span().byte_range()).unwrap_or_default();
        Owner {
            ty: Some(naming::ty(&item.self_ty, source)),
            written: written.replace(char::is_whitespace, ""),
            // Who sees a trait calls its methods.
            seen: of_trait.is_some().then_some(Seen::Pub),
            of_trait,
            supertraits: Vec::new(),
            refused: if is_allocator { Some(skip::ALLOCATOR) } else { observed },
        }
    }

    /// Of a trait.
    pub fn of_trait(item: &ItemTrait) -> Self {
        let supertrait = |bound: &TypeParamBound| match bound {
            TypeParamBound::Trait(bound) if bound.maybe.is_none() => Some(naming::path(&bound.path)),
            _ => None,
        };
        Owner {
            of_trait: Some(naming::ident(&item.ident)),
            supertraits: item.supertraits.iter().filter_map(supertrait).collect(),
            seen: Some(Seen::of(&item.vis)),
            refused: skip::is_observed(&item.attrs).then_some(skip::OBSERVED),
            ..Owner::default()
        }
    }

    /// What the names of its methods begin with.
    pub fn names(&self) -> Vec<String> {
        self.ty.iter().chain(&self.of_trait).cloned().collect()
    }

    /// What its methods have in common.
    pub fn facts(&self) -> Facts {
        Facts {
            ty: self.ty.clone(),
            of_trait: self.of_trait.clone(),
            supertraits: self.supertraits.clone(),
            ..Facts::default()
        }
    }

    /// Who sees a method that says this of itself.
    pub fn seen(&self, said: Seen) -> Seen {
        self.seen.unwrap_or(said)
    }

    /// Whether it is an `impl` of a trait of std that says of this method that it is `#[track_caller]`.
    pub fn is_tracked(&self, sig: &Signature) -> bool {
        let tracked = [("Index", "index"), ("IndexMut", "index_mut")];
        let is_of = |(of, method): (&str, &str)| self.of_trait.as_deref() == Some(of) && sig.ident == method;
        self.ty.is_some() && tracked.into_iter().any(is_of)
    }

    /// Whether a method takes an object by value and gives one back.
    pub fn is_chain(&self, sig: &Signature, returns: &str) -> bool {
        let returns = returns.replace(char::is_whitespace, "");
        Receiver::of(sig) == Receiver::Value
            && (returns == "Self" || !self.written.is_empty() && returns == self.written)
    }
}

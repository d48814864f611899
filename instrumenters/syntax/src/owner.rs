//! Owner of methods: an `impl` or a trait.

use syn::{Attribute, Block, ItemImpl, ItemTrait, Path, ReturnType, Signature, TypeParamBound};

use crate::facts::{
    Facts, SelfKind, Visibility, returns, returns_nothing, self_kind, visibility, written,
};
use crate::{caching, complexity, name, refusal, type_arguments};

/// An `impl`, a trait, or neither.
#[derive(Clone, Debug, Default)]
pub struct Owner {
    /// Name of the type, the first segment of the names of its methods.
    pub ty: Option<String>,
    /// Tokens of the type, without spaces.
    written: String,
    /// Name of the trait.
    pub of_trait: Option<String>,
    /// Arguments of the type and of the trait.
    type_arguments: String,
    trait_arguments: String,
    supertraits: Vec<String>,
    /// Visibility of the methods of a trait or of its `impl`s.
    visibility: Option<Visibility>,
    /// Reason why no function of this owner can have a hook.
    pub refused: Option<&'static str>,
}

impl Owner {
    /// Returns the owner of the functions of an `impl`.
    pub fn of_impl(item: &ItemImpl) -> Self {
        let of_trait = item.trait_.as_ref().map(|(path, ..)| name::of_path(path));
        let is_allocator = of_trait.as_ref().is_some_and(|of| of == "GlobalAlloc");
        let observed = refusal::is_observed(&item.attrs).then_some(refusal::OBSERVED);
        let arguments = |path: Option<&Path>| {
            path.map(|path| type_arguments::of(path, &item.generics)).unwrap_or_default()
        };
        Owner {
            ty: Some(name::of_type(&item.self_ty)),
            written: written(&item.self_ty),
            type_arguments: arguments(type_arguments::path_of_type(&item.self_ty)),
            trait_arguments: arguments(item.trait_.as_ref().map(|(path, ..)| path)),
            // A caller that can name the trait can call its methods.
            visibility: of_trait.is_some().then_some(Visibility::Public),
            of_trait,
            supertraits: Vec::new(),
            refused: if is_allocator { Some(refusal::ALLOCATOR) } else { observed },
        }
    }

    /// Returns the owner of the default methods of a trait.
    pub fn of_trait(item: &ItemTrait) -> Self {
        let supertrait = |bound: &TypeParamBound| match bound {
            TypeParamBound::Trait(bound) if bound.maybe.is_none() => {
                Some(name::of_path(&bound.path))
            }
            _ => None,
        };
        Owner {
            of_trait: Some(name::of_ident(&item.ident)),
            supertraits: item.supertraits.iter().filter_map(supertrait).collect(),
            visibility: Some(visibility(&item.vis)),
            refused: refusal::is_observed(&item.attrs).then_some(refusal::OBSERVED),
            ..Owner::default()
        }
    }

    /// Returns the segments at the beginning of its methods' names: type and trait.
    pub fn names(&self) -> Vec<String> {
        self.ty.iter().chain(&self.of_trait).cloned().collect()
    }

    /// Returns the facts of a method, or of a free function if there is no owner.
    pub fn facts(
        &self,
        sig: &Signature,
        attrs: &[Attribute],
        vis: &syn::Visibility,
        body: &Block,
    ) -> Facts {
        Facts {
            of_type: self.ty.clone(),
            of_trait: self.of_trait.clone(),
            type_arguments: self.type_arguments.clone(),
            trait_arguments: self.trait_arguments.clone(),
            supertraits: self.supertraits.clone(),
            complexity: complexity::of(body),
            self_kind: self_kind(sig),
            visibility: self.visibility.unwrap_or_else(|| visibility(vis)),
            is_async: sig.asyncness.is_some(),
            is_test: name::of_attributes(attrs).iter().any(|name| name == "test"),
            returns: returns(&sig.output),
            is_unit: returns_nothing(&sig.output, false),
            is_chain: self.is_chain(sig),
            is_caching: caching::is_in(body),
            ..Facts::default()
        }
    }

    /// Returns true for an `impl` of a trait of std that makes this method `#[track_caller]`.
    pub fn is_tracked(&self, sig: &Signature) -> bool {
        let tracked = [("Index", "index"), ("IndexMut", "index_mut")];
        self.ty.is_some()
            && tracked
                .into_iter()
                .any(|(of, method)| self.of_trait.as_deref() == Some(of) && sig.ident == method)
    }

    /// Returns true if a method takes an object by value and returns an object of the same type.
    fn is_chain(&self, sig: &Signature) -> bool {
        let ReturnType::Type(_, returned) = &sig.output else { return false };
        let returned = written(returned);
        self_kind(sig) == SelfKind::Value
            && (returned == "Self" || !self.written.is_empty() && returned == self.written)
    }
}

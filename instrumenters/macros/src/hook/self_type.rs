//! Knowledge about the type of `Self` in a function.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericParam, Generics, Lifetime, Type, TypePath, TypeReference, TypeSlice, TypeTraitObject,
};

/// Type of `Self` in a function, as far as the attribute sees it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SelfType {
    /// There is no `Self`, or the attribute cannot see it.
    Unknown,
    /// A single type without lifetimes, so a handler can take the receiver.
    Static,
    /// A single type with lifetimes.
    Borrowing,
    /// Many types, because `Self` has type parameters.
    Generic,
}

impl SelfType {
    /// Classifies the `Self` of an `impl` with these generics for this type.
    pub fn of(generics: &Generics, ty: &Type) -> SelfType {
        if generics.params.iter().any(|param| !matches!(param, GenericParam::Lifetime(_))) {
            return SelfType::Generic;
        }
        match ty {
            Type::Path(_) if !may_borrow_or_be_unsized(ty) => SelfType::Static,
            _ => SelfType::Borrowing,
        }
    }

    /// Returns the type of the receiver for typed handlers of the function's site.
    pub fn receiver(self) -> TokenStream {
        match self {
            SelfType::Static => quote!(Self),
            _ => quote!(()),
        }
    }
}

/// Returns true if the type has lifetimes or an unsized part, which can make the whole type
/// unsized.
fn may_borrow_or_be_unsized(ty: &Type) -> bool {
    struct Search(bool);
    impl VisitMut for Search {
        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            self.0 |= lifetime.ident != "static";
        }
        fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
            self.0 |= reference.lifetime.is_none();
            visit_mut::visit_type_reference_mut(self, reference);
        }
        fn visit_type_trait_object_mut(&mut self, _: &mut TypeTraitObject) {
            self.0 = true;
        }
        fn visit_type_slice_mut(&mut self, _: &mut TypeSlice) {
            self.0 = true;
        }
        fn visit_type_path_mut(&mut self, path: &mut TypePath) {
            self.0 |= path.path.is_ident("str");
            visit_mut::visit_type_path_mut(self, path);
        }
    }
    let mut search = Search(false);
    search.visit_type_mut(&mut ty.clone());
    search.0
}

//! Whose method a function is: what may be said about `Self`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::{self, VisitMut};
use syn::{GenericParam, Generics, Lifetime, Type, TypePath, TypeReference, TypeSlice, TypeTraitObject};

/// Whose method a function is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// Nobody's, as far as one can see.
    Nobody,
    /// Of one type that lives as long as it likes: a handler may be given the receiver.
    Static,
    /// Of one type with lifetimes.
    Borrowing,
    /// Of many types: `Self` depends on parameters.
    Generic,
}

impl Owner {
    /// Of an `impl` with these generics for this type.
    pub fn of(generics: &Generics, ty: &Type) -> Owner {
        if generics.params.iter().any(|param| !matches!(param, GenericParam::Lifetime(_))) {
            return Owner::Generic;
        }
        match ty {
            Type::Path(_) if !may_borrow_or_be_unsized(ty) => Owner::Static,
            _ => Owner::Borrowing,
        }
    }

    /// The type that a typed handler of its sites is given.
    pub fn receiver(self) -> TokenStream {
        match self {
            Owner::Static => quote!(Self),
            _ => quote!(()),
        }
    }
}

/// Whether the type has lifetimes, or parts without a size, which may leave the whole without one.
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

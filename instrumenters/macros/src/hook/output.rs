//! What a function returns, as far as its signature says it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericArgument, Path, PathArguments, ReturnType, Token, Type, TypeImplTrait, TypeMacro, TypeNever, TypeParamBound,
};

/// What a function returns.
pub enum Output {
    /// Nothing.
    Unit,
    /// It never returns.
    Never,
    /// A type that cannot be written down inside the body, as it has an `impl Trait` in it.
    Opaque,
    /// A type that can.
    Named(Box<Type>),
}

impl Output {
    pub fn of(output: &ReturnType) -> Output {
        match output {
            ReturnType::Default => Output::Unit,
            ReturnType::Type(_, ty) => Output::of_type(ty),
        }
    }

    fn of_type(ty: &Type) -> Output {
        match ty {
            Type::Tuple(tuple) if tuple.elems.is_empty() => Output::Unit,
            Type::Never(_) => Output::Never,
            ty if has_unwritable_part(ty) => Output::Opaque,
            ty => Output::Named(Box::new(ty.clone())),
        }
    }

    /// The type, where it can be written down.
    pub fn ty(&self) -> Option<TokenStream> {
        match self {
            Output::Unit => Some(quote!(())),
            Output::Named(ty) => Some(quote!(#ty)),
            Output::Never | Output::Opaque => None,
        }
    }

    /// Whether it says how the call went: a `Result`, an `Option`, or something called like one.
    pub fn tells(&self) -> bool {
        matches!(self, Output::Named(ty) if tells(ty))
    }
}

/// The output of the future that a function returns: `Future<Output = T>`, bare or boxed and pinned.
pub fn of_future(ty: &Type) -> Option<Output> {
    match ty {
        Type::ImplTrait(it) => of_bounds(&it.bounds),
        Type::TraitObject(it) => of_bounds(&it.bounds),
        Type::Paren(it) => of_future(&it.elem),
        Type::Group(it) => of_future(&it.elem),
        Type::Path(it) => arguments(&it.path).find_map(|argument| match argument {
            GenericArgument::Type(ty) => of_future(ty),
            _ => None,
        }),
        _ => None,
    }
}

fn of_bounds(bounds: &Punctuated<TypeParamBound, Token![+]>) -> Option<Output> {
    bounds.iter().find_map(|bound| match bound {
        TypeParamBound::Trait(bound) if bound.path.segments.last()?.ident == "Future" => arguments(&bound.path)
            .find_map(|argument| match argument {
                GenericArgument::AssocType(assoc) if assoc.ident == "Output" => Some(Output::of_type(&assoc.ty)),
                _ => None,
            }),
        _ => None,
    })
}

fn tells(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let inner = || arguments(&path.path).any(|argument| matches!(argument, GenericArgument::Type(ty) if tells(ty)));
    let name = last.ident.to_string();
    name.ends_with("Result") || name == "Option" || name == "Poll" && inner()
}

fn arguments(path: &Path) -> impl Iterator<Item = &GenericArgument> {
    let arguments = path.segments.last().map(|last| &last.arguments);
    match arguments {
        Some(PathArguments::AngleBracketed(arguments)) => Some(arguments.args.iter()),
        _ => None,
    }
    .into_iter()
    .flatten()
}

/// Whether the type may hold an `impl Trait` or a `!`, which a `let` cannot name.
fn has_unwritable_part(ty: &Type) -> bool {
    struct Search(bool);
    impl VisitMut for Search {
        fn visit_type_impl_trait_mut(&mut self, _: &mut TypeImplTrait) {
            self.0 = true;
        }
        fn visit_type_never_mut(&mut self, _: &mut TypeNever) {
            self.0 = true;
        }
        fn visit_type_macro_mut(&mut self, _: &mut TypeMacro) {
            self.0 = true;
        }
    }
    let mut search = Search(false);
    let mut ty = ty.clone();
    visit_mut::visit_type_mut(&mut search, &mut ty);
    search.0
}

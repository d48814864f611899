//! Return type of a function, as far as its signature shows it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    GenericArgument, Path, PathArguments, ReturnType, Token, Type, TypeParamBound, parse_quote,
};

/// Return type of a function.
pub enum Output {
    /// The unit type.
    Unit,
    /// The never type: the function does not return.
    Never,
    /// A type that cannot be written inside the body.
    Opaque,
    /// A type with an `impl Trait` in it, which the compiler must infer: `Result<_, Error>`.
    Holed(Box<Type>),
    /// A type that can be written completely.
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
            ty => match Holes::made_in(ty) {
                (ty, Holes { unwritable: false, made: false }) => Output::Named(Box::new(ty)),
                (ty, Holes { unwritable: false, made: true }) => Output::Holed(Box::new(ty)),
                _ => Output::Opaque,
            },
        }
    }

    /// Returns true if the type can be written without a `_`. Then it determines the type of the
    /// body, as the signature did.
    pub fn is_whole(&self) -> bool {
        matches!(self, Output::Unit | Output::Named(_))
    }

    /// Returns the type, if it can be written.
    pub fn ty(&self) -> Option<TokenStream> {
        match self {
            Output::Unit => Some(quote!(())),
            Output::Named(ty) | Output::Holed(ty) => Some(quote!(#ty)),
            Output::Never | Output::Opaque => None,
        }
    }

    /// Returns true if the type shows the outcome of the call: a `Result`, an `Option`, or a type
    /// with such a name.
    pub fn shows_outcome(&self) -> bool {
        matches!(self, Output::Named(ty) | Output::Holed(ty) if shows_outcome(ty))
    }
}

/// Returns the output of the future that a function returns: `Future<Output = T>`, bare or boxed
/// and pinned.
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
        TypeParamBound::Trait(bound) if bound.path.segments.last()?.ident == "Future" => {
            arguments(&bound.path).find_map(|argument| match argument {
                GenericArgument::AssocType(assoc) if assoc.ident == "Output" => {
                    Some(Output::of_type(&assoc.ty))
                }
                _ => None,
            })
        }
        _ => None,
    })
}

fn shows_outcome(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let inner = || {
        arguments(&path.path)
            .any(|argument| matches!(argument, GenericArgument::Type(ty) if shows_outcome(ty)))
    };
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

/// Visitor that puts `_` for each `impl Trait` in a type.
#[derive(Default)]
struct Holes {
    made: bool,
    /// Set if a part cannot be replaced by a `_`: a `!`, or the result of a macro.
    unwritable: bool,
}

impl Holes {
    fn made_in(ty: &Type) -> (Type, Holes) {
        let mut holes = Holes::default();
        let mut ty = ty.clone();
        holes.visit_type_mut(&mut ty);
        (ty, holes)
    }
}

impl VisitMut for Holes {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        match ty {
            Type::ImplTrait(_) => {
                self.made = true;
                *ty = parse_quote!(_);
            }
            Type::Never(_) | Type::Macro(_) => self.unwritable = true,
            ty => visit_mut::visit_type_mut(self, ty),
        }
    }
}

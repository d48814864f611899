//! Facts of a function that its signature shows.

pub use metaspy_format::facts::{Facts, Returns, SelfKind, Visibility};

use quote::ToTokens;
use syn::{
    FnArg, GenericArgument, PathArguments, Receiver, ReceiverKind, ReturnType, Signature, Type,
};

use crate::name;

/// Returns how a function with this signature takes `self`.
pub fn self_kind(sig: &Signature) -> SelfKind {
    let Some(FnArg::Receiver(receiver)) = sig.inputs.first() else { return SelfKind::None };
    match &receiver.kind {
        ReceiverKind::Value => SelfKind::Value,
        ReceiverKind::Reference(_, _, None) => SelfKind::Ref,
        ReceiverKind::Reference(_, _, Some(_)) => SelfKind::Mut,
        ReceiverKind::Typed(_, ty) => typed_self_kind(ty),
        _ => SelfKind::Other,
    }
}

/// Returns how `self: TYPE` is taken. A pinned reference is a reference: streams and futures are
/// polled by it.
fn typed_self_kind(ty: &Type) -> SelfKind {
    let is_self = |ty: &Type| matches!(ty, Type::Path(of) if of.path.is_ident("Self"));
    match ty {
        Type::Reference(to) if is_self(&to.elem) && to.mutability.is_some() => SelfKind::Mut,
        Type::Reference(to) if is_self(&to.elem) => SelfKind::Ref,
        Type::Path(of) => {
            match of.path.segments.last().map(|last| (&last.ident, &last.arguments)) {
                Some((name, PathArguments::AngleBracketed(of))) if name == "Pin" => {
                    match of.args.first() {
                        Some(GenericArgument::Type(to @ Type::Reference(_))) => typed_self_kind(to),
                        _ => SelfKind::Other,
                    }
                }
                _ if is_self(ty) => SelfKind::Value,
                _ => SelfKind::Other,
            }
        }
        _ => SelfKind::Other,
    }
}

/// Counts the pointers around `Self`, for a method that does not take it by value. A `Pin` does not
/// count, because it goes where its pointer goes.
pub fn pointers_to_self(receiver: &Receiver) -> usize {
    match &receiver.kind {
        ReceiverKind::Reference(..) => 1,
        ReceiverKind::Typed(_, ty) => pointers(ty),
        _ => 0,
    }
}

fn pointers(ty: &Type) -> usize {
    match ty {
        Type::Reference(reference) => 1 + pointers(&reference.elem),
        Type::Paren(inner) => pointers(&inner.elem),
        Type::Group(inner) => pointers(&inner.elem),
        Type::Path(of) => {
            let Some(PathArguments::AngleBracketed(arguments)) =
                of.path.segments.last().map(|last| &last.arguments)
            else {
                return 0;
            };
            let pointee = arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            match (name::of_path(&of.path).as_str(), pointee) {
                ("Pin", Some(pointee)) => pointers(pointee),
                ("Box" | "Rc" | "Arc", Some(pointee)) => 1 + pointers(pointee),
                // A type of the program that contains `Self` is a pointer. `Scene<T>` itself is
                // not, because it is the object.
                (_, Some(pointee)) if is_to_self(pointee) => 1 + pointers(pointee),
                _ => 0,
            }
        }
        _ => 0,
    }
}

fn is_to_self(ty: &Type) -> bool {
    ty.to_token_stream()
        .to_string()
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word == "Self")
}

/// Returns the visibility that is written before an item.
pub fn visibility(vis: &syn::Visibility) -> Visibility {
    match vis {
        syn::Visibility::Public(_) => Visibility::Public,
        syn::Visibility::Restricted(_) => Visibility::Restricted,
        syn::Visibility::Inherited => Visibility::Private,
    }
}

/// Returns true if a function returns nothing. The type that a closure without `->` returns is
/// unknown.
pub fn returns_nothing(output: &ReturnType, is_closure: bool) -> bool {
    match output {
        ReturnType::Default => !is_closure,
        ReturnType::Type(_, ty) => is_nothing(ty),
    }
}

/// Classifies the declared return type: an `Option`, a `Result`, or a `Poll` of either.
pub fn returns(output: &ReturnType) -> Returns {
    match output {
        ReturnType::Default => Returns::Other,
        ReturnType::Type(_, ty) => returns_of(ty),
    }
}

fn returns_of(ty: &Type) -> Returns {
    match ty {
        Type::Paren(inner) => returns_of(&inner.elem),
        Type::Group(inner) => returns_of(&inner.elem),
        Type::Path(path) => match path.path.segments.last() {
            Some(last) if last.ident == "Option" => Returns::Option,
            Some(last) if last.ident == "Result" => Returns::Result,
            Some(last) if last.ident == "Poll" => match &last.arguments {
                PathArguments::AngleBracketed(of) => match of.args.first() {
                    Some(GenericArgument::Type(ty)) => returns_of(ty),
                    _ => Returns::Other,
                },
                _ => Returns::Other,
            },
            _ => Returns::Other,
        },
        _ => Returns::Other,
    }
}

/// Returns true for `()`, a `Result` of it, and `fmt::Result`.
pub fn is_nothing(ty: &Type) -> bool {
    match ty {
        Type::Tuple(tuple) => tuple.elems.is_empty(),
        Type::Paren(inner) => is_nothing(&inner.elem),
        Type::Group(inner) => is_nothing(&inner.elem),
        Type::Path(path) => {
            let mut segments = path.path.segments.iter().rev();
            let Some(last) = segments.next().filter(|last| last.ident == "Result") else {
                return false;
            };
            match &last.arguments {
                PathArguments::AngleBracketed(arguments) => {
                    let mut types = arguments.args.iter().filter_map(|argument| match argument {
                        GenericArgument::Type(ty) => Some(ty),
                        _ => None,
                    });
                    types.next().is_some_and(is_nothing)
                }
                _ => segments.next().is_some_and(|module| module.ident == "fmt"),
            }
        }
        _ => false,
    }
}

/// Returns the tokens of an item as text, without spaces.
pub(crate) fn written(item: &impl ToTokens) -> String {
    item.to_token_stream().to_string().replace(char::is_whitespace, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_reference_is_a_reference() {
        for (receiver, expected) in [
            ("", SelfKind::None),
            ("&self", SelfKind::Ref),
            ("mut self: Pin<&mut Self>", SelfKind::Mut),
            ("self: std::pin::Pin<&Self>", SelfKind::Ref),
            ("self: Pin<Box<Self>>", SelfKind::Other),
            ("self: Arc<Self>", SelfKind::Other),
            ("self: Self", SelfKind::Value),
        ] {
            let method: syn::TraitItemFn =
                syn::parse_str(&format!("fn f({receiver});")).expect("a method");
            assert_eq!(self_kind(&method.sig), expected, "{receiver}");
        }
    }

    #[test]
    fn pointers_to_an_object_are_counted() {
        for (receiver, expected) in [
            ("self", 0),
            ("&mut self", 1),
            ("self: Self", 0),
            ("self: Rc<Self>", 1),
            ("self: &std::sync::Arc<Self>", 2),
            ("self: Pin<&mut Self>", 1),
            ("self: Pin<Box<Self>>", 1),
            ("self: Rc<Scene<'a, T>>", 1),
            ("self: &Scene<T>", 1),
            ("self: Scene<T>", 0),
            ("self: Own<Self>", 1),
        ] {
            let method: syn::TraitItemFn =
                syn::parse_str(&format!("fn f({receiver});")).expect("a method");
            let receiver = method.sig.receiver().expect("it has one");
            assert_eq!(pointers_to_self(receiver), expected);
        }
    }

    #[test]
    fn a_return_type_shows_what_a_failed_call_returns() {
        for (ty, expected) in [
            ("Option<u8>", Returns::Option),
            ("std::io::Result<u8>", Returns::Result),
            ("Poll<Option<Result<u8, E>>>", Returns::Option),
            ("Poll<u8>", Returns::Other),
            ("QueryResult", Returns::Other),
            ("Vec<Option<u8>>", Returns::Other),
        ] {
            let output = syn::parse_str(&format!("-> {ty}")).expect("a return type");
            assert_eq!(returns(&output), expected, "{ty}");
        }
    }

    #[test]
    fn a_result_of_nothing_is_nothing() {
        for (ty, expected) in [
            ("()", true),
            ("Result<(), E>", true),
            ("io::Result<()>", true),
            ("std::fmt::Result", true),
            ("Result", false),
            ("Result<u8, ()>", false),
            ("Option<()>", false),
            ("u8", false),
        ] {
            assert_eq!(is_nothing(&syn::parse_str(ty).expect("a type")), expected, "{ty}");
        }
    }
}

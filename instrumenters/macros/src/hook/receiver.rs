//! The receiver, by reference.

use metaspy_syntax::name;
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{GenericArgument, PathArguments, Receiver, ReceiverKind, Type};

/// An expression of type `&Self`, whatever the receiver is wrapped in.
///
/// Each wrapper is taken off by name. Left to a coercion, a `&&dyn Shape` could become another `&dyn Shape`, of the
/// reference instead of the shape.
pub fn reference(receiver: &Receiver) -> TokenStream {
    let it = receiver.self_token;
    let derefs = match &receiver.kind {
        ReceiverKind::Reference(..) => 1,
        ReceiverKind::Typed(_, ty) => wrappers(ty),
        _ => 0,
    };
    let stars = std::iter::repeat_n(quote_spanned!(Span::mixed_site()=> *), derefs);
    quote_spanned!(Span::mixed_site()=> &#(#stars)* #it)
}

/// True if the receiver is moved into the call, and so has no lasting place.
pub fn is_by_value(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Value => true,
        ReceiverKind::Typed(_, ty) => matches!(&**ty, Type::Path(path) if path.path.is_ident("Self")),
        _ => false,
    }
}

/// How many pointers there are around `Self`. A `Pin` is none of its own: it goes where its pointer goes.
fn wrappers(ty: &Type) -> usize {
    match ty {
        Type::Reference(reference) => 1 + wrappers(&reference.elem),
        Type::Paren(inner) => wrappers(&inner.elem),
        Type::Group(inner) => wrappers(&inner.elem),
        Type::Path(path) => {
            let PathArguments::AngleBracketed(arguments) = &path.path.segments[path.path.segments.len() - 1].arguments
            else {
                return 0;
            };
            let pointee = arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(wrappers(ty)),
                _ => None,
            });
            let own = usize::from(name::of_path(&path.path) != "Pin");
            pointee.map_or(0, |inner| own + inner)
        }
        _ => 0,
    }
}

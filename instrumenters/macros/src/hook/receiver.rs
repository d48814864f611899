//! References to the receiver of a method.

use metaspy_syntax::pointers_to_self;
use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::{Receiver, ReceiverKind, Type};

/// Generates an expression of type `&Self`, whatever the receiver is wrapped in.
///
/// Each wrapper is taken off by name. A coercion could turn a `&&dyn Shape` into a different `&dyn
/// Shape`, of the reference instead of the shape.
pub fn reference(receiver: &Receiver) -> TokenStream {
    let it = receiver.self_token;
    let stars =
        std::iter::repeat_n(quote_spanned!(Span::mixed_site()=> *), pointers_to_self(receiver));
    quote_spanned!(Span::mixed_site()=> &#(#stars)* #it)
}

/// Returns true if the receiver is moved into the call, and so has no lasting place.
pub fn is_by_value(receiver: &Receiver) -> bool {
    match &receiver.kind {
        ReceiverKind::Value => true,
        ReceiverKind::Typed(_, ty) => {
            matches!(&**ty, Type::Path(path) if path.path.is_ident("Self"))
        }
        _ => false,
    }
}

//! Type arguments of an `impl`, which distinguish `impl PartialEq<str> for Slice` from `impl
//! PartialEq<String> for Slice`.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericArgument, Generics, Path, PathArguments, Type};

/// Returns the path of a type, or of the type behind references.
pub(crate) fn path_of_type(ty: &Type) -> Option<&Path> {
    match ty {
        Type::Path(path) => Some(&path.path),
        Type::Reference(reference) => path_of_type(&reference.elem),
        Type::Paren(inner) => path_of_type(&inner.elem),
        Type::Group(inner) => path_of_type(&inner.elem),
        _ => None,
    }
}

/// Returns the type arguments of a path, without lifetimes: `<&str>`. The text is empty without
/// arguments, or if all of them are parameters.
pub(crate) fn of(path: &Path, generics: &Generics) -> String {
    let Some(PathArguments::AngleBracketed(arguments)) =
        path.segments.last().map(|last| &last.arguments)
    else {
        return String::new();
    };
    let arguments: Vec<&GenericArgument> = arguments
        .args
        .iter()
        .filter(|argument| !matches!(argument, GenericArgument::Lifetime(_)))
        .collect();
    if arguments.iter().all(|argument| is_parameter(argument, generics)) {
        return String::new();
    }
    let texts: Vec<String> =
        arguments.iter().map(|argument| of_tokens(argument.to_token_stream())).collect();
    format!("<{}>", texts.join(","))
}

fn is_parameter(argument: &GenericArgument, generics: &Generics) -> bool {
    match argument {
        GenericArgument::Type(Type::Path(path)) if path.qself.is_none() => {
            generics.type_params().any(|parameter| path.path.is_ident(&parameter.ident))
                || generics.const_params().any(|parameter| path.path.is_ident(&parameter.ident))
        }
        _ => false,
    }
}

/// Formats tokens without lifetimes, with a space only between two words.
fn of_tokens(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let next = match token {
            TokenTree::Punct(punct) if punct.as_char() == '\'' => {
                // This skips the name of the lifetime, and the sign that joins it with its
                // neighbour.
                tokens.next();
                let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
                if tokens.next_if(is_comma).is_none() && text.ends_with('+') {
                    text.pop();
                }
                continue;
            }
            TokenTree::Group(group) => {
                let inner = of_tokens(group.stream());
                let mut all = group.to_string();
                let open = all.remove(0);
                let close = all.pop();
                format!("{open}{inner}{}", close.unwrap_or_default())
            }
            token => token.to_string(),
        };
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(is_word) && next.starts_with(is_word) {
            text.push(' ');
        }
        text.push_str(&next);
    }
    // The text becomes part of a string literal.
    text.replace(['"', '\\'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_types_without_lifetimes_and_parameters_are_none() {
        for (written, name) in [
            ("impl PartialEq<&'a str> for S {}", "<&str>"),
            ("impl<'a, T> From<Slice<'a, T>> for S {}", "<Slice<T>>"),
            ("impl Visit<&mut dyn Fn(u8, [B; 4])> for S {}", "<&mut dyn Fn(u8,[B;4])>"),
            ("impl Add<extern \"C\" fn()> for S {}", "<externCfn()>"),
            ("impl<T, const N: usize> Index<T, N> for S {}", ""),
            ("impl<T> Index<T, u8> for S {}", "<T,u8>"),
            ("impl Visit<dyn Fn() + 'static> for S {}", "<dyn Fn()>"),
            ("impl Visit<'a> for S {}", ""),
            ("impl Clone for S {}", ""),
        ] {
            let item: syn::ItemImpl = syn::parse_str(written).expect("an impl");
            let (path, ..) = item.trait_.as_ref().expect("it has a trait");
            assert_eq!(of(path, &item.generics), name, "{written}");
        }
    }
}

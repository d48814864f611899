//! Parser of signatures: type parameters, values, and traits behind which any type may arrive.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;

use super::tokens::{is_shallow, tokens_of};

/// Returns the names of the traits behind which a parameter may have any type: `dyn Trait`, `impl
/// Trait`, and bounds of type parameters.
///
/// The list is empty for an unreadable signature.
pub(crate) fn open_traits(signature: &str) -> Vec<String> {
    let Some((tokens, signature)) = parsed(signature) else { return Vec::new() };
    // The parameters follow the type parameters, whose bounds may have parentheses and arrows.
    let mut depth = 0_u32;
    let mut before = ' ';
    let parameters = tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if depth == 0 && group.delimiter() == Delimiter::Parenthesis => {
            Some(group.stream())
        }
        TokenTree::Punct(sign) => {
            match sign.as_char() {
                '<' => depth += 1,
                '>' if before != '-' => depth = depth.saturating_sub(1),
                _ => {}
            }
            before = sign.as_char();
            None
        }
        _ => None,
    });
    let mut found = traits_of_objects(parameters.unwrap_or_default());
    found.extend(traits_of_bounds(&signature.generics));
    proc_macro2::extra::invalidate_current_thread_spans();
    found
}

/// Returns the names of the type parameters. The list is empty for an unreadable signature.
pub(crate) fn type_parameters(signature: &str) -> Vec<String> {
    let names = parsed(signature)
        .map(|(_, signature)| names_of_parameters(&signature.generics))
        .unwrap_or_default();
    proc_macro2::extra::invalidate_current_thread_spans();
    names
}

/// Parameter with a plain name, or the returned type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Name of the parameter, which is `self` for a receiver; `None` for the returned type.
    pub name: Option<String>,
    /// Byte range in the signature: the parameter with its type, or the returned type.
    pub bytes: Range<usize>,
}

/// Returns the parameters with plain names, and the returned type. The list is empty for an
/// unreadable signature.
pub(crate) fn values_in(signature: &str) -> Vec<Value> {
    let values = parsed(signature).map(|(_, signature)| values_of(&signature)).unwrap_or_default();
    proc_macro2::extra::invalidate_current_thread_spans();
    values
}

fn values_of(signature: &syn::Signature) -> Vec<Value> {
    let mut values = Vec::new();
    for input in &signature.inputs {
        let name = match input {
            syn::FnArg::Receiver(_) => "self".to_owned(),
            syn::FnArg::Typed(typed) => match &*typed.pat {
                syn::Pat::Ident(name) => name.ident.to_string(),
                _ => continue,
            },
        };
        values.push(Value { name: Some(name), bytes: input.span().byte_range() });
    }
    if let syn::ReturnType::Type(_, ty) = &signature.output {
        values.push(Value { name: None, bytes: ty.span().byte_range() });
    }
    values
}

fn parsed(signature: &str) -> Option<(TokenStream, syn::Signature)> {
    let tokens = tokens_of(signature).filter(|tokens| is_shallow(tokens.clone()))?;
    let signature = syn::parse2(tokens.clone()).ok()?;
    Some((tokens, signature))
}

/// Returns the names of the type parameters in a generic declaration.
pub(crate) fn names_of_parameters(generics: &syn::Generics) -> Vec<String> {
    generics.type_params().map(|parameter| parameter.ident.to_string()).collect()
}

/// Returns the names of the traits in the bounds of type parameters.
pub(crate) fn traits_of_bounds(generics: &syn::Generics) -> Vec<String> {
    let of_parameters = generics.type_params().flat_map(|parameter| &parameter.bounds);
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_predicates = predicates.filter_map(|predicate| match predicate {
        syn::WherePredicate::Type(predicate) => Some(&predicate.bounds),
        _ => None,
    });
    names_of(of_parameters.chain(of_predicates.flatten())).collect()
}

/// Returns the names of the traits among bounds.
pub fn names_of<'b>(
    bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>,
) -> impl Iterator<Item = String> {
    bounds.into_iter().filter_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => Some(bound.path.segments.last()?.ident.to_string()),
        _ => None,
    })
}

/// Returns the names of the traits behind each `dyn Trait` and `impl Trait`.
pub(crate) fn traits_of_objects(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    of_tokens(tokens, &mut found);
    found
}

/// Adds the last segments of the traits behind each `dyn` and `impl`.
fn of_tokens(tokens: TokenStream, found: &mut Vec<String>) {
    let mut is_bound = false;
    let mut last: Option<String> = None;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "dyn" || word == "impl" => is_bound = true,
            TokenTree::Ident(word) if is_bound => last = Some(word.to_string()),
            TokenTree::Punct(sign) if is_bound && sign.as_char() == ':' => {}
            TokenTree::Punct(sign) => {
                found.extend(last.take());
                is_bound = is_bound && sign.as_char() == '+';
            }
            TokenTree::Group(group) => {
                found.extend(last.take());
                is_bound = false;
                of_tokens(group.stream(), found);
            }
            _ => {}
        }
    }
    found.extend(last);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(signature: &str, expected: &[&str]) {
        assert_eq!(open_traits(signature), expected, "{signature}");
    }

    #[test]
    fn parameters_and_the_returned_type_have_places() {
        let signature = "async fn f<T: A<(u8, u8)>>(&mut self, mut a: &dyn B, (c, d): (u8, u8), e: T) -> Option<u8> where T: B";
        let found = values_in(signature).into_iter();
        let found: Vec<_> =
            found.map(|it| (it.name.unwrap_or_default(), &signature[it.bytes])).collect();
        let expected =
            [("self", "&mut self"), ("a", "mut a: &dyn B"), ("e", "e: T"), ("", "Option<u8>")];
        assert_eq!(found, expected.map(|(name, text)| (name.to_owned(), text)));
        assert_eq!(values_in("fn f("), []);
    }

    #[test]
    fn traits_of_objects_and_type_parameters_are_open() {
        check(
            "fn f(a: &[Box<dyn x::Shape + Send>], b: &Vec<Circle>) -> Box<dyn Other>",
            &["Shape", "Send"],
        );
        check(
            "async fn f<T: A<u8>, U>(t: T, u: (U, impl Iterator<Item = u8>)) where U: y::B",
            &["Iterator", "A", "B"],
        );
        check("fn f<F: Fn(u8) -> u8, G: Fn(&dyn A)>(f: F, b: &dyn B)", &["B", "Fn", "Fn"]);
        check("fn f(&self, circle: Circle)", &[]);
        check("fn f(", &[]);
    }
}

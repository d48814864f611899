//! What the signature of a function leaves open.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::tokens::{is_shallow, tokens_of};

/// The names of the traits behind which a parameter may have any type: `dyn Trait`, `impl Trait`, and bounds of type
/// parameters. A signature that cannot be read has none.
pub fn open_traits(signature: &str) -> Vec<String> {
    let Some((tokens, signature)) = parsed(signature) else { return Vec::new() };
    // The parameters are behind the type parameters, whose bounds may have parentheses and arrows.
    let (mut depth, mut before) = (0_u32, ' ');
    let parameters = tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if depth == 0 && group.delimiter() == Delimiter::Parenthesis => Some(group.stream()),
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

/// The names of the type parameters. A signature that cannot be read has none.
pub fn type_parameters(signature: &str) -> Vec<String> {
    let names = parsed(signature).map(|(_, signature)| names_of_parameters(&signature.generics)).unwrap_or_default();
    proc_macro2::extra::invalidate_current_thread_spans();
    names
}

fn parsed(signature: &str) -> Option<(TokenStream, syn::Signature)> {
    let tokens = tokens_of(signature).filter(|tokens| is_shallow(tokens.clone()))?;
    let signature = syn::parse2(tokens.clone()).ok()?;
    Some((tokens, signature))
}

/// The names of the type parameters among these.
pub fn names_of_parameters(generics: &syn::Generics) -> Vec<String> {
    generics.type_params().map(|parameter| parameter.ident.to_string()).collect()
}

/// The names of the traits in the bounds of type parameters.
pub fn traits_of_bounds(generics: &syn::Generics) -> Vec<String> {
    let of_parameters = generics.type_params().flat_map(|parameter| &parameter.bounds);
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let of_predicates = predicates.filter_map(|predicate| match predicate {
        syn::WherePredicate::Type(predicate) => Some(&predicate.bounds),
        _ => None,
    });
    names_of(of_parameters.chain(of_predicates.flatten())).collect()
}

/// The names of the traits among bounds.
pub fn names_of<'b>(bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>) -> impl Iterator<Item = String> {
    bounds.into_iter().filter_map(|bound| match bound {
        syn::TypeParamBound::Trait(bound) => Some(bound.path.segments.last()?.ident.to_string()),
        _ => None,
    })
}

/// The names of the traits behind each `dyn Trait` and `impl Trait`.
pub fn traits_of_objects(tokens: TokenStream) -> Vec<String> {
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
    fn traits_of_objects_and_type_parameters_are_open() {
        check("fn f(a: &[Box<dyn x::Shape + Send>], b: &Vec<Circle>) -> Box<dyn Other>", &["Shape", "Send"]);
        check("async fn f<T: A<u8>, U>(t: T, u: (U, impl Iterator<Item = u8>)) where U: y::B", &["Iterator", "A", "B"]);
        check("fn f<F: Fn(u8) -> u8, G: Fn(&dyn A)>(f: F, b: &dyn B)", &["B", "Fn", "Fn"]);
        check("fn f(&self, circle: Circle)", &[]);
        check("fn f(", &[]);
    }
}

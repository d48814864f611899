//! Files that a source file includes by a path, wherever in it that stands.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

const INCLUDING: [&str; 3] = ["include", "include_str", "include_bytes"];

/// The paths, as they are written. One that is computed, as with `concat!`, is absolute in practice and needs no care.
pub fn of(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    search(tokens, &mut found);
    found
}

fn search(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for window in tokens.windows(3) {
        if let [TokenTree::Ident(name), TokenTree::Punct(mark), TokenTree::Group(group)] = window
            && mark.as_char() == '!'
            && INCLUDING.iter().any(|including| name == including)
            && group.delimiter() != Delimiter::None
        {
            found.extend(syn::parse2::<syn::LitStr>(group.stream()).map(|path| path.value()));
        }
    }
    for token in tokens {
        if let TokenTree::Group(group) = token {
            search(group.stream(), found);
        }
    }
}

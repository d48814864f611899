//! Expansion of `site!(Scene::measure)`: the site of an observed function, checked by the compiler.

use metaspy_syntax::name;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{ParseStream, Parser};
use syn::{Error, ExprPath, Ident, Path, PathArguments, QSelf, Result, Token};

/// Expands `path of metaspy; path of the function`.
pub fn site(tokens: TokenStream) -> TokenStream {
    let parse = |input: ParseStream| {
        let krate: Path = input.parse()?;
        input.parse::<Token![;]>()?;
        let function: ExprPath = input.parse()?;
        of(&krate, function)
    };
    parse.parse2(tokens).unwrap_or_else(Error::into_compile_error)
}

/// Returns the name of the hidden function that returns the site of a function.
pub fn sibling(function: &Ident) -> String {
    format!("__metaspy_site_{}", name::of_ident(function))
}

fn of(krate: &Path, function: ExprPath) -> Result<TokenStream> {
    match &function.qself {
        Some(QSelf { position: 1.., .. }) => Ok(of_trait(krate, &function)),
        _ => beside(function),
    }
}

/// Calls the hidden function beside an inherent method or a free function.
fn beside(mut function: ExprPath) -> Result<TokenStream> {
    let Some(last) = function.path.segments.last_mut() else {
        return Err(Error::new_spanned(function, "write the path of an observed function"));
    };
    last.ident = format_ident!("{}", sibling(&last.ident), span = last.ident.span());
    last.arguments = PathArguments::None;
    Ok(quote!(#function()))
}

/// Refers to a method of a trait by name, because the `impl` of a trait cannot have a hidden
/// function. The compiler checks that the method exists.
fn of_trait(krate: &Path, function: &ExprPath) -> TokenStream {
    let Some(QSelf { ty, position, .. }) = &function.qself else { return TokenStream::new() };
    let segments: Vec<String> = function
        .path
        .segments
        .iter()
        .skip(position - 1)
        .map(|segment| name::of_ident(&segment.ident))
        .collect();
    let default = segments.join("::");
    let own = format!("{}::{default}", name::of_type(ty));
    quote!({
        let _ = #function;
        #krate::__private::SiteRef::<#ty>::by_name(#own, #default)
    })
}

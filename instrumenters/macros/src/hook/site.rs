//! Static that is the site of a function.

use metaspy_syntax::name;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Path, Signature, Type, Visibility};

use crate::options::Options;
use crate::site_ref;

/// Lines of a function in its source file.
pub struct SourceLines {
    file: String,
    lines: (u32, u32),
}

impl SourceLines {
    /// Returns the position from the first token of the signature to the last token of the body.
    pub fn of(first: Span, last: Span) -> SourceLines {
        let first = first.unwrap();
        let last = last.unwrap();
        let line = first.line() as u32;
        SourceLines { file: first.file(), lines: (line, (last.end().line() as u32).max(line)) }
    }

    /// Returns the position of a signature with its body.
    pub fn of_function(sig: &Signature, body: Span) -> SourceLines {
        let first = sig
            .to_token_stream()
            .into_iter()
            .next()
            .map_or_else(|| sig.ident.span(), |token| token.span());
        SourceLines::of(first, body)
    }

    /// Returns the position of any item.
    pub fn of_item(item: &impl Spanned) -> SourceLines {
        let span = item.span();
        SourceLines::of(span, span)
    }
}

/// Definition of a site.
pub struct Definition<'a> {
    pub krate: &'a Path,
    pub kind: &'a str,
    pub name: &'a str,
    pub place: &'a SourceLines,
    pub skipped: Option<&'static str>,
    /// Facts of the function, as words.
    pub facts: &'a str,
    /// Type of the `impl`, if the compiler can name it.
    pub owner: Option<&'a Type>,
}

impl Definition<'_> {
    /// Generates the static itself, called `__METASPY_SITE`. The linker registers it, so a site
    /// that never ran is known.
    pub fn item(&self) -> TokenStream {
        let Definition {
            krate,
            name,
            place: SourceLines { file, lines: (first, last) },
            facts,
            ..
        } = self;
        let kind = Ident::new(self.kind, Span::mixed_site());
        let skipped = match self.skipped {
            Some(reason) => quote!(::core::option::Option::Some(#reason)),
            None => quote!(::core::option::Option::None),
        };
        let owner = match self.owner {
            Some(ty) => quote!(::core::option::Option::Some(|| ::core::any::type_name::<#ty>())),
            None => quote!(::core::option::Option::None),
        };
        quote_spanned!(Span::mixed_site()=>
            #krate::__private::register! {
                static __METASPY_SITE: #krate::__private::Site = #krate::__private::Site::observed(
                    #krate::__private::SiteDef {
                        kind: #krate::__private::SiteKind::#kind,
                        module: ::core::module_path!(),
                        name: #name,
                        file: #file,
                        lines: (#first, #last),
                        skipped: #skipped,
                    },
                    #facts,
                    #owner,
                );
            }
        )
    }

    /// Generates the static alone, beside an item, under the conditions of the function.
    pub fn beside(&self, attrs: &[Attribute]) -> TokenStream {
        let conditions = conditions(attrs);
        let item = self.item();
        quote!(#(#conditions)* const _: () = { #item };)
    }

    /// Generates a hidden function that holds the static and returns it, for `site!`, under the
    /// conditions of the function.
    pub fn sibling(
        &self,
        attrs: &[Attribute],
        vis: &Visibility,
        function: &Ident,
        receiver: &TokenStream,
    ) -> TokenStream {
        let krate = self.krate;
        let conditions = conditions(attrs);
        let item = self.item();
        let name = format_ident!("{}", site_ref::sibling(function), span = Span::mixed_site());
        quote_spanned!(Span::mixed_site()=>
            #(#conditions)*
            #[doc(hidden)]
            #[inline(always)]
            #vis fn #name() -> #krate::__private::SiteRef<#receiver> {
                #item
                #krate::__private::SiteRef::new(&__METASPY_SITE)
            }
        )
    }
}

/// Returns the name of a function's site. A name with `::` in it is the whole name.
pub fn name_of(prefix: &str, options: &Options, sig: &Signature) -> String {
    let own = options.name.as_ref().map_or_else(|| name::of_ident(&sig.ident), |name| name.value());
    if prefix.is_empty() || own.contains("::") { own } else { format!("{prefix}::{own}") }
}

/// Returns the `#[cfg]` attributes.
fn conditions(attrs: &[Attribute]) -> Vec<&Attribute> {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect()
}

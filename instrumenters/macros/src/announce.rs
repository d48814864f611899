//! Expansion of `#[derive(Announce)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Ident, Path, Result, parse_quote};

pub fn announce(item: TokenStream) -> TokenStream {
    syn::parse2(item).and_then(derive).unwrap_or_else(Error::into_compile_error)
}

fn derive(item: DeriveInput) -> Result<TokenStream> {
    let krate = krate(&item)?;
    let name = &item.ident;
    let (kinds, kind) = match &item.data {
        Data::Enum(data) => {
            let variants = data.variants.iter();
            let arms = variants.clone().map(|variant| arm(&variant.ident, &variant.fields));
            let kinds: Vec<String> = variants.map(|variant| text(&variant.ident)).collect();
            (kinds, quote!(match *self { #(#arms)* }))
        }
        _ => (vec![text(name)], text_of(name)),
    };
    let (impl_generics, type_generics, where_clause) = item.generics.split_for_impl();
    let entry =
        if item.generics.params.is_empty() { entry(&krate, name) } else { TokenStream::new() };
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Announce for #name #type_generics #where_clause {
            const KINDS: &'static [&'static str] = &[#(#kinds),*];

            fn kind(&self) -> &'static str {
                #kind
            }
        }

        #entry
    })
}

fn arm(variant: &Ident, fields: &Fields) -> TokenStream {
    let kind = text(variant);
    let fields = match fields {
        Fields::Named(_) => quote!({ .. }),
        Fields::Unnamed(_) => quote!((..)),
        Fields::Unit => TokenStream::new(),
    };
    quote!(Self::#variant #fields => #kind,)
}

/// Returns the text of an identifier without `r#`.
fn text(name: &Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

fn text_of(name: &Ident) -> TokenStream {
    let text = text(name);
    quote!(#text)
}

/// Generates the entry that the linker collects, so that a tap finds the type. A type with
/// parameters has no entry, because its instances are not known.
fn entry(krate: &Path, name: &Ident) -> TokenStream {
    if !cfg!(feature = "record") {
        return TokenStream::new();
    }
    quote! {
        const _: () = {
            #[#krate::__private::linkme::distributed_slice(#krate::__private::ANNOUNCEMENT_TYPES)]
            #[linkme(crate = #krate::__private::linkme)]
            static ANNOUNCED: #krate::__private::AnnouncementType = #krate::__private::AnnouncementType::new::<#name>();
        };
    }
}

/// Returns the path of `metaspy`: `#[announce(crate = path)]`, else `::metaspy`.
fn krate(item: &DeriveInput) -> Result<Path> {
    let mut krate = parse_quote!(::metaspy);
    for attr in item.attrs.iter().filter(|attr| attr.path().is_ident("announce")) {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                krate = meta.value()?.parse()?;
                Ok(())
            } else {
                Err(meta.error("write `#[announce(crate = path)]`, or nothing"))
            }
        })?;
    }
    Ok(krate)
}

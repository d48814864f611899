//! Expansion of `#[derive(Identify)]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Index, Path, Result, parse_quote};

pub fn identify(item: TokenStream) -> TokenStream {
    syn::parse2(item).and_then(derive).unwrap_or_else(Error::into_compile_error)
}

/// Way in which a field identifies its value.
enum By {
    /// The field is the key among values of the type.
    Key,
    /// The field has an identity, which the value shares.
    Same,
}

fn derive(item: DeriveInput) -> Result<TokenStream> {
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(
            &item.ident,
            "`Identify` can be derived for a struct with a field that is the key",
        ));
    };
    let (field, by) = chosen(&item.ident, &data.fields)?;
    let krate = krate(&item)?;
    let name = &item.ident;
    let path = format!("::{}", item.ident);
    let (impl_generics, type_generics, where_clause) = item.generics.split_for_impl();
    let body = match by {
        By::Same => quote!(
            #[allow(unused_imports)]
            use #krate::__private::GuardedIdentity as _;
            (&#krate::__private::Receiver(&self.#field)).identity()
        ),
        By::Key => quote!(
            static KIND: #krate::Kind = #krate::Kind::new(::core::concat!(::core::module_path!(), #path));
            #[allow(unused_imports)]
            use #krate::__private::{GuardedKey as _, NoKey as _};
            (&#krate::__private::key_of(self.#field)).subject(&KIND)
        ),
    };
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Identify for #name #type_generics #where_clause {
            #[inline]
            fn identify(&self) -> #krate::Subject {
                #body
            }
        }

        #[automatically_derived]
        impl #impl_generics #krate::__private::DirectIdentity for #name #type_generics #where_clause {}
    })
}

/// Returns the field marked `#[identify(key)]` or `#[identify(same)]`, or else the only field, as
/// the key.
fn chosen(name: &Ident, fields: &Fields) -> Result<(TokenStream, By)> {
    let mut marked = None;
    for (at, field) in fields.iter().enumerate() {
        let Some(by) = mark(field)? else { continue };
        if marked.replace((member(at, field), by)).is_some() {
            return Err(Error::new_spanned(
                field,
                "one field identifies a value; make a key of its own from several",
            ));
        }
    }
    match (marked, fields.iter().next()) {
        (Some(marked), _) => Ok(marked),
        (None, Some(field)) if fields.len() == 1 => Ok((member(0, field), By::Key)),
        _ => Err(Error::new_spanned(name, "say which field is the key: `#[identify(key)]`")),
    }
}

fn mark(field: &Field) -> Result<Option<By>> {
    let Some(attr) = field.attrs.iter().find(|attr| attr.path().is_ident("identify")) else {
        return Ok(None);
    };
    let word: Ident = attr.parse_args()?;
    match word.to_string().as_str() {
        "key" => Ok(Some(By::Key)),
        "same" => Ok(Some(By::Same)),
        _ => Err(Error::new_spanned(word, "write `#[identify(key)]` or `#[identify(same)]`")),
    }
}

fn member(at: usize, field: &Field) -> TokenStream {
    field
        .ident
        .as_ref()
        .map_or_else(|| Index::from(at).into_token_stream(), |name| name.into_token_stream())
}

/// Returns the path of `metaspy`: `#[identify(crate = path)]` on the type, else `::metaspy`.
fn krate(item: &DeriveInput) -> Result<Path> {
    let mut krate = parse_quote!(::metaspy);
    for attr in item.attrs.iter().filter(|attr| attr.path().is_ident("identify")) {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                krate = meta.value()?.parse()?;
                Ok(())
            } else {
                Err(meta.error("write `#[identify(crate = path)]`, or mark a field"))
            }
        })?;
    }
    Ok(krate)
}

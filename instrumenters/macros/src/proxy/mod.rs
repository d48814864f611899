//! Expansion of `#[observe(proxy)]`: an observable type that implements the trait, and forwards to
//! the value that it wraps.
//!
//! It forwards all arguments, generics included, and only stores the wrapped value, in a `Spied`.

mod forward;

use metaspy_syntax::refusal::MADE_BY_A_MACRO;
use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{
    Error, GenericParam, Generics, Ident, ImplItem, ItemImpl, ItemTrait, Path, Result, TraitItem,
    TypeParam, parse_quote, parse_quote_spanned,
};

use crate::hook;
use crate::options::{Options, Proxy};
use crate::verdict::{Verdict, judge};

/// Generates the proxy, and the trait itself unless it only lists the signatures of another crate's
/// trait.
pub fn declare(options: Options, mut item: ItemTrait) -> Result<TokenStream> {
    let krate = options.krate();
    let (declared, path) = match &options.proxy {
        Some(Proxy::Foreign(path)) => (None, path.clone()),
        _ => (Some(()), item.ident.clone().into()),
    };
    let name = format_ident!("Spied{}", item.ident);
    let structure = structure(&krate, &name, &item);
    let implementation = implementation(&options, &name, &path, &item)?;
    for method in item.items.iter_mut() {
        if let TraitItem::Fn(method) = method {
            Options::take(&mut method.attrs)?;
        }
    }
    let declared = declared.map(|()| &item);
    Ok(quote!(#declared #structure #implementation))
}

fn structure(krate: &Path, name: &Ident, item: &ItemTrait) -> TokenStream {
    let vis = &item.vis;
    let of = &item.ident;
    let doc = format!("Any `{of}`, so that its methods can be observed: it forwards them all.");
    quote_spanned!(Span::mixed_site()=>
        #[doc = #doc]
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        #vis struct #name<T>(#krate::Spied<T>);

        impl<T> #name<T> {
            /// Wraps a value, and gives it an identity that survives moves.
            #vis fn new(inner: T) -> Self {
                #name(#krate::Spied::new(inner))
            }

            /// Returns the wrapped value, whose identity ends.
            #vis fn into_inner(self) -> T {
                #krate::Spied::into_inner(self.0)
            }
        }

        impl<T> ::core::convert::From<T> for #name<T> {
            fn from(inner: T) -> Self {
                #name::new(inner)
            }
        }

        impl<T> ::core::convert::AsRef<T> for #name<T> {
            fn as_ref(&self) -> &T {
                &self.0
            }
        }

        impl<T> #krate::Identify for #name<T> {
            fn identify(&self) -> #krate::Subject {
                #krate::Identify::identify(&self.0)
            }
        }
    )
}

fn implementation(
    options: &Options,
    name: &Ident,
    path: &Path,
    item: &ItemTrait,
) -> Result<TokenStream> {
    let inner = Ident::new("__T", Span::mixed_site());
    let (_, arguments, _) = item.generics.split_for_impl();
    let of: Path = parse_quote!(#path #arguments);
    let generics = generics(&item.generics, &inner, &of);
    let (parameters, _, conditions) = generics.split_for_impl();
    let unsafety = item.unsafety;
    // An attribute that changes the trait's methods must change the proxy's, too.
    let attrs = item
        .attrs
        .iter()
        .filter(|attr| attr.path().segments.last().is_some_and(|it| it.ident == "async_trait"));
    let mut proxy: ItemImpl = parse_quote_spanned!(Span::mixed_site()=>
        #(#attrs)* #unsafety impl #parameters #of for #name<#inner> #conditions {}
    );
    let mut verdicts = Vec::new();
    let forwarder = forward::Forwarder { inner: &inner, of: &of };
    for item in &item.items {
        let mut forwarded = match item {
            TraitItem::Fn(method) => match forwarder.method(method)? {
                Some(method) => ImplItem::Fn(method),
                None => continue,
            },
            TraitItem::Type(assoc) => forwarder.assoc_type(assoc),
            TraitItem::Const(assoc) => forwarder.assoc_const(assoc),
            other => {
                return Err(Error::new_spanned(
                    other,
                    format!("cannot be forwarded: {MADE_BY_A_MACRO}"),
                ));
            }
        };
        verdicts.push(match &mut forwarded {
            ImplItem::Fn(method) => judge(options, &mut method.attrs, &method.sig)?,
            _ => Verdict::Leave,
        });
        proxy.items.push(forwarded);
    }
    hook::implementation(proxy, verdicts, options)
}

/// Returns the generics of the trait, with the wrapped type, which implements the trait.
fn generics(generics: &Generics, inner: &Ident, of: &Path) -> Generics {
    let mut generics = generics.clone();
    for param in &mut generics.params {
        match param {
            GenericParam::Type(param) => param.default = None,
            GenericParam::Const(param) => param.default = None,
            GenericParam::Lifetime(_) => {}
        }
    }
    let inner: TypeParam = parse_quote_spanned!(Span::mixed_site()=> #inner: #of);
    generics.params.push(GenericParam::Type(inner));
    generics
}

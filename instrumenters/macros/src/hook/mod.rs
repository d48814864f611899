//! With the feature `record`: a static site for each function, and a hook in its body.

mod call;
mod enclosing;
mod entry;
mod exits;
mod future;
mod output;
mod owner;
mod plain;
mod receiver;
mod scan;
mod site;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, Block, ImplItem, ItemFn, ItemImpl, ItemTrait, Path, Result, Signature, TraitItem, Visibility};

use crate::hook::call::Call;
use crate::hook::enclosing::Enclosing;
use crate::hook::owner::Owner;
use crate::hook::site::{Definition, Place};
use crate::naming;
use crate::observe::Verdict;
use crate::options::Options;

/// One function, or a method whose `impl` has no attribute.
pub fn lone(mut function: ItemFn, options: &Options) -> Result<TokenStream> {
    let (prefix, owner, reach) = match enclosing::of(&function.sig) {
        Enclosing::Module => (String::new(), Owner::Nobody, Reach::Sibling("")),
        Enclosing::Unknown => (String::new(), Owner::Nobody, Reach::Body),
        Enclosing::Other { prefix, owner } => (prefix, owner, Reach::Body),
        Enclosing::Inherent(item) => {
            let owner = Owner::of(&item.generics, &item.self_ty);
            (naming::type_name(&item.self_ty), owner, Reach::Sibling("Self"))
        }
    };
    let name = naming::of_function(&prefix, options, &function.sig);
    let ItemFn { attrs, vis, sig, block, .. } = &mut function;
    let sibling = Function { attrs, vis, sig, block }.observe(options, owner, &name, reach)?;
    Ok(quote!(#function #sibling))
}

/// All methods of an `impl`.
pub fn implementation(mut item: ItemImpl, verdicts: Vec<Verdict>, options: &Options) -> Result<TokenStream> {
    let owner = Owner::of(&item.generics, &item.self_ty);
    let ty = options.name.as_ref().map_or_else(|| naming::type_name(&item.self_ty), |name| name.value());
    let (prefix, reach) = match &item.trait_ {
        Some((path, ..)) => (format!("{ty}::{}", naming::path_name(path)), Reach::Body),
        None => (ty, Reach::Sibling("Self")),
    };
    let krate = options.krate();
    let mut siblings = Vec::new();
    let mut beside = TokenStream::new();
    for (item, verdict) in item.items.iter_mut().zip(verdicts) {
        match (item, verdict) {
            (ImplItem::Fn(method), Verdict::Observe(own)) => {
                let name = naming::of_function(&prefix, &own, &method.sig);
                let function =
                    Function { attrs: &mut method.attrs, vis: &method.vis, sig: &method.sig, block: &mut method.block };
                siblings.push(ImplItem::Verbatim(function.observe(&own, owner, &name, reach)?));
            }
            (ImplItem::Fn(method), Verdict::Skip(reason)) => {
                let name = naming::of_function(&prefix, &Options::default(), &method.sig);
                let place = Place::of_function(&method.sig, method.block.brace_token.span.close());
                beside.extend(skipped(&krate, &name, &place, reason).beside(&method.attrs));
            }
            (ImplItem::Macro(made), Verdict::Skip(reason)) => {
                let name = format!("{prefix}::{}!", naming::path_name(&made.mac.path));
                beside.extend(skipped(&krate, &name, &Place::of_item(made), reason).beside(&made.attrs));
            }
            _ => {}
        }
    }
    item.items.extend(siblings);
    Ok(quote!(#item #beside))
}

/// The default methods of a trait.
pub fn declaration(mut item: ItemTrait, verdicts: Vec<Verdict>, options: &Options) -> Result<TokenStream> {
    let prefix = options.name.as_ref().map_or_else(|| item.ident.to_string(), |name| name.value());
    let krate = options.krate();
    let mut beside = TokenStream::new();
    for (item, verdict) in item.items.iter_mut().zip(verdicts) {
        match (item, verdict) {
            (TraitItem::Fn(method), Verdict::Observe(own)) => {
                let name = naming::of_function(&prefix, &own, &method.sig);
                let Some(block) = &mut method.default else { continue };
                let function =
                    Function { attrs: &mut method.attrs, vis: &Visibility::Inherited, sig: &method.sig, block };
                function.observe(&own, Owner::Generic, &name, Reach::Body)?;
            }
            (TraitItem::Fn(method), Verdict::Skip(reason)) => {
                let name = naming::of_function(&prefix, &Options::default(), &method.sig);
                let place = Place::of_item(method);
                beside.extend(skipped(&krate, &name, &place, reason).beside(&method.attrs));
            }
            (TraitItem::Macro(made), Verdict::Skip(reason)) => {
                let name = format!("{prefix}::{}!", naming::path_name(&made.mac.path));
                beside.extend(skipped(&krate, &name, &Place::of_item(made), reason).beside(&made.attrs));
            }
            _ => {}
        }
    }
    Ok(quote!(#item #beside))
}

/// Where the static of a site is.
#[derive(Clone, Copy)]
enum Reach {
    /// In the body, where only the body sees it.
    Body,
    /// In a hidden function beside it, of the type or, if empty, of the module.
    Sibling(&'static str),
}

struct Function<'a> {
    attrs: &'a mut Vec<Attribute>,
    vis: &'a Visibility,
    sig: &'a Signature,
    block: &'a mut Block,
}

impl Function<'_> {
    /// Puts a hook in, and hands out what must stand beside the function.
    fn observe(self, options: &Options, owner: Owner, name: &str, reach: Reach) -> Result<TokenStream> {
        let Function { attrs, vis, sig, block } = self;
        let krate = options.krate();
        let place = Place::of_function(sig, block.brace_token.span.close());
        let kind = if Call::is_async(sig, block) { "Async" } else { "Method" };
        let definition = Definition { krate: &krate, kind, name, place: &place, skipped: None };
        let sibling = format_ident!("{}", naming::sibling(&sig.ident), span = Span::mixed_site());
        let (statics, site, beside) = match reach {
            Reach::Body => {
                let site = quote_spanned!(Span::mixed_site()=> &__METASPY_SITE);
                (definition.item(), site, TokenStream::new())
            }
            Reach::Sibling(of) => {
                let site = match of {
                    "" => quote_spanned!(Span::mixed_site()=> #sibling().site()),
                    _ => quote_spanned!(Span::mixed_site()=> Self::#sibling().site()),
                };
                let offered = if sig.receiver().is_some() && kind == "Method" { owner } else { Owner::Nobody };
                (TokenStream::new(), site, definition.sibling(attrs, vis, &sig.ident, &offered.receiver()))
            }
        };
        Call { krate: &krate, options, owner, statics, site }.hook(attrs, sig, block)?;
        Ok(beside.into_token_stream())
    }
}

fn skipped<'a>(krate: &'a Path, name: &'a str, place: &'a Place, reason: &'static str) -> Definition<'a> {
    Definition { krate, kind: "Method", name, place, skipped: Some(reason) }
}

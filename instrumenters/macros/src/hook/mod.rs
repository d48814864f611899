//! Expansion with the feature `record`: a static site for each function, and a hook in its body.

mod call;
mod entry;
mod exits;
mod future;
mod output;
mod plain_expr;
mod receiver;
mod self_type;
mod site;
mod within;

use metaspy_syntax::{name, waiting};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{
    Attribute, Block, ImplItem, ItemFn, ItemImpl, ItemTrait, Path, Result, Signature, TraitItem,
    Visibility,
};

use crate::hook::call::Call;
use crate::hook::self_type::SelfType;
use crate::hook::site::{Definition, SourceLines};
use crate::hook::within::Within;
use crate::options::Options;
use crate::site_ref;
use crate::verdict::Verdict;

/// Hooks a single function, or a method whose `impl` has no attribute.
///
/// The attribute on a method cannot see the type of its `impl`, so the site is named like the
/// method alone.
pub fn function(mut function: ItemFn, options: &Options) -> Result<TokenStream> {
    let reach = if is_method(&function) { Reach::Body } else { Reach::Sibling("") };
    let name = site::name_of("", options, &function.sig);
    let ItemFn { attrs, vis, sig, block, .. } = &mut function;
    let sibling =
        Function { attrs, vis, sig, block }.observe(options, &Within::module(), &name, reach)?;
    Ok(quote!(#function #sibling))
}

/// Returns true if a function has a receiver or mentions `Self`, and so is in an `impl` or a trait.
fn is_method(function: &ItemFn) -> bool {
    fn mentions_self(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Ident(ident) => ident == "Self",
            TokenTree::Group(group) => mentions_self(group.stream()),
            _ => false,
        })
    }
    function.sig.receiver().is_some() || mentions_self(function.to_token_stream())
}

/// Hooks all methods of an `impl`.
pub fn implementation(
    mut item: ItemImpl,
    verdicts: Vec<Verdict>,
    options: &Options,
) -> Result<TokenStream> {
    let within = Within::implementation(&item, options);
    let prefix = within.owner.names().join("::");
    let reach = if item.trait_.is_some() { Reach::Body } else { Reach::Sibling("Self") };
    let krate = options.krate();
    let mut siblings = Vec::new();
    let mut beside = TokenStream::new();
    for (item, verdict) in item.items.iter_mut().zip(verdicts) {
        match (item, verdict) {
            (ImplItem::Fn(method), Verdict::Observe(own)) => {
                let name = site::name_of(&prefix, &own, &method.sig);
                let function = Function {
                    attrs: &mut method.attrs,
                    vis: &method.vis,
                    sig: &method.sig,
                    block: &mut method.block,
                };
                siblings.push(ImplItem::Verbatim(function.observe(&own, &within, &name, reach)?));
            }
            (ImplItem::Fn(method), Verdict::Skip(reason)) => {
                let name = site::name_of(&prefix, &Options::default(), &method.sig);
                let place =
                    SourceLines::of_function(&method.sig, method.block.brace_token.span.close());
                beside.extend(skipped(&krate, &name, &place, reason).beside(&method.attrs));
            }
            (ImplItem::Macro(made), Verdict::Skip(reason)) => {
                let name = format!("{prefix}::{}!", name::of_path(&made.mac.path));
                beside.extend(
                    skipped(&krate, &name, &SourceLines::of_item(made), reason).beside(&made.attrs),
                );
            }
            _ => {}
        }
    }
    item.items.extend(siblings);
    Ok(quote!(#item #beside))
}

/// Hooks the default methods of a trait.
pub fn declaration(
    mut item: ItemTrait,
    verdicts: Vec<Verdict>,
    options: &Options,
) -> Result<TokenStream> {
    let within = Within::declaration(&item, options);
    let prefix = within.owner.names().join("::");
    let krate = options.krate();
    let mut beside = TokenStream::new();
    for (item, verdict) in item.items.iter_mut().zip(verdicts) {
        match (item, verdict) {
            (TraitItem::Fn(method), Verdict::Observe(own)) => {
                let name = site::name_of(&prefix, &own, &method.sig);
                let Some(block) = &mut method.default else { continue };
                let function = Function {
                    attrs: &mut method.attrs,
                    vis: &Visibility::Inherited,
                    sig: &method.sig,
                    block,
                };
                function.observe(&own, &within, &name, Reach::Body)?;
            }
            (TraitItem::Fn(method), Verdict::Skip(reason)) => {
                let name = site::name_of(&prefix, &Options::default(), &method.sig);
                let place = SourceLines::of_item(method);
                beside.extend(skipped(&krate, &name, &place, reason).beside(&method.attrs));
            }
            (TraitItem::Macro(made), Verdict::Skip(reason)) => {
                let name = format!("{prefix}::{}!", name::of_path(&made.mac.path));
                beside.extend(
                    skipped(&krate, &name, &SourceLines::of_item(made), reason).beside(&made.attrs),
                );
            }
            _ => {}
        }
    }
    Ok(quote!(#item #beside))
}

/// Location of a site's static.
#[derive(Clone, Copy)]
enum Reach {
    /// The static is in the body, where only the body sees it.
    Body,
    /// The static is in a hidden function beside the hooked function, with this prefix: the type,
    /// or empty for a module.
    Sibling(&'static str),
}

struct Function<'a> {
    attrs: &'a mut Vec<Attribute>,
    vis: &'a Visibility,
    sig: &'a Signature,
    block: &'a mut Block,
}

impl Function<'_> {
    /// Inserts a hook, and returns the code that must stand beside the function.
    fn observe(
        self,
        options: &Options,
        within: &Within,
        name: &str,
        reach: Reach,
    ) -> Result<TokenStream> {
        let Function { attrs, vis, sig, block } = self;
        let krate = options.krate();
        let place = SourceLines::of_function(sig, block.brace_token.span.close());
        let kind = if Call::is_async(sig, block) { "Async" } else { "Method" };
        let facts = within.facts(sig, attrs, vis, block, kind);
        let facts = facts.to_string() + &waiting::word_of(block) + options.arguments_word(sig);
        let owner = within.defined.as_ref();
        let definition = Definition {
            krate: &krate,
            kind,
            name,
            place: &place,
            skipped: None,
            facts: &facts,
            owner,
        };
        let self_type = within.self_type;
        let sibling = format_ident!("{}", site_ref::sibling(&sig.ident), span = Span::mixed_site());
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
                let offered = if sig.receiver().is_some() && kind == "Method" {
                    self_type
                } else {
                    SelfType::Unknown
                };
                (
                    TokenStream::new(),
                    site,
                    definition.sibling(attrs, vis, &sig.ident, &offered.receiver()),
                )
            }
        };
        Call { krate: &krate, options, self_type, statics, site }.hook(attrs, sig, block)?;
        Ok(beside.into_token_stream())
    }
}

fn skipped<'a>(
    krate: &'a Path,
    name: &'a str,
    place: &'a SourceLines,
    reason: &'static str,
) -> Definition<'a> {
    Definition { krate, kind: "Method", name, place, skipped: Some(reason), facts: "", owner: None }
}

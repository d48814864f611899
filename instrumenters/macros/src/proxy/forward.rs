//! Forwarding of a trait's item to the wrapped value. In the proxy, `self.0` is the `Spied` around
//! it.

use metaspy_syntax::name;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, Error, Expr, FnArg, GenericParam, Ident, ImplItem, ImplItemFn, Pat, Path,
    PathArguments, Receiver, ReceiverKind, Result, ReturnType, Signature, TraitItemConst,
    TraitItemFn, TraitItemType, Type, TypeParamBound, TypePath, Visibility, parse_quote,
    parse_quote_spanned,
};

use crate::options::Options;

/// Generator of items that forward to an `inner`, which implements the trait `of`.
pub struct Forwarder<'a> {
    pub inner: &'a Ident,
    pub of: &'a Path,
}

impl Forwarder<'_> {
    /// Generates a method that forwards. Returns `None` if the method cannot be forwarded and is
    /// left out, so its default body runs.
    pub fn method(&self, method: &TraitItemFn) -> Result<Option<ImplItemFn>> {
        let forwarded = self.forwarded(method);
        let may_do = method.default.is_some()
            && Options::take(&mut method.attrs.clone())?.is_some_and(|it| it.skip.is_some());
        match forwarded {
            Err(_) if may_do => Ok(None),
            forwarded => forwarded.map(Some),
        }
    }

    fn forwarded(&self, method: &TraitItemFn) -> Result<ImplItemFn> {
        let mut sig = method.sig.clone();
        let receiver = match sig.receiver() {
            None => None,
            Some(receiver) => Some(
                forwarded_receiver(receiver)
                    .ok_or_else(|| cannot_forward(&sig, receiver, &why_not(receiver)))?,
            ),
        };
        let arguments = arguments(&mut sig)?;
        let inner = self.inner;
        let of = self.of;
        let name = &sig.ident;
        let turbofish = turbofish(&sig);
        let all = receiver.into_iter().chain(arguments);
        let call =
            quote_spanned!(Span::mixed_site()=> <#inner as #of>::#name #turbofish(#(#all),*));
        let call = match sig.safety {
            syn::Safety::Unsafe(_) => quote_spanned!(Span::mixed_site()=> unsafe { #call }),
            _ => call,
        };
        let body = returned(&sig, call)?;
        let mut forwarded: ImplItemFn = parse_quote!(fn forwarded() { #body });
        forwarded.attrs = method.attrs.iter().filter(|attr| is_forwarded(attr)).cloned().collect();
        forwarded.vis = Visibility::Inherited;
        forwarded.sig = sig;
        Ok(forwarded)
    }

    pub fn assoc_type(&self, assoc: &TraitItemType) -> ImplItem {
        let inner = self.inner;
        let of = self.of;
        let name = &assoc.ident;
        let generics = &assoc.generics;
        let (_, arguments, conditions) = generics.split_for_impl();
        let attrs = assoc.attrs.iter().filter(|attr| is_forwarded(attr));
        parse_quote!(#(#attrs)* type #name #generics = <#inner as #of>::#name #arguments #conditions;)
    }

    pub fn assoc_const(&self, assoc: &TraitItemConst) -> ImplItem {
        let inner = self.inner;
        let of = self.of;
        let name = &assoc.ident;
        let ty = &assoc.ty;
        let attrs = assoc.attrs.iter().filter(|attr| is_forwarded(attr));
        parse_quote!(#(#attrs)* const #name: #ty = <#inner as #of>::#name;)
    }
}

/// Returns true for attributes that the proxy copies: conditions, the options of observation, and
/// the caller.
fn is_forwarded(attr: &Attribute) -> bool {
    let last = attr.path().segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    matches!(last.as_str(), "cfg" | "observe" | "track_caller")
}

/// Generates the wrapped value as a receiver of the same kind.
fn forwarded_receiver(receiver: &Receiver) -> Option<Expr> {
    let it = receiver.self_token;
    match &receiver.kind {
        ReceiverKind::Value => Some(parse_quote_spanned!(Span::mixed_site()=> #it.0.into_inner())),
        ReceiverKind::Reference(_, _, None) => {
            Some(parse_quote_spanned!(Span::mixed_site()=> &*#it.0))
        }
        ReceiverKind::Reference(_, _, Some(_)) => {
            Some(parse_quote_spanned!(Span::mixed_site()=> &mut *#it.0))
        }
        ReceiverKind::Typed(_, ty) => match &**ty {
            Type::Path(path) if name::of_path(&path.path) == "Box" => {
                let new = without_arguments(&path.path);
                Some(parse_quote_spanned!(Span::mixed_site()=> #new::new((*#it).0.into_inner())))
            }
            Type::Path(_) if is_self(ty) => {
                Some(parse_quote_spanned!(Span::mixed_site()=> #it.0.into_inner()))
            }
            Type::Reference(reference) if is_self(&reference.elem) => {
                Some(match reference.mutability {
                    None => parse_quote_spanned!(Span::mixed_site()=> &*#it.0),
                    Some(_) => parse_quote_spanned!(Span::mixed_site()=> &mut *#it.0),
                })
            }
            _ => None,
        },
        _ => None,
    }
}

/// Generates the arguments of the forwarded call. Arguments without a name get a name.
fn arguments(sig: &mut Signature) -> Result<Vec<Expr>> {
    let mut forwarded = Vec::new();
    let whole = sig.clone();
    for (at, argument) in sig.inputs.iter_mut().enumerate() {
        let FnArg::Typed(argument) = argument else { continue };
        let name = match &*argument.pat {
            Pat::Ident(name) => name.ident.clone(),
            _ => format_ident!("__argument_{at}", span = Span::mixed_site()),
        };
        *argument.pat = parse_quote!(#name);
        forwarded.push(match &*argument.ty {
            ty if is_self(ty) => parse_quote_spanned!(Span::mixed_site()=> #name.0.into_inner()),
            Type::Reference(reference) if is_self(&reference.elem) => match reference.mutability {
                None => parse_quote_spanned!(Span::mixed_site()=> &*#name.0),
                Some(_) => parse_quote_spanned!(Span::mixed_site()=> &mut *#name.0),
            },
            ty if mentions_self(ty) => return Err(cannot_forward(&whole, ty, APART)),
            _ => parse_quote!(#name),
        });
    }
    Ok(forwarded)
}

/// Generates the type and constant arguments of the method, because not all of them can be
/// inferred. `impl Trait` needs no argument.
fn turbofish(sig: &Signature) -> TokenStream {
    let names: Vec<&Ident> = (sig.generics.params.iter())
        .filter_map(|param| match param {
            GenericParam::Type(param) => Some(&param.ident),
            GenericParam::Const(param) => Some(&param.ident),
            GenericParam::Lifetime(_) => None,
        })
        .collect();
    if names.is_empty() { TokenStream::new() } else { quote!(::<#(#names),*>) }
}

/// Converts the result of the call to the proxy's type.
fn returned(sig: &Signature, call: TokenStream) -> Result<TokenStream> {
    let call = match sig.asyncness {
        Some(_) => quote_spanned!(Span::mixed_site()=> #call.await),
        None => call,
    };
    let ReturnType::Type(_, ty) = &sig.output else { return Ok(call) };
    match &**ty {
        ty if is_self(ty) => Ok(quote_spanned!(Span::mixed_site()=> Self::new(#call))),
        ty if mentions_self(ty) => Err(cannot_forward(sig, ty, APART)),
        // The future is awaited inside another future, so that its run is observed and not its
        // making.
        Type::ImplTrait(it) if is_movable_future(it.bounds.iter()) => {
            Ok(quote_spanned!(Span::mixed_site()=>
                let __future = #call;
                async move { __future.await }
            ))
        }
        Type::Path(pin) => Ok(match boxed_future(&pin.path) {
            Some(pinned) => quote_spanned!(Span::mixed_site()=>
                let __future = #call;
                #pinned::pin(async move { __future.await })
            ),
            None => call,
        }),
        _ => Ok(call),
    }
}

/// Returns the path of `Box` in `Pin<Box<dyn Future>>`.
fn boxed_future(pin: &Path) -> Option<Path> {
    let boxed = argument(pin).filter(|_| name::of_path(pin) == "Pin")?;
    let Type::Path(boxed) = boxed else { return None };
    let Type::TraitObject(future) = argument(&boxed.path)? else { return None };
    let is_boxed = name::of_path(&boxed.path) == "Box" && is_movable_future(future.bounds.iter());
    is_boxed.then(|| without_arguments(&boxed.path))
}

/// Returns true for a future that an async block may replace. An async block is never `Unpin`.
fn is_movable_future<'a>(bounds: impl Iterator<Item = &'a TypeParamBound>) -> bool {
    let names: Vec<String> = bounds
        .filter_map(|bound| match bound {
            TypeParamBound::Trait(bound) => Some(name::of_path(&bound.path)),
            _ => None,
        })
        .collect();
    names.iter().any(|name| name == "Future")
        && names.iter().all(|name| matches!(name.as_str(), "Future" | "Send" | "Sync"))
}

fn argument(path: &Path) -> Option<&Type> {
    match &path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|argument| match argument {
                syn::GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
        }
        _ => None,
    }
}

fn without_arguments(path: &Path) -> Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = PathArguments::None;
    }
    path
}

fn is_self(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.qself.is_none() && path.path.is_ident("Self"))
}

/// Returns true if the type contains `Self` itself; `Self::Item` is another type.
fn mentions_self(ty: &Type) -> bool {
    struct Search(bool);
    impl VisitMut for Search {
        fn visit_type_path_mut(&mut self, path: &mut TypePath) {
            self.0 |= path.qself.is_none() && path.path.is_ident("Self");
            // The `Self` of `<Self as Trait>::Item` is another type, too.
            path.qself = None;
            visit_mut::visit_type_path_mut(self, path);
        }
    }
    let mut search = Search(false);
    search.visit_type_mut(&mut ty.clone());
    search.0
}

/// Returns the error of a method that cannot be forwarded, with the remedy.
fn cannot_forward(sig: &Signature, at: &impl ToTokens, why: &str) -> Error {
    let name = &sig.ident;
    let message = format!(
        "a proxy cannot forward `{name}`: {why}; leave it out of a list, or give it a default body and \
         `#[observe(skip)]`, and the proxy runs that"
    );
    Error::new_spanned(at, message)
}

/// Explains why a receiver cannot be forwarded.
fn why_not(receiver: &Receiver) -> String {
    let outer = match &receiver.kind {
        ReceiverKind::Typed(_, ty) => outer_name(ty),
        _ => String::new(),
    };
    match outer.as_str() {
        "Pin" => "the value it wraps can be taken out again, so it is not pinned".into(),
        "Rc" | "Arc" => {
            format!("the value it wraps is in no `{outer}`, and others may hold the proxy's")
        }
        _ => "it knows `self`, `&self`, `&mut self` and `self: Box<Self>`, and no other receiver"
            .into(),
    }
}

fn outer_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) => name::of_path(&path.path),
        _ => String::new(),
    }
}

const APART: &str = "it finds values in `Self`, `&Self` and `&mut Self`, and returns `Self`, but cannot look into this";

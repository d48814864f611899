//! Options between the parentheses of `#[observe(…)]`.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, Expr, FnArg, Ident, LitStr, Meta, Pat, Path, Result, ReturnType, Signature,
    Token, Type, parenthesized, parse_quote,
};

/// Options of an attribute.
#[derive(Default)]
pub struct Options {
    pub subject: Option<Expr>,
    pub skip: Option<Span>,
    pub only: Option<Span>,
    pub name: Option<LitStr>,
    pub args: Vec<Argument>,
    pub ret: Option<Span>,
    pub caller: Option<Span>,
    pub proxy: Option<Proxy>,
    krate: Option<Path>,
}

/// Argument to show.
pub struct Argument {
    pub name: Ident,
    pub value: Expr,
}

/// Trait that a proxy forwards.
pub enum Proxy {
    /// The trait that has the attribute.
    This(Span),
    /// A trait of another crate, whose signatures the item lists.
    Foreign(Path),
}

impl Options {
    /// Returns the path of `metaspy`.
    pub fn krate(&self) -> Path {
        self.krate.clone().unwrap_or_else(|| parse_quote!(::metaspy))
    }

    /// Takes the `#[observe]` attributes of a method out of its list. Returns `None` if it has
    /// none.
    ///
    /// An attribute in a `cfg_attr` counts as well. It has the same condition as the outer
    /// attribute, or it would have been found separately.
    pub fn take(attrs: &mut Vec<Attribute>) -> Result<Option<Options>> {
        let mut taken = Vec::new();
        let mut kept = Vec::new();
        for attr in attrs.drain(..) {
            match conditional(&attr) {
                _ if is_observe(attr.path()) => taken.push(attr.meta),
                Some((condition, ours, others)) => {
                    taken.extend(ours);
                    if !others.is_empty() {
                        kept.push(parse_quote!(#[cfg_attr(#condition, #(#others),*)]));
                    }
                }
                None => kept.push(attr),
            }
        }
        *attrs = kept;
        match &taken[..] {
            [] => Ok(None),
            [meta] => Options::of(meta).map(Some),
            [_, second, ..] => Err(Error::new_spanned(second, "one `#[observe]` is enough")),
        }
    }

    fn of(meta: &Meta) -> Result<Options> {
        match meta {
            Meta::Path(_) => Ok(Options::default()),
            Meta::List(list) => parse(list.tokens.clone()),
            Meta::NameValue(_) => Err(Error::new_spanned(meta, "write `#[observe(…)]`")),
        }
    }

    /// Completes the options of a method by those of the `impl` or trait around it.
    pub fn within(mut self, outer: &Options, sig: &Signature) -> Options {
        if self.subject.is_none() && sig.receiver().is_some() {
            self.subject = outer.subject.clone();
        }
        self.ret = self.ret.or(outer.ret.filter(|_| !never_returns(sig)));
        self.caller = self.caller.or(outer.caller.filter(|_| sig.asyncness.is_none()));
        self.krate = self.krate.or_else(|| outer.krate.clone());
        self
    }

    /// Returns the facts' further word about the arguments of a function, with a space before it:
    /// whether there are none but its subject, or others that its answer may depend on. Arguments
    /// that the function may change are not counted as the latter.
    pub fn arguments_word(&self, sig: &Signature) -> &'static str {
        let is_only = sig.inputs.len() == 1
            && match (&self.subject, &sig.inputs[0]) {
                (None, FnArg::Receiver(_)) => true,
                (Some(Expr::Path(subject)), FnArg::Typed(input)) => {
                    matches!(&*input.pat, Pat::Ident(input) if subject.path.is_ident(&input.ident))
                }
                _ => false,
            };
        let subject = self.subject.as_ref().map(names).unwrap_or_default();
        let is_asked = |input: &FnArg| match input {
            FnArg::Receiver(_) => false,
            FnArg::Typed(input) => match (&*input.ty, &*input.pat) {
                (Type::Reference(ty), _) if ty.mutability.is_some() => false,
                (_, pattern) => !names(pattern).iter().any(|name| subject.contains(name)),
            },
        };
        match () {
            () if is_only => " subject_only",
            () if sig.inputs.iter().any(is_asked) => " more_arguments",
            () => "",
        }
    }

    /// Reports an option that makes no sense on a function.
    pub fn check_function(&self) -> Result<()> {
        if let Some(span) = self.only {
            return Err(Error::new(span, "`only` belongs on an `impl` or a trait"));
        }
        if let Some(proxy) = &self.proxy {
            return Err(Error::new(proxy.span(), "`proxy` belongs on a trait"));
        }
        Ok(())
    }

    /// Reports an option that makes no sense on an `impl` or a trait.
    pub fn check_block(&self, takes_proxy: bool) -> Result<()> {
        if let Some(span) = self.skip {
            return Err(Error::new(
                span,
                "`skip` belongs on a method; to leave out the whole block, drop the attribute",
            ));
        }
        if let Some(argument) = self.args.first() {
            return Err(Error::new(argument.name.span(), "`args` belongs on a method"));
        }
        match &self.proxy {
            Some(proxy) if !takes_proxy => {
                Err(Error::new(proxy.span(), "`proxy` belongs on a trait"))
            }
            _ => Ok(()),
        }
    }
}

impl Proxy {
    fn span(&self) -> Span {
        match self {
            Proxy::This(span) => *span,
            Proxy::Foreign(path) => path.segments[0].ident.span(),
        }
    }
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Self> {
        let mut options = Options::default();
        while !input.is_empty() {
            options.option(input)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

impl Options {
    fn option(&mut self, input: ParseStream) -> Result<()> {
        let word = input.call(Ident::parse_any)?;
        let span = word.span();
        let known =
            "subject = …, skip, only, name = \"…\", args(…), ret, caller, proxy or crate = path";
        let again = match word.to_string().as_str() {
            "subject" => self.subject.replace(value(input)?).is_some(),
            "skip" => self.skip.replace(span).is_some(),
            "only" => self.only.replace(span).is_some(),
            "name" => self.name.replace(value(input)?).is_some(),
            "args" => {
                let inside;
                parenthesized!(inside in input);
                let args = Punctuated::<Argument, Token![,]>::parse_terminated(&inside)?;
                !std::mem::replace(&mut self.args, args.into_iter().collect()).is_empty()
            }
            "ret" => self.ret.replace(span).is_some(),
            "caller" => self.caller.replace(span).is_some(),
            "proxy" if input.peek(Token![=]) => {
                self.proxy.replace(Proxy::Foreign(value(input)?)).is_some()
            }
            "proxy" => self.proxy.replace(Proxy::This(span)).is_some(),
            "crate" => {
                input.parse::<Token![=]>()?;
                self.krate.replace(Path::parse_mod_style(input)?).is_some()
            }
            other => {
                return Err(Error::new(
                    span,
                    format!("`{other}` is no option of `#[observe]`: write {known}"),
                ));
            }
        };
        if again { Err(Error::new(span, format!("`{word}` is given twice"))) } else { Ok(()) }
    }
}

impl Parse for Argument {
    fn parse(input: ParseStream) -> Result<Self> {
        let name = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) { value(input)? } else { parse_quote!(#name) };
        Ok(Argument { name, value })
    }
}

fn never_returns(sig: &Signature) -> bool {
    matches!(&sig.output, ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_)))
}

fn value<T: Parse>(input: ParseStream) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

/// Returns true for the path of this crate's attribute: `observe`, `metaspy::observe`.
fn is_observe(path: &Path) -> bool {
    path.segments.last().is_some_and(|last| last.ident == "observe")
}

/// Splits a `cfg_attr` that contains an `observe` into its condition, the `observe` attributes, and
/// the others.
fn conditional(attr: &Attribute) -> Option<(Meta, Vec<Meta>, Vec<Meta>)> {
    if !attr.path().is_ident("cfg_attr") {
        return None;
    }
    let metas = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
    let mut metas = metas.into_iter();
    let condition = metas.next()?;
    let (ours, others): (Vec<Meta>, Vec<Meta>) = metas.partition(|meta| is_observe(meta.path()));
    (!ours.is_empty()).then_some((condition, ours, others))
}

/// Parses the tokens of an attribute.
pub fn parse(tokens: TokenStream) -> Result<Options> {
    Options::parse.parse2(tokens)
}

/// Returns the names in an expression or in a pattern.
fn names(tokens: &impl ToTokens) -> Vec<String> {
    let text = tokens.to_token_stream().to_string();
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use syn::{Signature, parse_str};

    use super::Options;

    fn check(attribute: &str, signature: &str, expected: &str) {
        let meta = parse_str(attribute).expect("an attribute");
        let signature: Signature = parse_str(signature).expect("a signature");
        let options = Options::of(&meta).unwrap_or_else(|error| panic!("{attribute}: {error}"));
        assert_eq!(
            options.arguments_word(&signature),
            expected,
            "{attribute} {signature:?}",
            signature = signature.ident
        );
    }

    #[test]
    fn facts_tell_what_a_function_is_given_beside_its_subject() {
        check("observe", "fn push(&self) -> Option<u32>", " subject_only");
        check("observe(subject = door)", "fn push(door: Door) -> Option<u32>", " subject_only");
        check(
            "observe(subject = door)",
            "fn push(door: Door, force: u32) -> Option<u32>",
            " more_arguments",
        );
        check("observe(subject = door)", "fn push(&self, door: Door, world: &mut World)", "");
        check("observe(subject = Door(id))", "fn push(Path(id): Path<u32>)", "");
        check(
            "observe(subject = Door(id))",
            "fn push(Path(id): Path<u32>, State(hall): State<Hall>)",
            " more_arguments",
        );
        check("observe(subject = door.id)", "fn push(door: Door) -> Option<u32>", "");
        check("observe(subject = door)", "fn push(&self, door: Door) -> Option<u32>", "");
        check("observe", "fn push(door: Door) -> Option<u32>", " more_arguments");
    }
}

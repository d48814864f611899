//! The parts of a signature that a hook contains, and the limits that a signature sets to hooks.

use std::str::FromStr;

use metaspy_syntax::pointers_to_self;
use proc_macro2::TokenStream;
use serde::{Deserialize, Serialize};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, FnArg, Pat, PatIdent, ReturnType, Signature, Type, TypeImplTrait};

use crate::source::condition::Condition;
use crate::source::open_types as open;

/// The parts of a signature that a hook contains.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionSignature {
    /// Parameters that are plain names.
    pub parameters: Vec<String>,
    /// For each of them the type as declared, if that leaves open which type arrives: a trait
    /// object, `impl Trait`, or a type parameter; else nothing.
    #[serde(default)]
    pub open: Vec<String>,
    /// All names that parameters bind, also in patterns, in the order in which they are dropped:
    /// the last first.
    pub bound: Vec<String>,
    /// The returned type, in one line.
    pub returns: String,
    /// The reason why no hook can be around the body.
    pub limit: Option<Limit>,
    /// The number of pointers around `self`, as 2 for `&Rc<Self>`; 0 if the object has no place
    /// outside of the call.
    #[serde(default)]
    pub pointers_to_self: usize,
    /// True if the body has no braces, as in `|x| x + 1`.
    pub(crate) is_expression: bool,
}

/// A reason why no hook can be around a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// The returned type contains `impl`.
    Opaque,
    /// It never returns.
    Never,
    /// It is `#[track_caller]`.
    Tracked,
}

impl Limit {
    /// The reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            Limit::Opaque => "the type that it returns has no name",
            Limit::Never => "it never returns",
            Limit::Tracked => {
                "it is `#[track_caller]`, and a hook around its body would hide the caller"
            }
        }
    }
}

impl FunctionSignature {
    /// True if the returned type contains a reference.
    pub(crate) fn is_lent(&self) -> bool {
        self.returns.contains(['&', '\''])
    }

    /// The signature of a function in this source. `is_tracked` is true if a trait makes it
    /// `#[track_caller]`.
    pub fn of(sig: &Signature, attrs: &[Attribute], is_tracked: bool, source: &str) -> Self {
        let typed = sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) if Condition::of(&typed.attrs).is_always() => {
                Some((plain_name(&typed.pat)?, open::declared(&typed.ty, &sig.generics, source)))
            }
            _ => None,
        });
        let (parameters, open) = typed.unzip();
        FunctionSignature {
            parameters,
            open,
            bound: Bound::by(sig),
            returns: returns(&sig.output, source),
            limit: limit(&sig.output, is_tracked || is_marked(attrs)),
            pointers_to_self: sig.receiver().map_or(0, pointers_to_self),
            is_expression: false,
        }
    }

    /// The signature of a closure.
    pub fn of_closure(closure: &syn::ExprClosure, source: &str) -> Self {
        FunctionSignature {
            parameters: closure.inputs.iter().filter_map(plain_name).collect(),
            open: Vec::new(),
            bound: Vec::new(),
            returns: returns(&closure.output, source),
            limit: None,
            pointers_to_self: 0,
            is_expression: !matches!(&*closure.body, syn::Expr::Block(block) if block.label.is_none()),
        }
    }
}

fn plain_name(pat: &Pat) -> Option<String> {
    match pat {
        // As written, with the `r#` of a raw name.
        Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
            Some(name.ident.to_string())
        }
        Pat::Type(typed) => plain_name(&typed.pat),
        _ => None,
    }
}

fn returns(output: &ReturnType, source: &str) -> String {
    let ReturnType::Type(_, ty) = output else { return "()".to_owned() };
    let text = source.get(ty.span().byte_range()).unwrap_or_default();
    if !text.contains('\n') && !text.contains("//") && !text.contains("/*") {
        return text.to_owned();
    }
    TokenStream::from_str(text).map(|tokens| tokens.to_string()).unwrap_or_default()
}

fn limit(output: &ReturnType, tracked: bool) -> Option<Limit> {
    let mut opaque = Opaque(false);
    opaque.visit_return_type(output);
    let never = matches!(output, ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_)));
    match (opaque.0, never, tracked) {
        (true, ..) => Some(Limit::Opaque),
        (_, true, _) => Some(Limit::Never),
        (.., true) => Some(Limit::Tracked),
        _ => None,
    }
}

fn is_marked(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| attr.path().is_ident("track_caller"))
}

/// Names in patterns.
struct Bound(Vec<String>);

impl Bound {
    fn by(sig: &Signature) -> Vec<String> {
        let mut bound = Bound(Vec::new());
        for input in &sig.inputs {
            match input {
                FnArg::Receiver(_) => bound.0.push("self".to_owned()),
                FnArg::Typed(typed) if Condition::of(&typed.attrs).is_always() => {
                    bound.visit_pat(&typed.pat)
                }
                FnArg::Typed(_) => {}
            }
        }
        bound.0.reverse();
        bound.0
    }
}

impl<'ast> Visit<'ast> for Bound {
    fn visit_pat_ident(&mut self, it: &'ast PatIdent) {
        self.0.push(it.ident.to_string());
        visit::visit_pat_ident(self, it);
    }

    fn visit_expr(&mut self, _: &'ast Expr) {}
}

struct Opaque(bool);

impl<'ast> Visit<'ast> for Opaque {
    fn visit_type_impl_trait(&mut self, it: &'ast TypeImplTrait) {
        self.0 = true;
        visit::visit_type_impl_trait(self, it);
    }
}

/// The properties that selectors test, besides the path. A closure has those of the function around
/// it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// True if it is `pub`, or the method of an implemented trait.
    pub(crate) is_pub: bool,
    /// Its attributes, each by the last segment of its path.
    pub attributes: Vec<String>,
    /// Its return type, without spaces; `()` for nothing.
    pub returns: String,
    /// How many lines it has.
    pub lines: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::parse;

    fn check(signature: &str, parameters: &[&str], returns: &str, limit: Option<Limit>) {
        let parsed = parse(&format!("{signature} {{}}")).expect("it is Rust");
        let shape = &parsed.functions.all[0].signature;
        assert_eq!(shape.parameters, parameters, "{signature}");
        assert_eq!((shape.returns.as_str(), shape.limit), (returns, limit), "{signature}");
    }

    #[test]
    fn parameters_are_those_with_a_plain_name() {
        check(
            "fn f(a: u8, mut r#b: u8, (c, d): P, _: u8, &e: &u8, ref g: u8, #[cfg(x)] h: u8)",
            &["a", "r#b"],
            "()",
            None,
        );
    }

    #[test]
    fn what_is_returned_is_one_line() {
        check("fn f<'a>() -> Result<&'a str, E>", &[], "Result<&'a str, E>", None);
        check("fn f() -> (A, // one\n /* two */ B\n)", &[], "(A , B)", None);
    }

    #[test]
    fn what_stands_in_the_way_of_a_hook_around_the_body_is_seen() {
        check("fn f() -> Option<impl Fn()>", &[], "Option<impl Fn()>", Some(Limit::Opaque));
        check("fn f() -> Result<!, E>", &[], "Result<!, E>", None);
        check("fn f() -> !", &[], "!", Some(Limit::Never));
        check("#[track_caller] fn f(a: impl Fn() -> u8)", &["a"], "()", Some(Limit::Tracked));
    }

    #[test]
    fn methods_are_tracked_as_the_trait_declares() {
        let check = |text: &str, limit: Option<Limit>| {
            assert_eq!(
                parse(text).expect("it is Rust").functions.all[0].signature.limit,
                limit,
                "{text}"
            );
        };
        check(
            "impl ops::Index<u8> for G { fn index(&self, at: u8) -> &u8 {} }",
            Some(Limit::Tracked),
        );
        check(
            "impl IndexMut<u8> for G { fn index_mut(&mut self, at: u8) -> &mut u8 {} }",
            Some(Limit::Tracked),
        );
        check("impl Index<u8> for G { fn index(&self) { fn index() {} } }", Some(Limit::Tracked));
        check("impl G { fn index(&self, at: u8) -> &u8 {} }", None);
        check("impl Other for G { fn index(&self, at: u8) -> &u8 {} }", None);
        check("trait Index { fn index(&self) -> u8 {} }", None);
    }
}

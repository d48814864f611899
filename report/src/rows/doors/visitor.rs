//! What a source file gives to calls, and where it takes messages.

use std::collections::HashSet;
use std::mem;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprAsync, ExprCall, ExprClosure, ExprForLoop, ExprLoop, ExprMethodCall,
    ExprPath, ExprWhile, Field, ImplItemFn, ItemFn, ItemImpl, ItemMod, ItemTrait, Local, LocalInit,
    Macro, Member, Pat, PatIdent, PatType, Path, TraitItemFn, Type,
};

/// Methods that take a message from a channel.
const RECEIVING: [&str; 10] = [
    "blocking_recv",
    "recv",
    "recv_async",
    "recv_blocking",
    "recv_deadline",
    "recv_many",
    "recv_ref",
    "recv_timeout",
    "try_recv",
    "try_recv_many",
];
/// Methods that iterate over the messages of a channel, which other types have, too.
const ITERATING: [&str; 3] = ["into_iter", "iter", "try_iter"];
/// Functions that return the two ends of a channel, by their last names.
const CHANNELS: [&str; 5] =
    ["bounded", "channel", "sync_channel", "unbounded", "unbounded_channel"];
/// Functions that pass on what they are given, by their last names: the call around them decides.
const PASSING: [&str; 7] = ["new", "pin", "from", "Some", "Ok", "Box", "Arc"];
/// Methods that do so.
const PASSING_METHODS: [&str; 4] = ["boxed", "boxed_local", "into", "clone"];

/// How the source names a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a value.
    Path,
    /// As the function of a call.
    Call,
    /// As the method of a call.
    MethodCall,
    /// Not at all: a closure stands here.
    Closure,
}

/// A place that names a function.
pub struct Mention {
    pub form: Form,
    pub name: String,
    /// The part of the path before the name.
    pub qualifier: Option<String>,
    pub line: u32,
    /// The call whose argument it is.
    pub argument_of: Option<Called>,
    /// The call that was given the closure or the `async` block around it.
    pub deferred_by: Option<Called>,
    /// The names of the implementations and functions around it.
    pub within: String,
}

/// A call that is given something.
#[derive(Clone)]
pub struct Called {
    /// Its name, as it is written: `rayon::spawn`, `.push`.
    pub name: String,
    pub line: u32,
}

/// Collects the mentions of all functions.
#[derive(Default)]
pub struct SourceVisitor {
    pub mentions: Vec<Mention>,
    /// Loops that take messages: how, and the line.
    pub receivers: Vec<(String, u32)>,
    /// Names of variables, arguments and fields that are the end of a channel.
    ends: HashSet<String>,
    /// The call whose argument is visited, without anything between them.
    argument_of: Option<Called>,
    /// The call that was given the closure or the `async` block around this place.
    deferred_by: Option<Called>,
    loops: usize,
    /// Names of arguments and variables of the function around, which are no functions.
    bound: HashSet<String>,
    /// The names of the implementations and functions around.
    around: Vec<String>,
}

impl SourceVisitor {
    pub fn visit(file: &syn::File) -> SourceVisitor {
        let mut ends = ChannelEndVisitor::default();
        ends.visit_file(file);
        let mut visitor = SourceVisitor { ends: ends.0, ..SourceVisitor::default() };
        visitor.visit_file(file);
        visitor
    }

    fn mention(&mut self, form: Form, name: String, qualifier: Option<String>, span: Span) {
        self.mentions.push(Mention {
            form,
            name,
            qualifier,
            line: line_of(span),
            argument_of: self.argument_of.clone(),
            deferred_by: self.deferred_by.clone(),
            within: self.around.join("::"),
        });
    }

    /// Visits the arguments of a call, which is their door unless it passes them on.
    fn visit_arguments<'ast>(
        &mut self,
        arguments: impl Iterator<Item = &'ast Expr>,
        called: Option<Called>,
    ) {
        let outside = self.argument_of.clone();
        for argument in arguments {
            self.argument_of = called.clone().or_else(|| outside.clone());
            match argument {
                Expr::Path(ExprPath { path, .. }) if self.argument_of.is_some() => {
                    if let Some((name, qualifier)) = names(path)
                        && !(qualifier.is_none() && self.bound.contains(&name))
                    {
                        self.mention(Form::Path, name, qualifier, path.span());
                    }
                }
                Expr::Call(_) | Expr::MethodCall(_) | Expr::Closure(_) | Expr::Async(_) => {
                    self.visit_expr(argument);
                }
                _ => self.visit_elsewhere(argument),
            }
        }
        self.argument_of = outside;
    }

    /// Visits an expression that no call is given.
    fn visit_elsewhere(&mut self, expr: &Expr) {
        let outside = self.argument_of.take();
        self.visit_expr(expr);
        self.argument_of = outside;
    }

    /// Visits what runs when the call decides that was given it.
    fn visit_deferred(&mut self, visit: impl FnOnce(&mut Self)) {
        let given_to = self.argument_of.take();
        let outside = self.deferred_by.clone();
        if given_to.is_some() {
            self.deferred_by.clone_from(&given_to);
        }
        visit(self);
        self.deferred_by = outside;
        self.argument_of = given_to;
    }

    fn visit_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        self.loops += 1;
        let outside = self.argument_of.take();
        visit(self);
        self.argument_of = outside;
        self.loops -= 1;
    }

    /// Visits an item, of which nothing around it is known but names.
    fn visit_item_named(
        &mut self,
        attrs: &[Attribute],
        name: String,
        visit: impl FnOnce(&mut Self),
    ) {
        if attrs.iter().any(is_test) {
            return;
        }
        let outside = (self.argument_of.take(), self.deferred_by.take());
        let loops = mem::take(&mut self.loops);
        let bound = mem::take(&mut self.bound);
        self.around.push(name);
        visit(self);
        self.around.pop();
        self.bound = bound;
        self.loops = loops;
        (self.argument_of, self.deferred_by) = outside;
    }

    /// The calls in the tokens of a macro that take messages, as in `select!`.
    fn visit_tokens(&mut self, tokens: TokenStream) {
        let mut before = None;
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.visit_tokens(group.stream()),
                TokenTree::Ident(name) if before == Some('.') => {
                    self.receive(&name.to_string(), name.span());
                    before = None;
                }
                TokenTree::Punct(mark) => before = Some(mark.as_char()),
                _ => before = None,
            }
        }
    }

    /// True for a variable or a field that is the end of a channel, also behind `&` and `&mut`.
    fn is_end(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => {
                path.path.get_ident().is_some_and(|it| self.ends.contains(&it.to_string()))
            }
            Expr::Field(field) => {
                matches!(&field.member, Member::Named(name) if self.ends.contains(&name.to_string()))
            }
            Expr::Reference(reference) => self.is_end(&reference.expr),
            _ => false,
        }
    }

    fn receive(&mut self, name: &str, at: Span) {
        if self.loops > 0 && RECEIVING.contains(&name) {
            self.receivers.push((format!(".{name}"), line_of(at)));
        }
    }
}

impl<'ast> Visit<'ast> for SourceVisitor {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        let mut door = None;
        if let Expr::Path(ExprPath { path, .. }) = &*call.func
            && let Some((name, qualifier)) = names(path)
        {
            if !PASSING.contains(&&*name) {
                let written: Vec<String> =
                    path.segments.iter().map(|segment| segment.ident.to_string()).collect();
                door = Some(Called { name: written.join("::"), line: line_of(path.span()) });
            }
            self.mention(Form::Call, name, qualifier, path.span());
        } else {
            self.visit_elsewhere(&call.func);
        }
        self.visit_arguments(call.args.iter(), door);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let name = call.method.to_string();
        self.receive(&name, call.method.span());
        if ITERATING.contains(&&*name) && self.is_end(&call.receiver) {
            self.receivers.push((format!(".{name}"), line_of(call.method.span())));
        }
        // `work().boxed()` is given to the call around it.
        if PASSING_METHODS.contains(&&*name) {
            self.visit_expr(&call.receiver);
            return;
        }
        self.mention(Form::MethodCall, name.clone(), None, call.method.span());
        self.visit_elsewhere(&call.receiver);
        let door = Called { name: format!(".{name}"), line: line_of(call.method.span()) };
        self.visit_arguments(call.args.iter(), Some(door));
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.mention(Form::Closure, String::new(), None, closure.span());
        self.visit_deferred(|it| visit::visit_expr_closure(it, closure));
    }

    fn visit_expr_async(&mut self, block: &'ast ExprAsync) {
        self.visit_deferred(|it| visit::visit_block(it, &block.block));
    }

    fn visit_expr_loop(&mut self, body: &'ast ExprLoop) {
        self.visit_loop(|it| visit::visit_expr_loop(it, body));
    }

    fn visit_expr_while(&mut self, body: &'ast ExprWhile) {
        self.visit_loop(|it| visit::visit_expr_while(it, body));
    }

    fn visit_expr_for_loop(&mut self, body: &'ast ExprForLoop) {
        if self.is_end(&body.expr) {
            self.receivers.push(("for".to_owned(), line_of(body.for_token.span)));
        }
        self.visit_loop(|it| visit::visit_expr_for_loop(it, body));
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.visit_tokens(mac.tokens.clone());
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        let name = item.sig.ident.to_string();
        self.visit_item_named(&item.attrs, name, |it| visit::visit_item_fn(it, item));
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let name = match &*item.self_ty {
            Type::Path(path) => names(&path.path).map(|(name, _)| name).unwrap_or_default(),
            _ => String::new(),
        };
        self.visit_item_named(&item.attrs, name, |it| visit::visit_item_impl(it, item));
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        let name = item.ident.to_string();
        self.visit_item_named(&item.attrs, name, |it| visit::visit_item_trait(it, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        let name = item.sig.ident.to_string();
        self.visit_item_named(&item.attrs, name, |it| visit::visit_impl_item_fn(it, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        let name = item.sig.ident.to_string();
        self.visit_item_named(&item.attrs, name, |it| visit::visit_trait_item_fn(it, item));
    }

    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        self.bound.insert(name.ident.to_string());
        visit::visit_pat_ident(self, name);
    }
}

/// Collects the names of what is the end of a channel, by the type that is written, or by the call
/// that returned it.
#[derive(Default)]
struct ChannelEndVisitor(HashSet<String>);

impl ChannelEndVisitor {
    fn add(&mut self, pattern: &Pat) {
        if let Pat::Ident(name) = pattern {
            self.0.insert(name.ident.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for ChannelEndVisitor {
    fn visit_pat_type(&mut self, typed: &'ast PatType) {
        if is_receiver(&typed.ty) {
            self.add(&typed.pat);
        }
        visit::visit_pat_type(self, typed);
    }

    fn visit_field(&mut self, field: &'ast Field) {
        if is_receiver(&field.ty) {
            self.0.extend(field.ident.as_ref().map(ToString::to_string));
        }
    }

    fn visit_local(&mut self, local: &'ast Local) {
        if let Pat::Tuple(tuple) = &local.pat
            && let Some(LocalInit { expr, .. }) = &local.init
            && let Expr::Call(call) = &**expr
            && let Expr::Path(path) = &*call.func
            && names(&path.path).is_some_and(|(name, _)| CHANNELS.contains(&&*name))
            && let Some(end) = tuple.elems.last()
        {
            self.add(end);
        }
        visit::visit_local(self, local);
    }
}

/// `Receiver<Job>`, `&mut mpsc::UnboundedReceiver<Job>`.
fn is_receiver(of: &Type) -> bool {
    match of {
        Type::Path(path) => names(&path.path).is_some_and(|(name, _)| name.ends_with("Receiver")),
        Type::Reference(reference) => is_receiver(&reference.elem),
        _ => false,
    }
}

/// The last name of a path, and the one before it.
fn names(path: &Path) -> Option<(String, Option<String>)> {
    let mut names = path.segments.iter().rev().map(|segment| segment.ident.to_string());
    Some((names.next()?, names.next()))
}

fn line_of(span: Span) -> u32 {
    span.start().line as u32
}

/// True for `#[test]`, `#[tokio::test]` and `#[cfg(test)]`.
fn is_test(attribute: &Attribute) -> bool {
    let path = attribute.path();
    let is_named = path.segments.last().is_some_and(|segment| segment.ident == "test");
    let is_condition = path.is_ident("cfg")
        && attribute.parse_args::<Path>().is_ok_and(|condition| condition.is_ident("test"));
    is_named || is_condition
}

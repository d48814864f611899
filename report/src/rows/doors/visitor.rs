//! Where a source file gives functions to calls, and where it takes messages.

use std::collections::HashSet;
use std::mem;
use std::rc::Rc;

use metaspy_syntax::spawning;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Expr, ExprAsync, ExprCall, ExprClosure, ExprForLoop, ExprLet, ExprLoop,
    ExprMethodCall, ExprPath, ExprWhile, ImplItemFn, ItemFn, ItemImpl, ItemMod, ItemTrait, Local,
    LocalInit, Macro, Member, Meta, Pat, PatIdent, PatType, Path, Signature, Stmt, TraitItemFn,
    Type,
};

use super::callee::{Called, Callee};
use super::names::{line_of, line_of_path, names, short, written};
use super::outline::{Definition, OutlineVisitor, is_channel_end};

/// Methods that take a message from a channel, without an argument.
const RECEIVING: [&str; 7] = [
    "blocking_recv",
    "recv",
    "recv_async",
    "recv_blocking",
    "recv_ref",
    "try_recv",
    "try_recv_ref",
];
/// Methods that do so with an argument.
const RECEIVING_WITH: [&str; 3] = ["recv_deadline", "recv_many", "recv_timeout"];
/// Methods that iterate over the messages of a channel, which other types have, too.
const ITERATING: [&str; 3] = ["into_iter", "iter", "try_iter"];
/// Functions that return the two ends of a channel, by their last names.
const CHANNELS: [&str; 5] =
    ["bounded", "channel", "sync_channel", "unbounded", "unbounded_channel"];
/// Functions that only wrap their argument, beside constructors. The call around them is given it.
const WRAPPING: [[&str; 2]; 7] = [
    ["Arc", "from"],
    ["Arc", "new"],
    ["Box", "from"],
    ["Box", "new"],
    ["Box", "pin"],
    ["Pin", "new"],
    ["Rc", "new"],
];
/// Methods that only wrap the value that they are called on.
const WRAPPING_METHODS: [&str; 7] =
    ["boxed", "boxed_local", "clone", "fuse", "in_current_span", "instrument", "into"];
/// Maximum number of places that are remembered of a file, of each kind.
const PLACES: usize = 10_000;
/// How the source names a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// By its path alone, as a value.
    Path,
    /// By the path of a function that is called.
    Call,
    /// By the name of a method that is called.
    MethodCall,
    /// A closure stands here, which has no name.
    Closure,
}

/// A place that names a function.
pub struct Mention {
    pub form: Form,
    pub name: String,
    /// The part of the path before the name, with the name of the type for `Self`.
    pub qualifier: Option<String>,
    pub line: u32,
    /// The call whose argument it is.
    pub argument_of: Option<Called>,
    /// True inside a closure or an `async` block.
    pub is_deferred: bool,
    /// The call that was given that closure or block.
    pub deferred_by: Option<Called>,
    /// The names of the implementations and functions around it.
    pub within: Rc<str>,
}

/// A call or loop that receives messages again and again.
pub struct Receive {
    /// The call or keyword that receives, as it is written: `.recv`, `for`.
    pub call: String,
    pub line: u32,
}

/// Names that are searched for.
pub struct Wanted<'n> {
    pub names: HashSet<&'n str>,
    /// True if closures are searched for, too.
    pub closures: bool,
}

/// Collects places in a file.
pub struct SourceVisitor<'n> {
    wanted: &'n Wanted<'n>,
    pub mentions: Vec<Mention>,
    pub receives: Vec<Receive>,
    /// All functions of the file, also tests.
    pub definitions: Vec<Definition>,
    /// Names of fields that are the end of a channel.
    end_fields: HashSet<String>,
    here: Surroundings,
    /// The names of the implementations and functions around, from the outermost.
    around: Vec<String>,
}

/// State of the visitor at the current expression.
struct Surroundings {
    /// The call whose argument is visited, without anything between them.
    argument_of: Option<Called>,
    is_deferred: bool,
    deferred_by: Option<Called>,
    loops: usize,
    /// Names of arguments and variables of the function, which are no functions.
    bound: HashSet<String>,
    /// Those of them that are the end of a channel.
    ends: HashSet<String>,
    within: Rc<str>,
}

impl Surroundings {
    /// Where an item begins.
    fn new(around: &[String]) -> Surroundings {
        let names: Vec<&str> =
            around.iter().map(String::as_str).filter(|name| !name.is_empty()).collect();
        Surroundings {
            argument_of: None,
            is_deferred: false,
            deferred_by: None,
            loops: 0,
            bound: HashSet::new(),
            ends: HashSet::new(),
            within: short(&names.join("::")).into(),
        }
    }
}

impl<'n> SourceVisitor<'n> {
    pub fn visit(file: &syn::File, wanted: &'n Wanted<'n>) -> SourceVisitor<'n> {
        let mut outline = OutlineVisitor::default();
        outline.visit_file(file);
        let mut visitor = SourceVisitor {
            wanted,
            mentions: Vec::new(),
            receives: Vec::new(),
            definitions: outline.definitions,
            end_fields: outline.end_fields,
            here: Surroundings::new(&[]),
            around: Vec::new(),
        };
        visitor.visit_file(file);
        visitor
    }

    fn mention(&mut self, form: Form, name: String, qualifier: Option<String>, line: u32) {
        let is_wanted = match form {
            Form::Closure => self.wanted.closures,
            _ => self.wanted.names.contains(&*name),
        };
        if !is_wanted || self.mentions.len() == PLACES {
            return;
        }
        let is_own = qualifier.as_deref() == Some("Self");
        // The innermost function has no name of a type.
        let of_type = self.around.len().checked_sub(2).and_then(|at| self.around.get(at));
        self.mentions.push(Mention {
            form,
            name,
            qualifier: if is_own { of_type.cloned() } else { qualifier },
            line,
            argument_of: self.here.argument_of.clone(),
            is_deferred: self.here.is_deferred,
            deferred_by: self.here.deferred_by.clone(),
            within: self.here.within.clone(),
        });
    }

    /// A function that is named by a path, unless a variable has this name.
    fn mention_path(&mut self, form: Form, path: &Path) {
        if let Some((name, qualifier)) = names(path)
            && !(qualifier.is_none() && self.here.bound.contains(&name))
        {
            self.mention(form, name, qualifier, line_of_path(path));
        }
    }

    /// Visits the arguments of a call, which is their door unless it only wraps them.
    fn visit_arguments<'ast>(
        &mut self,
        arguments: impl Iterator<Item = &'ast Expr>,
        callee: Option<&Callee>,
    ) {
        let outside = self.here.argument_of.clone();
        for (at, argument) in arguments.enumerate() {
            self.here.argument_of =
                callee.map(|callee| callee.given(argument, at)).or_else(|| outside.clone());
            self.visit_argument(argument);
        }
        self.here.argument_of = outside;
    }

    /// Visits an argument, or the value that it ends with.
    fn visit_argument(&mut self, argument: &Expr) {
        match argument {
            Expr::Path(ExprPath { path, .. }) => {
                if self.here.argument_of.is_some() {
                    self.mention_path(Form::Path, path);
                }
            }
            Expr::Call(_) | Expr::MethodCall(_) | Expr::Closure(_) | Expr::Async(_) => {
                self.visit_expr(argument);
            }
            Expr::Reference(inner) => self.visit_argument(&inner.expr),
            Expr::Paren(inner) => self.visit_argument(&inner.expr),
            Expr::Cast(inner) => self.visit_argument(&inner.expr),
            Expr::Block(block) => {
                let Some((Stmt::Expr(value, None), before)) = block.block.stmts.split_last() else {
                    return self.visit_elsewhere(argument);
                };
                let argument_of = self.here.argument_of.take();
                before.iter().for_each(|statement| self.visit_stmt(statement));
                self.here.argument_of = argument_of;
                self.visit_argument(value);
            }
            _ => self.visit_elsewhere(argument),
        }
    }

    /// Visits an expression that no call is given.
    fn visit_elsewhere(&mut self, expr: &Expr) {
        let outside = self.here.argument_of.take();
        self.visit_expr(expr);
        self.here.argument_of = outside;
    }

    /// Visits code that runs when the call decides that was given it.
    fn visit_deferred(&mut self, visit: impl FnOnce(&mut Self)) {
        let given_to = self.here.argument_of.take();
        let is_deferred = self.here.is_deferred;
        let deferred_by = self.here.deferred_by.clone();
        let loops = self.here.loops;
        if !given_to.as_ref().is_some_and(|called| called.runs_inline) {
            self.here.is_deferred = true;
            self.here.loops = 0;
            if given_to.is_some() {
                self.here.deferred_by.clone_from(&given_to);
            }
        }
        visit(self);
        self.here.loops = loops;
        self.here.deferred_by = deferred_by;
        self.here.is_deferred = is_deferred;
        self.here.argument_of = given_to;
    }

    fn visit_loop(&mut self, visit: impl FnOnce(&mut Self)) {
        let outside = self.here.argument_of.take();
        self.here.loops += 1;
        visit(self);
        self.here.loops -= 1;
        self.here.argument_of = outside;
    }

    /// Visits an item. Nothing of the code around it holds in it.
    fn visit_named(&mut self, attrs: &[Attribute], name: &str, visit: impl FnOnce(&mut Self)) {
        if attrs.iter().any(is_test) {
            return;
        }
        self.around.push(short(name));
        let outside = mem::replace(&mut self.here, Surroundings::new(&self.around));
        visit(self);
        self.here = outside;
        self.around.pop();
    }

    fn visit_function(
        &mut self,
        attrs: &[Attribute],
        signature: &Signature,
        visit: impl FnOnce(&mut Self),
    ) {
        self.visit_named(attrs, &signature.ident.unraw().to_string(), visit);
    }

    /// Visits the tokens of a macro for calls that take messages, as in `select!`.
    fn visit_tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for three in tokens.windows(3) {
            if let [TokenTree::Punct(dot), TokenTree::Ident(name), TokenTree::Group(group)] = three
                && dot.as_char() == '.'
                && group.delimiter() == Delimiter::Parenthesis
            {
                self.take(&name.to_string(), !group.stream().is_empty(), name.span());
            }
        }
        for token in tokens {
            if let TokenTree::Group(group) = token {
                self.visit_tokens(group.stream());
            }
        }
    }

    /// A call of a method, which may take a message.
    fn take(&mut self, name: &str, has_arguments: bool, at: Span) {
        let is_taking =
            if has_arguments { RECEIVING_WITH.contains(&name) } else { RECEIVING.contains(&name) };
        if is_taking && self.here.loops > 0 {
            self.receive(format!(".{name}"), line_of(at));
        }
    }

    fn receive(&mut self, call: String, line: u32) {
        if self.receives.len() < PLACES {
            self.receives.push(Receive { call, line });
        }
    }

    /// True for a variable or a field that is the end of a channel, also behind `&` and `&mut`.
    fn is_end(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => {
                path.path.get_ident().is_some_and(|name| self.here.ends.contains(&name.to_string()))
            }
            Expr::Field(field) => match &field.member {
                Member::Named(name) => self.end_fields.contains(&name.to_string()),
                Member::Unnamed(_) => false,
            },
            Expr::Reference(reference) => self.is_end(&reference.expr),
            _ => false,
        }
    }

    /// A variable or an argument that is the end of a channel.
    fn add_end(&mut self, pattern: &Pat) {
        if let Pat::Ident(name) = pattern {
            self.here.ends.insert(name.ident.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for SourceVisitor<'_> {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        let mut callee = None;
        if let Expr::Path(ExprPath { path, .. }) = &*call.func {
            if !is_wrapping(path) {
                let count = call.args.len();
                let name = path.segments.last().map(|last| last.ident.to_string());
                let name = name.unwrap_or_default();
                // A path is joined with an argument, a pool's two closures with each other.
                let is_spawning = spawning::is_spawning(&name) && (name != "join" || count == 2);
                callee = Some(Callee {
                    written: written(path),
                    name,
                    line: line_of_path(path),
                    is_spawning,
                    is_parallel: false,
                });
            }
            self.mention_path(Form::Call, path);
        } else {
            self.visit_elsewhere(&call.func);
        }
        self.visit_arguments(call.args.iter(), callee.as_ref());
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let name = call.method.unraw().to_string();
        let line = line_of(call.method.span());
        self.take(&name, !call.args.is_empty(), call.method.span());
        if ITERATING.contains(&&*name) && self.is_end(&call.receiver) {
            self.receive(format!(".{name}"), line);
        }
        // `work().boxed()` is given to the call around it.
        if WRAPPING_METHODS.contains(&&*name) {
            self.visit_argument(&call.receiver);
            call.args.iter().for_each(|argument| self.visit_elsewhere(argument));
            return;
        }
        self.mention(Form::MethodCall, name.clone(), None, line);
        self.visit_elsewhere(&call.receiver);
        let written = short(&format!(".{name}"));
        let is_spawning = name != "join" && spawning::is_spawning(&name);
        let is_parallel = spawning::is_parallel(&call.receiver);
        let callee = Callee { written, name, line, is_spawning, is_parallel };
        self.visit_arguments(call.args.iter(), Some(&callee));
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        let first = closure.capture.as_ref().map_or(closure.inputs_begin.span, |word| word.span);
        self.mention(Form::Closure, String::new(), None, line_of(first));
        self.visit_deferred(|visitor| visit::visit_expr_closure(visitor, closure));
    }

    fn visit_expr_async(&mut self, block: &'ast ExprAsync) {
        self.visit_deferred(|visitor| visit::visit_block(visitor, &block.block));
    }

    fn visit_expr_loop(&mut self, body: &'ast ExprLoop) {
        self.visit_loop(|visitor| visit::visit_expr_loop(visitor, body));
    }

    fn visit_expr_while(&mut self, body: &'ast ExprWhile) {
        self.visit_loop(|visitor| visit::visit_expr_while(visitor, body));
    }

    fn visit_expr_for_loop(&mut self, body: &'ast ExprForLoop) {
        if self.is_end(&body.expr) {
            let line = line_of(body.for_token.span);
            self.receive("for".to_owned(), line);
        }
        self.visit_elsewhere(&body.expr);
        self.visit_pat(&body.pat);
        self.visit_loop(|visitor| visit::visit_block(visitor, &body.body));
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.visit_tokens(mac.tokens.clone());
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let name = match &*item.self_ty {
            Type::Path(path) => names(&path.path).map(|(name, _)| name),
            _ => None,
        };
        let name = name.unwrap_or_default();
        self.visit_named(&item.attrs, &name, |visitor| visit::visit_item_impl(visitor, item));
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        let name = item.ident.unraw().to_string();
        self.visit_named(&item.attrs, &name, |visitor| visit::visit_item_trait(visitor, item));
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.visit_function(&item.attrs, &item.sig, |visitor| visit::visit_item_fn(visitor, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.visit_function(&item.attrs, &item.sig, |visitor| {
            visit::visit_impl_item_fn(visitor, item);
        });
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if item.default.is_some() {
            self.visit_function(&item.attrs, &item.sig, |visitor| {
                visit::visit_trait_item_fn(visitor, item);
            });
        }
    }

    fn visit_pat_ident(&mut self, name: &'ast PatIdent) {
        self.here.bound.insert(name.ident.unraw().to_string());
        visit::visit_pat_ident(self, name);
    }

    fn visit_pat_type(&mut self, typed: &'ast PatType) {
        if is_channel_end(&typed.ty) {
            self.add_end(&typed.pat);
        }
        visit::visit_pat_type(self, typed);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        if let Pat::Tuple(tuple) = &local.pat
            && let Some(LocalInit { expr, .. }) = &local.init
            && let Expr::Call(call) = &**expr
            && let Expr::Path(path) = &*call.func
            && names(&path.path).is_some_and(|(name, _)| CHANNELS.contains(&&*name))
            && let Some(end) = tuple.elems.last()
        {
            self.add_end(end);
        }
        // The name does not yet stand for the variable.
        if let Some(init) = &local.init {
            self.visit_local_init(init);
        }
        self.visit_pat(&local.pat);
    }

    fn visit_expr_let(&mut self, condition: &'ast ExprLet) {
        self.visit_expr(&condition.expr);
        self.visit_pat(&condition.pat);
    }
}

/// True for `Box::new` and the like, and for constructors of structs and variants.
fn is_wrapping(path: &Path) -> bool {
    let Some((name, qualifier)) = names(path) else { return false };
    let qualifier = qualifier.unwrap_or_default();
    name.starts_with(char::is_uppercase) || WRAPPING.contains(&[&*qualifier, &*name])
}

/// True for `#[test]`, `#[tokio::test]` and `#[cfg(test)]`, also if there are further conditions.
fn is_test(attribute: &Attribute) -> bool {
    let is_named = attribute.path().segments.last().is_some_and(|last| last.ident == "test");
    let is_condition = attribute.path().is_ident("cfg")
        && matches!(&attribute.meta, Meta::List(list) if has_test(list.tokens.clone()));
    is_named || is_condition
}

/// True if `test` is among the words, and not negated.
fn has_test(tokens: TokenStream) -> bool {
    let mut is_negated = false;
    for token in tokens {
        match token {
            TokenTree::Ident(word) if word == "test" => return true,
            TokenTree::Ident(word) => is_negated = word == "not",
            TokenTree::Group(group) if !is_negated && has_test(group.stream()) => return true,
            _ => {}
        }
    }
    false
}

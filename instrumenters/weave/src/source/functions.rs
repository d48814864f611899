//! The functions of a source file: their names, their lines, and the places of their hooks.

use std::borrow::Cow;
use std::mem::{replace, take};
use std::ops::Range;

use metaspy_syntax::facts::{Facts, Visibility, returns, returns_nothing};
use metaspy_syntax::{Owner, complexity, fingerprint, name, refusal, waiting};
use serde::{Deserialize, Serialize};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, ExprCall, ExprClosure, ExprConst, ExprMethodCall, ImplItem, ImplItemFn,
    ImplItemMacro, Item, ItemFn, ItemImpl, ItemMacro, ItemMod, ItemTrait, Signature, TraitItem,
    TraitItemFn, TraitItemMacro, Type,
};

use crate::source::attributes::{self, WrittenAttribute};
use crate::source::closures::{self, Around};
use crate::source::macro_generated::{self, MacroGenerated};

use crate::source::condition::{Build, Condition};
use crate::source::modules::{self, Declared};
use crate::source::scope::{Returned, Scope, TypeRef};
use crate::source::signature::{FunctionSignature, Properties};
use crate::source::spawn::Spawn;
use crate::source::type_items::{OfItem, TypeItem};

/// A function with a body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Function {
    /// Its modules in this file.
    pub modules: Vec<String>,
    /// The part of its path behind the module: `Scene::Layout::measure`, `main::{closure#1}`.
    pub name: String,
    /// First and last line, from its signature on.
    pub lines: (u32, u32),
    /// The bytes of its body: a hook is inserted before or around them.
    pub body: Range<usize>,
    /// Its facts, which its hook contains.
    pub facts: Facts,
    /// Further words of its facts, with a space before each.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub further_facts: String,
    /// The parts of its signature that its hook contains.
    pub signature: FunctionSignature,
    /// The properties that selectors test.
    pub properties: Properties,
    /// True if other crates can call it: then its values are complete, and code of their types may
    /// run on them.
    pub is_exported: bool,
    /// The reason why it cannot be woven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<Cow<'static, str>>,
    /// Attributes on it and around it that may be macros which read its tokens, the outermost
    /// first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown_attributes: Vec<String>,
    /// All attributes on it and around it that may be macros.
    #[serde(skip)]
    pub(super) attributes: Vec<WrittenAttribute>,
    /// The scope in which the types below are written.
    #[serde(skip)]
    pub(super) scope: usize,
    /// The type of its `impl`.
    #[serde(skip)]
    pub(super) self_type: Option<TypeRef>,
    /// The trait of its `impl`, or the trait whose default method it is.
    #[serde(skip)]
    pub(super) of_trait: Option<TypeRef>,
    /// Its return type.
    #[serde(skip)]
    pub(super) returned: Option<Returned>,
}

impl Function {
    /// True if this byte of the text is in its body.
    pub fn contains(&self, byte: usize) -> bool {
        self.body.contains(&byte)
    }

    /// Returns true if its inputs have plain names: no part of a pattern, and no capture of a
    /// closure.
    pub(crate) fn has_plain_inputs(&self) -> bool {
        let bound = self.signature.bound.iter().filter(|name| *name != "self").count();
        !self.facts.is_closure && bound == self.signature.parameters.len()
    }
}

/// The functions of a file.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// All of them, in the order of the text.
    pub all: Vec<Function>,
    /// The calls in them that spawn work.
    pub spawns: Vec<Spawn>,
    /// The code that macros generate.
    pub generated: MacroGenerated,
    /// The macros that declare modules by the names in their arguments.
    pub(super) module_macros: Vec<String>,
    /// Enums, traits and implementations.
    pub(super) types: Vec<TypeItem>,
    /// The same as words of a site, with the paths of the types that they name.
    pub type_words: TypeWords,
    /// When a build contains the file.
    pub(super) condition: Condition,
}

/// The enums, traits and implementations of a file as words of a site, with their conditions.
#[derive(Clone, Debug, Default)]
pub struct TypeWords(pub(super) Vec<(Condition, String)>);

impl TypeWords {
    /// Those that a build contains for certain, each behind a space.
    pub fn of(&self, build: &Build) -> String {
        let contained = self.0.iter().filter(|(condition, _)| condition.holds(build));
        contained.map(|(_, word)| format!(" {word}")).collect()
    }
}

/// The functions of a file and the modules that it declares. The source began at `offset` in its
/// text.
pub(super) fn of(
    file: &syn::File,
    source: &str,
    offset: usize,
) -> (Functions, Vec<Declared>, Vec<Scope>) {
    let mut search = Search {
        source,
        offset,
        modules: Vec::new(),
        paths: Vec::new(),
        owners: Vec::new(),
        owner: Owner::default(),
        attributes: Vec::new(),
        around: None,
        in_function: false,
        in_tests: false,
        found: Functions { condition: Condition::of(&file.attrs), ..Functions::default() },
        declared: Vec::new(),
        scopes: vec![Scope::default()],
        scope: 0,
        self_type: None,
        of_trait: None,
        condition: Condition::default(),
    };
    search.visit_file(file);
    search.found.all.sort_by_key(|function| function.body.start);
    for function in &mut search.found.all {
        function.unknown_attributes = attributes::unknown(&function.attributes, &search.scopes);
    }
    (search.found, search.declared, search.scopes)
}

struct Search<'s> {
    source: &'s str,
    offset: usize,
    modules: Vec<String>,
    /// The directories of the modules, where an attribute names them.
    paths: Vec<Option<String>>,
    /// The segments that a name begins with: functions, types and traits around it.
    owners: Vec<String>,
    /// The `impl` or trait at hand.
    owner: Owner,
    /// The attributes of the items at hand that may be macros.
    attributes: Vec<WrittenAttribute>,
    /// The function at hand; none in code that runs at compile time.
    around: Option<Around>,
    in_function: bool,
    /// True inside a function that only builds of tests contain.
    in_tests: bool,
    found: Functions,
    declared: Vec<Declared>,
    scopes: Vec<Scope>,
    /// The scope at hand.
    scope: usize,
    /// The type of the `impl` at hand.
    self_type: Option<TypeRef>,
    /// The trait at hand.
    of_trait: Option<TypeRef>,
    /// The condition of the item at hand.
    condition: Condition,
}

impl Search<'_> {
    fn function(
        &mut self,
        attrs: &[Attribute],
        vis: &syn::Visibility,
        sig: &Signature,
        block: &Block,
    ) {
        self.owners.push(name::of_ident(&sig.ident));
        let first = sig.span().start().line as u32;
        let last = block.brace_token.span.close().end().line as u32;
        let lines = (first, last.max(first));
        let signature = FunctionSignature::of(sig, attrs, self.owner.is_tracked(sig), self.source);
        let text = sig.span().byte_range().start..block.brace_token.span.close().byte_range().end;
        let fingerprint = self.source.get(text).and_then(fingerprint::of_source).unwrap_or(0);
        let facts = self.owner.facts(sig, attrs, vis, block);
        let further_facts = waiting::word_of(block);
        let is_test_only =
            self.in_tests || self.condition.and(&Condition::of(attrs)).is_test_only();
        let facts = Facts { is_nested: self.in_function, is_test_only, fingerprint, ..facts };
        let is_of_tests = is_test_only || facts.is_test;
        let properties = Properties {
            is_pub: facts.visibility == Visibility::Public,
            attributes: name::of_attributes(attrs),
            returns: signature.returns.replace(char::is_whitespace, ""),
            lines: lines.1 + 1 - lines.0,
        };
        let skipped = self.owner.refused.or_else(|| self::reason(sig, attrs));
        let around = Around {
            closures: 0,
            properties: properties.clone(),
            skipped: skipped.filter(|why| *why != refusal::OBSERVED),
        };
        let close = block.brace_token.span.close().byte_range().start;
        let body = self.offset + body_start(self.source, attrs, block)..self.offset + close;
        let modules = self.modules.clone();
        let name = self.owners.join("::");
        let skipped = skipped.map(Cow::Borrowed);
        let (scope, self_type, returned) =
            (self.scope, self.self_type.take(), Returned::new(&sig.output));
        let of_trait = self.of_trait.take();
        let is_exported = facts.visibility == Visibility::Public
            && !facts.is_nested
            && !matches!(sig.safety, syn::Safety::Unsafe(_));
        self.found.all.push(Function {
            modules,
            name,
            lines,
            body,
            facts,
            further_facts,
            signature,
            properties,
            is_exported,
            skipped,
            unknown_attributes: Vec::new(),
            attributes: self.attributes.clone(),
            scope,
            self_type: self_type.clone(),
            of_trait: of_trait.clone(),
            returned,
        });
        let outer = self.enter(Some(self.scope));
        let owner = take(&mut self.owner);
        let around = self.around.replace(around);
        let in_function = replace(&mut self.in_function, true);
        let in_tests = replace(&mut self.in_tests, is_of_tests);
        visit::visit_block(self, block);
        (self.owner, self.around, self.in_function) = (owner, around, in_function);
        self.in_tests = in_tests;
        (self.scope, self.self_type, self.of_trait) = (outer, self_type, of_trait);
        self.owners.pop();
    }

    fn closure(&mut self, closure: &ExprClosure) {
        let Some(around) = &mut self.around else { return };
        around.closures += 1;
        let name = format!("{}::{{closure#{}}}", self.owners.join("::"), around.closures);
        let body = closures::body(closure, |block: &syn::ExprBlock| {
            body_start(self.source, &block.attrs, &block.block)
        });
        self.found.all.push(Function {
            modules: self.modules.clone(),
            name,
            lines: (closure.span().start().line as u32, closure.span().end().line as u32),
            body: self.offset + body.start..self.offset + body.end,
            facts: Facts {
                complexity: complexity::of_closure(closure),
                is_closure: true,
                is_test_only: self.in_tests,
                returns: returns(&closure.output),
                is_unit: returns_nothing(&closure.output, true),
                is_nested: true,
                ..Facts::default()
            },
            signature: FunctionSignature::of_closure(closure, self.source),
            properties: around.properties.clone(),
            skipped: around.skipped.or_else(|| closures::reason(closure)).map(Cow::Borrowed),
            attributes: self.attributes.clone(),
            ..Function::default()
        });
    }

    /// Adds calls that spawn work, which only code of functions does.
    fn spawns(&mut self, find: impl FnOnce(&dyn Fn(&ExprClosure) -> Range<usize>) -> Vec<Spawn>) {
        if self.around.is_none() {
            return;
        }
        let source = self.source;
        let found = find(&|closure| {
            closures::body(closure, |block| body_start(source, &block.attrs, &block.block))
        });
        self.found.spawns.extend(found.into_iter().map(|spawn| spawn.moved(self.offset)));
    }

    fn within(&mut self, names: &[String], owner: Owner, visit: impl FnOnce(&mut Self)) {
        self.owners.extend_from_slice(names);
        let before = replace(&mut self.owner, owner);
        visit(self);
        self.owner = before;
        self.owners.truncate(self.owners.len() - names.len());
    }

    /// Enters a new scope: a module, or a body in the scope around it. Returns the scope that was
    /// left.
    fn enter(&mut self, outer: Option<usize>) -> usize {
        let mut path = self.modules.clone();
        if outer.is_some() {
            path.extend_from_slice(&self.owners);
        }
        self.scopes.push(Scope { path, outer, ..Scope::default() });
        replace(&mut self.scope, self.scopes.len() - 1)
    }

    /// Visits an item with these attributes.
    fn below(&mut self, attrs: &[Attribute], visit: impl FnOnce(&mut Self)) {
        let outer = self.attributes.len();
        self.attributes.extend(attributes::written(attrs, self.scope));
        visit(self);
        self.attributes.truncate(outer);
    }

    /// Visits code that no function runs.
    fn outside(&mut self, visit: impl FnOnce(&mut Self)) {
        let around = self.around.take();
        visit(self);
        self.around = around;
    }
}

/// The reason why a function cannot be woven; `None` if it can.
fn reason(sig: &Signature, attrs: &[Attribute]) -> Option<&'static str> {
    refusal::reason(sig, attrs).or_else(|| refusal::is_observed(attrs).then_some(refusal::OBSERVED))
}

/// The byte of the source before which a hook is inserted: behind the brace, or behind the inner
/// attributes.
fn body_start(source: &str, attrs: &[Attribute], block: &Block) -> usize {
    let open = block.brace_token.span.open().byte_range().end;
    let inner = attrs.iter().filter(|attr| matches!(attr.style, syn::AttrStyle::Inner(_)));
    let inner = inner.map(|attr| attr.span().byte_range()).filter(|bytes| bytes.end > open);
    let Some(last) = inner.max_by_key(|bytes| bytes.end) else { return open };
    if !source[last.clone()].starts_with("//!") {
        return last.end;
    }
    // A comment takes the rest of its line.
    let next = block.stmts.first().map(|stmt| stmt.span().byte_range().start);
    next.unwrap_or_else(|| block.brace_token.span.close().byte_range().start)
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.attrs, &item.vis, &item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.attrs, &item.vis, &item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.attrs, &syn::Visibility::Inherited, &item.sig, block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let owner = Owner::of_impl(item);
        let of_trait = item.trait_.as_ref().map(|(path, ..)| TypeRef::of_path(path));
        let outer = self.self_type.replace(TypeRef::new(&item.self_ty, &item.generics));
        let outer_trait = replace(&mut self.of_trait, of_trait);
        self.within(&owner.names(), owner, |search| visit::visit_item_impl(search, item));
        (self.self_type, self.of_trait) = (outer, outer_trait);
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        let owner = Owner::of_trait(item);
        let outer = self.self_type.take();
        let outer_trait = self.of_trait.replace(TypeRef::of_name(&item.ident));
        self.within(&owner.names(), owner, |search| visit::visit_item_trait(search, item));
        (self.self_type, self.of_trait) = (outer, outer_trait);
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.closure(closure);
        visit::visit_expr_closure(self, closure);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        self.spawns(|body| Spawn::of_call(call, body));
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.spawns(|body| Spawn::of_method_call(call, body));
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_const(&mut self, block: &'ast ExprConst) {
        self.outside(|search| visit::visit_expr_const(search, block));
    }

    fn visit_type(&mut self, ty: &'ast Type) {
        self.outside(|search| visit::visit_type(search, ty));
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        // `module_path!()` has no functions in it, and modules in functions are rare.
        if self.in_function {
            return;
        }
        let path = Declared::path_of(&item.attrs);
        match &item.content {
            None => self.declared.push(Declared::module(
                item,
                &self.modules,
                &self.paths,
                self.condition.clone(),
            )),
            Some(_) => {
                self.modules.push(name::of_ident(&item.ident));
                self.paths.push(path.into_iter().next());
                let outer = self.enter(None);
                visit::visit_item_mod(self, item);
                self.scope = outer;
                self.modules.pop();
                self.paths.pop();
            }
        }
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        if let Some(name) = &item.ident {
            if modules::declares_modules(item.mac.tokens.clone()) {
                self.found.module_macros.push(name.to_string());
            }
            return;
        }
        match Declared::included(item, &self.modules, self.condition.clone()) {
            Some(included) if !self.in_function => self.declared.push(included),
            _ => self.found.generated.macros += 1,
        }
        if !self.in_function {
            self.declared.extend(Declared::by_call(item, &self.modules, &self.paths));
        }
    }

    fn visit_impl_item_macro(&mut self, _: &'ast ImplItemMacro) {
        self.found.generated.macros += 1;
    }

    fn visit_trait_item_macro(&mut self, _: &'ast TraitItemMacro) {
        self.found.generated.macros += 1;
    }

    fn visit_item(&mut self, item: &'ast Item) {
        self.found.generated.derives += macro_generated::derives(item);
        self.scopes[self.scope].declare(item);
        let within = self.condition.and(&Condition::of_item(item));
        let around = std::mem::replace(&mut self.condition, within);
        let scope = self.scope;
        let condition = self.condition.clone();
        self.found.types.extend(OfItem::of(item).map(|of| TypeItem { scope, condition, of }));
        self.outside(|search| {
            search.below(attributes::of_item(item), |search| visit::visit_item(search, item))
        });
        self.condition = around;
    }

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        self.below(attributes::of_impl_item(item), |search| visit::visit_impl_item(search, item));
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        self.below(attributes::of_trait_item(item), |search| visit::visit_trait_item(search, item));
    }
}

//! The functions of a source file: what they are called, where they stand, and where a hook goes.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, ImplItemFn, ImplItemMacro, Item, ItemFn, ItemImpl, ItemMacro, ItemMod, ItemTrait, Signature,
    TraitItemFn, TraitItemMacro,
};

use crate::source::modules::Declared;
use crate::source::{complexity, naming, skip};

/// A function with a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The modules of this file that it stands in.
    pub modules: Vec<String>,
    /// What follows the module: `Scene::Layout::measure`.
    pub name: String,
    /// First and last line, from its signature on.
    pub lines: (u32, u32),
    /// How many ways lead through it: its cyclomatic complexity.
    pub complexity: u32,
    /// The byte that a hook goes before.
    pub insert_at: usize,
    /// Whether it is async: then it is told when it begins, and no guard lives across an await.
    pub is_async: bool,
    /// Why it cannot be woven.
    pub skipped: Option<&'static str>,
}

/// What is found in a file.
#[derive(Clone, Debug, Default)]
pub struct Functions {
    /// All of them, in the order of the text.
    pub all: Vec<Function>,
    /// What cannot be seen in the text.
    pub invisible: Invisible,
}

/// What makes code that no source shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Invisible {
    /// Calls of macros where items stand: each may make functions.
    pub macros: usize,
    /// Traits that are derived.
    pub derives: usize,
}

/// The functions of a file and the modules that it declares. The source began at `offset` in its text.
pub(super) fn of(file: &syn::File, source: &str, offset: usize) -> (Functions, Vec<Declared>) {
    let mut search = Search {
        source,
        offset,
        modules: Vec::new(),
        paths: Vec::new(),
        owners: Vec::new(),
        refused: None,
        in_function: false,
        found: Functions::default(),
        declared: Vec::new(),
    };
    search.visit_file(file);
    search.found.all.sort_by_key(|function| function.insert_at);
    (search.found, search.declared)
}

struct Search<'s> {
    source: &'s str,
    offset: usize,
    modules: Vec<String>,
    /// The directories of the modules, where an attribute names them.
    paths: Vec<Option<String>>,
    /// What a name begins with: functions, types and traits around.
    owners: Vec<String>,
    /// Why nothing in the item at hand can be woven.
    refused: Option<&'static str>,
    in_function: bool,
    found: Functions,
    declared: Vec<Declared>,
}

impl Search<'_> {
    fn function(&mut self, attrs: &[Attribute], sig: &Signature, block: &Block) {
        let name = naming::ident(&sig.ident);
        self.owners.push(name);
        let first = sig.span().start().line as u32;
        let last = block.brace_token.span.close().end().line as u32;
        self.found.all.push(Function {
            modules: self.modules.clone(),
            name: self.owners.join("::"),
            lines: (first, last.max(first)),
            complexity: complexity::of(block),
            insert_at: self.offset + insert_at(self.source, attrs, block),
            is_async: sig.asyncness.is_some(),
            skipped: self.refused.or_else(|| skip::reason(sig, attrs)),
        });
        let (refused, in_function) = (self.refused.take(), std::mem::replace(&mut self.in_function, true));
        visit::visit_block(self, block);
        (self.refused, self.in_function) = (refused, in_function);
        self.owners.pop();
    }

    fn within(&mut self, owners: &[String], refused: Option<&'static str>, visit: impl FnOnce(&mut Self)) {
        self.owners.extend_from_slice(owners);
        let before = std::mem::replace(&mut self.refused, refused);
        visit(self);
        self.refused = before;
        self.owners.truncate(self.owners.len() - owners.len());
    }
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.attrs, &item.sig, block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        let mut owners = vec![naming::ty(&item.self_ty, self.source)];
        owners.extend(item.trait_.as_ref().map(|(path, ..)| naming::path(path)));
        let is_allocator = owners.get(1).is_some_and(|of| of == "GlobalAlloc");
        let observed = skip::is_observed(&item.attrs).then_some(skip::OBSERVED);
        let refused = if is_allocator { Some(skip::ALLOCATOR) } else { observed };
        self.within(&owners, refused, |search| visit::visit_item_impl(search, item));
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        let refused = skip::is_observed(&item.attrs).then_some(skip::OBSERVED);
        self.within(&[naming::ident(&item.ident)], refused, |search| visit::visit_item_trait(search, item));
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        // `module_path!()` does not tell of functions, and hardly anybody puts modules into them.
        if self.in_function {
            return;
        }
        let path = Declared::path_of(&item.attrs);
        match &item.content {
            None => self.declared.push(Declared::module(item, &self.modules, &self.paths)),
            Some(_) => {
                self.modules.push(naming::ident(&item.ident));
                self.paths.push(path.into_iter().next());
                visit::visit_item_mod(self, item);
                self.modules.pop();
                self.paths.pop();
            }
        }
    }

    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        if item.ident.is_some() || item.mac.path.is_ident("macro_rules") {
            return;
        }
        match Declared::included(item, &self.modules) {
            Some(included) if !self.in_function => self.declared.push(included),
            _ => self.found.invisible.macros += 1,
        }
        if !self.in_function {
            self.declared.extend(Declared::in_macro(item.mac.tokens.clone(), &self.modules, &self.paths));
        }
    }

    fn visit_impl_item_macro(&mut self, _: &'ast ImplItemMacro) {
        self.found.invisible.macros += 1;
    }

    fn visit_trait_item_macro(&mut self, _: &'ast TraitItemMacro) {
        self.found.invisible.macros += 1;
    }

    fn visit_item(&mut self, item: &'ast Item) {
        if let Item::Struct(syn::ItemStruct { attrs, .. })
        | Item::Enum(syn::ItemEnum { attrs, .. })
        | Item::Union(syn::ItemUnion { attrs, .. }) = item
        {
            self.found.invisible.derives += attrs.iter().map(derives).sum::<usize>();
        }
        visit::visit_item(self, item);
    }
}

fn derives(attr: &Attribute) -> usize {
    let mut count = 0;
    if attr.path().is_ident("derive") {
        let _ = attr.parse_nested_meta(|_| {
            count += 1;
            Ok(())
        });
    }
    count
}

/// The byte of the source that a hook goes before: behind the brace, or behind the inner attributes.
fn insert_at(source: &str, attrs: &[Attribute], block: &Block) -> usize {
    let open = block.brace_token.span.open().byte_range().end;
    let inner = attrs.iter().filter(|attr| matches!(attr.style, syn::AttrStyle::Inner(_)));
    let Some(last) = inner.map(|attr| attr.span().byte_range().end).filter(|end| *end > open).max() else {
        return open;
    };
    let is_line = source[..last].rsplit(['\n', '{']).next().is_some_and(|line| line.trim_start().starts_with("//!"));
    if !is_line {
        return last;
    }
    // A comment takes the rest of its line.
    let next = block.stmts.first().map(|stmt| stmt.span().byte_range().start);
    next.unwrap_or_else(|| block.brace_token.span.close().byte_range().start)
}

//! Modules that a file declares in other files, and the places of these files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, ExprLit, ItemMacro, ItemMod, Lit, LitStr, Meta, Token, punctuated::Punctuated,
};

use metaspy_syntax::name;

use crate::source::condition::Condition;

/// A file that another one names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// The modules around it in its file.
    modules: Vec<String>,
    /// The directories of these, where attributes name them.
    paths: Vec<Option<String>>,
    what: What,
    /// When a build contains it.
    pub condition: Condition,
    /// The macro that may declare it: nothing is declared unless that one declares modules.
    pub by_macro: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// `mod name;`, and its `#[path]`; under conditions there may be several, or none.
    Module { name: String, paths: Vec<String>, is_elsewhere: bool },
    /// `include!("path");`
    Included(String),
}

impl Declared {
    pub fn module(
        item: &ItemMod,
        modules: &[String],
        paths: &[Option<String>],
        condition: Condition,
    ) -> Self {
        let what = What::Module {
            name: name::of_ident(&item.ident),
            paths: Declared::path_of(&item.attrs),
            is_elsewhere: item.attrs.iter().any(|attr| attr.path().is_ident("path")),
        };
        Declared {
            modules: modules.to_vec(),
            paths: paths.to_vec(),
            what,
            condition,
            by_macro: None,
        }
    }

    pub fn included(item: &ItemMacro, modules: &[String], condition: Condition) -> Option<Self> {
        let path: LitStr =
            item.mac.path.is_ident("include").then(|| item.mac.parse_body().ok())??;
        Some(Declared {
            modules: modules.to_vec(),
            paths: vec![None; modules.len()],
            what: What::Included(path.value()),
            condition,
            by_macro: None,
        })
    }

    /// The modules that a call of a macro may declare, perhaps under conditions: those in its
    /// arguments, as of `cfg_if!`, whatever the macro makes of them, and each of its words if the
    /// macro declares modules by their names.
    pub fn by_call(item: &ItemMacro, modules: &[String], paths: &[Option<String>]) -> Vec<Self> {
        let mut found = Declared::in_macro(item.mac.tokens.clone(), modules, paths);
        let Some(called) = item.mac.path.segments.last() else { return found };
        let mut words = BTreeSet::new();
        let is_list = add_words(item.mac.tokens.clone(), &mut words);
        found.extend(words.into_iter().filter(|_| is_list).map(|name| {
            let what = What::Module { name, paths: Vec::new(), is_elsewhere: false };
            let by_macro = Some(called.ident.to_string());
            let condition = Condition::unknown();
            Declared { modules: modules.to_vec(), paths: paths.to_vec(), what, condition, by_macro }
        }));
        found
    }

    fn in_macro(tokens: TokenStream, modules: &[String], paths: &[Option<String>]) -> Vec<Self> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut found = Vec::new();
        for window in tokens.windows(3) {
            if let [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(end)] = window
                && word == "mod"
                && end.as_char() == ';'
            {
                let what = What::Module {
                    name: name::of_ident(name),
                    paths: Vec::new(),
                    is_elsewhere: false,
                };
                let (modules, paths, condition) =
                    (modules.to_vec(), paths.to_vec(), Condition::unknown());
                found.push(Declared { modules, paths, what, condition, by_macro: None });
            }
        }
        for token in tokens {
            if let TokenTree::Group(group) = token {
                found.extend(Declared::in_macro(group.stream(), modules, paths));
            }
        }
        found
    }

    /// The paths of `#[path = "…"]`, also in a `#[cfg_attr]`.
    pub fn path_of(attrs: &[Attribute]) -> Vec<String> {
        let mut found = Vec::new();
        for attr in attrs {
            search(&attr.meta, &mut found);
        }
        found
    }

    /// Its modules within its file, itself included.
    pub fn modules(&self) -> Vec<String> {
        match &self.what {
            What::Module { name, .. } => self.modules.iter().chain([name]).cloned().collect(),
            What::Included(_) => self.modules.clone(),
        }
    }

    /// The files that may hold it, and true for each whose modules are beside it: a file that is
    /// named by an attribute, or `mod.rs`.
    pub fn candidates(&self, file: &Path, is_mod_rs: bool) -> Vec<(PathBuf, bool)> {
        let mut dir = file.parent().unwrap_or(Path::new("")).to_owned();
        let (name, paths, is_elsewhere) = match &self.what {
            What::Included(path) => return vec![(dir.join(path), true)],
            What::Module { name, paths, is_elsewhere } => (name, paths, *is_elsewhere),
        };
        if !is_mod_rs && (paths.is_empty() || !self.modules.is_empty()) {
            dir.push(file.file_stem().unwrap_or_default());
        }
        for (module, path) in self.modules.iter().zip(&self.paths) {
            dir.push(path.as_ref().unwrap_or(module));
        }
        let mut all: Vec<(PathBuf, bool)> =
            paths.iter().map(|path| (dir.join(path), true)).collect();
        if is_elsewhere {
            return all;
        }
        if !is_mod_rs && self.modules.is_empty() && !paths.is_empty() {
            dir.push(file.file_stem().unwrap_or_default());
        }
        all.push((dir.join(format!("{name}.rs")), false));
        all.push((dir.join(name).join("mod.rs"), true));
        all
    }
}

/// Adds the words of a list of names, including those in parentheses and brackets. Returns false
/// for tokens with braces, which are code.
fn add_words(tokens: TokenStream, found: &mut BTreeSet<String>) -> bool {
    tokens.into_iter().all(|token| match token {
        TokenTree::Ident(word) => {
            found.insert(name::of_ident(&word));
            true
        }
        TokenTree::Group(group) => {
            group.delimiter() != Delimiter::Brace && add_words(group.stream(), found)
        }
        _ => true,
    })
}

/// True for the rules of a macro that declares modules by the names in its arguments: they contain
/// `mod $name`.
pub(super) fn declares_modules(rules: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = rules.into_iter().collect();
    tokens.windows(3).any(|window| {
        matches!(window, [TokenTree::Ident(word), TokenTree::Punct(mark), TokenTree::Ident(_)]
            if word == "mod" && mark.as_char() == '$')
    }) || tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => declares_modules(group.stream()),
        _ => false,
    })
}

fn search(meta: &Meta, found: &mut Vec<String>) {
    match meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => {
            if let Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) = &pair.value {
                found.push(path.value());
            }
        }
        Meta::List(list) if list.path.is_ident("cfg_attr") => {
            let parse = Punctuated::<Meta, Token![,]>::parse_terminated;
            for meta in list.parse_args_with(parse).into_iter().flatten().skip(1) {
                search(&meta, found);
            }
        }
        _ => {}
    }
}

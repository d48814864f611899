//! The files of a crate: which modules are declared, and where they are kept.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Component, Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Expr, ExprLit, ItemMacro, ItemMod, Lit, LitStr, Meta, Token, punctuated::Punctuated};

use crate::source::functions::Function;
use crate::source::naming;
use crate::source::parse::{self, Parsed, Unreadable};

/// A file that another one names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// The modules around it in its file.
    modules: Vec<String>,
    /// The directories of these, where attributes name them.
    paths: Vec<Option<String>>,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// `mod name;`, and what `#[path]` says; under conditions there may be several, and the first is none.
    Module { name: String, paths: Vec<String> },
    /// `include!("path");`
    Included(String),
}

impl Declared {
    pub fn module(item: &ItemMod, modules: &[String], paths: &[Option<String>]) -> Self {
        let what = What::Module { name: naming::ident(&item.ident), paths: Declared::path_of(&item.attrs) };
        Declared { modules: modules.to_vec(), paths: paths.to_vec(), what }
    }

    pub fn included(item: &ItemMacro, modules: &[String]) -> Option<Self> {
        let path: LitStr = item.mac.path.is_ident("include").then(|| item.mac.parse_body().ok())??;
        Some(Declared {
            modules: modules.to_vec(),
            paths: vec![None; modules.len()],
            what: What::Included(path.value()),
        })
    }

    /// Modules that a macro is given, as with `cfg_if!`: whatever it makes of them, their files are source. One that it
    /// drops is read for nothing.
    pub fn in_macro(tokens: TokenStream, modules: &[String], paths: &[Option<String>]) -> Vec<Self> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut found = Vec::new();
        for window in tokens.windows(3) {
            if let [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(end)] = window
                && word == "mod"
                && end.as_char() == ';'
            {
                let what = What::Module { name: naming::ident(name), paths: Vec::new() };
                found.push(Declared { modules: modules.to_vec(), paths: paths.to_vec(), what });
            }
        }
        for token in tokens {
            if let TokenTree::Group(group) = token {
                found.extend(Declared::in_macro(group.stream(), modules, paths));
            }
        }
        found
    }

    /// What `#[path = "…"]` says, also in a `#[cfg_attr]`.
    pub fn path_of(attrs: &[Attribute]) -> Vec<String> {
        let mut found = Vec::new();
        for attr in attrs {
            search(&attr.meta, &mut found);
        }
        found
    }
}

fn search(meta: &Meta, found: &mut Vec<String>) {
    match meta {
        Meta::NameValue(said) if said.path.is_ident("path") => {
            if let Expr::Lit(ExprLit { lit: Lit::Str(path), .. }) = &said.value {
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

/// A file of a crate.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    /// The module that it is; that of the crate is empty.
    pub modules: Vec<String>,
    /// What is in it.
    pub parsed: Result<Parsed, Unreadable>,
}

impl SourceFile {
    /// The path of a function of this file: `crate::module::Type::Trait::method`.
    pub fn path_of(&self, krate: &str, function: &Function) -> String {
        let modules = function.modules.iter().chain([&function.name]);
        modules.fold(self.module_path(krate), |path, segment| path + "::" + segment)
    }

    /// The path of the module that it is: `crate::module`.
    pub fn module_path(&self, krate: &str) -> String {
        self.modules.iter().fold(krate.to_owned(), |path, module| path + "::" + module)
    }
}

/// The files of a crate that its source names.
#[derive(Clone, Debug, Default)]
pub struct CrateSource {
    /// Each once, the root first.
    pub files: Vec<SourceFile>,
    /// Where modules were looked for and nothing could be read.
    pub missing: Vec<PathBuf>,
}

/// Reads a crate from its root on. Files that are not there, as with modules under conditions, are passed over.
pub fn read(root: &Path) -> std::io::Result<CrateSource> {
    let mut source = CrateSource::default();
    let mut seen = BTreeMap::new();
    let mut to_read = VecDeque::from([(root.to_owned(), Vec::new(), true)]);
    while let Some((path, modules, is_mod_rs)) = to_read.pop_front() {
        if seen.insert(path.clone(), ()).is_some() {
            continue;
        }
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if source.files.is_empty() => return Err(error),
            Err(_) => {
                source.missing.push(path);
                continue;
            }
        };
        let parsed = parse::parse(&text);
        for declared in parsed.iter().flat_map(|parsed| &parsed.declared) {
            let modules = modules.iter().chain(&declared.modules).cloned();
            match &declared.what {
                What::Included(file) => {
                    to_read.push_back((beside(&path, file), modules.collect(), true));
                }
                What::Module { name, paths } => {
                    let modules: Vec<String> = modules.chain([name.clone()]).collect();
                    for (file, is_mod_rs) in candidates(&path, is_mod_rs, declared, name, paths) {
                        to_read.push_back((file, modules.clone(), is_mod_rs));
                    }
                }
            }
        }
        source.files.push(SourceFile { path, text, modules, parsed });
    }
    Ok(source)
}

/// Where a module may be kept. A file that is named by an attribute, or is called `mod.rs`, has its modules beside it.
fn candidates(file: &Path, is_mod_rs: bool, declared: &Declared, name: &str, paths: &[String]) -> Vec<(PathBuf, bool)> {
    let mut dir = file.parent().unwrap_or(Path::new("")).to_owned();
    if !is_mod_rs && (paths.is_empty() || !declared.modules.is_empty()) {
        dir.push(file.file_stem().unwrap_or_default());
    }
    for (module, path) in declared.modules.iter().zip(&declared.paths) {
        dir.push(path.as_ref().unwrap_or(module));
    }
    let named = paths.iter().map(|path| (plain(&dir.join(path)), true));
    let mut all: Vec<(PathBuf, bool)> = named.collect();
    if !is_mod_rs && declared.modules.is_empty() && !paths.is_empty() {
        dir.push(file.file_stem().unwrap_or_default());
    }
    all.push((plain(&dir.join(format!("{name}.rs"))), false));
    all.push((plain(&dir.join(name).join("mod.rs")), true));
    all
}

fn beside(file: &Path, path: &str) -> PathBuf {
    plain(&file.parent().unwrap_or(Path::new("")).join(path))
}

/// Without `.` and `..`, as far as the text says.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            component => plain.push(component),
        }
    }
    plain
}

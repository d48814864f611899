//! The names that modules and function bodies declare: the possible targets of a path in the
//! source.

use std::collections::{BTreeMap, BTreeSet};

use metaspy_syntax::{facts, name};
use proc_macro2::{TokenStream, TokenTree};
use syn::{
    GenericArgument, GenericParam, Generics, Ident, Item, ItemMacro, ItemType, PathArguments,
    ReturnType, Type, TypeParamBound, UseTree,
};

/// The names of a module of a file, or of a function body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    /// The modules of the file around it; for a function body also the functions.
    pub path: Vec<String>,
    /// For a function body, the scope around it.
    pub outer: Option<usize>,
    /// The types, traits, aliases and modules that it declares.
    pub items: BTreeMap<String, Declaration>,
    /// The names of those that are `pub`.
    pub public: BTreeSet<String>,
    /// The names that it imports.
    pub imports: Vec<Import>,
    /// Types that macro calls in it are given, as `bitflags! { struct Flags … }`.
    pub made: BTreeSet<String>,
}

/// The kind of item that a name is declared as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Declaration {
    /// A struct, an enum, a union or a trait.
    Type,
    /// A module.
    Module,
    /// `type Name = …`.
    Alias(Alias),
}

/// An alias of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Alias {
    /// The type.
    pub target: TypeRef,
    /// True if the type is `()` or a `Result` of it.
    pub is_nothing: bool,
    /// True if the type is a `Result` of the alias's first parameter.
    pub is_result: bool,
}

/// A `use`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub path: Path,
    /// The name; `None` for a glob.
    pub name: Option<String>,
    /// True for a `pub use`.
    pub is_pub: bool,
}

/// A path without arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Path {
    /// True if it begins with `::`.
    pub is_global: bool,
    pub segments: Vec<String>,
}

/// A type, as far as its definition is of interest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TypeRef {
    /// A type with a path; a trait object by the path of its trait.
    Path(Path),
    /// A type without a definition in source: `[u8]`, `(A, B)`.
    Primitive(String),
    /// A type parameter, or a type that a macro makes.
    Unknown,
}

/// A type that is returned, where it may be an alias of `Result`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Returned {
    pub path: Path,
    /// True if its first argument is `()`; `None` if it has no argument.
    pub is_of_nothing: Option<bool>,
}

impl Scope {
    /// Adds the names that an item declares.
    pub fn declare(&mut self, item: &Item) {
        let (ident, vis, declaration) = match item {
            Item::Struct(item) => (&item.ident, &item.vis, Declaration::Type),
            Item::Enum(item) => (&item.ident, &item.vis, Declaration::Type),
            Item::Union(item) => (&item.ident, &item.vis, Declaration::Type),
            Item::Trait(item) => (&item.ident, &item.vis, Declaration::Type),
            Item::TraitAlias(item) => (&item.ident, &item.vis, Declaration::Type),
            Item::Mod(item) => (&item.ident, &item.vis, Declaration::Module),
            Item::Type(item) => (&item.ident, &item.vis, Declaration::Alias(Alias::new(item))),
            Item::Use(item) => {
                let mut path =
                    Path { is_global: item.leading_colon.is_some(), segments: Vec::new() };
                return self.import(&item.tree, &mut path, is_pub(&item.vis));
            }
            Item::ExternCrate(item) => {
                let path = Path { is_global: true, segments: vec![name::of_ident(&item.ident)] };
                let renamed = item.rename.as_ref().map(|(_, ident)| ident);
                let name = Some(name::of_ident(renamed.unwrap_or(&item.ident)));
                return self.imports.push(Import { path, name, is_pub: is_pub(&item.vis) });
            }
            Item::Macro(ItemMacro { ident: None, mac, .. }) => {
                return made(mac.tokens.clone(), &mut self.made);
            }
            _ => return,
        };
        if is_pub(vis) {
            self.public.insert(name::of_ident(ident));
        }
        // Of several under conditions, the first one is as good as another.
        self.items.entry(name::of_ident(ident)).or_insert(declaration);
    }

    fn import(&mut self, tree: &UseTree, path: &mut Path, is_pub: bool) {
        let mut add = |path: &Path, ident: Option<&Ident>, renamed: Option<&Ident>| {
            let mut path = path.clone();
            path.segments.extend(ident.filter(|ident| *ident != "self").map(name::of_ident));
            let name = renamed.map(name::of_ident).or_else(|| path.segments.last().cloned());
            self.imports.push(Import { path, name, is_pub });
        };
        match tree {
            UseTree::Path(item) => {
                path.segments.push(name::of_ident(&item.ident));
                self.import(&item.tree, path, is_pub);
                path.segments.pop();
            }
            UseTree::Name(item) => add(path, Some(&item.ident), None),
            UseTree::Rename(item) => add(path, Some(&item.ident), Some(&item.rename)),
            UseTree::Glob(_) => {
                self.imports.push(Import { path: path.clone(), name: None, is_pub })
            }
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.import(tree, path, is_pub))
            }
        }
    }
}

fn is_pub(vis: &syn::Visibility) -> bool {
    matches!(vis, syn::Visibility::Public(_))
}

impl Alias {
    fn new(item: &ItemType) -> Self {
        let first = item.generics.type_params().next();
        let argument =
            first_argument(&item.ty).filter(|_| last_name(&item.ty).as_deref() == Some("Result"));
        let is_result = argument.is_some_and(|ty| matches!(ty, Type::Path(path) if first.is_some_and(|first| path.path.is_ident(&first.ident))));
        let default = first.and_then(|first| first.default.as_ref());
        Alias {
            target: TypeRef::new(&item.ty, &item.generics),
            is_nothing: facts::is_nothing(&item.ty)
                || is_result && default.is_some_and(|(_, ty)| facts::is_nothing(ty)),
            is_result,
        }
    }
}

impl Path {
    /// As it is written.
    pub fn new(path: &syn::Path) -> Self {
        let segments = path.segments.iter().map(|segment| name::of_ident(&segment.ident)).collect();
        Path { is_global: path.leading_colon.is_some(), segments }
    }
}

impl TypeRef {
    /// The type or trait with this path.
    pub fn of_path(path: &syn::Path) -> Self {
        TypeRef::Path(Path::new(path))
    }

    /// The type or trait with this name.
    pub fn of_name(ident: &Ident) -> Self {
        TypeRef::Path(Path { is_global: false, segments: vec![name::of_ident(ident)] })
    }

    /// Returns the type of an `impl` or an alias with these parameters. A reference counts as the
    /// type that it refers to.
    pub fn new(ty: &Type, generics: &Generics) -> Self {
        match ty {
            Type::Path(path) if path.qself.is_some() => TypeRef::Unknown,
            Type::Path(path) => {
                if generics.params.iter().any(|param| matches!(param, GenericParam::Type(of) if path.path.is_ident(&of.ident))) {
                    TypeRef::Unknown
                } else {
                    TypeRef::Path(Path::new(&path.path))
                }
            }
            Type::Reference(reference) => TypeRef::new(&reference.elem, generics),
            Type::Paren(inner) => TypeRef::new(&inner.elem, generics),
            Type::Group(inner) => TypeRef::new(&inner.elem, generics),
            Type::TraitObject(object) => {
                let path = object.bounds.iter().find_map(|bound| match bound {
                    TypeParamBound::Trait(bound) => Some(Path::new(&bound.path)),
                    _ => None,
                });
                path.map_or(TypeRef::Unknown, TypeRef::Path)
            }
            Type::Macro(_) | Type::Verbatim(_) | Type::ImplTrait(_) => TypeRef::Unknown,
            other => TypeRef::Primitive(name::of_type(other)),
        }
    }
}

impl Returned {
    /// The type that a signature returns; `None` if it has no path.
    pub fn new(output: &ReturnType) -> Option<Self> {
        let ReturnType::Type(_, ty) = output else { return None };
        let Type::Path(path) = &**ty else { return None };
        let is_of_nothing = first_argument(ty).map(facts::is_nothing);
        path.qself.is_none().then(|| Returned { path: Path::new(&path.path), is_of_nothing })
    }
}

fn last_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => Some(name::of_path(&path.path)),
        _ => None,
    }
}

fn first_argument(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else { return None };
    match &path.path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) => {
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            })
        }
        _ => None,
    }
}

/// Names behind `struct`, `enum`, `union`, `trait` and `type` in the arguments of a macro.
fn made(tokens: TokenStream, found: &mut BTreeSet<String>) {
    let mut is_declared = false;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if is_declared => {
                found.insert(name::of_ident(&ident));
                is_declared = false;
            }
            TokenTree::Ident(ident) => {
                is_declared =
                    ["struct", "enum", "union", "trait", "type"].iter().any(|word| ident == word);
            }
            TokenTree::Group(group) => made(group.stream(), found),
            _ => is_declared = false,
        }
    }
}

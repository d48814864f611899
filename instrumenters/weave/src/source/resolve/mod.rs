//! The definitions of the types of a crate: the module tree of its source, and the meaning of paths
//! in it.
//!
//! The compiler resolves names after macros are expanded; this sees source only. A type that a
//! macro makes has no definition here, and the methods of its `impl`s are marked as unresolved.
//!
//! A type is known by the place of its definition, not by the module of an `impl`: one type with
//! several `impl` blocks appeared as several types, and those without calls as absent. So imports,
//! renames, re-exports and aliases are resolved in the source of a crate; `#[observe]` has the
//! compiler's `type_name`. A type that cannot be resolved is never listed as absent.

mod exported;
mod type_words;

use std::collections::{HashMap, HashSet};

use crate::source::files::SourceFile;
use crate::source::functions::TypeWords;
use crate::source::resolve::exported::Exported;
use crate::source::scope::{Alias, Declaration, Path, Returned, Scope, TypeRef};

/// Types of the prelude, with their paths as `std::any::type_name` prints them.
const PRELUDE: [(&str, &str); 5] = [
    ("Box", "alloc::boxed::Box"),
    ("Option", "core::option::Option"),
    ("Result", "core::result::Result"),
    ("String", "alloc::string::String"),
    ("Vec", "alloc::vec::Vec"),
];
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "str", "u128", "u16",
    "u32", "u64", "u8", "usize",
];
/// Names that one path may lead through. Real crates stay far below; imports may go in circles.
const STEPS: usize = 4096;

/// Writes the owner of each method into its facts, and corrects the facts about returned types that
/// are aliases.
pub(super) fn resolve(files: &mut [SourceFile]) {
    let resolved: Vec<(Vec<Resolved>, TypeWords)> = {
        let tree = Tree::new(files);
        let exported = exported::of(&tree);
        files
            .iter()
            .map(|file| (tree.of_file(file, &exported), type_words::of_file(&tree, file)))
            .collect()
    };
    for (file, (resolved, type_words)) in files.iter_mut().zip(resolved) {
        file.parsed
            .iter_mut()
            .for_each(|parsed| parsed.functions.type_words.clone_from(&type_words));
        let functions = file.parsed.iter_mut().flat_map(|parsed| &mut parsed.functions.all);
        for (function, Resolved { owner, is_nothing, is_exported }) in functions.zip(resolved) {
            function.facts.is_unit |= is_nothing;
            function.is_exported &= is_exported;
            match owner {
                Some(Some(owner)) => function.facts.owner = Some(owner),
                Some(None) => {
                    function.facts.is_unresolved = true;
                    function.facts.owner =
                        function.facts.of_type.as_ref().map(|name| format!("self::{name}"));
                }
                None => {}
            }
        }
    }
}

/// The resolved facts of a function.
struct Resolved {
    /// The owner of a method of an `impl`; `Some(None)` if it is not known.
    owner: Option<Option<String>>,
    is_nothing: bool,
    is_exported: bool,
}

/// The target of a path.
#[derive(Clone)]
enum Target<'s> {
    /// A type, by its path from the root of the crate on.
    Type(Vec<String>),
    Module(Vec<String>),
    /// An alias, and the module that declares it.
    Alias(&'s Alias, Vec<String>),
    /// Something of another crate.
    Foreign(Vec<String>),
}

/// The modules of a crate by their paths. One may be in several files under different conditions.
struct Tree<'s> {
    modules: HashMap<Vec<String>, Vec<&'s Scope>>,
}

impl<'s> Tree<'s> {
    fn new(files: &'s [SourceFile]) -> Self {
        let mut tree = Tree { modules: HashMap::new() };
        for file in files {
            for around in &file.modules {
                tree.modules.entry(around.clone()).or_default();
                for scope in file
                    .parsed
                    .iter()
                    .flat_map(|parsed| &parsed.scopes)
                    .filter(|scope| scope.outer.is_none())
                {
                    let path = around.iter().chain(&scope.path).cloned().collect();
                    tree.modules.entry(path).or_default().push(scope);
                }
            }
        }
        tree
    }

    fn of_file(&self, file: &SourceFile, exported: &Exported) -> Vec<Resolved> {
        let Ok(parsed) = &file.parsed else { return Vec::new() };
        let of_function = |function: &crate::source::Function| {
            let search =
                |around: &[String]| Search::new(self, around, &parsed.scopes, function.scope);
            Resolved {
                owner: function.self_type.as_ref().map(|ty| {
                    let mut owners = file.modules.iter().map(|around| search(around).owner(ty));
                    let first = owners.next()??;
                    // A file that is several modules has one text for all of them.
                    if owners.all(|owner| owner.as_ref() == Some(&first)) {
                        Some(first.written())
                    } else {
                        self.relative(file, ty, &parsed.scopes, function.scope)
                    }
                }),
                is_nothing: function.returned.as_ref().is_some_and(|returned| {
                    file.modules.iter().all(|around| search(around).is_nothing(returned))
                }),
                is_exported: file
                    .modules
                    .iter()
                    .all(|around| exported.has(&search(around), function)),
            }
        };
        parsed.functions.all.iter().map(of_function).collect()
    }

    /// The owner as a path from the module on, if it is the same from all modules that a file is.
    fn relative(
        &self,
        file: &SourceFile,
        ty: &TypeRef,
        scopes: &[Scope],
        scope: usize,
    ) -> Option<String> {
        let mut below = file.modules.iter().map(|around| {
            let search = Search::new(self, around, scopes, scope);
            match search.owner(ty)? {
                Owner::Local(path) => path.strip_prefix(&*search.module).map(<[String]>::to_vec),
                Owner::Foreign(_) => None,
            }
        });
        let first = below.next()??;
        below
            .all(|other| other.as_ref() == Some(&first))
            .then(|| format!("self::{}", first.join("::")))
    }
}

/// The owner of a method.
#[derive(Clone, PartialEq, Eq)]
enum Owner {
    Local(Vec<String>),
    Foreign(Vec<String>),
}

impl Owner {
    fn written(&self) -> String {
        match self {
            Owner::Local(path) => format!("crate::{}", path.join("::")),
            Owner::Foreign(path) => path.join("::"),
        }
    }
}

/// A search from one place of the source.
struct Search<'t, 's> {
    tree: &'t Tree<'s>,
    /// The module around the place.
    module: Vec<String>,
    /// The function bodies around it, the innermost first, with their paths from the root on.
    bodies: Vec<(&'t Scope, Vec<String>)>,
}

/// Names that are being looked up, so that imports in a circle end.
#[derive(Default)]
struct Walk {
    open: HashSet<(Vec<String>, String)>,
    steps: usize,
}

impl<'t, 's> Search<'t, 's>
where
    't: 's,
{
    fn new(tree: &'t Tree<'s>, around: &[String], scopes: &'t [Scope], scope: usize) -> Self {
        let path = |scope: &Scope| around.iter().chain(&scope.path).cloned().collect::<Vec<_>>();
        let mut at = scopes.get(scope);
        let mut bodies = Vec::new();
        while let Some(body) = at.filter(|scope| scope.outer.is_some()) {
            bodies.push((body, path(body)));
            at = body.outer.and_then(|outer| scopes.get(outer));
        }
        Search { tree, module: at.map(path).unwrap_or_default(), bodies }
    }

    fn owner(&self, ty: &TypeRef) -> Option<Owner> {
        match ty {
            TypeRef::Unknown => None,
            TypeRef::Primitive(name) => Some(Owner::Foreign(vec![name.clone()])),
            TypeRef::Path(path) if self.is_primitive(path) => {
                Some(Owner::Foreign(path.segments.clone()))
            }
            TypeRef::Path(path) => match self.follow(self.path(path)?)? {
                Target::Type(path) => Some(Owner::Local(path)),
                Target::Foreign(path) => Some(Owner::Foreign(path)),
                Target::Module(_) | Target::Alias(..) => None,
            },
        }
    }

    /// True for the name of a primitive, also if a module of this name is imported, as by
    /// `use std::str;`.
    fn is_primitive(&self, path: &Path) -> bool {
        let [name] = &path.segments[..] else { return false };
        let is_primitive = !path.is_global && PRIMITIVES.contains(&name.as_str());
        is_primitive
            && match self.path(path) {
                Some(Target::Foreign(path)) => {
                    path.len() == 1
                        || ["std", "core"]
                            .iter()
                            .any(|krate| path[0] == *krate && path[1..] == [name.clone()])
                }
                Some(Target::Module(_)) => true,
                Some(Target::Type(_) | Target::Alias(..)) | None => false,
            }
    }

    /// True if a returned type is an alias of a `Result` of nothing.
    fn is_nothing(&self, returned: &Returned) -> bool {
        match self.path(&returned.path) {
            Some(Target::Alias(alias, _)) => match returned.is_of_nothing {
                None => alias.is_nothing,
                Some(is_of_nothing) => alias.is_result && is_of_nothing,
            },
            Some(Target::Foreign(path)) => {
                returned.is_of_nothing.is_none()
                    && path.ends_with(&["fmt".to_owned(), "Result".to_owned()])
            }
            _ => false,
        }
    }

    /// The type behind aliases.
    fn follow(&self, mut target: Target<'s>) -> Option<Target<'s>> {
        for _ in 0..STEPS {
            let Target::Alias(alias, module) = target else { return Some(target) };
            target = match &alias.target {
                TypeRef::Path(path) => self.path_from(path, &module, &mut Walk::default())?,
                TypeRef::Primitive(name) => Target::Foreign(vec![name.clone()]),
                TypeRef::Unknown => return None,
            };
        }
        None
    }

    /// Returns the target of a path at the place of the search.
    fn path(&self, path: &Path) -> Option<Target<'s>> {
        let mut walk = Walk::default();
        let (first, rest) = path.segments.split_first()?;
        if !path.is_global {
            for (body, at) in &self.bodies {
                if let Some(found) = self.in_scopes(&[body], at, first, &mut walk) {
                    return self.descend(found, rest, &mut walk);
                }
            }
        }
        self.path_from(path, &self.module, &mut walk)
    }

    /// Returns the target of a path in a module.
    fn path_from(&self, path: &Path, module: &[String], walk: &mut Walk) -> Option<Target<'s>> {
        let (first, rest) = path.segments.split_first()?;
        let start = match first.as_str() {
            "crate" => Target::Module(Vec::new()),
            "self" => Target::Module(module.to_vec()),
            "super" => Target::Module(module.split_last()?.1.to_vec()),
            _ => {
                let here = if path.is_global { None } else { self.in_module(module, first, walk) };
                // Before edition 2018, imports and paths that begin with `::` begin at the root.
                let found = here.or_else(|| {
                    if rest.is_empty() { None } else { self.in_module(&[], first, walk) }
                });
                match found {
                    Some(found) => found,
                    None if path.is_global || !rest.is_empty() => {
                        Target::Foreign(vec![first.clone()])
                    }
                    None => Target::Foreign(std_type(first)?),
                }
            }
        };
        self.descend(start, rest, walk)
    }

    fn descend(
        &self,
        mut target: Target<'s>,
        rest: &[String],
        walk: &mut Walk,
    ) -> Option<Target<'s>> {
        for segment in rest {
            target = match target {
                Target::Module(module) if segment == "super" => {
                    Target::Module(module.split_last()?.1.to_vec())
                }
                Target::Module(module) if segment == "self" => Target::Module(module),
                Target::Module(module) => self.in_module(&module, segment, walk)?,
                Target::Foreign(path) => {
                    Target::Foreign(path.into_iter().chain([segment.clone()]).collect())
                }
                Target::Type(_) | Target::Alias(..) => return None,
            };
        }
        Some(target)
    }

    /// Returns the target of a name in a module.
    fn in_module(&self, module: &[String], name: &str, walk: &mut Walk) -> Option<Target<'s>> {
        let scopes = self.tree.modules.get(module)?;
        self.in_scopes(scopes, module, name, walk)
    }

    fn in_scopes(
        &self,
        scopes: &[&'s Scope],
        path: &[String],
        name: &str,
        walk: &mut Walk,
    ) -> Option<Target<'s>> {
        let below = || path.iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>();
        walk.steps += 1;
        let key = (path.to_vec(), name.to_owned());
        if walk.steps > STEPS || !walk.open.insert(key.clone()) {
            return None;
        }
        let declared = scopes.iter().find_map(|scope| match scope.items.get(name)? {
            Declaration::Type => Some(Target::Type(below())),
            Declaration::Module => Some(Target::Module(below())),
            Declaration::Alias(alias) => Some(Target::Alias(alias, path.to_vec())),
        });
        let imports = || scopes.iter().flat_map(|scope| &scope.imports);
        let found = declared
            .or_else(|| {
                imports()
                    .filter(|import| import.name.as_deref() == Some(name))
                    .find_map(|import| self.import(&import.path, scopes, path, walk))
            })
            .or_else(|| {
                scopes.iter().any(|scope| scope.made.contains(name)).then(|| Target::Type(below()))
            })
            // A module that a macro declares has a file.
            .or_else(|| self.tree.modules.contains_key(&below()).then(|| Target::Module(below())))
            .or_else(|| {
                imports().filter(|import| import.name.is_none()).find_map(|glob| {
                    match self.import(&glob.path, scopes, path, walk)? {
                        Target::Module(module) => self.in_module(&module, name, walk),
                        _ => None,
                    }
                })
            });
        walk.open.remove(&key);
        found
    }

    /// Returns the target of an import. Imports in a function body begin at the module around it.
    fn import(
        &self,
        path: &Path,
        scopes: &[&'s Scope],
        at: &[String],
        walk: &mut Walk,
    ) -> Option<Target<'s>> {
        let is_body = scopes.first().is_some_and(|scope| scope.outer.is_some());
        self.path_from(path, if is_body { &self.module } else { at }, walk)
    }
}

fn std_type(name: &str) -> Option<Vec<String>> {
    if PRIMITIVES.contains(&name) {
        return Some(vec![name.to_owned()]);
    }
    let (_, path) = PRELUDE.iter().find(|(known, _)| *known == name)?;
    Some(path.split("::").map(str::to_owned).collect())
}

#[cfg(test)]
mod tests;

//! The names that other crates can use: every `pub` item from the root on, and the targets of `pub
//! use`.

use std::collections::HashSet;

use metaspy_syntax::std_traits;

use crate::source::Function;
use crate::source::resolve::{Owner, Search, Target, Tree, Walk};
use crate::source::scope::{Declaration, Import, TypeRef};

/// The paths of modules, types, traits and functions that other crates can name. Declarations by
/// macros are not known.
pub(super) struct Exported(HashSet<Vec<String>>);

/// Returns the exports of a crate.
pub(super) fn of(tree: &Tree<'_>) -> Exported {
    let mut exported = Exported(HashSet::new());
    let mut modules = vec![Vec::new()];
    while let Some(module) = modules.pop() {
        if !exported.0.insert(module.clone()) {
            continue;
        }
        for scope in tree.modules.get(&module).into_iter().flatten() {
            for name in &scope.public {
                let path = joined(&module, name);
                match scope.items.get(name) {
                    Some(Declaration::Module) => modules.push(path),
                    _ => drop(exported.0.insert(path)),
                }
            }
            for import in scope.imports.iter().filter(|import| import.is_pub) {
                exported.import(tree, &module, import, &mut modules);
            }
        }
    }
    exported
}

impl Exported {
    fn import(
        &mut self,
        tree: &Tree<'_>,
        module: &[String],
        import: &Import,
        modules: &mut Vec<Vec<String>>,
    ) {
        let search = Search::new(tree, module, &[], 0);
        match search.path_from(&import.path, module, &mut Walk::default()) {
            Some(Target::Module(path)) => modules.push(path),
            Some(Target::Type(path)) => drop(self.0.insert(path)),
            Some(Target::Alias(..) | Target::Foreign(_)) => {}
            // Functions are not among the names of a module.
            None => {
                let mut around = import.path.clone();
                let Some(name) = around.segments.pop() else { return };
                if let Some(Target::Module(path)) =
                    search.path_from(&around, module, &mut Walk::default())
                {
                    self.0.insert(joined(&path, &name));
                }
            }
        }
    }

    /// True if a function is as public as its item declares: other crates can name its module, or
    /// its type and trait.
    pub fn has(&self, search: &Search<'_, '_>, function: &Function) -> bool {
        let is_named = |named: &TypeRef| match search.owner(named) {
            Some(Owner::Local(path)) => self.0.contains(&path),
            Some(Owner::Foreign(_)) => true,
            None => {
                matches!(named, TypeRef::Path(path) if matches!(&path.segments[..], [name] if std_traits::PRELUDE.contains(&&**name)))
            }
        };
        match (&function.self_type, &function.of_trait) {
            (None, None) => {
                self.0.contains(&search.module)
                    || self.0.contains(&joined(&search.module, &function.name))
            }
            (ty, of_trait) => [ty, of_trait].into_iter().flatten().all(is_named),
        }
    }
}

fn joined(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

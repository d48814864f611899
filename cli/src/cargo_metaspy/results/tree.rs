//! The mirror of the program: packages, their types, and their methods, as [`metaspy_core::method_profilers`] has them.

use std::collections::BTreeMap;

use crate::cargo_metaspy::results::Ran;

/// A crate, or a module of one.
#[derive(Debug, Default)]
pub struct Package<'r> {
    /// `taffy`, `taffy::compute`.
    pub path: String,
    /// Its modules.
    pub packages: Vec<Package<'r>>,
    /// Its own types.
    pub types: Vec<Type<'r>>,
}

/// A type with all its impls in a module, a trait with its default methods, or the free functions of a module.
#[derive(Debug, Default)]
pub struct Type<'r> {
    /// The module.
    pub module: String,
    /// Its name; empty for the free functions of a module.
    pub name: String,
    /// Whether it is a trait.
    pub is_trait: bool,
    /// The traits that it implements; of a trait, its supertraits.
    pub traits: Vec<String>,
    /// Its methods, in the order of the source.
    pub methods: Vec<&'r Ran>,
}

/// How much of something ran. Tests are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ratio {
    /// Methods.
    pub methods: usize,
    /// Those that ran.
    pub covered: usize,
    /// Types with such methods; free functions belong to none.
    pub types: usize,
    /// Those of which a method ran.
    pub covered_types: usize,
}

/// The crates of these methods, with all that is in them.
pub fn packages(methods: &[Ran]) -> Vec<Package<'_>> {
    let mut types: BTreeMap<(&str, &str), Type<'_>> = BTreeMap::new();
    for ran in methods {
        let method = &ran.method;
        let name = method.ty.as_deref().or(method.of_trait.as_deref()).unwrap_or_default();
        let of = types.entry((&method.module, name)).or_default();
        of.is_trait |= method.ty.is_none() && method.of_trait.is_some();
        let implemented = method.ty.as_ref().and(method.of_trait.as_ref());
        of.traits.extend(implemented.into_iter().chain(&method.supertraits).cloned());
        of.methods.push(ran);
    }
    let mut root = Package::default();
    for ((module, name), mut of) in types {
        (of.module, of.name) = (module.to_owned(), name.to_owned());
        of.traits.sort_unstable();
        of.traits.dedup();
        of.methods.sort_by_key(|ran| (&ran.method.file, ran.method.line, &ran.method.path));
        root.at(module).types.push(of);
    }
    root.packages
}

impl<'r> Package<'r> {
    /// The package within it that has this path.
    fn at(&mut self, path: &str) -> &mut Package<'r> {
        let mut at = self;
        for (end, _) in path.match_indices("::").chain([(path.len(), "")]) {
            let place = at.packages.iter().position(|package| package.path == path[..end]).unwrap_or_else(|| {
                at.packages.push(Package { path: path[..end].to_owned(), ..Package::default() });
                at.packages.len() - 1
            });
            at = &mut at.packages[place];
        }
        at
    }

    /// Its types and those of its modules.
    pub fn all_types(&self) -> Vec<&Type<'r>> {
        self.types.iter().chain(self.packages.iter().flat_map(Package::all_types)).collect()
    }

    /// How much of it ran.
    pub fn ratio(&self) -> Ratio {
        Ratio::of(self.all_types())
    }
}

impl Type<'_> {
    /// Its path; that of the module, for free functions.
    pub fn path(&self) -> String {
        match self.name.is_empty() {
            true => self.module.clone(),
            false => format!("{}::{}", self.module, self.name),
        }
    }

    /// How much of it ran.
    pub fn ratio(&self) -> Ratio {
        let methods = || self.methods.iter().filter(|ran| !ran.method.is_test);
        let (all, covered) = (methods().count(), methods().filter(|ran| ran.has_run()).count());
        let is_type = !self.name.is_empty();
        Ratio {
            methods: all,
            covered,
            types: usize::from(is_type && all > 0),
            covered_types: usize::from(is_type && covered > 0),
        }
    }
}

impl Ratio {
    /// Of several types.
    pub fn of<'r: 't, 't>(types: impl IntoIterator<Item = &'t Type<'r>>) -> Ratio {
        types.into_iter().map(Type::ratio).fold(Ratio::default(), |all, one| Ratio {
            methods: all.methods + one.methods,
            covered: all.covered + one.covered,
            types: all.types + one.types,
            covered_types: all.covered_types + one.covered_types,
        })
    }

    /// Of the methods, those that ran; 1 where there are none.
    pub fn rate(&self) -> f64 {
        rate(self.covered, self.methods)
    }
}

/// A part of a whole; all of nothing.
pub fn rate(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo_metaspy::results::tests::ran;

    #[test]
    fn modules_nest_and_types_have_their_methods() {
        let mut all = vec![
            ran("a::b", "Scene", "measure", 1),
            ran("a::b", "Scene", "draw", 0),
            ran("a", "", "main", 1),
            ran("a::b::c", "Never", "runs", 0),
            ran("z", "", "test", 4),
        ];
        all[0].method.of_trait = Some("Layout".into());
        all[4].method.is_test = true;
        let packages = packages(&all);
        assert_eq!(packages.iter().map(|package| package.path.as_str()).collect::<Vec<_>>(), ["a", "z"]);
        let b = &packages[0].packages[0];
        assert_eq!((b.path.as_str(), b.packages[0].path.as_str()), ("a::b", "a::b::c"));
        assert_eq!((b.types[0].path().as_str(), &*b.types[0].traits), ("a::b::Scene", &["Layout".to_owned()][..]));
        assert_eq!(packages[0].types[0].path(), "a");
        assert_eq!(packages[0].ratio(), Ratio { methods: 4, covered: 2, types: 2, covered_types: 1 });
        assert_eq!(packages[1].ratio(), Ratio::default());
    }
}

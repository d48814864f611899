//! The mirror: packages, types and methods, each once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::format::facts::{Facts, SelfKind};
use crate::format::profile::KeyKind;
use crate::method_profilers::method_profiler::MethodProfiler;
use crate::method_profilers::site_facts::facts_of;
use crate::method_profilers::table::{Columns, Data, Table, TableRows, Tables};
use crate::site::{self, SiteEntry, SiteId, SiteKind};

/// The mirror of all methods of this program, observed or woven, with the data of one profiler.
pub struct Mirror<P: MethodProfiler> {
    packages: Vec<Arc<PackageSpy<P>>>,
    types: Vec<Arc<TypeSpy<P>>>,
    methods: Vec<MethodSpy<P>>,
    /// By the number of a site, the place of its method + 1.
    by_site: Vec<u32>,
}

/// A crate, or a module of one.
pub struct PackageSpy<P: MethodProfiler> {
    /// `taffy`, `taffy::compute`.
    pub path: String,
    /// The package around it; `None` for a crate.
    pub parent: Option<Arc<PackageSpy<P>>>,
    /// The profiler's data of the package.
    pub data: P::Package,
}

/// A type with all its impls, a trait with its default methods, or the free functions of a module.
pub struct TypeSpy<P: MethodProfiler> {
    /// Its name; empty for the free functions of a module. A type of another crate has its whole
    /// path.
    pub name: String,
    /// True for a trait.
    pub is_trait: bool,
    /// The traits that it implements, as far as methods of theirs have sites; of a trait, its
    /// supertraits.
    pub traits: Vec<String>,
    /// The package in which it is defined.
    pub package: Arc<PackageSpy<P>>,
    /// The profiler's data of the type.
    pub data: P::Type,
}

/// A method.
pub struct MethodSpy<P: MethodProfiler> {
    /// Facts of the source code.
    pub facts: &'static Facts,
    /// The site at which its calls are observed.
    pub site: SiteId,
    /// The type that it belongs to.
    pub owner: Arc<TypeSpy<P>>,
    /// The profiler's data of the method.
    pub data: P::Method,
    /// Its place in [`Mirror::methods`].
    pub place: usize,
}

impl<P: MethodProfiler> MethodSpy<P> {
    /// True if the method takes no `self`.
    pub fn is_associated(&self) -> bool {
        self.facts.self_kind == SelfKind::None
    }
}

impl<P: MethodProfiler> PackageSpy<P> {
    /// True for the package itself, and for the packages around it.
    pub fn is_within(&self, package: &PackageSpy<P>) -> bool {
        let around = std::iter::successors(Some(self), |spy| spy.parent.as_deref());
        around.into_iter().any(|spy| std::ptr::eq(spy, package))
    }
}

/// A method's site and its facts.
struct Selected {
    site: SiteId,
    facts: &'static Facts,
}

/// The packages and types of some methods, by their places. It is the same for all profilers, so
/// the compiler makes its code once.
#[derive(Default)]
struct Outline {
    /// Paths, each with the place of the package around it, which comes first.
    packages: Vec<(String, Option<usize>)>,
    types: Vec<OutlinedType>,
    /// The type of each method.
    owners: Vec<usize>,
}

struct OutlinedType {
    name: String,
    is_trait: bool,
    traits: Vec<String>,
    package: usize,
}

impl Outline {
    fn new(selected: &[Selected]) -> Self {
        let crates: BTreeSet<&str> = selected.iter().map(|method| method.facts.package()).collect();
        let mut traits: BTreeMap<(String, String), (bool, Vec<String>)> = BTreeMap::new();
        for Selected { facts, .. } in selected {
            let (is_trait, all) = traits.entry(type_of(facts, &crates)).or_default();
            *is_trait |= facts.of_type.is_none() && facts.of_trait.is_some();
            let of_trait = facts.of_type.as_ref().and(facts.of_trait.as_ref());
            all.extend(of_trait.into_iter().chain(&facts.supertraits).cloned());
        }
        let mut outline = Outline::default();
        let mut packages = HashMap::new();
        let mut types = HashMap::new();
        for ((module, name), (is_trait, mut traits)) in traits {
            traits.sort_unstable();
            traits.dedup();
            let package = outline.package(&module, &mut packages);
            types.insert((module, name.clone()), outline.types.len());
            outline.types.push(OutlinedType { name, is_trait, traits, package });
        }
        outline.owners = selected.iter().map(|it| types[&type_of(it.facts, &crates)]).collect();
        outline
    }

    fn package(&mut self, path: &str, known: &mut HashMap<String, usize>) -> usize {
        if let Some(at) = known.get(path) {
            return *at;
        }
        let parent = path.rsplit_once("::").map(|(parent, _)| self.package(parent, known));
        let at = self.packages.len();
        self.packages.push((path.to_owned(), parent));
        known.insert(path.to_owned(), at);
        at
    }
}

impl<P: MethodProfiler> Mirror<P> {
    /// The mirror of this program, with the methods that the profiler selects and with their values
    /// in a table.
    pub(super) fn new(profiler: &P, tables: &mut Tables<'_>) -> Self {
        let sites = site::entries();
        let methods = sites.iter().filter(|entry| is_method(entry));
        let selected = methods.filter_map(|entry| {
            let facts = facts_of(entry);
            (!facts.is_alone && profiler.selects(facts))
                .then_some(Selected { site: entry.id, facts })
        });
        let selected: Vec<Selected> = selected.collect();
        let mut declaration = Columns::declaration();
        drop(P::Method::new(&mut declaration));
        let columns = declaration.into_declared();
        let table = (!columns.is_empty())
            .then(|| tables.install("", KeyKind::Site, columns, TableRows::Sites(sites.len())));
        Mirror::made_of(selected, sites.len(), table.as_ref())
    }

    fn made_of(selected: Vec<Selected>, sites: usize, table: Option<&Arc<Table>>) -> Self {
        let outline = Outline::new(&selected);
        let mut packages: Vec<Arc<PackageSpy<P>>> = Vec::new();
        for (path, parent) in outline.packages {
            let parent = parent.map(|at| Arc::clone(&packages[at]));
            packages.push(Arc::new(PackageSpy { path, parent, data: P::Package::default() }));
        }
        let mut types = Vec::new();
        for OutlinedType { name, is_trait, traits, package } in outline.types {
            let package = Arc::clone(&packages[package]);
            types.push(Arc::new(TypeSpy {
                name,
                is_trait,
                traits,
                package,
                data: P::Type::default(),
            }));
        }
        let mut methods = Vec::new();
        let mut by_site = vec![0; sites + 1];
        for (Selected { site, facts }, owner) in selected.into_iter().zip(outline.owners) {
            let owner = Arc::clone(&types[owner]);
            let place = methods.len();
            let mut columns = match table {
                Some(table) => Columns::of_row(table, site.0 as usize),
                None => Columns::declaration(),
            };
            let data = P::Method::new(&mut columns);
            methods.push(MethodSpy { facts, site, owner, data, place });
            by_site[site.0 as usize] = place as u32 + 1;
        }
        Mirror { packages, types, methods, by_site }
    }

    /// Crates and modules; a package comes before those within it.
    pub fn packages(&self) -> &[Arc<PackageSpy<P>>] {
        &self.packages
    }

    /// Types, traits, and modules with free functions, by package.
    pub fn types(&self) -> &[Arc<TypeSpy<P>>] {
        &self.types
    }

    /// Methods, run or not, in the order of the program.
    pub fn methods(&self) -> &[MethodSpy<P>] {
        &self.methods
    }

    /// The packages directly within a package.
    pub fn packages_of(
        &self,
        package: &PackageSpy<P>,
    ) -> impl Iterator<Item = &Arc<PackageSpy<P>>> {
        let is_its = move |spy: &&Arc<PackageSpy<P>>| {
            spy.parent.as_deref().is_some_and(|it| std::ptr::eq(it, package))
        };
        self.packages.iter().filter(is_its)
    }

    /// All methods in a package, including those in the packages within it.
    pub fn methods_within(&self, package: &PackageSpy<P>) -> impl Iterator<Item = &MethodSpy<P>> {
        self.methods.iter().filter(move |spy| spy.owner.package.is_within(package))
    }

    /// The types of a package, without those of the packages within it.
    pub fn types_of(&self, package: &PackageSpy<P>) -> impl Iterator<Item = &Arc<TypeSpy<P>>> {
        self.types.iter().filter(move |spy| std::ptr::eq(&*spy.package, package))
    }

    /// The methods of a type, including those without `self`.
    pub fn methods_of(&self, of: &TypeSpy<P>) -> impl Iterator<Item = &MethodSpy<P>> {
        self.methods.iter().filter(move |spy| std::ptr::eq(&*spy.owner, of))
    }

    /// The method at a place, as [`Call::caller`](crate::method_profilers::Call::caller) gives it.
    pub fn method(&self, place: usize) -> Option<&MethodSpy<P>> {
        self.methods.get(place)
    }

    /// By the number of a site, the place of its method + 1.
    pub(super) fn places(&self) -> &[u32] {
        &self.by_site
    }

    /// The method of a site.
    #[inline]
    pub(super) fn at_site(&self, site: usize) -> Option<&MethodSpy<P>> {
        self.methods.get((*self.by_site.get(site)? as usize).checked_sub(1)?)
    }
}

/// True for sites whose calls a method profiler can see.
fn is_method(entry: &SiteEntry) -> bool {
    let def = entry.site.def();
    matches!(def.kind, SiteKind::Method | SiteKind::Async) && def.skipped.is_none()
}

/// The module and the name of the type that a method belongs to, by the place of its definition.
/// The name is empty for free functions.
fn type_of(facts: &Facts, crates: &BTreeSet<&str>) -> (String, String) {
    let owner = facts.owner_module_and_name(|name| crates.contains(name));
    let (module, name) = owner.unwrap_or((&facts.module, ""));
    (module.to_owned(), name.to_owned())
}

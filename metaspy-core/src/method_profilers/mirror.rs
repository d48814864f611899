//! The mirror: packages, types and methods, each once.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::method_profilers::{Facts, MethodProfiler, SelfKind};
use crate::site::woven;

/// The mirror of all that was woven into this program, with the data of one profiler.
pub struct Mirror<P: MethodProfiler> {
    packages: Vec<Arc<PackageSpy<P>>>,
    types: Vec<Arc<TypeSpy<P>>>,
    methods: Vec<MethodSpy<P>>,
    /// By the number of a woven site, its method + 1.
    by_number: Vec<u32>,
}

/// A crate, or a module of one.
pub struct PackageSpy<P: MethodProfiler> {
    /// `taffy`, `taffy::compute`.
    pub path: String,
    /// The package around it; `None` for a crate.
    pub parent: Option<Arc<PackageSpy<P>>>,
    /// What the profiler knows of it.
    pub data: P::Package,
}

/// A type with all its impls, a trait with its default methods, or the free functions of a module.
pub struct TypeSpy<P: MethodProfiler> {
    /// Its name; empty for the free functions of a module.
    pub name: String,
    /// Whether it is a trait.
    pub is_trait: bool,
    /// The traits that it implements, as far as methods of theirs were woven; of a trait, its supertraits.
    pub traits: Vec<String>,
    /// The package that its impls stand in.
    pub package: Arc<PackageSpy<P>>,
    /// What the profiler knows of it.
    pub data: P::Type,
}

/// A method.
pub struct MethodSpy<P: MethodProfiler> {
    /// What is known of it before it runs.
    pub facts: Facts,
    /// The type that it belongs to.
    pub owner: Arc<TypeSpy<P>>,
    /// What the profiler knows of it.
    pub data: P::Method,
    /// Its place in [`Mirror::methods`].
    pub place: usize,
}

impl<P: MethodProfiler> MethodSpy<P> {
    /// Whether it stands on the side of its type that has no objects: it takes no `self`.
    pub fn is_associated(&self) -> bool {
        self.facts.self_kind == SelfKind::None
    }
}

impl<P: MethodProfiler> PackageSpy<P> {
    /// Whether it is this package, or one within it.
    pub fn is_within(&self, package: &PackageSpy<P>) -> bool {
        let around = std::iter::successors(Some(self), |spy| spy.parent.as_deref());
        around.into_iter().any(|spy| std::ptr::eq(spy, package))
    }
}

impl<P: MethodProfiler> Mirror<P> {
    /// The mirror of this program, with the methods that the profiler selects.
    pub(super) fn of(profiler: &P) -> Self {
        crate::site::entries();
        let numbered = woven::adopted().iter().map(|woven| woven::facts(woven));
        Mirror::made_of(numbered.map(|facts| (!facts.is_alone && profiler.selects(&facts)).then_some(facts)))
    }

    fn made_of(numbered: impl Iterator<Item = Option<Facts>>) -> Self {
        let mut mirror = Mirror { packages: Vec::new(), types: Vec::new(), methods: Vec::new(), by_number: Vec::new() };
        let numbered: Vec<Option<Facts>> = numbered.collect();
        let mut traits: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
        for facts in numbered.iter().flatten() {
            let all = traits.entry(type_of(facts)).or_default();
            let of_trait = facts.of_type.as_ref().and(facts.of_trait.as_ref());
            all.extend(of_trait.into_iter().chain(&facts.supertraits).cloned());
        }
        for all in traits.values_mut() {
            all.sort_unstable();
            all.dedup();
        }
        let mut packages = BTreeMap::new();
        let mut types: BTreeMap<(String, String), Arc<TypeSpy<P>>> = BTreeMap::new();
        for ((module, name), traits) in traits {
            let package = mirror.package(&module, &mut packages);
            let is_trait = numbered.iter().flatten().any(|facts| {
                facts.of_type.is_none() && facts.of_trait.as_ref() == Some(&name) && facts.module == module
            });
            let spy = TypeSpy { name: name.clone(), is_trait, traits, package, data: P::Type::default() };
            let spy = Arc::new(spy);
            mirror.types.push(Arc::clone(&spy));
            types.insert((module, name), spy);
        }
        for facts in numbered {
            let Some(facts) = facts else {
                mirror.by_number.push(0);
                continue;
            };
            let owner = Arc::clone(&types[&type_of(&facts)]);
            let place = mirror.methods.len();
            mirror.methods.push(MethodSpy { facts, owner, data: P::Method::default(), place });
            mirror.by_number.push(place as u32 + 1);
        }
        mirror
    }

    fn package(&mut self, path: &str, known: &mut BTreeMap<String, Arc<PackageSpy<P>>>) -> Arc<PackageSpy<P>> {
        if let Some(spy) = known.get(path) {
            return Arc::clone(spy);
        }
        let parent = path.rsplit_once("::").map(|(parent, _)| self.package(parent, known));
        let spy = Arc::new(PackageSpy { path: path.to_owned(), parent, data: P::Package::default() });
        self.packages.push(Arc::clone(&spy));
        known.insert(path.to_owned(), Arc::clone(&spy));
        spy
    }

    /// Crates and modules; what is around comes first.
    pub fn packages(&self) -> &[Arc<PackageSpy<P>>] {
        &self.packages
    }

    /// Types, traits, and modules with free functions, by package.
    pub fn types(&self) -> &[Arc<TypeSpy<P>>] {
        &self.types
    }

    /// Methods, whether they ran or not, in the order of the program.
    pub fn methods(&self) -> &[MethodSpy<P>] {
        &self.methods
    }

    /// The packages right within a package.
    pub fn packages_of(&self, package: &PackageSpy<P>) -> impl Iterator<Item = &Arc<PackageSpy<P>>> {
        let is_its = move |spy: &&Arc<PackageSpy<P>>| spy.parent.as_deref().is_some_and(|it| std::ptr::eq(it, package));
        self.packages.iter().filter(is_its)
    }

    /// All methods in a package, those in the packages within it included.
    pub fn methods_within(&self, package: &PackageSpy<P>) -> impl Iterator<Item = &MethodSpy<P>> {
        self.methods.iter().filter(move |spy| spy.owner.package.is_within(package))
    }

    /// The types of a package, but not those of the packages within it.
    pub fn types_of(&self, package: &PackageSpy<P>) -> impl Iterator<Item = &Arc<TypeSpy<P>>> {
        self.types.iter().filter(move |spy| std::ptr::eq(&*spy.package, package))
    }

    /// The methods of a type, its associated side included.
    pub fn methods_of(&self, of: &TypeSpy<P>) -> impl Iterator<Item = &MethodSpy<P>> {
        self.methods.iter().filter(move |spy| std::ptr::eq(&*spy.owner, of))
    }

    /// The method at this place, as [`Call::caller`](crate::method_profilers::Call::caller) says.
    pub fn method(&self, place: usize) -> Option<&MethodSpy<P>> {
        self.methods.get(place)
    }

    /// By the number of a woven site, the place of its method + 1.
    pub(super) fn places(&self) -> &[u32] {
        &self.by_number
    }

    /// The method of a woven site.
    #[inline]
    pub(super) fn numbered(&self, number: usize) -> Option<&MethodSpy<P>> {
        self.methods.get((*self.by_number.get(number)? as usize).checked_sub(1)?)
    }
}

/// The module and the name of the type that a method belongs to: a default method to its trait, any other one to the
/// type of its impl.
fn type_of(facts: &Facts) -> (String, String) {
    let name = facts.of_type.as_ref().or(facts.of_trait.as_ref());
    (facts.module.clone(), name.cloned().unwrap_or_default())
}

//! The declarations of the source: enums with their variants, traits, and implementations.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use metaspy_format::declared::{enums_of, impls_of, traits_of};
use metaspy_reader::Store;

use super::{bounds, definitions};

/// Steps from a trait to its supertraits.
pub(super) const STEPS: u32 = 8;

/// The declarations of the woven source.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// By the path of an enum, the names of its variants with their discriminants.
    pub(super) enums: BTreeMap<String, Vec<(String, u32)>>,
    /// By the path of a trait, its supertraits.
    pub supertraits: BTreeMap<String, Vec<String>>,
    /// By the path of a trait, the types that implement it.
    pub implementations: BTreeMap<String, BTreeSet<String>>,
    /// The paths of types with methods that their own crate declares, as the compiler names them.
    /// Another crate may name a type by a re-export or by an alias.
    pub(super) own_types: BTreeSet<String>,
}

/// Types that have one name.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "str", "f32", "f64", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16",
    "i32", "i64", "i128", "isize",
];

impl Declared {
    /// Adds the declarations of a recording.
    pub fn add(&mut self, store: &Store) {
        for site in store.sites() {
            let Some((module, _)) = site.module_and_name() else { continue };
            let is_own = |path: &String| path.split("::").next() == module.split("::").next();
            let owner =
                site.facts().filter(|facts| !facts.is_unresolved).and_then(|facts| facts.owner);
            self.own_types.extend(owner.filter(is_own));
            self.enums.extend(
                enums_of(module, &site.facts).into_iter().map(|one| (one.path, one.variants)),
            );
            self.supertraits.extend(
                traits_of(module, &site.facts).into_iter().map(|one| (one.path, one.supertraits)),
            );
            for one in impls_of(module, &site.facts) {
                self.own_types.extend(Some(one.of_type.clone()).filter(is_own));
                self.implementations.entry(one.of_trait).or_default().insert(one.of_type);
            }
        }
        definitions::unify(&mut self.supertraits, &mut self.implementations);
    }

    /// The name of a type with the paths that the source declares.
    ///
    /// A type inside a function is in a closure for the compiler: `a::f::{{closure}}::Local` for
    /// `type_name`, and `a::f::{closure#0}::Local` in debug information. Raw names have no `r#`, as
    /// in paths of methods.
    pub(crate) fn as_declared<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if name.contains("::r#") {
            return Cow::Owned(self.as_declared(&name.replace("::r#", "::")).into_owned());
        }
        if !name.contains("}::") {
            return Cow::Borrowed(name);
        }
        let ends_path = |letter: char| "<>()[],;&= ".contains(letter);
        let of_piece = |piece: &str| {
            let end = piece.find(ends_path).unwrap_or(piece.len());
            match self.declared_path(&piece[..end]) {
                Some(path) => format!("{path}{}", &piece[end..]),
                None => piece.to_owned(),
            }
        };
        Cow::Owned(name.split_inclusive(ends_path).map(of_piece).collect())
    }

    /// The declared path of a type that the compiler names by the closures, and by the number of
    /// the `impl`, around it.
    fn declared_path(&self, name: &str) -> Option<&str> {
        let is_closure =
            |segment: &&str| segment.starts_with('{') && !segment.starts_with("{impl#");
        let plain =
            name.split("::").filter(|segment| !is_closure(segment)).collect::<Vec<_>>().join("::");
        // The source has the type, and perhaps the trait, in place of the number.
        let (before, after) = match plain.split_once("{impl#") {
            Some((before, rest)) => (before, rest.split_once('}')?.1),
            None => (plain.as_str(), ""),
        };
        let implementing = self.implementations.values().flatten().chain(&self.own_types);
        let all = self
            .enums
            .keys()
            .chain(self.supertraits.keys())
            .chain(implementing)
            .map(String::as_str);
        let mut same = all.filter(|path| {
            match path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after)) {
                Some(owner) if after.is_empty() => owner.is_empty(),
                Some(owner) => (1..=2).contains(&owner.split("::").count()),
                None => false,
            }
        });
        let first = same.next()?;
        same.all(|other| other == first).then_some(first)
    }

    /// True if a value of this type that arrives has this path.
    pub(super) fn is_named_so(&self, path: &str) -> bool {
        PRIMITIVES.contains(&path) || self.own_types.contains(path)
    }

    /// The variants of an enum, without those of the standard library.
    pub fn variants(&self, path: &str) -> Option<&[(String, u32)]> {
        self.enums.get(path).map(Vec::as_slice)
    }

    /// The name of a variant; its number if the enum is not known.
    pub fn variant(&self, path: &str, number: u32) -> String {
        let of_std: &[(&str, u32)] = match path {
            "core::option::Option" => &[("None", 0), ("Some", 1)],
            "core::result::Result" => &[("Ok", 0), ("Err", 1)],
            "core::cmp::Ordering" => &[("Less", u32::MAX), ("Equal", 0), ("Greater", 1)],
            _ => &[],
        };
        let of_std = of_std.iter().find(|(_, other)| *other == number).map(|(name, _)| *name);
        of_std
            .or_else(|| {
                self.variants(path)?
                    .iter()
                    .find(|(_, other)| *other == number)
                    .map(|(name, _)| name.as_str())
            })
            .map_or_else(|| format!("variant {number}"), str::to_owned)
    }

    /// The trait that all of these types implement, that implies the traits of a declared type and
    /// most others of this kind; `None` if there is none.
    ///
    /// Derived and generic implementations are not known.
    pub fn common_trait(&self, types: &BTreeSet<&str>, declared: &str) -> Option<&str> {
        let bounds = bounds::of(declared);
        let above: Vec<&str> =
            bounds.iter().map(|name| self.trait_named(name)).collect::<Option<_>>()?;
        let is_below = |of: &str| {
            !above.is_empty() && above.iter().all(|above| self.implies(of, above, STEPS))
        };
        let all = self.implementations.iter();
        let common: Vec<&str> = all
            .filter(|(of, known)| is_below(of) && types.iter().all(|ty| known.contains(*ty)))
            .map(|(of_trait, _)| of_trait.as_str())
            .collect();
        let implied =
            |of: &&str| common.iter().filter(|other| self.implies(of, other, STEPS)).count();
        let few = |of: &&str| std::cmp::Reverse(self.implementations[*of].len());
        common.iter().copied().max_by_key(|of| (implied(of), few(of)))
    }

    /// True if a trait has another one as a supertrait.
    pub(super) fn implies(&self, of: &str, other: &str, steps: u32) -> bool {
        let supertraits = self.supertraits.get(of).into_iter().flatten();
        steps > 0
            && supertraits
                .into_iter()
                .any(|above| above == other || self.implies(above, other, steps - 1))
    }

    /// The path of the trait with this name, as `dyn a::Shape + Send` or `impl Shape` name it;
    /// `None` if several have it.
    pub(crate) fn trait_named(&self, name: &str) -> Option<&str> {
        let known = self.implementations.keys().chain(self.supertraits.keys()).map(String::as_str);
        let mut found = known.filter(|path| {
            *path == name || path.strip_suffix(name).is_some_and(|rest| rest.ends_with("::"))
        });
        let first = found.next()?;
        found.all(|other| other == first).then_some(first)
    }
}

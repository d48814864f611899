//! The place of a method in the tree: its package, its type, and its name there.

use metaspy_format::facts::Facts;
use metaspy_reader::RecordedSite;

/// The place of a method.
#[derive(Debug, PartialEq, Eq)]
pub struct MethodPlace<'a> {
    /// The module of its type, or its own module if it is a free function. Empty if the path has no
    /// module. The methods that a crate adds to a type of a crate outside the recording belong to
    /// the adding crate.
    pub module: &'a str,
    /// Its type, or the trait whose default method it is; `None` for free functions.
    pub owner: Option<Owner>,
    /// Its name: `measure`, or `Layout::measure` for the method of an implemented trait.
    pub name: String,
}

/// The type or trait of a method.
#[derive(Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its name.
    pub name: String,
    /// True for a trait.
    pub is_trait: bool,
    /// True if the definition of the type was not found. It is then identified by the module of its
    /// `impl`, and may be the same type as another one.
    pub is_unresolved: bool,
}

impl<'a> MethodPlace<'a> {
    /// The place of a site: by its facts if it was woven, and otherwise by its path.
    pub fn new(
        site: &'a RecordedSite,
        facts: Option<&'a Facts>,
        is_crate: impl Fn(&str) -> bool,
    ) -> Self {
        let Some((facts, (module, _))) = facts.zip(site.module_and_name()) else {
            return MethodPlace::from_path(site);
        };
        let name = match (&facts.of_type, &facts.of_trait) {
            (Some(_), Some(of_trait)) => {
                format!("{of_trait}{}::{}", facts.trait_arguments, facts.name)
            }
            _ => facts.name.clone(),
        };
        let Some((module, owner)) = facts.owner_module_and_name(is_crate) else {
            return MethodPlace { module, owner: None, name };
        };
        // A recording without owners is of an older version. Its types are in the modules of their
        // `impl`s.
        let is_unresolved =
            facts.is_unresolved && site.facts.split(' ').any(|word| word == "unresolved");
        let is_trait = facts.of_type.is_none();
        MethodPlace {
            module,
            owner: Some(Owner { name: owner.to_owned(), is_trait, is_unresolved }),
            name,
        }
    }

    /// The names of types begin with a capital letter. If the recording does not contain the length
    /// of the module, the module ends before the first of them.
    fn from_path(site: &'a RecordedSite) -> Self {
        let (module, name) = site.module_and_name().unwrap_or_else(|| {
            let mut ends = site.path.match_indices("::").map(|(at, _)| at);
            let end = ends
                .find(|&at| begins_with_capital(&site.path[at + 2..]))
                .or(site.path.rfind("::"));
            end.map_or(("", site.path.as_str()), |at| (&site.path[..at], &site.path[at + 2..]))
        });
        match name.split_once("::").filter(|(owner, _)| begins_with_capital(owner)) {
            Some((owner, name)) => {
                let owner = Owner { name: owner.into(), is_trait: false, is_unresolved: false };
                MethodPlace { module, owner: Some(owner), name: name.into() }
            }
            None => MethodPlace { module, owner: None, name: name.into() },
        }
    }
}

fn begins_with_capital(segment: &str) -> bool {
    segment.chars().next().is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::testing::site;

    fn check(path: &str, module: u32, facts: &str, expected: (&str, Option<&str>, &str)) {
        let site = RecordedSite { module, facts: facts.into(), ..site(1, path) };
        let facts = site.facts();
        let place = MethodPlace::new(&site, facts.as_ref(), |name| ["a", "c"].contains(&name));
        let owner = place.owner.as_ref().map(|owner| owner.name.as_str());
        assert_eq!((place.module, owner, place.name.as_str()), expected);
    }

    #[test]
    fn a_woven_method_has_its_place_by_its_facts() {
        check("a::b::Scene::measure", 4, "type=Scene", ("a::b", Some("Scene"), "measure"));
        check(
            "a::b::Scene::Layout::measure",
            4,
            "type=Scene trait=Layout",
            ("a::b", Some("Scene"), "Layout::measure"),
        );
        check("a::Layout::twice", 1, "trait=Layout", ("a", Some("Layout"), "twice"));
        check("a::b::Outer::inner", 4, "c=1", ("a::b", None, "Outer::inner"));
    }

    #[test]
    fn a_type_is_where_it_is_defined_and_not_where_its_impl_is() {
        check(
            "a::b::Scene::measure",
            4,
            "type=Scene owner=crate::Scene",
            ("a", Some("Scene"), "measure"),
        );
        check(
            "a::b::Alias::measure",
            4,
            "type=Alias owner=c::d::Scene",
            ("c::d", Some("Scene"), "measure"),
        );
        check(
            "a::b::Vec::Area::area",
            4,
            "type=Vec trait=Area owner=std::vec::Vec",
            ("a", Some("std::vec::Vec"), "Area::area"),
        );
        check(
            "a::b::u8::Area::area",
            4,
            "type=u8 trait=Area owner=u8",
            ("a", Some("u8"), "Area::area"),
        );
        let unresolved = RecordedSite {
            module: 4,
            facts: "type=X unresolved".into(),
            ..site(1, "a::b::X::get")
        };
        let facts = unresolved.facts();
        let place = MethodPlace::new(&unresolved, facts.as_ref(), |name| name == "a");
        assert_eq!(place.module, "a::b");
        assert_eq!(
            place.owner,
            Some(Owner { name: "X".into(), is_trait: false, is_unresolved: true })
        );
    }

    #[test]
    fn an_observed_method_has_its_place_by_its_path() {
        check("a::b::Scene::Layout::measure", 4, "", ("a::b", Some("Scene"), "Layout::measure"));
        check("a::b::Scene::measure", 0, "", ("a::b", Some("Scene"), "measure"));
        check("a::b::measure", 0, "", ("a::b", None, "measure"));
        check("measure", 0, "", ("", None, "measure"));
        check("a::outer::inner", 1, "", ("a", None, "outer::inner"));
    }
}

//! Where in the structure of its program a method stands.

use metaspy_core::method_profilers::Facts;
use metaspy_core::store::RecordedSite;

/// Where a method stands.
#[derive(Debug, PartialEq, Eq)]
pub struct Place<'a> {
    /// Its module; empty where a path has none.
    pub module: &'a str,
    /// Its type, or the trait that it is a default method of; `None` for free functions.
    pub owner: Option<String>,
    /// Whether that is a trait.
    pub is_trait: bool,
    /// Its name: `measure`, or `Layout::measure` for that of an implemented trait.
    pub name: String,
}

impl<'a> Place<'a> {
    /// Where a site stands: as a weaver says, else as its path looks like.
    pub fn of(site: &'a RecordedSite, facts: Option<&Facts>) -> Self {
        let Some((facts, (module, _))) = facts.zip(site.module_and_name()) else { return Place::guessed(site) };
        let is_trait = facts.of_type.is_none() && facts.of_trait.is_some();
        let name = match (&facts.of_type, &facts.of_trait) {
            (Some(_), Some(of_trait)) => format!("{of_trait}::{}", facts.name),
            _ => facts.name.clone(),
        };
        Place { module, owner: facts.of_type.as_ref().or(facts.of_trait.as_ref()).cloned(), is_trait, name }
    }

    /// A type's name begins with a capital, as everywhere; before the first of them stands the module, where the recording
    /// does not say.
    fn guessed(site: &'a RecordedSite) -> Self {
        let (module, name) = site.module_and_name().unwrap_or_else(|| {
            let mut ends = site.path.match_indices("::").map(|(at, _)| at);
            let end = ends.find(|&at| begins_with_capital(&site.path[at + 2..])).or(site.path.rfind("::"));
            end.map_or(("", site.path.as_str()), |at| (&site.path[..at], &site.path[at + 2..]))
        });
        match name.split_once("::").filter(|(owner, _)| begins_with_capital(owner)) {
            Some((owner, name)) => Place { module, owner: Some(owner.into()), is_trait: false, name: name.into() },
            None => Place { module, owner: None, is_trait: false, name: name.into() },
        }
    }
}

fn begins_with_capital(segment: &str) -> bool {
    segment.chars().next().is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use metaspy_core::{SiteId, SiteKind};

    use super::*;

    fn check(path: &str, module: u32, facts: &str, expected: (&str, Option<&str>, &str)) {
        let (id, path, facts) = (SiteId(1), path.into(), facts.into());
        let (kind, file, lines, skipped) = (SiteKind::Method, String::new(), (1, 1), None);
        let site = RecordedSite { id, kind, path, file, lines, skipped, module, facts };
        let facts = site.facts();
        let place = Place::of(&site, facts.as_ref());
        assert_eq!((place.module, place.owner.as_deref(), place.name.as_str()), expected);
    }

    #[test]
    fn a_weaver_says_where_a_method_stands() {
        check("a::b::Scene::measure", 4, "type=Scene", ("a::b", Some("Scene"), "measure"));
        check("a::b::Scene::Layout::measure", 4, "type=Scene trait=Layout", ("a::b", Some("Scene"), "Layout::measure"));
        check("a::Layout::twice", 1, "trait=Layout", ("a", Some("Layout"), "twice"));
        check("a::b::Outer::inner", 4, "c=1", ("a::b", None, "Outer::inner"));
    }

    #[test]
    fn without_a_weaver_it_is_what_the_path_looks_like() {
        check("a::b::Scene::Layout::measure", 4, "", ("a::b", Some("Scene"), "Layout::measure"));
        check("a::b::Scene::measure", 0, "", ("a::b", Some("Scene"), "measure"));
        check("a::b::measure", 0, "", ("a::b", None, "measure"));
        check("measure", 0, "", ("", None, "measure"));
        check("a::outer::inner", 1, "", ("a", None, "outer::inner"));
    }
}

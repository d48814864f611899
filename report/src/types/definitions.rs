//! The definition of a trait that a crate names otherwise: by a glob import, or by the path of a
//! re-export.

use std::collections::{BTreeMap, BTreeSet};

use metaspy_syntax::std_traits;

use crate::text::last_segment;

/// Gives implementations and supertraits the paths of the definitions, where these are known.
pub(super) fn unify(
    supertraits: &mut BTreeMap<String, Vec<String>>,
    implementations: &mut BTreeMap<String, BTreeSet<String>>,
) {
    let mut by_name: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in supertraits.keys() {
        by_name.entry(last_segment(path)).or_default().push(path);
    }
    let named = implementations.keys().chain(supertraits.values().flatten());
    let defined: BTreeMap<String, String> = named
        .filter_map(|path| Some((path.clone(), definition(path, &by_name)?.to_owned())))
        .collect();
    for (path, definition) in &defined {
        if let Some(types) = implementations.remove(path) {
            implementations.entry(definition.clone()).or_default().extend(types);
        }
    }
    for path in supertraits.values_mut().flatten() {
        if let Some(definition) = defined.get(path) {
            path.clone_from(definition);
        }
    }
}

/// The only definition with this name, if the path is no definition itself. A path stays in its
/// crate.
fn definition<'d>(path: &str, by_name: &BTreeMap<&str, Vec<&'d str>>) -> Option<&'d str> {
    let known = by_name.get(last_segment(path))?;
    if known.contains(&path) {
        return None;
    }
    let mut same = known.iter().filter(|other| match path.split_once("::") {
        Some((package, _)) => other.split("::").next() == Some(package),
        // A trait of the prelude is none of the woven source.
        None => !std_traits::PRELUDE.contains(&path),
    });
    let first = same.next()?;
    same.next().is_none().then_some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trait_that_another_crate_imports_by_glob_is_one() {
        let defined = ["kit::shape::Area", "kit::Clone", "kit::a::Twice", "kit::b::Twice"];
        let mut supertraits: BTreeMap<_, _> =
            defined.iter().map(|path| (path.to_string(), Vec::new())).collect();
        supertraits.insert("app::Sub".to_owned(), vec!["Area".to_owned()]);
        let named =
            ["kit::shape::Area", "Area", "kit::prelude::Area", "other::Area", "Clone", "Twice"];
        let of = |(at, path): (usize, &&str)| (path.to_string(), [format!("app::T{at}")].into());
        let mut implementations: BTreeMap<_, BTreeSet<String>> =
            named.iter().enumerate().map(of).collect();
        unify(&mut supertraits, &mut implementations);
        assert_eq!(supertraits["app::Sub"], ["kit::shape::Area"]);
        let area = ["app::T0", "app::T1", "app::T2"].map(str::to_owned);
        assert_eq!(implementations["kit::shape::Area"], area.into());
        let left: Vec<&str> = implementations.keys().map(String::as_str).collect();
        assert_eq!(left, ["Clone", "Twice", "kit::shape::Area", "other::Area"]);
    }
}

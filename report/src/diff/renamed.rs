//! Functions with another name in the other version: those with the same tokens.

use std::collections::HashMap;

/// The lines of a function whose tokens alone identify it at least. Shorter ones are alike by
/// chance.
const LEAST_LINES: u32 = 3;

/// The tokens of a function, which identify it without its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source {
    fingerprint: u32,
    /// The path of the type or module around a short function, whose tokens identify it only there.
    owner: Option<String>,
}

impl Source {
    /// The source of the function with this path. `None` if its fingerprint is unknown (0).
    pub fn new(path: &str, fingerprint: u32, lines: u32) -> Option<Source> {
        let owner = || path.rsplit_once("::").map_or("", |(owner, _)| owner).to_owned();
        (fingerprint != 0).then(|| Source { fingerprint, owner: (lines < LEAST_LINES).then(owner) })
    }
}

/// The pairs of a function that is gone and a new one with the same source. Functions of one
/// version that share a source have no pair.
pub fn renamed<Gone: Copy, New: Copy>(
    gone: impl Iterator<Item = (Source, Gone)>,
    new: impl Iterator<Item = (Source, New)>,
) -> Vec<(Gone, New)> {
    let gone = alone(gone);
    alone(new)
        .into_iter()
        .filter_map(|(source, new)| Some(((*gone.get(&source)?)?, new?)))
        .collect()
}

/// The function with each source; `None` if several have it.
fn alone<T>(functions: impl Iterator<Item = (Source, T)>) -> HashMap<Source, Option<T>> {
    let mut found = HashMap::new();
    for (source, function) in functions {
        found.entry(source).and_modify(|place| *place = None).or_insert(Some(function));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_source_that_one_function_of_each_version_has_makes_a_pair() {
        let source = |hash| Source::new("a::f", hash, 3).expect("it has a fingerprint");
        assert_eq!(Source::new("a::f", 0, 9), None);
        let gone = [(source(1), "a"), (source(2), "b"), (source(3), "c"), (source(3), "d")];
        let new = [(source(1), "x"), (source(3), "y"), (source(4), "z")];
        assert_eq!(renamed(gone.into_iter(), new.into_iter()), [("a", "x")]);
    }

    #[test]
    fn a_function_of_one_line_is_matched_within_its_type() {
        let source = |path, lines| Source::new(path, 7, lines).expect("it has a fingerprint");
        assert_eq!(source("a::Scene::size", 1), source("a::Scene::area", 2));
        assert_ne!(source("a::Scene::size", 1), source("a::Page::size", 1));
        assert_eq!(source("a::Scene::size", 3), source("a::Page::size", 3));
    }
}

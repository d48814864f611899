//! Functions with another name in the other version: those with the same tokens.

use std::collections::HashMap;

/// The lines of a function whose tokens identify it at least. Shorter ones are alike by chance.
const LEAST_LINES: u32 = 3;

/// The tokens of a function, which identify it without its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(u32);

impl Source {
    /// The source with this fingerprint. `None` if it identifies no function: it is unknown (0), or too short.
    pub fn new(fingerprint: u32, lines: u32) -> Option<Source> {
        (fingerprint != 0 && lines >= LEAST_LINES).then_some(Source(fingerprint))
    }
}

/// The pairs of a function that is gone and a new one with the same source. Functions of one version that share a source
/// have no pair.
pub fn renamed<Gone: Copy, New: Copy>(
    gone: impl Iterator<Item = (Source, Gone)>,
    new: impl Iterator<Item = (Source, New)>,
) -> Vec<(Gone, New)> {
    let gone = alone(gone);
    alone(new).into_iter().filter_map(|(source, new)| Some(((*gone.get(&source)?)?, new?))).collect()
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
    fn only_a_long_source_that_one_function_of_each_version_has_makes_a_pair() {
        let source = |hash| Source::new(hash, 3).expect("it is long");
        assert_eq!((Source::new(0, 9), Source::new(7, 2)), (None, None));
        let gone = [(source(1), "a"), (source(2), "b"), (source(3), "c"), (source(3), "d")];
        let new = [(source(1), "x"), (source(3), "y"), (source(4), "z")];
        assert_eq!(renamed(gone.into_iter(), new.into_iter()), [("a", "x")]);
    }
}

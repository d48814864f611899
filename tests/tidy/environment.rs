//! Environment variables: `docs/environment.md` lists all that the code reads.

use std::collections::BTreeSet;

use super::source::{Source, repository};

/// Variables in product code and benches that the document does not list, and listed ones that no
/// code reads.
pub fn faults(sources: &[Source]) -> Vec<String> {
    let page = std::fs::read_to_string(repository().join("docs/environment.md"))
        .expect("the page is in the repository");
    let listed: BTreeSet<String> = names(&page).collect();
    let in_tests =
        |source: &Source| source.path.contains("/tests/") || source.path.starts_with("tests/");
    let code = sources.iter().filter(|source| source.path.ends_with(".rs"));
    let used: BTreeSet<String> =
        code.clone().filter(|source| !in_tests(source)).flat_map(Source::variables).collect();
    let anywhere: BTreeSet<String> = code.flat_map(Source::variables).collect();
    let missing = used.difference(&listed).map(|name| format!("{name}: the page does not list it"));
    let gone = listed.difference(&anywhere).map(|name| format!("{name}: no code reads it"));
    missing.chain(gone).collect()
}

/// Every `METASPY_…` in a text.
pub fn names(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_ascii_uppercase() && c != '_')
        .filter(|word| {
            word.len() > "METASPY_".len() && word.starts_with("METASPY_") && !word.ends_with('_')
        })
        .map(str::to_string)
}

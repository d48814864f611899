//! Matching of functions in the editor with recorded methods.
//!
//! A function is found by its path and the hash of its tokens, which the weaver and `#[observe]`
//! record. Lines would move with each edit. If only the hash differs, the function was edited after
//! the run, and its numbers are marked as stale. In doubt a function has no numbers: a wrong number
//! beside code is worse than none.

use std::collections::{BTreeMap, HashMap};

use metaspy_report::program::Method;

use crate::file_modules::{FileModules, module_and_name};
use crate::source::Function;

/// Recorded methods of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// Indices of the methods in the program. There are several if several runs recorded the
    /// function at different lines.
    pub places: Vec<usize>,
    /// True if the function was edited after the run.
    pub is_stale: bool,
}

/// Recorded method of the file.
#[derive(Clone, Debug)]
struct Recorded<'m> {
    place: usize,
    module: &'m str,
    line: u32,
    fingerprint: u32,
}

/// Finds the methods of each function of a file. The lines of the functions begin with 1.
pub fn find<'m>(
    functions: &[Function],
    line_of: impl Fn(&Function) -> u32,
    file: &FileModules,
    methods: impl Iterator<Item = (usize, &'m Method)>,
) -> Vec<Option<Match>> {
    let mut recorded: HashMap<&str, Vec<Recorded<'m>>> = HashMap::new();
    for (place, method) in methods {
        let Some((module, name)) = module_and_name(&method.site) else { continue };
        let fingerprint = method.facts.as_ref().map_or(0, |facts| facts.fingerprint);
        let line = method.site.lines.0;
        recorded.entry(name).or_default().push(Recorded { place, module, line, fingerprint });
    }
    let mut found = vec![None; functions.len()];
    let mut names: BTreeMap<(&str, &[String]), Vec<usize>> = BTreeMap::new();
    for (at, function) in functions.iter().enumerate() {
        names.entry((&function.name, &function.modules)).or_default().push(at);
    }
    for ((name, modules), places) in names {
        let Some(all) = recorded.get(name) else { continue };
        let own: Vec<&Recorded> =
            all.iter().filter(|method| file.is_inner(method.module, modules)).collect();
        let namesakes: Vec<(usize, u32, u32)> = places
            .iter()
            .map(|&at| (at, line_of(&functions[at]), functions[at].fingerprint))
            .collect();
        for (at, matched) in pair(&namesakes, &own) {
            found[at] = Some(matched);
        }
    }
    found
}

/// Pairs functions of the same name (index, line, hash) with methods of this name.
fn pair(functions: &[(usize, u32, u32)], methods: &[&Recorded<'_>]) -> Vec<(usize, Match)> {
    let mut pairs = Vec::new();
    let mut left = Vec::new();
    let mut used = vec![false; methods.len()];
    let mut twins: HashMap<u32, usize> = HashMap::new();
    for &(_, _, fingerprint) in functions {
        *twins.entry(fingerprint).or_default() += 1;
    }
    for &(at, line, fingerprint) in functions {
        let has_twin = twins[&fingerprint] > 1;
        // Among functions with equal text, only the line makes a difference.
        let is_same = |method: &Recorded| {
            method.fingerprint != 0
                && method.fingerprint == fingerprint
                && (!has_twin || method.line == line)
        };
        let same: Vec<usize> =
            (0..methods.len()).filter(|&number| is_same(methods[number])).collect();
        if same.is_empty() {
            left.push((at, line, has_twin));
            continue;
        }
        same.iter().for_each(|&number| used[number] = true);
        let places = same.iter().map(|&number| methods[number].place).collect();
        pairs.push((at, Match { places, is_stale: false }));
    }
    let unused =
        || methods.iter().zip(&used).filter(|(_, used)| !**used).map(|(method, _)| *method);
    // A recording without hashes needs the same line.
    for &(at, line, _) in &left {
        if let Some(method) = unused().find(|method| method.fingerprint == 0 && method.line == line)
        {
            pairs.push((at, Match { places: vec![method.place], is_stale: false }));
        }
    }
    // A single function of this name was edited, or moved among its twins, and a single method is
    // unaccounted for.
    let mut unused = unused().filter(|method| method.fingerprint != 0);
    if let ([(at, _, has_twin)], Some(method), None) = (&left[..], unused.next(), unused.next()) {
        pairs.push((*at, Match { places: vec![method.place], is_stale: !has_twin }));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use metaspy_format::facts::Facts;
    use metaspy_report::program::MethodProfile;

    use super::*;
    use crate::file_modules::testing::site;
    use crate::source::Outline;

    const fn method(place: usize, line: u32, fingerprint: u32) -> Recorded<'static> {
        Recorded { place, module: "a", line, fingerprint }
    }

    /// Checks functions (line, hash) against methods (line, hash). The result has the indices of
    /// the methods, and a mark if they are stale.
    fn check(functions: &[(u32, u32)], methods: &[(u32, u32)], expected: &[&str]) {
        let functions: Vec<_> =
            functions.iter().enumerate().map(|(at, &(line, hash))| (at, line, hash)).collect();
        let methods: Vec<_> =
            methods.iter().enumerate().map(|(at, &(line, hash))| method(at, line, hash)).collect();
        let mut found = vec![String::new(); functions.len()];
        for (at, Match { places, is_stale }) in
            pair(&functions, &methods.iter().collect::<Vec<_>>())
        {
            found[at] = format!("{places:?}{}", if is_stale { " stale" } else { "" });
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn a_function_that_moved_keeps_its_numbers() {
        check(&[(40, 7)], &[(3, 7)], &["[0]"]);
        check(&[(40, 7)], &[(3, 7), (9, 7)], &["[0, 1]"]);
    }

    #[test]
    fn a_function_that_was_edited_has_stale_numbers() {
        check(&[(3, 8)], &[(3, 7)], &["[0] stale"]);
        check(&[(3, 8), (9, 5)], &[(3, 7), (9, 5)], &["[0] stale", "[1]"]);
    }

    #[test]
    fn in_doubt_a_function_has_no_numbers() {
        check(&[(3, 8), (9, 6)], &[(3, 7), (9, 5)], &["", ""]);
        check(&[(3, 8)], &[(3, 7), (3, 6)], &[""]);
        check(&[(3, 8)], &[], &[""]);
    }

    #[test]
    fn functions_with_equal_text_are_matched_by_their_lines() {
        check(&[(3, 7), (9, 7)], &[(9, 7)], &["", "[0]"]);
        check(&[(4, 7), (10, 7)], &[(3, 7), (9, 7)], &["", ""]);
    }

    #[test]
    fn without_a_hash_the_line_decides() {
        check(&[(3, 7), (9, 8)], &[(3, 0)], &["[0]", ""]);
        check(&[(4, 7)], &[(3, 0)], &[""]);
    }

    /// Checks the functions of `src/lib.rs` against methods of the crate `a` with the same text.
    /// The result has the indices of the methods.
    fn check_modules(text: &str, methods: &[(&str, &str)], expected: &[&[usize]]) {
        let outline = Outline::new(text);
        let method = |&(module, name): &(&str, &str)| Method {
            site: site(module, name),
            facts: Some(Facts {
                fingerprint: outline.functions[0].fingerprint,
                ..Facts::default()
            }),
            profile: MethodProfile::default(),
        };
        let methods: Vec<Method> = methods.iter().map(method).collect();
        let sites = methods.iter().map(|method| &method.site);
        let modules = FileModules::new(Path::new("/w/src/lib.rs"), &outline.functions, sites);
        let found = find(&outline.functions, |_| 1, &modules, methods.iter().enumerate());
        let places: Vec<Vec<usize>> =
            found.into_iter().map(|found| found.unwrap_or_default().places).collect();
        assert_eq!(places, expected, "{text}");
    }

    #[test]
    fn namesakes_in_inline_modules_have_their_own_numbers() {
        let text = "fn f() {} mod m { fn f() {} } mod n { fn f() {} }";
        check_modules(text, &[("a", "f"), ("a::m", "f")], &[&[0], &[1], &[]]);
        check_modules(text, &[("a::n", "f"), ("a::m", "f")], &[&[], &[1], &[0]]);
        check_modules("fn f() {}", &[("a::m", "f")], &[&[]]);
    }
}

//! Methods that always return the same value for each receiver: candidates for a cache (*Execution
//! profiling blueprints*, section 5.3).

use std::collections::BTreeSet;

use crate::program::{Element, Key, Method, Program, Returned};

/// The candidates of a crate.
#[derive(Debug)]
pub struct Constants<'p> {
    /// The crate.
    pub package: String,
    /// Methods that always returned the same value, and not their receiver.
    pub constant: Vec<&'p Element>,
    /// The number of methods whose values cannot be compared.
    pub not_comparable: usize,
    /// The number of methods with at least [`LEAST`] calls and calls made.
    pub candidates: usize,
}

/// How values that cannot be compared are compared.
pub const TRUST: &str = "weave with `--trust SELECTOR` to run Debug, Hash and PartialEq of all types on values of these functions";

/// The calls, and the calls made, that a method needs to be a candidate.
pub const LEAST: u64 = 2;

/// Parts of the names of methods and types that cache already.
const CACHES: [&str; 7] =
    ["cache", "memo", "lazy", "oncecell", "oncelock", "get_or_init", "intern"];
/// Tests that a command names. With more of them, it runs all.
const TESTS: usize = 3;

/// True for a method that is a cache already, by its name, by that of its type, or by its body.
pub fn is_cache(method: &Method, name: &str, owner: &str) -> bool {
    let is = |name: &str| CACHES.iter().any(|part| name.to_lowercase().contains(part));
    is(name) || is(owner) || method.facts.as_ref().is_some_and(|facts| facts.is_caching)
}

/// Returns the command whose tests must pass before and after a cache is added to a method: the
/// tests that reached it, or if none did, the command that finds them.
pub fn test_command(path: &str, tests: &BTreeSet<String>) -> String {
    match tests.len() {
        0 => format!("cargo metaspy test --weave '{path}' --by-test"),
        1..=TESTS => {
            // The test harness knows a test without its crate.
            let name = |test: &String| {
                test.split_once("::").map_or(test.as_str(), |(_, name)| name).to_owned()
            };
            format!(
                "cargo test -- --exact {}",
                tests.iter().map(name).collect::<Vec<_>>().join(" ")
            )
        }
        count => format!("cargo test  ({count} tests reach it)"),
    }
}

/// The candidates of each crate.
pub fn constants(program: &Program) -> Vec<Constants<'_>> {
    let crates = program.elements.iter().enumerate().filter(|(_, element)| element.under.is_none());
    let of = |(at, package): (usize, &Element)| {
        let within =
            program.elements[at + 1..].iter().take_while(|element| element.under.is_some());
        let methods = within.filter_map(|element| Some((element, element.method.as_deref()?)));
        let candidates = methods.filter(|(element, method)| {
            method.is_counted() && element.measure.count >= LEAST && method.profile.calls >= LEAST
        });
        let candidates: Vec<_> = candidates.collect();
        let returned = |returned| {
            candidates.iter().filter(move |(_, method)| method.profile.returns == Some(returned))
        };
        let mut constant: Vec<&Element> =
            returned(Returned::Constant).map(|(element, _)| *element).collect();
        constant.sort_by_key(|element| std::cmp::Reverse(element.measure.count));
        Constants {
            package: if let Key::Package(path) = &package.key {
                path.to_string()
            } else {
                package.name.clone()
            },
            not_comparable: returned(Returned::NotComparable).count(),
            constant,
            candidates: candidates.len(),
        }
    };
    crates.map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Identity;
    use crate::program::testing::{builder, woven};

    #[test]
    fn a_candidate_ran_twice_and_made_two_calls() {
        let cases = [
            ("constant", 2, 2, Returned::Constant),
            ("once", 1, 2, Returned::Constant),
            ("leaf", 9, 1, Returned::Constant),
            ("itself", 2, 2, Returned::Itself),
            ("hidden", 2, 2, Returned::NotComparable),
        ];
        let mut builder = builder(&cases.map(|(name, count, ..)| (woven("a", name, "c=1"), count)));
        for (name, _, calls, returns) in cases {
            let method = Identity::new(&format!("a::{name}"), "src/lib.rs", 1);
            let profile = builder.profile(&method).expect("the method is there");
            (profile.calls, profile.returns) = (calls, Some(returns));
        }
        let program = builder.build();
        let found = constants(&program);
        let [a] = &found[..] else { panic!("there is one crate") };
        assert_eq!((a.constant.len(), a.not_comparable, a.candidates), (1, 1, 3));
        assert_eq!(a.constant[0].path_text(), "a::constant");
    }
}

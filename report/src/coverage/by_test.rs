//! Tests, and the methods that each of them reached.

use std::collections::BTreeMap;

use crate::program::{Element, Program};

/// A test, with the methods that ran in it.
#[derive(Debug)]
pub struct TestReach<'p> {
    /// The path of the test.
    pub test: &'p str,
    /// The methods, in the order of the program.
    pub methods: Vec<&'p Element>,
    /// True if it may have reached further methods, because the recording had no room for all tests
    /// of a method.
    pub is_least: bool,
    /// The number of these that no other test reached; `None` if that is not known.
    pub alone: Option<usize>,
}

/// Returns the methods that each test reached, by path.
pub fn by_test(program: &Program) -> Vec<TestReach<'_>> {
    let mut reached: BTreeMap<&str, TestReach<'_>> = BTreeMap::new();
    let is_least = program
        .methods()
        .any(|element| element.method.as_ref().is_some_and(|method| method.profile.has_lost_tests));
    for element in program.methods() {
        let Some(method) = element.method.as_ref().filter(|method| method.is_counted()) else {
            continue;
        };
        let tests = &method.profile.tests;
        for test in tests {
            let reach = reached.entry(test).or_insert_with(|| TestReach {
                test,
                methods: Vec::new(),
                is_least,
                alone: (!is_least).then_some(0),
            });
            reach.methods.push(element);
            reach.alone = reach.alone.map(|alone| alone + usize::from(tests.len() == 1));
        }
    }
    reached.into_values().collect()
}

#[cfg(test)]
mod unit {
    use super::*;
    use crate::program::Identity;
    use crate::program::testing::{builder, woven};

    #[test]
    fn each_test_has_the_methods_that_it_reached() {
        let methods = ["both", "one", "neither"].map(|name| (woven("a", name, "c=1"), 1));
        let mut builder = builder(&methods);
        for (name, tests) in [("both", &["a::s", "a::t"][..]), ("one", &["a::t"])] {
            let profile = builder
                .profile(&Identity::new(&format!("a::{name}"), "src/lib.rs", 1))
                .expect("it is there");
            profile.tests.extend(tests.iter().map(|test| (*test).to_owned()));
        }
        let program = builder.build();
        let found: Vec<String> = by_test(&program)
            .iter()
            .map(|reach| {
                let methods: Vec<&str> =
                    reach.methods.iter().map(|method| method.path_text()).collect();
                format!("{} {} {:?} {}", reach.test, methods.join(","), reach.alone, reach.is_least)
            })
            .collect();
        assert_eq!(found, ["a::s a::both Some(0) false", "a::t a::both,a::one Some(1) false"]);
    }

    #[test]
    fn what_a_test_reached_is_a_lower_bound_if_tests_of_a_method_found_no_room() {
        let mut builder = builder(&[(woven("a", "one", "c=1"), 1), (woven("a", "lost", "c=1"), 1)]);
        let identity = |name| Identity::new(name, "src/lib.rs", 1);
        builder.profile(&identity("a::one")).expect("it is there").tests.insert("a::t".into());
        builder.profile(&identity("a::lost")).expect("it is there").has_lost_tests = true;
        let program = builder.build();
        let reach = by_test(&program);
        assert_eq!(
            reach.iter().map(|of| (of.test, of.alone, of.is_least)).collect::<Vec<_>>(),
            [("a::t", None, true)]
        );
        assert_eq!(
            crate::coverage::text::tests(&program, crate::table::Top::Default),
            ["tests, and the methods that each reached", "  a::t: ≥1 method", "    a::one"]
        );
    }
}

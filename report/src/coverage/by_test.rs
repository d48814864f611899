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
    /// The number of these that no other test reached.
    pub alone: usize,
}

/// What each test reached, by path.
pub fn by_test(program: &Program) -> Vec<TestReach<'_>> {
    let mut reached: BTreeMap<&str, TestReach<'_>> = BTreeMap::new();
    for element in program.methods() {
        let Some(method) = element.method.as_ref().filter(|method| method.is_counted()) else { continue };
        let tests = &method.profile.tests;
        for test in tests {
            let reach = reached.entry(test).or_insert_with(|| TestReach { test, methods: Vec::new(), alone: 0 });
            reach.methods.push(element);
            reach.alone += usize::from(tests.len() == 1);
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
            let profile = builder.profile(&Identity::new(&format!("a::{name}"), "src/lib.rs", 1)).expect("it is there");
            profile.tests.extend(tests.iter().map(|test| (*test).to_owned()));
        }
        let program = builder.build();
        let found: Vec<String> = by_test(&program)
            .iter()
            .map(|reach| {
                let methods: Vec<&str> = reach.methods.iter().map(|method| method.path_text()).collect();
                format!("{} {} {}", reach.test, methods.join(","), reach.alone)
            })
            .collect();
        assert_eq!(found, ["a::s a::both 0", "a::t a::both,a::one 1"]);
    }
}

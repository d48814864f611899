//! `#[observe]`: which functions become sites, and how their calls end.

use crate::common::{check, panics, quietly, sites, watch};
use metaspy::prelude::*;

#[test]
fn a_function_has_one_site_for_all_its_type_arguments() {
    struct Grid<T>(T);
    #[observe]
    impl<T> Grid<T> {
        fn cell(&self) -> &T {
            &self.0
        }
    }
    check(
        "Grid::cell",
        || {
            Grid(1_u8).cell();
            Grid("a").cell();
        },
        "cell returned\ncell returned\n",
    );
    assert_eq!(sites("Grid").len(), 1);
}

#[test]
fn a_site_that_never_ran_is_listed_with_its_lines() {
    struct Idle;
    #[observe]
    impl Idle {
        /// Documentation is not part of the function.
        #[inline]
        fn never(&self) -> u32 {
            // These are the lines of the function.
            1
        }
    }
    let line = line!() - 5;
    let [site] = sites("Idle")[..] else { panic!("one site") };
    assert_eq!((site.name, site.module, site.file), ("Idle::never", module_path!(), file!()));
    assert_eq!(site.lines, (line, line + 3));
    assert_eq!(Idle.never(), 1);
}

#[test]
fn functions_that_cannot_be_observed_are_listed_with_the_reason() {
    struct Mixed;
    macro_rules! method {
        () => {
            fn made(&self) {}
        };
    }
    #[observe]
    impl Mixed {
        const fn new() -> Self {
            Mixed
        }
        extern "C" fn foreign(&self) {}
        method!();
        #[observe(skip)]
        fn quiet(&self) {}
    }
    let mixed = Mixed::new();
    mixed.foreign();
    mixed.made();
    mixed.quiet();
    let skipped: Vec<(&str, &str)> = sites("Mixed")
        .iter()
        .map(|site| (site.name, site.skipped.expect("all are skipped")))
        .collect();
    let expected = [
        ("Mixed::new", "a `const fn` also runs at compile time, where a hook cannot"),
        (
            "Mixed::foreign",
            "a function with a foreign ABI is called by code outside Rust, where a hook may not run",
        ),
        ("Mixed::method!", "a macro makes it, and an attribute runs before that macro is expanded"),
        ("Mixed::quiet", "left out by #[observe(skip)]"),
    ];
    assert_eq!(skipped, expected);
    let refused = Profiler::new("mixed")
        .observe(methods("Mixed::new"))
        .install()
        .expect_err("it cannot be armed");
    assert!(refused.to_string().ends_with("where a hook cannot"), "{refused}");
}

#[test]
fn sites_are_named_by_type_trait_and_function() {
    trait Layout {
        fn own(&self);
        fn default(&self) {}
    }
    #[observe]
    trait Shape {
        fn area(&self) {}
    }
    struct Named;
    #[observe]
    impl Layout for Named {
        fn own(&self) {}
    }
    impl Shape for Named {}
    #[observe(name = "Renamed")]
    impl Named {
        fn one(&self) {}
        #[observe(name = "zwei")]
        fn two(&self) {}
    }
    impl Named {
        #[observe]
        fn alone(&self) {}
        #[observe]
        fn made() -> Self {
            Named
        }
    }
    #[observe(only)]
    impl Named {
        #[observe]
        fn chosen(&self) {}
    }
    #[observe]
    fn function_by_itself() {}
    let named = Named::made();
    named.own();
    named.default();
    named.area();
    named.one();
    named.two();
    named.alone();
    named.chosen();
    function_by_itself();
    for name in [
        "Named::Layout::own",
        "Shape::area",
        "Renamed::one",
        "Renamed::zwei",
        "Named::chosen",
        // An attribute on a method alone cannot see the type.
        "alone",
        "made",
        "function_by_itself",
    ] {
        assert_eq!(sites(name).len(), 1, "{name}");
    }
}

struct Parser;

#[observe]
impl Parser {
    fn question_mark(&self, text: &str) -> Result<u32, std::num::ParseIntError> {
        let n: u32 = text.parse()?;
        Ok(n)
    }
    fn early(&self, n: u32) -> Option<u32> {
        if n == 0 {
            return None;
        }
        if n == 1 {
            return Some(1);
        }
        (n > 2).then_some(n)
    }
    fn hidden(&self, n: u32) -> Result<u32, String> {
        macro_rules! ensure {
            ($holds:expr) => {
                if !$holds {
                    return Err(String::new());
                }
            };
        }
        ensure!(n > 2);
        Ok(n)
    }
    fn stops(&self, now: bool) {
        if now {
            return;
        }
        self.early(3);
    }
    fn falls(&self, deep: u32) -> u32 {
        assert!(deep > 0, "deep enough");
        self.falls(deep - 1)
    }
}

#[test]
fn the_outcome_of_a_call_is_its_result() {
    check(
        "Parser::question_mark",
        || {
            let _ = (Parser.question_mark("1"), Parser.question_mark("x"));
        },
        "question_mark succeeded\nquestion_mark failed\n",
    );
    check(
        "Parser::early",
        || {
            let _ = [0, 1, 2, 3].map(|n| Parser.early(n));
        },
        "early failed\nearly succeeded\nearly failed\nearly succeeded\n",
    );
}

#[test]
fn an_early_return_inside_a_macro_is_a_failure() {
    check(
        "Parser::hidden",
        || {
            let _ = (Parser.hidden(1), Parser.hidden(3));
        },
        "hidden failed\nhidden succeeded\n",
    );
}

#[test]
fn an_early_return_in_the_input_of_a_macro_has_only_returned() {
    macro_rules! when {
        ($holds:expr, $then:expr) => {
            if $holds {
                $then
            }
        };
    }
    #[observe]
    fn placed_return(n: u32) -> Option<u32> {
        when!(n > 2, return Some(n));
        when!(n > 1, return None);
        Some(1)
    }
    check(
        "placed_return",
        || {
            let _ = (placed_return(3), placed_return(2), placed_return(1));
        },
        "placed_return returned\nplaced_return returned\nplaced_return succeeded\n",
    );
}

#[test]
fn a_function_that_returns_early_has_returned() {
    check(
        "Parser::stops",
        || {
            Parser.stops(true);
            Parser.stops(false);
        },
        "stops returned\nstops returned\n",
    );
}

#[test]
fn a_panic_unwinds_unchanged_and_every_call_it_leaves_has_panicked() {
    check(
        "Parser::falls",
        || panics(|| assert_eq!(Parser.falls(1), 0)),
        "falls panicked\n  falls panicked\n",
    );
}

#[test]
fn a_call_in_a_destructor_that_runs_while_unwinding_has_not_panicked() {
    struct Calm;
    #[observe]
    impl Calm {
        fn tidy(&self) {}
        fn breaks(&self) {
            panic!("broken")
        }
    }
    impl Drop for Calm {
        fn drop(&mut self) {
            self.tidy();
        }
    }
    check("Calm::*", || panics(|| Calm.breaks()), "breaks panicked\ntidy returned\n");
}

#[test]
fn a_type_named_like_a_result_has_only_returned() {
    type QueryResult = Vec<u32>;
    #[observe]
    fn query_rows(none: bool) -> QueryResult {
        if none {
            return vec![];
        }
        vec![1]
    }
    // A type called like a `Result` that does not tell how it went.
    check("query_rows", || drop(query_rows(false)), "query_rows returned\n");
}

#[test]
fn arguments_and_return_values_are_recorded_on_request() {
    #[observe(args(a, sum = a + b), ret, caller)]
    fn shown_call(a: u32, b: u32) -> Option<u32> {
        if a == 0 {
            return None;
        }
        Some(a + b)
    }
    let seen = watch(methods("shown_call").details(), "shown_call", || {
        shown_call(1, 2);
        shown_call(0, 2);
    });
    let at = format!("caller={}:{}:9", file!(), line!() - 3);
    assert_eq!(seen.details(0), ["a=1", "sum=3", &at, "=Some(3)"]);
    assert_eq!(seen.details(1)[3], "=None");
}

#[test]
fn a_result_with_an_opaque_value_has_an_outcome() {
    struct Opaque;
    #[observe]
    impl Opaque {
        fn counts(&self, to: u32) -> Result<impl Iterator<Item = u32> + '_, String> {
            if to == 0 {
                return Err("nothing to count".into());
            }
            let to: u32 =
                if to > 9 { "many" } else { "3" }.parse().map_err(|_| String::from("too many"))?;
            Ok((0..to).map(move |n| n + size_of_val(self) as u32))
        }
        #[observe(ret)]
        fn shows(&self) -> impl Iterator<Item = u32> + std::fmt::Debug {
            0..3
        }
        fn doubles(&self) -> impl Fn(&str) -> usize {
            // Only the signature tells the closure what it takes.
            |text| 2 * text.len()
        }
        fn halves(&self) -> Option<impl Fn(&str) -> usize> {
            Some(|text: &str| text.len() / 2)
        }
    }
    let seen = watch(methods("Opaque::*").details(), "Opaque::*", || {
        assert_eq!(Opaque.counts(3).map(Iterator::count), Ok(3));
        let _ = (Opaque.counts(0).map(Iterator::count), Opaque.counts(10).map(Iterator::count));
        let _ = (Opaque.shows(), Opaque.doubles()("ab"), Opaque.halves().map(|half| half("ab")));
    });
    let text = "counts succeeded\ncounts failed\ncounts failed\nshows returned\ndoubles returned\nhalves succeeded\n";
    assert_eq!(seen.text(), text);
    assert_eq!(seen.details(3), ["=0..3"]);
}

#[test]
fn an_argument_whose_debug_panics_is_marked() {
    struct Bad;
    impl std::fmt::Debug for Bad {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("unshowable")
        }
    }
    #[observe(args(bad))]
    fn takes_bad(bad: Bad) -> u32 {
        let _ = bad;
        1
    }
    let seen = watch(methods("takes_bad").details(), "takes_bad", || {
        assert_eq!(quietly(|| takes_bad(Bad)), 1)
    });
    assert_eq!(seen.details(0), ["bad= (its Debug panicked)"]);
}

#[test]
fn recursive_calls_are_nested() {
    #[observe]
    fn countdown(n: u32) {
        if n > 0 {
            countdown(n - 1)
        }
    }
    check(
        "countdown",
        || countdown(2),
        "countdown returned\n  countdown returned\n    countdown returned\n",
    );
}

#[test]
fn every_thread_profiles_its_own_calls() {
    struct Shared;
    #[observe]
    impl Shared {
        fn hit(&self) {}
    }
    std::thread::scope(|scope| {
        for thread in 1..=8 {
            scope.spawn(move || {
                let profiler = Profiler::new("own").observe(methods(site!(Shared::hit)));
                let ((), profile) = profiler
                    .profile(|| (0..thread * 10).for_each(|_| Shared.hit()))
                    .expect("installed");
                assert_eq!(profile.counts().total(), thread * 10);
            });
        }
    });
}

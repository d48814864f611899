//! Which hooks are chosen, and how they yield.

use super::*;
use crate::plan::Selection;
use crate::source::{EXTERN_CRATE, parse, weave};
use crate::wrapper::listing::SharedLibrary;

/// The hooks of a file that is called `lib.rs`, of the crate `a`.
struct Case {
    source: CrateSource,
    choice: ChosenHooks,
}

impl Case {
    fn new(text: &str, selection: Selection, is_woven: bool, as_test: bool) -> Case {
        let file = SourceFile {
            path: "lib.rs".into(),
            text: text.into(),
            modules: vec![Vec::new()],
            parsed: parse(text),
        };
        let source = CrateSource { files: vec![file], ..CrateSource::default() };
        let target = Target {
            package: "a@0.1.0".into(),
            krate: "a".into(),
            root: PathBuf::new(),
            is_woven,
            has_tests: true,
            needs_core: false,
            stamp: String::new(),
        };
        let listing = Listing::of(&target, Path::new("lib.rs"), SharedLibrary::None);
        let plan = Plan {
            dir: PathBuf::new(),
            cache: PathBuf::new(),
            selection,
            targets: BTreeMap::new(),
            core: None,
        };
        let choice = ChosenHooks::new(
            &plan,
            &target,
            &source,
            listing,
            |file| file.path.clone(),
            Build::new(as_test.then(|| "test".into())),
        );
        Case { source, choice: choice.expect("the selectors are sound") }
    }

    fn deep(text: &str) -> Case {
        Case::new(text, Selection { returns: true, ..Selection::default() }, true, false)
    }

    /// The macros' names, with the functions'.
    fn check(&self, expected: &[&str]) {
        let functions = &self.source.files[0].parsed.as_ref().expect("it is Rust").functions;
        let shown = self.choice.hooks(0, functions).into_iter().map(|hook| {
            let text = hook.before();
            let (_, called) =
                text.split_once(&format!("{EXTERN_CRATE}::")).expect("it is a macro of the hooks");
            format!("{} {}", called.split('!').next().unwrap_or_default(), hook.function.name)
        });
        assert_eq!(shown.collect::<Vec<_>>(), expected);
    }

    /// The compiler finds fault with a line.
    fn refuse(&mut self, line: u32) -> bool {
        self.refuse_for(line, false)
    }

    fn refuse_for(&mut self, line: u32, is_about_lifetimes: bool) -> bool {
        let place = |file: &str, line| diagnostics::ErrorPlace {
            file: file.into(),
            line,
            byte: None,
            is_about_lifetimes,
            message: "no".into(),
        };
        self.choice.yield_at(&[place("lib.rs", line), place("hooks.rs", 1)], &self.source)
    }

    /// The compiler finds fault with a text of the first line, in the woven file.
    fn refuse_text(&mut self, text: &str) -> bool {
        let file = &self.source.files[0];
        let functions = &file.parsed.as_ref().expect("it is Rust").functions;
        let woven = weave(&file.text, self.choice.hooks(0, functions));
        let byte = Some(woven.find(text).expect("it is there"));
        let place = diagnostics::ErrorPlace {
            file: "lib.rs".into(),
            line: 1,
            byte,
            is_about_lifetimes: false,
            message: "no".into(),
        };
        self.choice.yield_at(&[place], &self.source)
    }

    fn check_lists(&self, woven: &[&str], light: &[&str], skipped: &[&str]) {
        let Listing { woven: has, .. } = &self.choice.listing;
        assert_eq!(has.iter().map(|method| method.path.as_str()).collect::<Vec<_>>(), woven);
        assert_eq!(texts(&self.choice.listing.light), light);
        assert_eq!(texts(&self.choice.listing.skipped), skipped);
    }
}

fn texts(left: &[Left]) -> Vec<String> {
    left.iter().map(|left| format!("{}: {}", left.method.path, left.reason)).collect()
}

const MORE: &str = "the compiler refuses the hook that sees more";

#[test]
fn a_refused_hook_sees_less_before_it_is_left_out() {
    let mut case = Case::deep("fn f() {\n}\nfn g() {\n}\n");
    case.check(&["whole f", "whole g"]);
    assert!(case.refuse(2));
    case.check(&["hook f", "whole g"]);
    case.check_lists(&["a::f", "a::g"], &[&format!("a::f: {MORE}")], &[]);
    assert!(case.refuse(2));
    case.check(&["whole g"]);
    case.check_lists(&["a::g"], &[], &["a::f: the compiler refuses the hook"]);
    assert!(!case.refuse(2), "nothing is left that could be to blame");
}

#[test]
fn what_does_not_live_long_enough_is_shown_and_not_kept() {
    let mut case = Case::deep("fn f() -> Token {\n}\n");
    assert!(case.refuse_for(1, true));
    case.check(&["whole f"]);
    case.check_lists(&["a::f"], &[], &[]);
    assert!(case.refuse_for(1, true));
    case.check(&["hook f"]);
}

#[test]
fn an_async_function_is_polled_then_begun_then_left() {
    let mut case = Case::deep("async fn f() {}");
    for expected in ["polled_whole f", "polled f", "began f"] {
        case.check(&[expected]);
        assert!(case.refuse(1));
    }
    case.check(&[]);
    case.check_lists(&[], &[], &["a::f: the compiler refuses the hook"]);
}

#[test]
fn what_a_function_cannot_take_by_its_looks_is_not_tried() {
    let text = "fn f() -> impl Fn() {}\nfn g() -> ! {}\n#[track_caller] fn h() {}\nasync fn i() -> impl Fn() {}\n";
    let case = Case::deep(text);
    case.check(&["hook f", "hook g", "hook h", "began i"]);
    case.check_lists(
        &["a::f", "a::g", "a::h", "a::i"],
        &[
            "a::f: the type that it returns has no name",
            "a::g: it never returns",
            "a::h: it is `#[track_caller]`, and a hook around its body would hide the caller",
            "a::i: the type that it returns has no name",
        ],
        &[],
    );
    let light = Case::new("fn f() -> impl Fn() {}", Selection::default(), true, false);
    light.check_lists(&["a::f"], &[], &[]);
}

#[test]
fn of_hooks_around_a_line_the_deep_ones_yield_first_and_then_the_innermost() {
    let selection = Selection { returns: true, closures: true, ..Selection::default() };
    let mut case =
        Case::new("fn f() {\n    g(|| {\n        1\n    });\n}\n", selection, true, false);
    case.check(&["whole f", "hook f::{closure#1}"]);
    case.refuse(3);
    case.check(&["hook f", "hook f::{closure#1}"]);
    case.refuse(3);
    case.check(&["hook f"]);
    case.refuse(3);
    case.check(&[]);
}

#[test]
fn the_byte_distinguishes_functions_on_one_line() {
    let text = "fn f() { one } fn g() { two; fn h() { three } } fn i() { four }";
    for (fault, left) in [
        ("one", ["g", "g::h", "i"]),
        ("two", ["f", "g::h", "i"]),
        ("three", ["f", "g", "i"]),
        ("four", ["f", "g", "g::h"]),
    ] {
        let mut case = Case::new(text, Selection::default(), true, false);
        assert!(case.refuse_text(fault));
        case.check(&left.map(|name| format!("hook {name}")).each_ref().map(String::as_str));
    }
    let mut case = Case::deep(text);
    assert!(case.refuse_text("four"));
    case.check(&["whole f", "whole g", "whole g::h", "hook i"]);
    assert!(case.refuse_text("fn g"), "in no body");
    case.check(&["hook f", "hook g", "hook g::h", "hook i"]);
}

#[test]
fn where_the_compiler_points_nowhere_those_that_see_most_yield_first() {
    let mut case = Case::deep("fn f() {}\nasync fn g() {}\n#[track_caller] fn h() {}\n");
    let steps: [&[&str]; 4] = [
        &["whole f", "polled_whole g", "hook h"],
        &["hook f", "polled g", "hook h"],
        &["hook f", "began g", "hook h"],
        &[],
    ];
    for expected in steps {
        case.check(expected);
        case.choice.yield_most(None);
    }
    assert!(case.choice.is_empty());
}

#[test]
fn unselected_tests_have_a_light_hook_and_stand_in_no_list() {
    let text = "#[test]\nfn one() {\n}\nfn two() {\n}\n#[tokio::test]\nasync fn three() {\n}\n#[test] const fn four() {}";
    let selection =
        Selection { weave: vec!["two".into()], returns: true, args: true, ..Selection::default() };
    let mut case = Case::new(text, selection.clone(), true, true);
    case.check(&["hook one", "whole two", "polled three"]);
    case.check_lists(&["a::two"], &[], &[]);
    let functions = &case.source.files[0].parsed.as_ref().expect("it is Rust").functions;
    let is_alone: Vec<bool> =
        case.choice.hooks(0, functions).iter().map(|hook| hook.is_alone).collect();
    assert_eq!(is_alone, [true, false, true]);
    case.choice.leave_all(None);
    case.check_lists(&[], &[], &["a::two: the compiler refuses the hook"]);

    Case::new(text, selection.clone(), false, true).check(&["hook one", "polled three"]);
    Case::new(text, selection, true, false).check(&["whole two"]);
}

#[test]
fn a_subject_is_a_parameter_only_on_request() {
    let subjects = vec!["a::*=first".to_owned(), "g=self.id".to_owned()];
    let selection = Selection { subjects, ..Selection::default() };
    let case = Case::new(
        "fn f(first: u8) {}\nimpl S { fn g(&self) {} }\nfn g() {}",
        selection,
        true,
        false,
    );
    let functions = &case.source.files[0].parsed.as_ref().expect("it is Rust").functions;
    let subjects: Vec<Option<&str>> =
        case.choice.hooks(0, functions).iter().map(|hook| hook.subject).collect();
    assert_eq!(subjects, [Some("first"), Some("self.id"), Some("self.id")]);
}

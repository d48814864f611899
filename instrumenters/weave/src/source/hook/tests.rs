//! What stands in woven text, and that nothing else changed.

use proptest::prelude::*;

use super::*;
use crate::source::parse;

/// All hooks that can be, light ones or deep ones.
fn hooks(functions: &[Function], is_deep: bool) -> Vec<Hook<'_>> {
    let can_be = functions.iter().filter(|function| function.skipped.is_none());
    let hook = |function| Hook {
        function,
        kind: HookKind::of(function, is_deep).0,
        subject: None,
        with_args: true,
        values: Values { returns: true, args: true, types: false },
        type_words: String::new(),
        is_trusted: function.is_exported,
        is_alone: false,
    };
    can_be.map(hook).collect()
}

/// Weaves everything that can be, and shows hooks as `@name@`, and their ends as `@`.
fn check_as(text: &str, is_deep: bool, closures: bool, woven: &str) {
    let parsed = parse(text).expect("it is Rust");
    let mut chosen = hooks(&parsed.functions.all, is_deep);
    chosen.retain(|hook| closures || !hook.function.facts.is_closure);
    let mut shown = String::new();
    let mut done = 0;
    for (at, inserted) in insertions(chosen.iter().cloned()) {
        shown.push_str(&text[done..at]);
        let begins = chosen.iter().find(|hook| hook.before() == inserted);
        shown.push_str(&begins.map_or("@".to_owned(), |hook| format!("@{}@", hook.function.name)));
        done = at;
    }
    shown.push_str(&text[done..]);
    assert_eq!(shown, woven);
    parse(&weave(text, chosen)).expect("what was woven is Rust");
}

fn check(text: &str, woven: &str) {
    check_as(text, false, false, woven);
}

fn check_deep(text: &str, woven: &str) {
    check_as(text, true, false, woven);
}

fn check_closures(text: &str, woven: &str) {
    check_as(text, false, true, woven);
}

#[test]
fn a_hook_stands_after_the_brace_on_the_same_line() {
    check("fn f() {\n    1;\n}\n", "fn f() {@f@\n    1;\n}\n");
    check("fn f<T>() where T: X\n{}", "fn f<T>() where T: X\n{@f@}");
}

#[test]
fn a_hook_stands_after_inner_attributes() {
    check(
        "fn f() {\n #![allow(x)] #![deny(y)]\n g() }",
        "fn f() {\n #![allow(x)] #![deny(y)]@f@\n g() }",
    );
    check("fn f() {\n //! Says what.\n g() }", "fn f() {\n //! Says what.\n @f@g() }");
    check("fn f() {\n /*! Says what. */ }", "fn f() {\n /*! Says what. */@f@ }");
    check("fn f() {\n //! Nothing follows.\n}", "fn f() {\n //! Nothing follows.\n@f@}");
    let braces = "fn f() {\n //! Prints {name}.\n g() }";
    check(braces, "fn f() {\n //! Prints {name}.\n @f@g() }");
    check_deep(braces, "fn f() {\n //! Prints {name}.\n @f@g() @}");
    check_deep("fn f() {\n //! Nothing follows.\n}", "fn f() {\n //! Nothing follows.\n@f@@}");
}

#[test]
fn a_deep_hook_ends_before_the_brace_that_closes_the_body() {
    check_deep("fn f() -> u8 {\n    1\n}\n", "fn f() -> u8 {@f@\n    1\n@}\n");
    check_deep("fn f() {fn g() {}}", "fn f() {@f@fn g() {@f::g@@}@}");
    check("async fn f() { g().await }", "async fn f() {@f@ g().await @}");
}

#[test]
fn closures_take_a_hook_in_their_braces_or_get_braces() {
    check_closures(
        "fn f() {a(|x| x, || { 1 })}",
        "fn f() {@f@a(|x| @f::{closure#1}@x@, || {@f::{closure#2}@ 1 })}",
    );
    check_closures("fn f() {|x| |y| z}", "fn f() {@f@|x| @f::{closure#1}@|y| @f::{closure#2}@z@@}");
    check_closures(
        "fn f() { fn g() { || 1; } || 2; }",
        "fn f() {@f@ fn g() {@f::g@ || @f::g::{closure#1}@1@; } || @f::{closure#1}@2@; }",
    );
    check_closures(
        "fn f() { || unsafe { g() }; }",
        "fn f() {@f@ || @f::{closure#1}@unsafe { g() }@; }",
    );
    check("fn f() { || 1; }", "fn f() {@f@ || 1; }");
}

#[test]
fn closures_that_cannot_take_a_hook_are_left() {
    check_closures(
        "const F: fn() -> u8 = || 1; static G: L = L::new(|| 1);",
        "const F: fn() -> u8 = || 1; static G: L = L::new(|| 1);",
    );
    check_closures("const fn f() { || 1; }", "const fn f() { || 1; }");
    check_closures(
        "fn f() { async |x| x; const { || 1; } || match a {} + 1; }",
        "fn f() {@f@ async |x| x; const { || 1; } || match a {} + 1; }",
    );
}

#[test]
fn methods_are_called_by_type_and_trait() {
    check(
        "impl<T> a::B<T> { fn f(&self) {} } impl c::D<u8> for &'_ [B<u8>] { fn f(&self) {} }",
        "impl<T> a::B<T> { fn f(&self) {@B::f@} } impl c::D<u8> for &'_ [B<u8>] { fn f(&self) {@[B]::D::f@} }",
    );
    check("trait A { fn f(); fn g() {} }", "trait A { fn f(); fn g() {@A::g@} }");
}

#[test]
fn nested_functions_are_woven_too() {
    check(
        "fn f() { fn g() {} struct S; impl S { fn h() {} } }",
        "fn f() {@f@ fn g() {@f::g@} struct S; impl S { fn h() {@f::S::h@} } }",
    );
    check("const _: () = { fn g() {} };", "const _: () = { fn g() {@g@} };");
}

#[test]
fn marks_before_the_source_and_letters_of_many_bytes_move_nothing() {
    check(
        "\u{feff}#!/bin/sh\nfn ä() { \"ß\"; }\nfn g() {}",
        "\u{feff}#!/bin/sh\nfn ä() {@ä@ \"ß\"; }\nfn g() {@g@}",
    );
    check("#![feature(x)]\r\nfn f() {}\r\n", "#![feature(x)]\r\nfn f() {@f@}\r\n");
}

/// The functions of a text, without the hashes of their tokens.
fn functions(text: &str) -> Vec<Function> {
    let mut functions = parse(text).expect("it is Rust").functions.all;
    functions.iter_mut().for_each(|function| function.facts.fingerprint = 0);
    functions
}

/// The only function's hook.
fn text_of(text: &str, change: impl FnOnce(&mut Hook<'_>)) -> String {
    let functions = functions(text);
    let mut hook = hooks(&functions, true).remove(0);
    change(&mut hook);
    hook.before() + "…" + hook.behind()
}

#[test]
fn a_hook_is_a_macro_of_the_functions_name_lines_and_facts() {
    let light = |hook: &mut Hook<'_>| hook.kind = HookKind::Hook;
    assert_eq!(
        text_of("fn f() {}", light),
        r#"__metaspy::hook!("f",1,1,"c=1 self=none vis=private unit",[],[]);…"#
    );
    assert_eq!(
        text_of("fn f() { thread::sleep(T) }", light),
        r#"__metaspy::hook!("f",1,1,"c=1 self=none vis=private unit waits",[],[]);…"#
    );
    let method = "impl A<u8> {\n pub(crate) fn f(&mut self, a: u8, (b, c): D) -> u8 {\n a? } }";
    assert_eq!(
        text_of(method, |_| {}),
        r#"__metaspy::whole!("A::f",2,3,"c=2 self=mut type=A typeargs=<u8> vis=restricted deep",[place self],[known self,known a],[own known u8],{__metaspy::held!(c b a self);…})"#
    );
    assert_eq!(
        text_of("impl A {\n fn f(&self, a: u8, _: B) {} }", light),
        r#"__metaspy::hook!("A::f",2,2,"c=1 self=ref type=A vis=private unit inputs",[place self],[known self,known a]);…"#
    );
    assert_eq!(
        text_of(method, |hook| (hook.kind, hook.subject, hook.with_args) =
            (HookKind::Hook, Some("self.id"), false)),
        r#"__metaspy::hook!("A::f",2,3,"c=2 self=mut type=A typeargs=<u8> vis=restricted",[key self.id, type Self],[]);…"#
    );
}

#[test]
fn a_hook_that_only_counts_sees_nothing_of_a_call() {
    let entry = |hook: &mut Hook<'_>| hook.kind = HookKind::Entry;
    let method = "impl A {\n async fn f(&mut self, a: u8) -> u8 {} }";
    let words = r#"__metaspy::entry!("A::f",2,2,"c=1 self=mut type=A vis=private async entry");…"#;
    assert_eq!(text_of(method, entry), words);
    assert_eq!(HookKind::Entry.below(false), None);
    let covered = |hook: &mut Hook<'_>| hook.kind = HookKind::Covered;
    let words = r#"__metaspy::covered!("A::f",2,2,"c=1 self=mut type=A vis=private async entry covered",[place self]);…"#;
    assert_eq!(text_of(method, covered), words);
    assert_eq!(text_of("fn f() {}", covered).matches("[]").count(), 1);
}

#[test]
fn a_hook_for_types_sees_the_receiver_and_names_open_parameters() {
    let method = "impl A {\n fn f(&self, a: &dyn B, c: u8) -> u8 {} }";
    let types = |hook: &mut Hook<'_>| {
        hook.values = Values { types: true, ..Values::default() };
        hook.type_words = " enum=crate::E|X,Y".into();
    };
    assert_eq!(
        text_of(method, types),
        r#"__metaspy::whole!("A::f",2,2,"c=1 self=ref type=A vis=private params=self|;a|*&dyn~B;c| enum=crate::E|X,Y",[place self],[types self,types a,types c],[own types u8],{__metaspy::held!(c a self);…})"#
    );
}

#[test]
fn async_functions_are_polled_or_only_begun() {
    let test = "#[tokio::test]\nasync fn f() {}";
    assert_eq!(
        text_of(test, |hook| (hook.kind, hook.is_alone) = (HookKind::Polled, true)),
        r#"__metaspy::polled!("f",2,2,"c=1 self=none vis=private async test unit alone",[],[],[own known ()],{…})"#
    );
    assert_eq!(
        text_of("async fn f() -> impl Fn() {}", |_| {}),
        r#"__metaspy::began!("f",1,1,"c=1 self=none vis=private async unseen");…"#
    );
    // What may have failed, unknown to the hook.
    for (returns, word) in [
        ("Option<u8>", " option unseen"),
        ("Tried<u8>", " unseen"),
        ("&'static str", ""),
        ("u64", ""),
    ] {
        let source = format!("fn f() -> {returns} {{ todo!() }}");
        let expected =
            format!(r#"__metaspy::hook!("f",1,1,"c=1 self=none vis=private{word}",[],[]);…"#);
        assert_eq!(text_of(&source, |hook| hook.kind = HookKind::Hook), expected);
    }
}

#[test]
fn facts_name_types_traits_and_how_self_is_taken() {
    let facts = |text: &str| functions(text)[0].facts.to_string();
    assert_eq!(
        facts("impl a::T<u8> for (B, C) { fn f(self: Rc<Self>) {} }"),
        "c=1 self=other type=(B,C) trait=T traitargs=<u8> vis=pub unit"
    );
    assert_eq!(
        facts("trait T: A + ?Sized + 'static + b::C<u8> { fn f(self: &Self) -> u8 {} }"),
        "c=1 self=ref trait=T super=A+C vis=private"
    );
    assert_eq!(
        facts("impl B<u8> { pub fn f(mut self) -> B< u8 > {} }"),
        "c=1 self=value type=B typeargs=<u8> vis=pub chain"
    );
    assert_eq!(
        facts("impl B { pub fn f(self) -> Self {} }"),
        "c=1 self=value type=B vis=pub chain"
    );
}

#[test]
fn what_only_builds_of_tests_contain_is_marked() {
    let text = "
        fn plain() { fn within() {} }
        #[cfg(test)] fn alone() {}
        impl A { #[cfg(test)] fn method() {} fn other() {} }
        #[test] fn checks() { let closure = || 1; fn nested() {} }
        #[cfg(all(test, unix))] mod tests { fn fixture() {} mod deep { fn deep() {} } }
        #[cfg(not(test))] mod real { fn real() {} }";
    let functions = functions(text);
    let marked = functions.iter().filter(|function| function.facts.is_test_only);
    let marked: Vec<&str> = marked.map(|function| function.name.as_str()).collect();
    assert_eq!(
        marked,
        ["alone", "A::method", "checks::{closure#1}", "checks::nested", "fixture", "deep"]
    );
}

#[test]
fn the_fingerprint_of_a_function_is_that_of_its_source() {
    let method = "pub const unsafe fn f(&self) -> u8 {\n #![allow(x)]\n 1 /* one */ }";
    let function =
        &parse(&format!("impl A {{\n /// Docs.\n {method} }}")).expect("it is Rust").functions.all
            [0];
    let own = method.strip_prefix("pub ").and_then(metaspy_syntax::fingerprint::of_source);
    assert_eq!((own, function.facts.fingerprint > 0), (Some(function.facts.fingerprint), true));
}

#[test]
fn code_that_cannot_be_woven_is_left_and_listed() {
    let text = "const fn a() {} async fn b() {} extern \"C\" fn c() {} #[unsafe(naked)] fn d() {} extern \"Rust\" fn e() {} \
                unsafe impl GlobalAlloc for A { unsafe fn alloc() {} } #[metaspy::observe] impl S { fn f() {} } #[observe] fn g() {}";
    let parsed = parse(text).expect("it is Rust");
    let left: Vec<(&str, bool)> =
        parsed.functions.all.iter().map(|f| (f.name.as_str(), f.skipped.is_some())).collect();
    let expected = [
        ("a", true),
        ("b", false),
        ("c", true),
        ("d", true),
        ("e", false),
        ("A::GlobalAlloc::alloc", true),
        ("S::f", true),
        ("g", true),
    ];
    assert_eq!(left, expected);
}

#[test]
fn what_macros_make_is_counted() {
    let text = "thing! { fn f() {} } impl S { make!(); } trait T { make!(); } macro_rules! thing { () => {} } #[derive(A, B)] struct S; \
        #[cfg_attr(all(x, feature = \"y\"), derive(A, b::B,), z, cfg_attr(w, derive(C)))] enum E {}";
    let invisible = parse(text).expect("it is Rust").functions.generated;
    assert_eq!((invisible.macros, invisible.derives), (3, 5));
}

/// Small programs.
fn program() -> impl Strategy<Value = String> {
    let body = prop_oneof![
        Just("{}"),
        Just("{ 1; }"),
        Just("{ g(|x| x, || { fn h() {} |y| |z| y })}"),
        Just("{\n    #![allow(unused)]\n    let ö = '{'; }"),
        Just("{ //! x\n}")
    ];
    let before = prop_oneof![Just(""), Just("async "), Just("unsafe ")];
    let function = (before, "[a-z]{1,3}", body)
        .prop_map(|(before, name, body)| format!("{before}fn {name}_() {body}"));
    let item = prop_oneof![
        function.clone(),
        proptest::collection::vec(function.clone(), 0..3)
            .prop_map(|f| format!("impl<'a> Sé<'a> {{ {} }}", f.join(" "))),
        proptest::collection::vec(function.clone(), 0..3)
            .prop_map(|f| format!("mod m {{\r\n{}\r\n}}", f.join("\n"))),
        function.prop_map(|f| format!("/* {{ */ pub(crate) {f}")),
    ];
    proptest::collection::vec(item, 0..6).prop_map(|items| items.join("\n"))
}

proptest! {
    #[test]
    fn without_the_insertions_the_text_is_what_it_was(
        text in program(), is_deep: bool, chosen in proptest::collection::vec(any::<bool>(), 96)
    ) {
        let functions = parse(&text).expect("it is Rust").functions.all;
        let hooks: Vec<Hook<'_>> =
            hooks(&functions, is_deep).into_iter().zip(&chosen).filter(|(_, chosen)| **chosen).map(|(hook, _)| hook).collect();
        let woven = weave(&text, hooks.iter().cloned());
        prop_assert_eq!(woven.lines().count(), text.lines().count());
        prop_assert!(parse(&woven).is_ok(), "{}", woven);
        let mut back = String::new();
        let mut rest = woven.as_str();
        for (at, inserted) in insertions(hooks) {
            let kept = at - back.len();
            back.push_str(&rest[..kept]);
            rest = rest[kept..].strip_prefix(inserted.as_str()).expect("it stands there");
        }
        prop_assert_eq!(back + rest, text);
    }
}

//! Hooks in a text: what is inserted, and where.
//!
//! A hook stands directly after the brace that opens a body, on the same line. So every line keeps its number, and every
//! column but those behind that brace on its own line; rustfmt ends a line there unless the whole function is on it.

use crate::source::functions::Function;

/// What woven code calls the crate that has the hooks.
pub const EXTERN_CRATE: &str = "__metaspy";

/// What is inserted into a function.
pub fn insertion(function: &Function) -> String {
    let Function { name, lines: (first, last), is_async, .. } = function;
    let told = if *is_async { "began" } else { "hook" };
    format!("{EXTERN_CRATE}::{told}!({name:?},{first},{last});")
}

/// The text with a hook in each of these functions, which must be those of this text.
pub fn weave<'f>(text: &str, functions: impl IntoIterator<Item = &'f Function>) -> String {
    let mut functions: Vec<&Function> = functions.into_iter().collect();
    functions.sort_by_key(|function| function.insert_at);
    let mut woven = String::with_capacity(text.len() + functions.len() * 48);
    let mut done = 0;
    for function in functions {
        woven.push_str(&text[done..function.insert_at]);
        woven.push_str(&insertion(function));
        done = function.insert_at;
    }
    woven.push_str(&text[done..]);
    woven
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::source::parse;

    /// Weaves everything that can be, and shows hooks as `@name@`.
    fn check(text: &str, woven: &str) {
        let parsed = parse(text).expect("it is Rust");
        let chosen: Vec<&Function> = parsed.functions.all.iter().filter(|f| f.skipped.is_none()).collect();
        let mut shown = weave(text, chosen.iter().copied());
        for function in chosen {
            shown = shown.replace(&insertion(function), &format!("@{}@", function.name));
        }
        assert_eq!(shown, woven);
        parse(&weave(text, &parsed.functions.all)).expect("what was woven is Rust");
    }

    #[test]
    fn a_hook_stands_after_the_brace_on_the_same_line() {
        check("fn f() {\n    1;\n}\n", "fn f() {@f@\n    1;\n}\n");
        check("fn f<T>() where T: X\n{}", "fn f<T>() where T: X\n{@f@}");
    }

    #[test]
    fn a_hook_stands_after_inner_attributes() {
        check("fn f() {\n #![allow(x)] #![deny(y)]\n g() }", "fn f() {\n #![allow(x)] #![deny(y)]@f@\n g() }");
        check("fn f() {\n //! Says what.\n g() }", "fn f() {\n //! Says what.\n @f@g() }");
        check("fn f() {\n /*! Says what. */ }", "fn f() {\n /*! Says what. */@f@ }");
        check("fn f() {\n //! Nothing follows.\n}", "fn f() {\n //! Nothing follows.\n@f@}");
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

    #[test]
    fn what_cannot_be_woven_is_left_and_said() {
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
        let text = "thing! { fn f() {} } impl S { make!(); } trait T { make!(); } macro_rules! thing { () => {} } #[derive(A, B)] struct S;";
        let invisible = parse(text).expect("it is Rust").functions.invisible;
        assert_eq!((invisible.macros, invisible.derives), (3, 2));
    }

    /// Small programs.
    fn program() -> impl Strategy<Value = String> {
        let body = prop_oneof![
            Just("{}"),
            Just("{ 1; }"),
            Just("{\n    #![allow(unused)]\n    let ö = '{'; }"),
            Just("{ //! x\n}")
        ];
        let function = ("[a-z]{1,3}", body).prop_map(|(name, body)| format!("fn {name}_() {body}"));
        let item = prop_oneof![
            function.clone(),
            proptest::collection::vec(function.clone(), 0..3)
                .prop_map(|f| format!("impl<'a> Sé<'a> {{ {} }}", f.join(" "))),
            proptest::collection::vec(function.clone(), 0..3)
                .prop_map(|f| format!("mod m {{\r\n{}\r\n}}", f.join("\n"))),
            function.prop_map(|f| format!("/* {{ */ pub(crate) unsafe {f}")),
        ];
        proptest::collection::vec(item, 0..6).prop_map(|items| items.join("\n"))
    }

    proptest! {
        #[test]
        fn without_the_insertions_the_text_is_what_it_was(text in program(), chosen in proptest::collection::vec(any::<bool>(), 24)) {
            let functions = parse(&text).expect("it is Rust").functions.all;
            let chosen: Vec<&Function> = functions.iter().zip(&chosen).filter(|(_, chosen)| **chosen).map(|(f, _)| f).collect();
            let woven = weave(&text, chosen.iter().copied());
            prop_assert_eq!(woven.lines().count(), text.lines().count());
            let mut back = woven;
            for function in &chosen {
                back = back.replacen(&insertion(function), "", 1);
            }
            prop_assert_eq!(back, text);
        }
    }
}

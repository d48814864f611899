//! What `#[observe]` takes, and what it says about the rest.
#![cfg(feature = "record")]

#[test]
fn what_compiles_and_what_is_refused() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/ui/ok/*.rs");
    cases.compile_fail("tests/ui/err/*.rs");
}

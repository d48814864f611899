//! What `#[observe]` accepts, and the errors for the rest.

#[test]
fn observe_accepts_and_refuses() {
    let cases = trybuild::TestCases::new();
    cases.pass("ok/*.rs");
    cases.compile_fail("err/*.rs");
}

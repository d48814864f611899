//! A process that takes its other tests with it.

#[test]
#[ignore = "it is asked for by name"]
fn dies() {
    assert!(suite::is_list("7,8,9"));
    std::process::abort();
}

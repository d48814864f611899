//! A process that takes its other tests with it.

#[test]
#[ignore = "runs by name only"]
fn dies() {
    assert!(suite::is_list("7,8,9"));
    std::process::abort();
}

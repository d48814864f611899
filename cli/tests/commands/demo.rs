//! `metaspy demo --record`: its messages when its budget is spent.

use crate::{ended, fixture, text};

#[test]
fn a_demo_that_spends_its_budget_is_marked_everywhere() {
    let path = fixture::directory().join("spent.spy");
    let arguments = ["--policy", "grow", "--budget", "1MiB", "--events", "100k"];
    let (code, out, error) = ended(&[&["demo", "--record", text(&path)], &arguments[..]].concat());
    assert_eq!(code, 0, "{out}{error}");
    assert!(error.contains("metaspy: the budget was spent: "), "{error}");
    for out in [out, ended(&["report", text(&path)]).1, ended(&["verify", text(&path)]).1] {
        assert!(out.contains("note: The budget of 1 MiB is spent"), "{out}");
    }
}

//! The JSON of a program: whether its times are with the hooks.

use metaspy_reader::HookCost;
use metaspy_report::coverage::Run;
use metaspy_report::export::{Exporter, Json};
use serde_json::{Value, json};

#[test]
fn the_cost_of_hooks_is_stated_and_is_in_the_times() {
    let cost_of = |hook_cost| {
        let mut run = Run::default();
        run.program.hook_cost = hook_cost;
        let mut out = Vec::new();
        Json::default().export(&run, &mut out).expect("memory takes all");
        let mut program: Value = serde_json::from_slice(&out).expect("it is JSON");
        program["hook_cost"].take()
    };
    let stated = json!({
        "within_ns": 20.0, "whole_ns": 45.0, "returned_ns": 6.5, "from": "recording", "is_subtracted": false,
    });
    assert_eq!(
        cost_of(Some(HookCost { within_ns: 20.0, whole_ns: 45.0, returned_ns: 6.5 })),
        stated
    );
    assert_eq!(cost_of(None), Value::Null);
}

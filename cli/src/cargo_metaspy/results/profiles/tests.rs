//! Profiles of several processes, added up.

use serde_json::{Value, json};

use super::*;
use crate::cargo_metaspy::results::profile_data;

fn written(profile: &str, methods: Value) -> Written {
    let Value::Array(methods) = methods else { panic!("it is a list") };
    let methods = methods.into_iter().map(|method| match method {
        Value::Object(method) => method,
        _ => panic!("it is an object"),
    });
    Written {
        profile: profile.into(),
        program: "program".into(),
        pid: 7,
        report: String::new(),
        methods: methods.collect(),
    }
}

fn method(path: &str, more: Value) -> Value {
    let mut of = json!({ "path": path, "file": "src/lib.rs", "line": 1 });
    of.as_object_mut().expect("it is one").extend(more.as_object().expect("it is one").clone());
    of
}

fn name(path: &str) -> Name {
    Name { path: path.into(), file: "src/lib.rs".into(), line: 1 }
}

#[test]
fn coverage_of_processes_adds_up() {
    let of = |executions: u64, receivers: Value, exact: bool, returns: Value, tests: &[&str]| {
        let more = json!({ "executions": executions, "receivers": receivers, "receivers_exact": exact, "calls": 2,
            "returns": returns, "tests": tests });
        written(spies::COVERAGE, json!([method("a::f", more)]))
    };
    let mut profiles = Profiles::default();
    profiles.add(of(3, json!(2), true, json!("constant"), &["t::one"]));
    profiles.add(of(4, Value::Null, true, Value::Null, &[]));
    let told = profiles.told[&name("a::f")].clone();
    assert_eq!((told.executions(), told.receivers, told.has_more_receivers), (7, Some(2), false));
    assert_eq!((told.returns, told.calls), (Some(Returned::Constant), 4));
    profiles.add(of(1, json!(100), false, json!("varies"), &["t::two", "t::one"]));
    let told = &profiles.told[&name("a::f")];
    assert_eq!((told.receivers, told.has_more_receivers, told.returns), (Some(102), true, Some(Returned::Varies)));
    assert_eq!(told.tests.iter().map(String::as_str).collect::<Vec<_>>(), ["t::one", "t::two"]);
}

#[test]
fn what_says_more_of_what_is_returned_counts() {
    let words = ["unit", "self", "constant", "not-comparable", "varies"];
    let ranked: Vec<Option<Returned>> = words.into_iter().map(Returned::of).collect();
    assert!(ranked.is_sorted() && ranked[0] > None, "{ranked:?}");
    assert_eq!(ranked.iter().flatten().map(|returned| returned.word()).collect::<Vec<_>>(), words);
}

#[test]
fn callers_are_places_in_their_own_profile() {
    let of = |executions: u64, callers: Value| json!({ "executions": executions, "total_ns": 10, "self_ns": 5, "callers": callers });
    let mut profiles = Profiles::default();
    let outside = json!([{ "place": null, "count": 1, "total_ns": 10 }]);
    let from_main = |place: u64| json!([{ "place": place, "count": 2, "total_ns": 6 }]);
    profiles.add(written(
        spies::CALLS,
        json!([method("a::main", of(1, outside.clone())), method("a::f", of(2, from_main(0)))]),
    ));
    profiles
        .add(written(spies::CALLS, json!([method("a::f", of(2, from_main(1))), method("a::main", of(1, outside))])));
    let f = &profiles.told[&name("a::f")];
    assert_eq!((f.executions(), f.total_ns, f.self_ns), (4, Some(20), Some(10)));
    assert_eq!(f.callers[&Some(name("a::main"))], Edge { count: 4, total_ns: 12 });
    assert_eq!(profiles.told[&name("a::main")].callers[&None], Edge { count: 2, total_ns: 20 });
    let callees = profile_data::turned_round(&profiles.told);
    assert_eq!(callees[&name("a::main")][&name("a::f")].count, 4);
}

#[test]
fn a_profiler_of_others_says_what_it_likes() {
    let mut profiles = Profiles::default();
    profiles.add(written("mine", json!([method("a::f", json!({ "hot": 1 })), json!({ "path": "a::g" })])));
    profiles.add(Written {
        report: "All is well.".into(),
        ..written("mine", json!([method("a::f", json!({ "hot": 2 }))]))
    });
    assert_eq!(Value::Object(profiles.told[&name("a::f")].others["mine"].clone()), json!({ "hot": 3 }));
    assert_eq!((profiles.told.len(), profiles.reports[0].text.as_str()), (1, "All is well."));
}

#[test]
fn a_process_without_a_profile_is_said() {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
    let check = |told: &[(&str, &[&str])], expected: &[&str]| {
        let told = told.iter().map(|(name, processes)| ((*name).to_owned(), set(processes))).collect();
        let mut profiles = Profiles::default();
        profiles.judge(&set(&["p-1-1", "p-2-2"]), &told, &Spies::named(&["coverage", "mine"]));
        assert_eq!(profiles.doubts.len(), expected.len(), "{:?}", profiles.doubts);
        for (doubt, part) in profiles.doubts.iter().zip(expected) {
            assert!(doubt.contains(part), "{doubt}");
        }
    };
    check(&[("coverage", &["p-1-1", "p-2-2"]), ("mine", &["p-1-1", "p-2-2"])], &[]);
    check(&[("coverage", &["p-1-1", "p-2-2"])], &["no program has a profiler `mine`"]);
    check(&[("coverage", &["p-1-1"]), ("mine", &["p-1-1", "p-2-2"])], &["1 of 2 processes"]);
    check(&[], &["`coverage`", "`mine`"]);
}

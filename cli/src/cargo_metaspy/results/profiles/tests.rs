//! Profiles of several processes, merged.

use metaspy_core::store::Measure;
use metaspy_weave::wrapper::Method;
use serde_json::{Value, json};

use super::*;
use crate::cargo_metaspy::results::site;

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

fn identity(path: &str) -> Identity {
    Identity::new(path, "src/lib.rs", 1)
}

#[test]
fn coverage_of_processes_adds_up() {
    let of = |receivers: Value, exact: bool, returns: Value, tests: &[&str]| {
        let more =
            json!({ "receivers": receivers, "receivers_exact": exact, "calls": 2, "returns": returns, "tests": tests });
        written(spies::COVERAGE, json!([method("a::f", more)]))
    };
    let mut profiles = Profiles::default();
    profiles.add(of(json!(2), true, json!("constant"), &["t::one"]));
    profiles.add(of(Value::Null, true, Value::Null, &[]));
    let f = profiles.methods[&identity("a::f")].clone();
    assert_eq!(f.receivers, Some(Receivers { count: 2, is_least: false }));
    assert_eq!((f.returns, f.calls), (Some(Returned::Constant), 4));
    profiles.add(of(json!(100), false, json!("varies"), &["t::two", "t::one"]));
    let f = &profiles.methods[&identity("a::f")];
    assert_eq!(f.receivers, Some(Receivers { count: 102, is_least: true }));
    assert_eq!(f.returns, Some(Returned::Varies));
    assert_eq!(f.tests.iter().map(String::as_str).collect::<Vec<_>>(), ["t::one", "t::two"]);
}

#[test]
fn the_returned_values_of_two_processes_merge_to_the_greater_one() {
    let words = ["unit", "self", "constant", "not-comparable", "varies"];
    let ranked: Vec<Option<Returned>> = words.into_iter().map(Returned::from_word).collect();
    assert!(ranked.is_sorted() && ranked[0] > None, "{ranked:?}");
    assert_eq!(ranked.iter().flatten().map(|returned| returned.word()).collect::<Vec<_>>(), words);
}

#[test]
fn callers_are_places_in_their_own_profile() {
    let of = |callers: Value| json!({ "total_ns": 10, "self_ns": 5, "callers": callers });
    let mut profiles = Profiles::default();
    let outside = json!([{ "place": null, "count": 1, "total_ns": 10 }]);
    let from_main = |place: u64| json!([{ "place": place, "count": 2, "total_ns": 6 }]);
    let (main, f) = (method("a::main", of(outside)), |place| method("a::f", of(from_main(place))));
    profiles.add(written(spies::CALLS, json!([main.clone(), f(0)])));
    profiles.add(written(spies::CALLS, json!([f(1), main])));
    let profile = &profiles.methods[&identity("a::f")];
    assert_eq!((profile.total_ns, profile.self_ns), (Some(20), Some(10)));

    let mut builder = Builder::new();
    for (number, path) in [(1, "a::main"), (2, "a::f")] {
        let method =
            Method { path: path.into(), file: "src/lib.rs".into(), line: 1, module: "a".into(), ..Method::default() };
        builder.add_site(&site(number, &method), &Measure::default());
    }
    profiles.add_calls_to(&mut builder);
    let main = builder.profile(&identity("a::main")).expect("it is there").clone();
    assert_eq!(main.callers, [(None, Edge { count: 2, total_ns: 20 })]);
    assert_eq!(main.callees, [("a::f".to_owned(), Edge { count: 4, total_ns: 12 })]);
    let f = builder.profile(&identity("a::f")).expect("it is there");
    assert_eq!(f.callers, [(Some("a::main".to_owned()), Edge { count: 4, total_ns: 12 })]);
}

#[test]
fn the_columns_of_a_profiler_of_the_users_own_are_kept() {
    let mut profiles = Profiles::default();
    profiles.add(written("mine", json!([method("a::f", json!({ "hot": 1 })), json!({ "path": "a::g" })])));
    profiles.add(Written {
        report: "All is well.".into(),
        ..written("mine", json!([method("a::f", json!({ "hot": 2 }))]))
    });
    assert_eq!(Value::Object(profiles.methods[&identity("a::f")].columns["mine"].clone()), json!({ "hot": 3 }));
    assert_eq!((profiles.methods.len(), profiles.reports[0].text.as_str()), (1, "All is well."));
}

#[test]
fn a_process_without_a_profile_is_reported() {
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

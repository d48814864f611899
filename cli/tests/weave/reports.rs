//! The report of a run: coverage, calls, and the files of other tools.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::common::schemas::assert_valid;
use crate::common::{Did, Package, manifest, three};

/// A library with tests. Cargo takes back what was built of a package by the names of its crates,
/// so these are its own.
fn tested(name: &str) -> Package {
    Package::new(
        name,
        &[
            ("Cargo.toml", &manifest(name, "2024", "")),
            (
                "src/lib.rs",
                "pub trait Area: std::fmt::Debug {\n    fn area(&self) -> u32;\n}\n#[derive(Debug, PartialEq, Clone)]\n\
                 pub struct Shape(pub u32);\nimpl Area for Shape {\n    fn area(&self) -> u32 {\n        self.side() * side_of(self)\n    }\n}\n\
                 impl Shape {\n    fn side(&self) -> u32 {\n        self.0\n    }\n    pub fn itself(&self) -> &Self {\n        self\n    }\n    \
                 pub fn never(&self) {}\n}\nfn side_of(shape: &Shape) -> u32 {\n    shape.side()\n}\npub struct Absent;\nimpl Absent {\n    pub fn one(&self) {}\n}\n\
                 pub mod inner {\n    pub fn deep() {}\n}\n\n#[test]\nfn areas() {\n    let (a, b) = (Shape(1), Shape(2));\n    \
                 assert_eq!(a.area() + b.area() + b.itself().area(), 9);\n}\n#[test]\nfn depths() {\n    inner::deep();\n}\n",
            ),
            (
                &format!("tests/{name}_more.rs"),
                &format!(
                    "use {name}::*;\n#[test]\nfn more() {{\n    assert_eq!(Shape(3).area(), 9);\n}}\n"
                ),
            ),
        ],
    )
}

#[test]
fn receivers_that_only_an_address_identifies_are_not_counted() {
    let main = "struct Drop(u32);\nimpl Drop {\n    fn fall(&self) -> u32 {\n        self.0\n    }\n}\nstruct Marker;\n\
                struct Walker(u32);\nimpl Walker {\n    fn step(&self) {}\n}\n\
                impl Marker {\n    fn size(&self) {}\n}\nfn main() {\n    let walker = Walker(1);\n    walker.step();\n    \
                let walker = Box::new(walker);\n    walker.step();\n    let walker = vec![*walker];\n    walker[0].step();\n    for at in 0..10_000 {\n        Drop(at).fall();\n        Marker.size();\n    }\n}\n";
    let package = Package::new(
        "rain",
        &[("Cargo.toml", &manifest("rain", "2024", "")), ("src/main.rs", main)],
    );
    let did = package.metaspy(&["run", "--profile", "coverage", "--weave", "rain::**"]);
    let fall = method(&did, "rain::Drop::fall");
    assert_eq!((&fall["executions"], &fall["receivers"]), (&json!(10_000), &Value::Null), "{fall}");
    let line = did
        .stderr
        .lines()
        .chain(did.stdout.lines())
        .find(|line| line.ends_with("rain::Drop::fall"));
    assert!(line.is_some_and(|line| line.contains("n/a")), "{}{}", did.stderr, did.stdout);
    // One object that moves, with a hook at each of its places.
    let walk = method(&did, "rain::Walker::step");
    assert_eq!((&walk["executions"], &walk["receivers"]), (&json!(3), &Value::Null), "{walk}");
    assert!(walk["places"].as_u64().is_some_and(|places| (2..=3).contains(&places)), "{walk}");
    // A type without a size has no address of its own.
    assert_eq!(method(&did, "rain::Marker::size")["receivers"], Value::Null);
}

#[test]
fn an_object_behind_counted_pointers_is_one_object_whichever_pointer_a_method_takes() {
    let receivers = [
        ("by_ref", "&self"),
        ("by_rc", "self: Rc<Self>"),
        ("by_arc", "self: Arc<Self>"),
        ("by_ref_of_rc", "self: &Rc<Self>"),
        ("by_ref_of_arc", "self: &Arc<Self>"),
        ("by_pin", "self: Pin<Rc<Self>>"),
    ];
    let methods = receivers.map(|(name, receiver)| {
        format!("    fn {name}({receiver}) -> u32 {{\n        self.0\n    }}\n")
    });
    let main = format!(
        "use std::{{pin::Pin, rc::Rc, sync::Arc}};\nstruct Node(u32);\nimpl Node {{\n{}}}\nfn main() {{\n    \
         let (rc, arc) = ([Rc::new(Node(1)), Rc::new(Node(2))], [Arc::new(Node(3)), Arc::new(Node(4))]);\n    \
         for at in [0, 0, 1] {{\n        // Pointers at several places, to one object each.\n        \
         let (one, other) = (rc[at].clone(), Box::new(rc[at].clone()));\n        \
         one.by_ref() + one.by_ref_of_rc() + other.by_ref_of_rc() + Pin::new(one.clone()).by_pin() + one.by_rc();\n        \
         let (one, other) = (arc[at].clone(), Box::new(arc[at].clone()));\n        \
         one.by_ref() + one.by_ref_of_arc() + other.by_ref_of_arc() + one.by_arc();\n    }}\n}}\n",
        methods.concat()
    );
    let package = Package::new(
        "pointers",
        &[("Cargo.toml", &manifest("pointers", "2024", "")), ("src/main.rs", &main)],
    );
    let did =
        package.metaspy_in(&["run", "--profile", "coverage"], &[("METASPY_MODE", "full".as_ref())]);
    for (name, _) in receivers {
        let places = if name == "by_ref" { 4 } else { 2 };
        assert_eq!(
            method(&did, &format!("pointers::Node::{name}"))["places"],
            places,
            "{name}: {}",
            did.stdout
        );
    }
    let mut report = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let report = report
        .arg("report")
        .arg(package.runs().join("1"))
        .args(["--by", "subject", "--json"])
        .output();
    let report: Value =
        serde_json::from_slice(&report.expect("it runs").stdout).expect("it is JSON");
    let rows = report["rows"].as_array().expect("there are rows").iter();
    let mut counts: Vec<u64> = rows
        .filter(|row| row["kind"] == "pointers::Node")
        .filter_map(|row| row["count"].as_u64())
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, [4, 5, 8, 10], "{report}");
    let mut report = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let report = report
        .arg("report")
        .arg(package.runs().join("1"))
        .args(["--filter", "site:by_ref", "--json"])
        .output();
    let report: Value =
        serde_json::from_slice(&report.expect("it runs").stdout).expect("it is JSON");
    let counted = &report["rows"][0]["profiles"]["coverage"];
    assert_eq!((&counted["places"], &counted["receivers"]), (&json!(4), &Value::Null), "{report}");
}

fn method<'j>(did: &'j Did, path: &str) -> &'j Value {
    let methods = did.json["methods"].as_array().expect("there is a list");
    methods
        .iter()
        .find(|method| method["path"] == path)
        .unwrap_or_else(|| panic!("{path}: {}", did.json))
}

/// What tests a cache for the only candidate.
const COMMAND: &str =
    "covered::Shape::Area::area  test a cache with: cargo test -- --exact areas more";

#[test]
fn a_test_run_has_receivers_tests_and_returned_values() {
    let package = tested("covered");
    let did = package.metaspy(&["test", "--returns", "--tree"]);
    let area = method(&did, "covered::Shape::Area::area");
    let value = |key: &str| area[key].clone();
    // Two objects in one process, one in the other.
    assert_eq!(
        (value("executions"), value("receivers"), value("places")),
        (json!(4), Value::Null, json!(3)),
        "addresses are places: {area}"
    );
    assert_eq!(value("tests"), json!(["covered::areas", "covered_more::more"]));
    assert_eq!(
        (value("returns"), value("visibility"), value("receiver")),
        (json!("constant"), json!("pub"), json!("ref"))
    );
    assert_eq!(method(&did, "covered::Shape::itself")["returns"], "self");
    assert_eq!(method(&did, "covered::inner::deep")["returns"], "unit");
    assert_eq!(method(&did, "covered::side_of")["receivers"], Value::Null, "it is about no object");
    assert_eq!((&did.json["exact"], &did.json["doubts"]), (&json!(true), &json!([])));
    // Its tests ran, though no call is about one.
    let mut report = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let report =
        report.arg("report").arg(package.runs().join("1")).args(["--by", "subject"]).output();
    let report = String::from_utf8(report.expect("it runs").stdout).expect("it is text");
    assert!(report.contains("emitted") && !report.contains("never observed"), "{report}");

    let covered = did.json["packages"].as_array().expect("there is a tree");
    let covered = covered.iter().find(|package| package["path"] == "covered").expect("it is there");
    assert_eq!(covered["packages"][0]["types"][0]["methods"][0]["path"], "covered::inner::deep");
    let types = covered["types"].as_array().expect("it has some");
    let shape = types.iter().find(|ty| ty["name"] == "Shape").expect("it is there");
    assert_eq!((&shape["traits"], &shape["ratio"]["methods"]), (&json!(["Area"]), &json!(4)));
    assert_eq!((&shape["ratio"]["covered"], &shape["ratio"]["ratio"]), (&json!(3), &json!(0.75)));
    // Tests are no methods that they cover.
    let ratio = &covered["ratio"];
    assert_eq!(
        (&ratio["methods"], &ratio["covered"], &ratio["types"], &ratio["covered_types"]),
        (&json!(7), &json!(5), &json!(2), &json!(1))
    );
    assert_eq!(did.json["patterns"]["absent"][0]["type"], "covered::Absent");
    let constant = json!({ "package": "covered", "methods": ["covered::Shape::Area::area"], "not_comparable": 0, "of": 2 });
    assert_eq!(did.json["constant"][0], constant);

    for part in [
        "Shape: Area  (3 of 4 ran)",
        "covered: covered 5 of 7 methods",
        "absent: ",
        "always the same value",
        COMMAND,
    ] {
        assert!(did.stdout.contains(part), "{part}: {}", did.stdout);
    }
}

#[test]
fn without_a_profiler_its_columns_are_absent() {
    let package = tested("unasked");
    let did = package.metaspy(&["test", "--profile", "none"]);
    let area = method(&did, "unasked::Shape::Area::area");
    assert_eq!(
        (&area["executions"], &area["tests"], &area["total_ns"]),
        (&json!(4), &json!([]), &Value::Null)
    );
    let values = ["patterns", "constant", "exact"].map(|key| &did.json[key]);
    assert_eq!(values, [&Value::Null, &Value::Null, &json!(true)]);
    let built = package.metaspy(&["build"]);
    assert_eq!(
        (&built.json["ratio"], &method(&built, "unasked::Shape::side")["executions"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn calls_have_times_callers_and_callees() {
    let package = Package::new(
        "calling",
        &[
            ("Cargo.toml", &manifest("calling", "2024", "")),
            (
                "src/main.rs",
                "fn leaf() {}\nfn twice() {\n    leaf();\n    leaf();\n}\nfn down(n: u32) {\n    if n > 0 {\n        down(n - 1);\n    }\n}\n\
                 fn main() {\n    twice();\n    leaf();\n    down(3);\n}\n",
            ),
        ],
    );
    let did = package.metaspy(&["run", "--callers", "calling::leaf"]);
    let leaf = method(&did, "calling::leaf");
    let callers: Vec<_> = leaf["callers"]
        .as_array()
        .expect("it has some")
        .iter()
        .map(|it| (&it["path"], &it["count"]))
        .collect();
    assert_eq!(
        callers,
        [(&json!("calling::twice"), &json!(2)), (&json!("calling::main"), &json!(1))]
    );
    let main = method(&did, "calling::main");
    assert_eq!(main["callers"][0]["path"], Value::Null, "nothing with a hook calls it");
    let callees = main["callees"].as_array().expect("it has some");
    assert!(
        callees.iter().any(|callee| callee["path"] == "calling::down" && callee["count"] == 1),
        "{main}"
    );
    let down = method(&did, "calling::down");
    assert_eq!((&down["executions"], &down["callers"][0]["count"]), (&json!(4), &json!(3)));
    let total = |of: &Value| of["total_ns"].as_u64().expect("it was timed");
    assert!(
        total(main) >= total(down) && down["self_ns"].as_u64() <= Some(total(down)),
        "a recursion counts once"
    );
    assert!(
        did.stdout.contains("calling::leaf: 3 calls") && did.stdout.contains("from calling::twice"),
        "{}",
        did.stdout
    );
}

#[test]
fn a_process_that_aborts_is_counted_with_its_profiles() {
    let package = Package::new(
        "dying",
        &[
            ("Cargo.toml", &manifest("dying", "2024", "")),
            (
                "src/main.rs",
                "fn last() {}\nfn main() {\n    last();\n    std::process::abort();\n}\n",
            ),
        ],
    );
    let did = package.try_metaspy(&["run", "--profile", "coverage"]);
    assert_ne!(did.code, 0);
    assert_eq!(
        (did.calls("dying::last"), did.calls("dying::main")),
        (Some(1), Some(1)),
        "{}",
        did.stdout
    );
    assert_eq!((&did.json["exact"], &did.json["doubts"]), (&json!(true), &json!([])));
    assert!(did.stdout.contains("dying: covered 2 of 2 methods"), "{}", did.stdout);
}

#[test]
fn editors_and_services_read_what_ran() {
    let package = tested("exported");
    let (lcov, xml) = (package.dir.join("lcov.info"), package.dir.join("cobertura.xml"));
    let files = [lcov.to_str().expect("it is UTF-8"), xml.to_str().expect("it is UTF-8")];
    package.metaspy(&["test", "--lcov", files[0], "--cobertura", files[1]]);

    let lcov = fs::read_to_string(&lcov).expect("it was written");
    let records: Vec<&str> = lcov.split("end_of_record\n").collect();
    let lib =
        records.iter().find(|record| record.contains("SF:src/lib.rs\n")).expect("it is there");
    for line in [
        "FN:7,exported::Shape::Area::area",
        "FNDA:4,exported::Shape::Area::area",
        "DA:7,4",
        "FNDA:0,exported::Absent::one",
    ] {
        assert!(lib.lines().any(|it| it == line), "{line}: {lib}");
    }
    let count = |word: &str| lib.lines().filter(|line| line.starts_with(word)).count().to_string();
    assert!(
        lib.contains(&format!("FNF:{}\n", count("FN:")))
            && lib.contains(&format!("LF:{}\n", count("DA:"))),
        "{lib}"
    );

    let xml = fs::read_to_string(&xml).expect("it was written");
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(&xml, options).expect("it is XML");
    let class = document
        .descendants()
        .find(|node| node.attribute("name") == Some("exported::Shape"))
        .expect("it is there");
    assert_eq!(class.attribute("filename"), Some("src/lib.rs"));
    let area = class
        .descendants()
        .find(|node| node.attribute("name") == Some("Shape::Area::area"))
        .expect("it is there");
    let line = area.descendants().find(|node| node.has_tag_name("line")).expect("it has one");
    assert_eq!((line.attribute("number"), line.attribute("hits")), (Some("7"), Some("4")));

    let nothing = package.try_metaspy(&["build", "--lcov", files[0]]);
    assert!(
        nothing.code == 2 && nothing.stderr.contains("--lcov needs a recorded run"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn a_report_of_counted_calls_has_the_times_of_the_profiler_and_no_empty_column() {
    let package = three("reported");
    package.metaspy(&["run", "--timed"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let output = command.arg("report").arg(package.runs().join("1")).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let head =
        text.lines().find(|line| line.starts_with("site ")).unwrap_or_else(|| panic!("{text}"));
    assert!(head.contains(" self ") && head.ends_with(" total"), "{head}");
    // Calls that were only counted have no times of events, and the values by caller are the same
    // ones, divided.
    assert!(!head.contains("max") && !head.contains("callers"), "{head}");
}

#[test]
fn methods_of_several_implementations_of_one_trait_have_keys_of_their_own() {
    let main = "struct Slice(u8);\n\nimpl PartialEq<u8> for Slice {\n    fn eq(&self, other: &u8) -> bool {\n        \
                self.0 == *other\n    }\n}\n\nimpl<'a> PartialEq<&'a str> for Slice {\n    \
                fn eq(&self, other: &&'a str) -> bool {\n        self.0 as usize == other.len()\n    }\n}\n\n\
                trait Point<T> {\n    fn nth(&self, at: T) -> u8;\n}\nimpl Point<u8> for [Slice] {\n    \
                fn nth(&self, at: u8) -> u8 {\n        self[at as usize].0\n    }\n}\n\n\
                fn main() {\n    assert!(Slice(1) == 1 && Slice(2) == \"ab\" && Slice(3) == \"abc\");\n    \
                for at in [0, 1, 0] {\n        assert!([Slice(1), Slice(2)][..].nth(at) > 0);\n    }\n}\n";
    let package = Package::new(
        "keyed",
        &[("Cargo.toml", &manifest("keyed", "2024", "")), ("src/main.rs", main)],
    );
    let expected = [
        ("keyed::<[Slice] as Point<u8>>::nth", 3),
        ("keyed::Slice::PartialEq<&str>::eq", 2),
        ("keyed::Slice::PartialEq<u8>::eq", 1),
        ("keyed::main", 1),
    ];
    let did = package.metaspy(&["run"]);
    let methods = did.json["methods"].as_array().expect("there is a list");
    let found: Vec<_> =
        methods.iter().map(|it| (it["key"].as_str().unwrap(), it["executions"].as_u64())).collect();
    assert_eq!(found, expected.map(|(key, executions)| (key, Some(executions))));
    for name in ["keyed::<[Slice] as Point>::nth", "keyed::Slice::PartialEq<&str>::eq"] {
        assert!(did.stdout.contains(name), "{name}: {}", did.stdout);
    }
    // So have the rows of a report by site, and of a diff. A selector is written in segments, or as
    // the path is printed.
    let recording = package.runs().join("1");
    let rows = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
        let output = command
            .arg(arguments[0])
            .args(&arguments[1..])
            .arg("--json")
            .output()
            .expect("it runs");
        let json: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        assert_valid(&[&["metaspy"], arguments, &["--json"]].concat(), &json);
        json["rows"].as_array().expect("there are rows").clone()
    };
    let path = recording.to_str().expect("it is UTF-8");
    let mut by_site: Vec<_> = rows(&["report", path, "--by", "site"])
        .iter()
        .map(|row| (row["key"].as_str().unwrap_or_default().to_owned(), row["count"].as_u64()))
        .collect();
    by_site.sort();
    assert_eq!(by_site, expected.map(|(key, count)| (key.to_owned(), Some(count))));
    for site in ["[Slice]::Point::nth", "\"keyed::<[Slice] as Point>::nth\""] {
        let chosen = rows(&["report", path, "--by", "site", "--filter", &format!("site:{site}")]);
        assert_eq!(chosen.len(), 1, "{site}: {chosen:?}");
        assert_eq!(chosen[0]["key"], expected[0].0);
    }
    let mut compared: Vec<_> = rows(&["diff", path, path, "--by", "method"])
        .iter()
        .map(|row| {
            (row["key"].as_str().unwrap_or_default().to_owned(), row["count"]["after"].as_u64())
        })
        .collect();
    compared.sort();
    assert_eq!(compared, by_site);
    // What was woven has the same keys before it runs.
    let built = package.metaspy(&["build"]);
    let built = built.json["methods"].as_array().expect("there is a list");
    let keys: Vec<_> = built.iter().map(|it| it["key"].as_str().unwrap()).collect();
    assert_eq!(keys, expected.map(|(key, _)| key));
}

/// A program in which so many functions each call all of as many others.
fn crossed(name: &str, count: usize) -> Package {
    let mut main = String::from("use std::hint::black_box;\n");
    for at in 0..count {
        main += &format!(
            "fn c{at}(k: usize) -> usize {{\n    LEAVES.iter().map(|leaf| leaf(black_box(k))).sum()\n}}\n"
        );
        main += &format!("fn l{at}(k: usize) -> usize {{\n    k + {at}\n}}\n");
    }
    let names =
        |letter: &str| (0..count).map(|at| format!("{letter}{at}")).collect::<Vec<_>>().join(", ");
    main += &format!("static LEAVES: [fn(usize) -> usize; {count}] = [{}];\n", names("l"));
    main += &format!("static CALLERS: [fn(usize) -> usize; {count}] = [{}];\n", names("c"));
    main += "fn main() {\n    black_box(CALLERS.iter().map(|caller| caller(black_box(1))).sum::<usize>());\n}\n";
    Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/main.rs", &main)])
}

#[test]
fn callers_and_times_that_found_no_room_are_lower_bounds_in_each_form() {
    let count = 300;
    let package = crossed("crossed", count);
    let last = format!("crossed::l{}", count - 1);
    let did = package
        .metaspy_in(&["run", "--timed", "--callers", &last], &[("METASPY_BUDGET", "1MB".as_ref())]);
    let of_last = method(&did, &last);
    let callers = of_last["callers"].as_array().expect("a list");
    assert!(of_last["executions"] == count && callers.len() < count, "{of_last}");
    assert_eq!(of_last["callers_at_least"], true, "{of_last}");
    assert!(callers.iter().all(|caller| caller["at_least"] == true), "{of_last}");
    let text = did.stdout + &did.stderr;
    let is_marked =
        |line: &&str| line.contains("further functions, maybe") && line.contains("METASPY_BUDGET");
    assert!(text.lines().any(|line| is_marked(&line)), "{text}");
    let run = package.runs().join("1");
    let metaspy = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
        let output = command.args(arguments).arg(&run).output().expect("it runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let exported: Value =
        serde_json::from_str(&metaspy(&["export", "--to", "json"])).expect("it is JSON");
    assert_eq!(
        (&exported["exact"], &did.json["exact"]),
        (&json!(false), &json!(false)),
        "{}",
        exported["doubts"]
    );
    let doubts = exported["doubts"].to_string();
    assert!(
        doubts.contains("of `calls` found no room") && doubts.contains("METASPY_BUDGET"),
        "{doubts}"
    );
    let report = metaspy(&["report"]);
    assert!(report.contains("of `calls` found no room"), "{report}");
    let report: Value = serde_json::from_str(&metaspy(&["report", "--json"])).expect("it is JSON");
    assert!(report["lost_values"]["calls"].as_u64() > Some(0), "{}", report["lost_values"]);
    let picture = metaspy(&["blueprint", "behavioural", "--json"]);
    assert!(
        picture.contains("of `calls` found no room") && picture.contains("callers found no room"),
        "{picture}"
    );
}

#[test]
fn no_source_of_a_build_is_replaced() {
    let files = [
        (
            "Cargo.toml",
            &*manifest("kept", "2024", "[dependencies]\nkept_near = { path = \"near\" }"),
        ),
        (
            "near/Cargo.toml",
            "[package]\nname = \"kept_near\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
        ),
        ("near/src/lib.rs", "pub fn near() {}\n"),
        ("build.rs", "fn main() {}\n"),
        ("src/main.rs", "mod deep;\nfn main() {\n    kept_near::near();\n    deep::deep();\n}\n"),
        ("src/deep.rs", "pub fn deep() -> usize {\n    include_str!(\"../text.txt\").len()\n}\n"),
        ("text.txt", "text"),
    ];
    let package = Package::new("kept", &files);
    let _ = fs::remove_dir_all(package.target_dir());
    // Before the first build, only the build itself can name this file.
    let options = [
        "--lcov=src/deep.rs",
        "--lcov=src/main.rs",
        "--json=Cargo.toml",
        "--json=near/Cargo.toml",
        "--cobertura=near/src/lib.rs",
        "--blueprint=Cargo.lock",
        "--json=build.rs",
        "--lcov=text.txt",
        "--json=src/deep.rs",
    ];
    for option in options {
        let did = package.plain_metaspy(&["run", "--offline", option]);
        assert!(
            did.code == 2 && did.stderr.contains("it is an input of this command"),
            "{option}: {}",
            did.stderr
        );
    }
    for (file, text) in files {
        assert_eq!(
            fs::read_to_string(package.dir.join(file)).expect("it is there"),
            text,
            "{file}"
        );
    }
}

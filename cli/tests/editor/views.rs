//! What the editor shows of a recorded library.

use serde_json::json;

use crate::client::Client;
use crate::common::{Package, manifest};
use crate::shapes::{SOURCE, package, recorded};

#[test]
fn an_editor_shows_what_the_tests_ran() {
    let package = recorded("editor_views", &["--timed"]);
    let mut client = Client::open(&package, json!({}));
    let mut hover = |line: &str, part: &str| client.hover(&package, SOURCE, line, part);

    let square = hover("fn area(&self) -> u64 {", "area");
    assert!(square.starts_with("**metaspy**\n\n`cargo metaspy test"), "{square}");
    for part in ["`Square::Shape::area`: 7 calls", "in 1 test", "Called by", "Calls\n\n- 7 calls, "]
    {
        assert!(square.contains(part), "{part}: {square}");
    }
    let file = format!("(<file://{}/src/lib.rs#L31>)", package.dir.display());
    assert!(square.contains(&format!(": [`editor_views::total`]{file}")), "{square}");

    let called = hover("shape.area()", "area");
    assert!(called.contains("`total` called `area` 10 times:"), "{called}");
    assert!(called.contains("7 calls (70.0 %)") && called.contains("3 calls (30.0 %)"), "{called}");
    assert!(
        called.contains("Square::Shape::area`]") && called.contains("Circle::Shape::area`]"),
        "{called}"
    );

    assert!(hover("fn scale", "scale").ends_with("`Circle::scale`: never ran"));
    let circle = hover("struct Circle", "Circle");
    assert!(
        circle.ends_with("1 of 2 methods ran · 3 calls · receivers n/a (3 places)"),
        "{circle}"
    );
    // Nothing was recorded of these.
    for (line, part) in [
        ("fn area(&self) -> u64;", "area"),
        ("shapes.iter()", "sum"),
        ("a * b", "a"),
        ("shapes.iter()", "iter"),
        ("fn total(", "shapes: &[Box"),
        ("fn total(", "u64"),
    ] {
        assert_eq!(hover(line, part), "", "{line}");
    }

    let lenses = client.lenses(&package);
    let expected =
        [(10, "7 calls"), (16, "3 calls"), (22, "never ran"), (27, "13 calls"), (31, "1 call")];
    assert_eq!(lenses.len(), expected.len(), "{lenses:?}");
    for ((line, title), (expected_line, part)) in lenses.iter().zip(expected) {
        assert!(*line == expected_line && title.contains(part), "{lenses:?}");
    }

    let hints = client
        .await_note("textDocument/publishDiagnostics", |note| note["diagnostics"] != json!([]));
    // Findings have a code.
    let hints = hints["diagnostics"]
        .as_array()
        .expect("it is a list")
        .iter()
        .filter(|hint| hint["code"].is_null());
    let hints: Vec<_> = hints.collect();
    assert_eq!(
        (hints.len(), &hints[0]["range"]["start"]),
        (1, &json!({ "line": 21, "character": 11 }))
    );
    assert_eq!((&hints[0]["severity"], &hints[0]["tags"]), (&json!(4), &json!([1])));

    let symbols = client.about("textDocument/documentSymbol", &package);
    let names: Vec<_> = symbols
        .as_array()
        .expect("a list")
        .iter()
        .map(|symbol| symbol["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"Square::Shape::area") && names.contains(&"Circle"), "{names:?}");
}

#[test]
fn an_editor_shows_the_types_that_arrived() {
    let package = package("editor_types");
    let more = "pub fn twice(shape: &dyn Shape) -> Option<u64> {\n    shape.area().checked_mul(2)\n}\n\n\
                #[test]\nfn areas_double() {\n    assert_eq!(twice(&Square(2)), Some(8));\n    twice(&Circle(2_000_000_000));\n}\n";
    let source = &format!("{SOURCE}{more}");
    package.write("src/lib.rs", source);
    package.metaspy(&["test", "--types"]);
    let mut client = Client::start(&[&package], json!({}));
    client.open_file(&package, source);
    client.await_numbers(&package);
    let twice = client.hover(&package, source, "fn twice", "twice");
    assert!(
        twice.contains("- `shape: &dyn Shape` was `Circle` 50.0 %, `Square` 50.0 %"),
        "{twice}"
    );
    assert!(twice.contains("- `returned` was `None` 50.0 %, `Some` 50.0 %"), "{twice}");
    assert!(twice.contains(" · 1 none"), "the word of reports: {twice}");
    assert!(!client.hover(&package, source, "fn total", "total").contains("Types"));
    // In the header, on a parameter and on the returned type.
    let shape = client.hover(&package, source, "fn twice", "shape: &dyn Shape");
    let expected = "`shape: &dyn Shape` of `twice`: 2 values\n\n- 1 (50.0 %): `Circle`\n- 1 (50.0 %): `Square`";
    assert!(shape.ends_with(expected), "{shape}");
    let returned = client.hover(&package, source, "fn twice", "Option<u64>");
    let expected = "`returned` of `twice`: 2 values\n\n- 1 (50.0 %): `None`\n- 1 (50.0 %): `Some`";
    assert!(returned.ends_with(expected), "{returned}");
    let area = client.hover(&package, source, "fn area(&self) -> u64 {", "&self");
    assert!(
        area.ends_with("`self` of `Square::Shape::area`: 8 values\n\n- 8 (100.0 %): `Square`"),
        "{area}"
    );
    let called = client.hover(&package, source, "shape.area()", "area");
    for part in [
        "`total` called `area` 10 times:",
        "7 calls (70.0 %): [`editor_types::Square",
        "Receivers: `Square` 70.0 %, `Circle` 30.0 %",
    ] {
        assert!(called.contains(part), "{part}: {called}");
    }
    let hints = client.about("textDocument/inlayHint", &package);
    let hints = hints.as_array().expect("it is a list");
    let found: Vec<_> = hints
        .iter()
        .map(|hint| (hint["label"].as_str().unwrap_or_default(), &hint["position"]))
        .collect();
    let at = |line: u32, character: u32| json!({ "line": line, "character": character });
    let expected = [
        (": Square 70.0 %, Circle 30.0 %", &at(31, 40)),
        (": Circle 50.0 %, Square 50.0 %", &at(46, 30)),
        (": None 50.0 %, Some 50.0 %", &at(46, 46)),
        (": Circle 50.0 %, Square 50.0 %", &at(47, 14)),
    ];
    assert_eq!(found, expected);

    // Of the edited function nothing is shown beside the code.
    client.change_file(&package, &source.replace("shape.area()", "(shape).area()"));
    assert_eq!(client.about("textDocument/inlayHint", &package), json!([]));
    // Two calls of one name are counted together, and the hover states it.
    assert!(!called.contains("shared"), "{called}");
    let source = &source.replace("shape.area()", "shape.area() + shape.area()");
    client.change_file(&package, source);
    let both = client.hover(&package, source, "shape.area()", "area");
    assert!(
        both.contains("`total` called `area` 10 times, shared by 2 calls of this name:"),
        "{both}"
    );
}

#[test]
fn the_metric_takes_effect_at_once() {
    let package = recorded("editor_metric", &["--timed"]);
    let mut client = Client::open(&package, json!({ "lenses": false }));
    assert_eq!(client.lenses(&package), []);
    client.notify(
        "workspace/didChangeConfiguration",
        json!({ "settings": { "metaspy": { "metric": "total-time" } } }),
    );
    let (_, title) = client.lenses(&package).remove(0);
    assert!(title.contains("s · 7 calls"), "{title}");

    let execute = |client: &mut Client, command: &str, arguments| {
        client.try_request(
            "workspace/executeCommand",
            json!({ "command": command, "arguments": arguments }),
        )
    };
    execute(&mut client, "metaspy.metric", json!(["calls"])).expect("there is such a metric");
    assert_eq!(client.about("metaspy/heat", &package)["metric"], "calls");
    let heat = client.about("metaspy/heat", &package);
    let classes: Vec<_> = heat["functions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["value"], &it["class"]))
        .collect();
    let all = json!([[7.0, 3], [3.0, 2], [0.0, 0], [13.0, 3], [1.0, 1]]);
    let found = json!(classes.iter().map(|(value, class)| [value, class]).collect::<Vec<_>>());
    assert_eq!(found, all);
    let files = client.request("metaspy/files", json!({}));
    assert_eq!(files[0]["text"], "24 calls · 4 of 5 functions ran", "{files}");

    let error = execute(&mut client, "metaspy.metric", json!(["heat"]))
        .expect_err("there is no such metric");
    assert!(error.contains("calls, self-time"), "{error}");
    let error =
        client.try_request("textDocument/completion", json!({})).expect_err("it is not offered");
    assert!(error.contains("metaspy has no request"), "{error}");
}

#[test]
fn runs_are_added_up_picked_and_emptied() {
    let package = recorded("editor_runs", &[]);
    package.metaspy(&["test", "--lib"]);
    let mut client = Client::open(&package, json!({}));
    let first = |client: &mut Client| {
        client.lenses(&package).first().map(|(_, title)| title.clone()).unwrap_or_default()
    };
    assert!(first(&mut client).contains("7 calls"));
    let runs = client.request("metaspy/runs", json!({}));
    assert_eq!(
        (&runs["runs"][0]["id"], &runs["runs"][0]["picked"]),
        (&json!("2"), &json!(true)),
        "{runs}"
    );
    assert!(
        runs["runs"][0]["label"]
            .as_str()
            .is_some_and(|label| label.starts_with("cargo metaspy test")),
        "{runs}"
    );

    let pick = |client: &mut Client, command: &str, arguments, expected: &str| {
        client.request(
            "workspace/executeCommand",
            json!({ "command": command, "arguments": arguments }),
        );
        while !first(client).contains(expected) || expected.is_empty() && !first(client).is_empty()
        {
            client.await_note("metaspy/changed", |_| true);
        }
    };
    pick(&mut client, "metaspy.pick", json!(["all"]), "14 calls");
    pick(&mut client, "metaspy.pick", json!(["1"]), "7 calls");
    for unknown in [json!(["99"]), json!(["1", "99"]), json!([]), json!([3])] {
        let line = json!({ "command": "metaspy.pick", "arguments": unknown });
        let error =
            client.try_request("workspace/executeCommand", line).expect_err("there is no such run");
        assert!(error.ends_with("names of runs: 2, 1"), "{error}");
    }
    assert!(first(&mut client).contains("7 calls"), "they are still shown");
    pick(&mut client, "metaspy.empty", json!([]), "");
    assert!(!package.runs().join("1").exists());
}

#[test]
fn two_workspaces_have_their_own_numbers() {
    let one = recorded("editor_one", &[]);
    // A package of the same name in another place, whose tests do not run.
    let other = package("editor_other/inner");
    let mut client = Client::start(&[&one, &other], json!({}));
    client.open_file(&one, SOURCE);
    client.open_file(&other, SOURCE);
    client.await_numbers(&one);
    assert_eq!(client.lenses(&one).len(), 5);
    assert_eq!(client.lenses(&other), []);
}

#[test]
fn a_file_has_the_numbers_of_its_own_workspace() {
    let own = recorded("editor_own", &[]);
    let manifest = manifest(
        "editor_dependent",
        "2024",
        "[dependencies]\neditor_own = { path = \"../editor_own\" }",
    );
    let test =
        "#[test]\nfn one() {\n    editor_own::total(&[Box::new(editor_own::Circle(1))]);\n}\n";
    let other = Package::new(
        "editor_dependent",
        &[("Cargo.toml", manifest.as_str()), ("src/lib.rs", test)],
    );
    other.metaspy(&["test", "--lib", "--weave", "lines>=1"]);

    let titles = |packages: &[&Package]| {
        // All of them are built in the directory of the first one, unless a setting names others.
        let targets: Vec<_> =
            packages.iter().skip(1).map(|package| package.target_dir().join("metaspy")).collect();
        let mut client = Client::start(packages, json!({ "targets": targets }));
        client.open_file(&own, SOURCE);
        client.await_numbers(&own);
        client.await_runs(packages.len());
        client.lenses(&own).into_iter().map(|(_, title)| title).collect::<Vec<_>>()
    };
    assert!(titles(&[&other])[1].contains("1 call"));
    assert!(titles(&[&other, &own])[1].contains("3 calls"));
}

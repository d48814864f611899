//! Files and the modules that they are, however a source names them.

use crate::common::{Did, Package, manifest};

/// What a program prints plain and woven is the same, up to what the command prints.
fn check(package: &Package, calls: &[(&str, Option<u64>)]) -> Did {
    let plain = package.cargo(&["run", "--offline", "--quiet"]);
    assert_eq!(plain.code, 0, "{}", plain.stderr);
    let did = package.metaspy(&["run"]);
    assert!(did.stdout.starts_with(&plain.stdout), "{}\n{}", plain.stdout, did.stdout);
    for (path, expected) in calls {
        assert_eq!(did.calls(path), *expected, "{path}: {}", did.json);
    }
    did
}

#[test]
fn files_that_are_reached_by_dots_are_woven_and_counted() {
    let here = "pub fn here() {\n    println!(\"{}\", file!());\n}\n";
    let package = Package::new(
        "dotted",
        &[
            ("Cargo.toml", &manifest("dotted", "2024", "")),
            (
                "src/main.rs",
                "#[path = \"../shared/out.rs\"]\nmod out;\n#[path = \"./dot.rs\"]\nmod dot;\n#[path = \"data/../back.rs\"]\nmod back;\n\
                 mod sub;\nmod given {\n    include!(\"../shared/given.rs\");\n}\nfn main() {\n    out::here();\n    dot::here();\n    back::here();\n    \
                 sub::up::here();\n    given::here();\n    sub::up::refused::not();\n}\n",
            ),
            ("src/data/text.txt", "Nobody reads it.\n"),
            ("src/sub/mod.rs", "#[path = \"../up.rs\"]\npub mod up;\n"),
            ("src/up.rs", &format!("{here}#[path = \"../shared/refused.rs\"]\npub mod refused;\n")),
            ("src/dot.rs", here),
            ("src/back.rs", here),
            ("shared/out.rs", here),
            ("shared/given.rs", here),
            ("shared/refused.rs", "mod __metaspy {}\npub fn not() {\n}\n"),
        ],
    );
    let counted = ["main", "out::here", "dot::here", "back::here", "sub::up::here", "given::here"];
    let counted: Vec<String> = counted.iter().map(|path| format!("dotted::{path}")).collect();
    let calls: Vec<(&str, Option<u64>)> =
        counted.iter().map(|path| (path.as_str(), Some(1))).collect();
    let did = check(&package, &calls);
    assert!(did.stdout.starts_with("src/../shared/out.rs\n"), "{}", did.stdout);
    let refused = did.reason("dotted::sub::up::refused::not");
    assert!(refused.is_some_and(|reason| reason.contains("refuses")), "{}", did.json);
    assert_eq!(
        did.json["skipped"].as_array().map(Vec::len),
        Some(1),
        "a hook that is sound is not blamed"
    );
}

#[test]
fn a_crate_whose_root_is_outside_of_its_package_is_counted() {
    let here = "pub fn here() {\n    println!(\"{}\", file!());\n}\n";
    let package = Package::new(
        "outside",
        &[
            (
                "package/Cargo.toml",
                &manifest("outside", "2021", "[lib]\npath = \"../library/lib.rs\"\n"),
            ),
            (
                "package/src/main.rs",
                "#[path = \"../../library/beside.rs\"]\nmod beside;\nfn main() {\n    outside::here();\n    outside::beside::here();\n    beside::here();\n}\n",
            ),
            ("library/lib.rs", &format!("pub mod beside;\n{here}")),
            ("library/beside.rs", here),
        ],
    );
    let package = Package { dir: package.dir.join("package") };
    let did = check(&package, &[("outside::main", Some(1)), ("outside::here", Some(1))]);
    let methods = did.json["methods"].as_array().expect("there is a list");
    let beside = methods.iter().filter(|method| method["path"] == "outside::beside::here");
    let beside = beside.map(|method| method["executions"].as_u64()).collect::<Vec<_>>();
    // The library's and the program's have one path and one place.
    assert_eq!(beside, [Some(2)], "{}", did.json);
}

#[test]
fn a_file_that_is_several_modules_is_counted_in_each() {
    let package = Package::new(
        "several",
        &[
            ("Cargo.toml", &manifest("several", "2021", "")),
            (
                "src/main.rs",
                "#[cfg(any())]\n#[path = \"imp.rs\"]\nmod never;\n#[cfg(not(any()))]\n#[path = \"imp.rs\"]\nmod always;\n\
                 mod a {\n    include!(\"twice.rs\");\n}\nmod b {\n    include!(\"twice.rs\");\n}\n#[path = \"other.rs\"]\nmod named;\n#[path = \"named.rs\"]\nmod other;\n\
                 fn main() {\n    always::call();\n    always::below::call();\n    a::call();\n    b::call();\n    b::call();\n    named::other();\n    other::named();\n}\n",
            ),
            ("src/imp.rs", "pub mod below;\npub fn call() {}\n"),
            ("src/below.rs", "pub fn call() {}\n"),
            ("src/twice.rs", "pub fn call() {}\n"),
            ("src/named.rs", "pub fn named() {}\n"),
            ("src/other.rs", "pub fn other() {}\n"),
        ],
    );
    check(
        &package,
        &[
            ("several::always::call", Some(1)),
            ("several::always::below::call", Some(1)),
            ("several::never::call", None),
            ("several::a::call", Some(1)),
            ("several::b::call", Some(2)),
            ("several::named::other", Some(1)),
            ("several::other::named", Some(1)),
        ],
    );
    // Both modules include one text, so its hook is in both.
    let did = package.metaspy(&["run", "--weave", "b::call"]);
    assert_eq!(
        (did.calls("several::a::call"), did.calls("several::b::call")),
        (Some(1), Some(2)),
        "{}",
        did.json
    );
    let did = package.metaspy(&["build", "--weave", "several::**"]);
    assert!(did.wove("several::never::call") && !did.wove("several::other::other"), "{}", did.json);
}

#[test]
fn modules_and_functions_with_raw_names_are_counted() {
    let package = Package::new(
        "raw",
        &[
            ("Cargo.toml", &manifest("raw", "2024", "")),
            (
                "src/main.rs",
                "mod r#type;\nmod r#plain {\n    pub fn r#match(r#in: u8) -> u8 {\n        r#in\n    }\n}\nfn main() {\n    r#type::call();\n    r#plain::r#match(1);\n}\n",
            ),
            (
                "src/type.rs",
                "pub struct r#Self_;\nimpl r#Self_ {\n    fn r#loop(&self) {}\n}\npub fn call() {\n    r#Self_.r#loop();\n}\n",
            ),
        ],
    );
    let calls = [
        ("raw::type::call", Some(1)),
        ("raw::type::Self_::loop", Some(1)),
        ("raw::plain::match", Some(1)),
        ("raw::main", Some(1)),
    ];
    check(&package, &calls);
    let did = package.metaspy(&["run", "--returns", "--args", "--callers", "raw::**"]);
    calls
        .iter()
        .for_each(|(path, count)| assert_eq!(did.calls(path), *count, "{path}: {}", did.json));
    let methods = did.json["methods"].as_array().expect("there is a list");
    let called = methods
        .iter()
        .find(|method| method["path"] == "raw::type::Self_::loop")
        .expect("it is there");
    assert_eq!(called["callers"][0]["path"], "raw::type::call", "{called}");
}

#[test]
fn modules_that_macros_declare_by_their_names_are_counted() {
    let call = "pub fn call() {}\n";
    let rules = "macro_rules! modules {\n    ($($seen:vis $name:ident),*) => { $($seen mod $name;)* };\n}\n";
    let package = Package::new(
        "declared",
        &[
            (
                "Cargo.toml",
                &manifest("declared", "2024", "[dependencies]\nlisted = { path = \"listed\" }\n"),
            ),
            (
                "src/main.rs",
                "#[macro_use]\nmod macros;\nmodules![pub(crate) plain, pub nested];\nlisted::module!(beside);\n\
                 fn main() {\n    plain::call();\n    nested::inner::call();\n    beside::call();\n}\n",
            ),
            ("src/macros.rs", rules),
            ("src/plain.rs", call),
            ("src/nested/mod.rs", "modules![pub inner];\n"),
            ("src/nested/inner.rs", call),
            ("src/beside.rs", call),
            (
                "listed/Cargo.toml",
                "[package]\nname = \"listed\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
            ),
            (
                "listed/src/lib.rs",
                "#[macro_export]\nmacro_rules! module {\n    ($name:ident) => { mod $name; };\n}\n",
            ),
        ],
    );
    let paths =
        ["main", "plain::call", "nested::inner::call"].map(|path| format!("declared::{path}"));
    let calls: Vec<(&str, Option<u64>)> =
        paths.iter().map(|path| (path.as_str(), Some(1))).collect();
    let did = check(&package, &calls);
    // These rules are in another crate: its functions have no hooks, and the list states so.
    let reason = did.reason("declared::…::beside::*");
    assert!(
        reason.is_some_and(|reason| reason.contains("a macro of another crate")),
        "{}",
        did.json
    );
}

//! Where crates come from: other directories, repositories, and what stands in for the registry.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Did, Package, manifest, three};

/// A library with one function, which the program of the test calls.
fn library(name: &str, version: &str, more: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"{version}\"\nedition = \"2021\"\n{more}\n")
}

/// A repository with a library, whose commit is the same in each run.
fn repository() -> Package {
    let text = "pub fn fetched() -> u32 {\n    16\n}\n";
    let package = Package::new(
        "repository",
        &[("Cargo.toml", &library("fetched", "0.1.0", "")), ("src/lib.rs", text)],
    );
    let git = |line: &str| {
        let mut git = Command::new("git");
        git.args(line.split(' ')).current_dir(&package.dir).env("GIT_CONFIG_NOSYSTEM", "1");
        git.env("GIT_CONFIG_GLOBAL", package.dir.join("none"));
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@b.c");
            git.env(format!("GIT_{who}_DATE"), "2020-01-01T00:00:00Z");
        }
        assert!(git.status().expect("git is here, as cargo's users have it").success(), "{line}");
    };
    ["init --quiet", "add .", "commit --quiet -m one"].into_iter().for_each(git);
    package
}

#[test]
fn crates_are_woven_wherever_they_come_from() {
    // Cargo keeps what it fetches below a directory of the test's own. The core is built with the
    // usual one.
    Package::new(
        "before",
        &[("Cargo.toml", &manifest("before", "2024", "")), ("src/main.rs", "fn main() {}\n")],
    )
    .metaspy(&["build"]);
    let dependencies = format!(
        "[dependencies]\nelder = {{ package = \"twins\", path = \"twins 1\" }}\nyounger = {{ package = \"twins\", path = \"twins 2\" }}\n\
         linked = {{ path = \"linked\" }}\nvendored = \"1\"\npatched = \"1\"\nfetched = {{ git = \"file://{}\" }}\n\
         [build-dependencies]\nvendored = \"1\"\n[patch.crates-io]\npatched = {{ path = \"pätched\" }}\n",
        repository().dir.display()
    );
    let package = Package::new(
        "origins",
        &[
            (
                "Cargo.toml",
                &(manifest("origins", "2024", &dependencies) + "exclude = [\"twins 2\"]\n"),
            ),
            (
                ".cargo/config.toml",
                "[source.crates-io]\nreplace-with = \"kept\"\n[source.kept]\ndirectory = \"kept\"\n",
            ),
            (
                "build.rs",
                "fn main() {\n    assert_eq!(vendored::vendored(), 4);\n    println!(\"cargo::rustc-env=WORD={}\", std::env::var(\"DEP_METASPY_ORIGIN_WORD\").unwrap());\n}\n",
            ),
            (
                "src/main.rs",
                "fn main() {\n    let sum = elder::twin() + younger::twin() + vendored::vendored() + patched::patched() + fetched::fetched();\n    \
                 println!(\"{sum} {} {}\", linked::linked(), env!(\"WORD\"));\n}\n",
            ),
            ("twins 1/Cargo.toml", &library("twins", "1.0.0", "")),
            ("twins 1/src/lib.rs", "pub fn twin() -> u32 {\n    1\n}\n"),
            ("twins 2/Cargo.toml", &library("twins", "2.0.0", "")),
            ("twins 2/src/lib.rs", "pub fn twin() -> u32 {\n    2\n}\n"),
            ("linked/Cargo.toml", &library("linked", "0.1.0", "links = \"metaspy_origin\"")),
            ("linked/build.rs", "fn main() {\n    println!(\"cargo::metadata=word=told\");\n}\n"),
            ("linked/src/lib.rs", "pub fn linked() -> &'static str {\n    \"linked\"\n}\n"),
            ("kept/vendored/Cargo.toml", &library("vendored", "1.0.0", "")),
            ("kept/vendored/.cargo-checksum.json", "{\"files\":{}}"),
            ("kept/vendored/src/lib.rs", "pub fn vendored() -> u32 {\n    4\n}\n"),
            ("pätched/Cargo.toml", &library("patched", "1.0.0", "")),
            ("pätched/src/lib.rs", "pub fn patched() -> u32 {\n    8\n}\n"),
        ],
    );
    // The project's source has no dependency of the core. The core of another project is the same,
    // and is built by now.
    three("neighbours").metaspy(&["build", "--weave", "one"]);
    let home = package.dir.join("home");
    let environment = [("CARGO_HOME", home.as_os_str())];
    let fetched = package.cargo_in(&["fetch"], &environment);
    assert_eq!(fetched.code, 0, "{}", fetched.stderr);
    let all = ["twin", "vendored", "patched", "fetched", "linked", "main"];
    let line: Vec<&str> =
        ["run"].into_iter().chain(all.iter().flat_map(|name| ["--weave", name])).collect();
    let did = package.metaspy_in(&line, &environment);
    assert_eq!(
        (did.code, did.stdout.lines().next()),
        (0, Some("31 linked told")),
        "{}",
        did.stderr
    );
    for path in [
        "vendored::vendored",
        "patched::patched",
        "fetched::fetched",
        "linked::linked",
        "origins::main",
    ] {
        assert_eq!(did.calls(path), Some(1), "{path}: {}", did.json);
    }
    let methods = did.json["methods"].as_array().expect("there is a list");
    let mut twins: Vec<(&str, u64)> = methods
        .iter()
        .filter(|method| method["path"] == "twins::twin")
        .map(|method| {
            (
                method["file"].as_str().expect("it has one"),
                method["executions"].as_u64().expect("it was run"),
            )
        })
        .collect();
    twins.sort_unstable();
    assert_eq!(twins, [("twins 1/src/lib.rs", 1), ("twins 2/src/lib.rs", 1)]);
    assert!(!did.stderr.contains("warning"), "{}", did.stderr);
    untouched(&home);
    untouched(&package.dir.join("kept"));

    // What another selection leaves out is taken back by its name and version, though there are two
    // of that name.
    let did =
        package.metaspy_in(&["run", "--weave", "fetched", "--weave", "twins::*"], &environment);
    assert_eq!(
        (did.calls("fetched::fetched"), did.calls("vendored::vendored")),
        (Some(1), None),
        "{}",
        did.json
    );
}

/// No source below it has a hook.
fn untouched(dir: &Path) {
    for entry in fs::read_dir(dir).expect("it is there").flatten() {
        let path = entry.path();
        if path.is_dir() {
            untouched(&path);
        } else if path.extension() == Some(OsStr::new("rs")) {
            assert!(
                !fs::read_to_string(&path).expect("it is text").contains("__metaspy"),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn a_crate_that_is_not_understood_is_compiled_as_it_is_and_listed() {
    let package = Package::new(
        "elderly",
        &[
            ("Cargo.toml", &manifest("elderly", "2015", "")),
            (
                "src/main.rs",
                "mod bare;\nmod old;\nfn main() {\n    println!(\"{}\", bare::call(&old::async));\n}\n",
            ),
            (
                "src/bare.rs",
                "pub fn call(of: &(Fn(u32) -> u32 + 'static)) -> u32 {\n    of(2)\n}\n",
            ),
            ("src/old.rs", "mod below;\npub fn async(of: u32) -> u32 {\n    below::add(of)\n}\n"),
            ("src/old/below.rs", "pub fn add(of: u32) -> u32 {\n    of + 1\n}\n"),
        ],
    );
    let reason = |did: &Did, path: &str| did.reason(path).unwrap_or_default().to_owned();
    for line in [&["run"][..], &["run", "--weave", "elderly::*::*", "--weave", "main"]] {
        let did = package.metaspy(line);
        assert_eq!(
            (did.stdout.lines().next(), did.calls("elderly::main")),
            (Some("3"), Some(1)),
            "{}",
            did.stderr
        );
        for path in ["elderly::old::*", "elderly::bare::*"] {
            assert!(reason(&did, path).contains("cannot be parsed"), "{path}: {}", did.json);
        }
        // What such a file declares is not known.
        assert!(
            reason(&did, "elderly::…::below::*").starts_with("a file that cannot be parsed"),
            "{}",
            did.json
        );
    }
    let text = package.plain_metaspy(&["run", "--offline"]).stdout;
    assert!(
        text.contains("elderly::…::below::* is not woven: a file that cannot be parsed"),
        "{text}"
    );
    let did = package.try_metaspy(&["run", "--weave", "bare::call"]);
    assert!(
        did.code == 2 && did.stderr.contains("elderly::bare cannot be parsed"),
        "{}",
        did.stderr
    );
    package.write(
        "src/main.rs",
        "mod bare;\nmod old;\nfn main() {\n    let sum = old::async(3);\n    println!(\"{}\", sum);\n}\n",
    );
    let did = package.metaspy(&["run", "--weave", "elderly::*"]);
    assert_eq!(
        (did.stdout.lines().next(), did.calls("elderly::main")),
        (Some("4"), None),
        "{}",
        did.stderr
    );
    assert!(reason(&did, "elderly::*").contains("cannot be parsed"), "{}", did.json);
}

#[test]
fn a_file_that_nests_without_bound_is_listed_and_the_others_are_woven() {
    let deep = format!("pub fn deep() {{ {}{} }}\n", "{".repeat(30_000), "}".repeat(30_000));
    let main = "#[cfg(any())]\nmod deep;\nfn main() {\n}\n";
    let manifest = manifest("bottomless", "2024", "");
    let files =
        [("Cargo.toml", manifest.as_str()), ("src/main.rs", main), ("src/deep.rs", deep.as_str())];
    let package = Package::new("bottomless", &files);
    let did = package.metaspy(&["run"]);
    assert_eq!(did.calls("bottomless::main"), Some(1), "{}", did.json);
    let reason = did.reason("bottomless::deep::*").unwrap_or_default();
    assert!(reason.ends_with("its code may be nested more than 4096 levels deep"), "{}", did.json);
    let did = package.try_metaspy(&["run", "--weave", "deep::deep"]);
    assert!(
        did.code == 2 && did.stderr.contains("bottomless::deep cannot be parsed"),
        "{}",
        did.stderr
    );
}

//! Builds: what is compiled again, what is not, and what is left alone.

use std::fs;

use crate::common::{Package, manifest, target_dir};

/// A program and two libraries.
fn three(name: &str) -> Package {
    let dependencies = format!("[dependencies]\n{name}_a = {{ path = \"a\" }}\n{name}_b = {{ path = \"b\" }}");
    let library =
        |letter: &str| format!("[package]\nname = \"{name}_{letter}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n");
    let main = format!("fn main() {{\n    println!(\"{{}}\", {name}_a::one() + {name}_b::one());\n}}\n");
    Package::new(
        name,
        &[
            ("Cargo.toml", &manifest(name, "2024", &dependencies)),
            ("src/main.rs", &main),
            ("a/Cargo.toml", &library("a")),
            ("a/src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
            ("b/Cargo.toml", &library("b")),
            ("b/src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
        ],
    )
}

#[test]
fn a_second_build_does_nothing_and_an_edit_weaves_what_it_must() {
    let package = three("edits");
    let first = package.metaspy(&["run", "--weave", "edits_*::one"]);
    assert_eq!((first.calls("edits_a::one"), first.calls("edits_b::one")), (Some(1), Some(1)), "{}", first.said);
    let second = package.metaspy(&["run", "--weave", "edits_*::one"]);
    assert_eq!(second.compiled(), [""; 0]);
    assert_eq!(second.calls("edits_a::one"), Some(1), "what was woven before is still known");

    package.write("a/src/lib.rs", "pub fn one() -> u32 {\n    two()\n}\nfn two() -> u32 {\n    2\n}\n");
    let edited = package.metaspy(&["run", "--weave", "edits_*::one"]);
    assert_eq!(edited.compiled(), ["edits_a", "edits"]);
    assert_eq!(edited.printed.lines().next(), Some("3"));
}

#[test]
fn another_selection_weaves_what_it_must() {
    let package = three("selections");
    package.metaspy(&["run", "--weave", "selections_a::one"]);
    let other = package.metaspy(&["run", "--weave", "selections_b::one"]);
    // The two libraries in whichever order cargo takes them.
    let mut compiled = other.compiled();
    compiled.sort_unstable();
    assert_eq!(compiled, ["selections", "selections_a", "selections_b"]);
    assert_eq!((other.calls("selections_a::one"), other.calls("selections_b::one")), (None, Some(1)));
    let without = package.metaspy(&["run", "--weave", "one", "--without", "selections_b::*"]);
    assert_eq!((without.calls("selections_a::one"), without.calls("selections_b::one")), (Some(1), None));
}

#[test]
fn a_plain_build_is_what_it_was() {
    let package = three("untouched");
    package.cargo(&["build", "--offline"]);
    let program = target_dir().join("debug/untouched");
    let before = fs::read(&program).expect("it was built");
    package.metaspy(&["build"]);
    let plain = package.cargo(&["build", "--offline"]);
    assert_eq!(plain.compiled(), [""; 0]);
    assert!(fs::read(program).expect("it is there") == before, "the program is the same");
    let woven = fs::read(target_dir().join("metaspy/debug/untouched")).expect("it was built");
    assert!(contains(&woven, b"metaspy_woven") && !contains(&before, b"metaspy_woven"));
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn a_program_with_a_core_of_its_own_has_that_one_alone() {
    let core = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../metaspy-core");
    let dependencies = format!("[dependencies]\nmetaspy-core = {{ path = {core:?} }}");
    let package = Package::new(
        "own_core",
        &[
            ("Cargo.toml", &manifest("own_core", "2024", &dependencies)),
            (
                "src/main.rs",
                "fn woven() {\n}\nfn main() {\n    woven();\n    let sites = metaspy_core::site::entries();\n    \
                 let armed = sites.iter().filter(|entry| entry.site.is_armed()).map(|entry| entry.site.path());\n    \
                 println!(\"{}\", armed.collect::<Vec<_>>().join(\" \"));\n}\n",
            ),
        ],
    );
    let did = package.metaspy(&["run"]);
    assert!(did.printed.contains("own_core::woven") && did.printed.contains("own_core::main"), "{}", did.printed);
    assert_eq!((did.calls("own_core::woven"), did.calls("own_core::main")), (Some(1), Some(1)));
    let needed_a_core = package.metaspy(&["build"]).said.contains("building its core");
    assert!(!needed_a_core);
}

#[test]
fn examples_dynamic_libraries_and_build_scripts_that_read_the_source_build() {
    let host = host();
    let package = Package::new(
        "outputs",
        &[
            ("Cargo.toml", &manifest("outputs", "2024", "[lib]\ncrate-type = [\"cdylib\", \"rlib\"]")),
            (
                "build.rs",
                "fn main() {\n    let source = std::fs::read_to_string(\"src/lib.rs\").unwrap();\n    assert!(!source.contains(\"__metaspy\"));\n    \
                 let out = std::env::var(\"OUT_DIR\").unwrap();\n    std::fs::write(out + \"/made.rs\", \"pub fn made() -> u32 { 7 }\").unwrap();\n}\n",
            ),
            (
                "src/lib.rs",
                "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\"));\npub fn text() -> &'static str {\n    include_str!(\"data/text.txt\")\n}\n",
            ),
            ("src/data/text.txt", "from a file"),
            ("examples/shown.rs", "fn main() {\n    println!(\"{} {}\", outputs::text(), outputs::made());\n}\n"),
        ],
    );
    for line in [&["run", "--example", "shown"][..], &["run", "--example", "shown", "--target", &host, "--release"]] {
        let did = package.metaspy(line);
        assert!(did.printed.starts_with("from a file 7"), "{}", did.printed);
        assert_eq!((did.calls("outputs::text"), did.calls("shown::main")), (Some(1), Some(1)), "{line:?}");
        assert_eq!(did.json["macros"], 1, "what a build script wrote is not seen");
    }
}

/// What the compiler builds for.
fn host() -> String {
    let output = std::process::Command::new("rustc").arg("-vV").output().expect("there is a compiler");
    let text = String::from_utf8(output.stdout).expect("it writes UTF-8");
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("it says so").to_owned()
}

#[cfg(unix)]
#[test]
fn a_wrapper_that_was_there_is_still_asked() {
    use std::os::unix::fs::PermissionsExt;
    let package = three("chained");
    package.write("wrapper.sh", "#!/bin/sh\necho \"$@\" >> \"$WRAPPED\"\nexec \"$@\"\n");
    let (wrapper, wrapped) = (package.dir.join("wrapper.sh"), package.dir.join("wrapped.txt"));
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("it can be run");
    let environment = [("RUSTC_WRAPPER", wrapper.as_os_str()), ("WRAPPED", wrapped.as_os_str())];
    let did = package.metaspy_in(&["run"], &environment);
    assert_eq!((did.code, did.calls("chained_a::one")), (0, Some(1)), "{}", did.said);
    let asked = fs::read_to_string(wrapped).expect("it was asked");
    assert!(asked.contains("--crate-name chained_a") && asked.contains("--extern __metaspy="), "{asked}");
}

#[test]
fn a_build_that_was_killed_recovers() {
    let package = three("killed");
    package.metaspy(&["build", "--weave", "killed_*::one"]);
    // What a killed build leaves: half a copy, and cargo does not know of the crate.
    let mirrors = target_dir().join("metaspy/weave/mirrors");
    let mut mirrors = fs::read_dir(mirrors).expect("there are copies").flatten().map(|entry| entry.path());
    let mirror = mirrors.find(|path| path.to_string_lossy().contains("killed_a-")).expect("it was woven");
    fs::remove_dir_all(&mirror).expect("it is removed");
    fs::create_dir_all(mirror.join("half")).expect("half of it is there");
    package.write("a/src/lib.rs", "pub fn one() -> u32 {\n    5\n}\n");
    let did = package.metaspy(&["run", "--weave", "killed_*::one"]);
    assert_eq!((did.printed.lines().next(), did.calls("killed_a::one")), (Some("6"), Some(1)));
}

#[test]
fn a_selector_that_matches_nothing_is_answered_with_names() {
    let package = three("mistaken");
    let did = package.try_metaspy(&["run", "--weave", "mistaken_a::onne"]);
    assert_eq!(did.code, 2);
    assert!(did.said.contains("mistaken_a::one"), "{}", did.said);
    let empty = package.try_metaspy(&["run", "--weave", "a::"]);
    assert!(empty.code == 2 && empty.said.contains("empty segment"), "{}", empty.said);
}

#[test]
fn tests_and_their_documentation_run_with_hooks() {
    let package = Package::new(
        "tested",
        &[
            ("Cargo.toml", &manifest("tested", "2024", "")),
            (
                "src/lib.rs",
                "/// One.\n/// ```\n/// assert_eq!(tested::one(), 1);\n/// ```\npub fn one() -> u32 {\n    1\n}\n\n\
                 #[test]\nfn it_is_one() {\n    assert_eq!(one(), 1);\n}\n",
            ),
            ("tests/more.rs", "#[test]\nfn it_is_one() {\n    assert_eq!(tested::one() + tested::one(), 2);\n}\n"),
        ],
    );
    let did = package.metaspy(&["test"]);
    assert_eq!(did.printed.matches("1 passed").count(), 3, "{}", did.printed);
    assert_eq!(
        (did.calls("tested::one"), did.calls("tested::it_is_one"), did.calls("more::it_is_one")),
        (Some(3), Some(1), Some(1))
    );
}

#[test]
fn optimised_programs_that_abort_count_too() {
    let profile = "[profile.release]\nlto = \"fat\"\npanic = \"abort\"\ncodegen-units = 1";
    let package = Package::new(
        "aborting",
        &[
            ("Cargo.toml", &manifest("aborting", "2024", profile)),
            (
                "src/main.rs",
                "#[inline(never)]\nfn one() {\n}\nfn never() {\n}\nfn main() {\n    for _ in 0..100 {\n        one();\n    }\n    if std::env::args().count() > 5 {\n        never();\n    }\n}\n",
            ),
        ],
    );
    let did = package.metaspy(&["run", "--release"]);
    assert_eq!((did.calls("aborting::one"), did.calls("aborting::never")), (Some(100), Some(0)));
}

//! Builds: what is compiled again, what is not, and what is left alone.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::common::{Package, QUICK_CORE, host, manifest, three};
use crate::profilers::{HOT, profiler};

#[test]
fn a_second_build_does_nothing_and_an_edit_weaves_what_it_must() {
    let package = three("edits");
    let first = package.metaspy(&["run", "--weave", "edits_*::one"]);
    assert_eq!(
        (first.calls("edits_a::one"), first.calls("edits_b::one")),
        (Some(1), Some(1)),
        "{}",
        first.stderr
    );
    let second = package.metaspy(&["run", "--weave", "edits_*::one"]);
    assert_eq!(second.compiled(), [""; 0]);
    assert_eq!(second.calls("edits_a::one"), Some(1), "what was woven before is still known");

    package.write(
        "a/src/lib.rs",
        "pub fn one() -> u32 {\n    two()\n}\nfn two() -> u32 {\n    2\n}\n",
    );
    let edited = package.metaspy(&["run", "--weave", "edits_*::one"]);
    assert_eq!(edited.compiled(), ["edits_a", "edits"]);
    assert_eq!(edited.stdout.lines().next(), Some("3"));
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
    assert_eq!(
        (other.calls("selections_a::one"), other.calls("selections_b::one")),
        (None, Some(1))
    );
    let without = package.metaspy(&["run", "--weave", "one", "--without", "selections_b::*"]);
    assert_eq!(
        (without.calls("selections_a::one"), without.calls("selections_b::one")),
        (Some(1), None)
    );
}

#[test]
fn a_run_of_a_program_with_another_selection_leaves_the_others_where_they_are() {
    let program = |name: &str| {
        format!("fn {name}() {{\n    println!(\"{name}\");\n}}\nfn main() {{\n    {name}();\n}}\n")
    };
    let package = Package::new(
        "programs",
        &[
            ("Cargo.toml", &manifest("programs", "2024", "")),
            ("src/bin/one.rs", &program("first")),
            ("src/bin/two.rs", &program("second")),
        ],
    );
    package.metaspy(&["build", "--bins", "--weave", "one::main", "--weave", "two::main"]);
    let did = package.metaspy(&["run", "--bin", "one", "--weave", "one::first"]);
    assert_eq!(did.calls("one::first"), Some(1), "{}", did.stderr);
    let two = package.target_dir().join("metaspy/debug/two");
    let output = package.clean_command(&two).output().expect("it is where it was built");
    assert_eq!(output.stdout, b"second\n");
    let built = package.metaspy(&["run", "--bin", "two", "--weave", "two::second"]);
    assert_eq!(built.calls("two::second"), Some(1), "{}", built.stderr);
}

#[test]
fn a_plain_build_is_what_it_was() {
    let package = three("untouched");
    package.cargo(&["build", "--offline"]);
    let program = package.target_dir().join("debug/untouched");
    let before = fs::read(&program).expect("it was built");
    package.metaspy(&["build"]);
    let plain = package.cargo(&["build", "--offline"]);
    assert_eq!(plain.compiled(), [""; 0]);
    assert!(fs::read(program).expect("it is there") == before, "the program is the same");
    let woven =
        fs::read(package.target_dir().join("metaspy/debug/untouched")).expect("it was built");
    assert!(contains(&woven, b"metaspy_woven") && !contains(&before, b"metaspy_woven"));
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn what_cargo_has_compiled_of_downloaded_crates_is_not_compiled_again() {
    let main = "fn main() {\n    println!(\"{}\", itoa::Buffer::new().format(unsafe { libc::getpid() }));\n}\n";
    let dependencies = "[dependencies]\nitoa = \"1\"\nlibc = \"0.2\"";
    let package = Package::new(
        "compiled",
        &[("Cargo.toml", &manifest("compiled", "2024", dependencies)), ("src/main.rs", main)],
    );
    // An earlier run of this test may have built it.
    _ = fs::remove_dir_all(package.target_dir());
    package.cargo(&["build", "--offline"]);
    let did = package.metaspy(&["run"]);
    assert_eq!(
        (did.compiled(), did.calls("compiled::main")),
        (vec!["compiled"], Some(1)),
        "{}",
        did.stderr
    );
    assert!(did.stderr.contains("Metaspy copying 2 crates without hooks"), "{}", did.stderr);
    // A crate that was copied gets hooks as one that was compiled here.
    let did = package.metaspy(&["run", "--weave", "itoa::**"]);
    assert_eq!(did.compiled(), ["itoa", "compiled"], "{}", did.stderr);
    assert!(did.calls("itoa::divmod100").is_some_and(|calls| calls > 0), "{}", did.stderr);
    assert_eq!(package.cargo(&["build", "--offline"]).compiled(), [""; 0]);
}

#[test]
#[cfg(unix)]
fn what_is_copied_is_said_first_and_what_cannot_be_copied_is_compiled() {
    let main = "fn main() {\n    println!(\"{}\", itoa::Buffer::new().format(7));\n}\n";
    let dependencies = "[dependencies]\nitoa = \"1\"";
    let package = Package::new(
        "announced",
        &[("Cargo.toml", &manifest("announced", "2024", dependencies)), ("src/main.rs", main)],
    );
    _ = fs::remove_dir_all(package.target_dir());
    package.cargo(&["build", "--offline"]);
    let units =
        fs::read_dir(package.target_dir().join("debug/.fingerprint")).expect("cargo has built");
    let of_itoa =
        units.flatten().find(|unit| unit.file_name().to_string_lossy().starts_with("itoa-"));
    let of_itoa = of_itoa.expect("cargo has compiled it").path();
    fs::remove_dir_all(&of_itoa).expect("it is the test's");
    fs::create_dir(&of_itoa).expect("it is the test's");
    std::os::unix::fs::symlink("nowhere", of_itoa.join("link")).expect("the file system has links");
    let did = package.metaspy(&["run"]);
    assert_eq!(
        (did.compiled(), did.calls("announced::main")),
        (vec!["itoa", "announced"], Some(1)),
        "{}",
        did.stderr
    );
    assert!(did.stderr.contains("Metaspy copying 1 crate without hooks"), "{}", did.stderr);
}

#[test]
fn a_program_with_a_core_of_its_own_has_that_one_alone() {
    let core = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../metaspy-core");
    let dependencies = format!("[dependencies]\nmetaspy-core = {{ path = {core:?} }}");
    let package = Package::new(
        "with_core/own",
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
    assert!(
        did.stdout.contains("own_core::woven") && did.stdout.contains("own_core::main"),
        "{}",
        did.stdout
    );
    assert_eq!((did.calls("own_core::woven"), did.calls("own_core::main")), (Some(1), Some(1)));
    let needed_a_core = package.metaspy(&["build"]).stderr.contains("building its core");
    assert!(!needed_a_core);
}

#[test]
fn examples_dynamic_libraries_and_build_scripts_that_read_the_source_build() {
    let host = host();
    let package = Package::new(
        "outputs",
        &[
            (
                "Cargo.toml",
                &manifest("outputs", "2024", "[lib]\ncrate-type = [\"cdylib\", \"rlib\"]"),
            ),
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
            (
                "examples/shown.rs",
                "fn main() {\n    println!(\"{} {}\", outputs::text(), outputs::made());\n}\n",
            ),
        ],
    );
    for line in [
        &["run", "--example", "shown"][..],
        &["run", "--example", "shown", "--target", &host, "--release"],
    ] {
        let did = package.metaspy(line);
        assert!(did.stdout.starts_with("from a file 7"), "{}", did.stdout);
        assert_eq!(
            (did.calls("outputs::text"), did.calls("shown::main")),
            (Some(1), Some(1)),
            "{line:?}"
        );
        assert_eq!(did.json["macros"], 1, "what a build script wrote is not seen");
    }
}

#[test]
fn programs_with_rust_libraries_that_are_loaded_run() {
    let package = Package::new(
        "loading",
        &[
            (
                "Cargo.toml",
                &manifest("loading", "2024", "[dependencies]\nloaded = { path = \"loaded\" }"),
            ),
            ("src/main.rs", "fn main() {\n    println!(\"{}\", loaded::one());\n}\n"),
            (
                "loaded/Cargo.toml",
                "[package]\nname = \"loaded\"\nversion = \"0.1.0\"\n[lib]\ncrate-type = [\"dylib\"]\n",
            ),
            ("loaded/src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n"),
        ],
    );
    let did = package.metaspy(&["run"]);
    assert_eq!(
        (did.stdout.lines().next(), did.calls("loading::main")),
        (Some("1"), Some(1)),
        "{}",
        did.stderr
    );
    assert_eq!(did.calls("loaded::one"), None, "a library that is loaded has no core");
}

#[test]
fn tests_their_documentation_and_benchmarks_run_with_hooks() {
    let package = Package::new(
        "tested",
        &[
            (
                "Cargo.toml",
                &manifest("tested", "2024", "[[bench]]\nname = \"speed\"\nharness = false"),
            ),
            ("benches/speed.rs", "fn main() {\n    assert_eq!(tested::one(), 1);\n}\n"),
            (
                "src/lib.rs",
                "/// One.\n/// ```\n/// assert_eq!(tested::one(), 1);\n/// ```\npub fn one() -> u32 {\n    1\n}\n\n\
                 #[test]\nfn it_is_one() {\n    assert_eq!(one(), 1);\n}\n",
            ),
            (
                "tests/more.rs",
                "#[test]\nfn it_is_one() {\n    assert_eq!(tested::one() + tested::one(), 2);\n}\n",
            ),
        ],
    );
    let did = package.metaspy(&["test"]);
    assert_eq!(did.stdout.matches("1 passed").count(), 3, "{}", did.stdout);
    assert_eq!(
        (did.calls("tested::one"), did.calls("tested::it_is_one"), did.calls("more::it_is_one")),
        (Some(4), Some(1), Some(1))
    );
    let did = package.metaspy(&["test", "--doc", "--target", &host()]);
    assert_eq!(did.stdout.matches("1 passed").count(), 1, "{}", did.stdout);
    let did = package.metaspy(&["bench", "--bench", "speed"]);
    assert_eq!(
        (did.calls("tested::one"), did.calls("speed::main")),
        (Some(1), Some(1)),
        "{}",
        did.stdout
    );
}

#[test]
fn optimised_programs_that_abort_count_too() {
    let profile = "[profile.release]\npanic = \"abort\"\ncodegen-units = 1\nlto = true";
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
    let counts = package.metaspy(&["run", "--release", "-v"]);
    assert_eq!(
        (counts.calls("aborting::one"), counts.calls("aborting::never")),
        (Some(100), Some(0))
    );
    let is_off = counts.stderr.contains("Metaspy building without link-time optimisation");
    assert!(is_off && !counts.stderr.contains("-C lto"), "{}", counts.stderr);
    // Each takes a minute. Hooks that only count are optimised across crates in `entries`, too.
    for (lto, contexts) in [("fat", &[][..]), ("thin", &["--contexts"])] {
        let line = ["run", "--release", "-v", "--config", &format!("profile.release.lto='{lto}'")];
        let did = package.metaspy(&[&line[..], contexts].concat());
        let is_on = did.stderr.contains(&format!("-C lto={lto}"));
        assert!(is_on && !did.stderr.contains("without link-time"), "{}", did.stderr);
        assert_eq!(
            (did.calls("aborting::one"), did.calls("aborting::never")),
            (Some(100), Some(0)),
            "{lto}"
        );
        let context = "  100   99.0 %    aborting::one\n";
        assert_eq!(did.stdout.contains(context), !contexts.is_empty(), "{lto}: {}", did.stdout);
    }
}

#[test]
fn what_was_woven_of_other_lines_is_not_counted() {
    let source = "pub fn one() -> u32 {\n    1\n}\npub const fn two() -> u32 {\n    2\n}\n\n#[test]\nfn it_is_one() {\n    assert_eq!(one(), 1);\n}\n";
    let package = Package::new(
        "moved",
        &[
            ("Cargo.toml", &manifest("moved", "2024", "")),
            ("src/lib.rs", source),
            ("src/main.rs", "fn main() {\n    moved::one();\n}\n"),
        ],
    );
    package.metaspy(&["test", "--weave", "moved::one", "--weave", "moved::two"]);
    package.write("src/lib.rs", &format!("// A line.\n{source}"));
    let did = package.metaspy(&["run", "--weave", "moved::one", "--weave", "moved::two"]);
    assert_eq!(
        (did.json["woven"][0]["functions"].as_u64(), did.calls("moved::one")),
        (Some(1), Some(1))
    );
    assert_eq!(did.json["skipped"].as_array().map(Vec::len), Some(1), "{}", did.json);
}

#[test]
fn a_dynamic_library_of_each_profile_is_found() {
    let package = Package::new(
        "twofold",
        &[
            ("Cargo.toml", &manifest("twofold", "2024", "[lib]\ncrate-type = [\"cdylib\"]")),
            ("src/lib.rs", "pub fn one() {\n}\npub fn two() {\n}\n"),
        ],
    );
    assert!(package.metaspy(&["build", "--weave", "twofold::one"]).wove("twofold::one"));
    package.metaspy(&["build", "--release", "--weave", "twofold::two"]);
    let again = package.metaspy(&["build", "--weave", "twofold::one"]);
    assert!(again.compiled().is_empty() && again.wove("twofold::one"), "{}", again.stderr);
    // What was built of the one is taken back, and not what was built of the other.
    assert_eq!(package.metaspy(&["build", "--weave", "twofold::two"]).compiled(), ["twofold"]);
    let release = package.metaspy(&["build", "--release", "--weave", "twofold::two"]);
    assert!(release.compiled().is_empty() && release.wove("twofold::two"), "{}", release.stderr);
}

#[test]
fn a_directory_that_is_called_as_a_profile_is_none() {
    let package = Package::new(
        "below_release",
        &[
            ("Cargo.toml", &manifest("below_release", "2024", "")),
            ("src/lib.rs", "pub fn one() {\n}\npub fn two() {\n}\n"),
        ],
    );
    let dir = package.dir.join("release");
    let build = |line: &[&str]| package.metaspy_in(line, &[("CARGO_TARGET_DIR", dir.as_os_str())]);
    build(&["build", "--weave", "below_release::one"]);
    assert!(
        build(&["build", "--release", "--weave", "below_release::two"]).wove("below_release::two")
    );
    let again = build(&["build", "--weave", "below_release::one"]);
    assert!(again.compiled().is_empty() && again.wove("below_release::one"), "{}", again.stderr);
    assert_eq!(build(&["build", "--weave", "below_release::two"]).compiled(), ["below_release"]);
}

#[test]
fn the_core_is_built_once_for_all_projects() {
    let [one, other] = ["cached_one", "cached_other"].map(|name| {
        Package::new(
            name,
            &[("Cargo.toml", &manifest(name, "2024", "")), ("src/main.rs", "fn main() {\n}\n")],
        )
    });
    one.metaspy(&["run"]);
    // The core has a profile of its own, so no project's makes another one.
    other.write(
        ".cargo/config.toml",
        "[profile.dev]\nopt-level = 1\n\n[profile.release]\npanic = \"abort\"\n",
    );
    let more = [("CARGO_PROFILE_RELEASE_OPT_LEVEL", OsStr::new("1"))];
    let release = ["run", "--release", "--config", "profile.release.overflow-checks=true"];
    for (line, environment) in [(&["run"][..], &[][..]), (&release, &more)] {
        let did = other.metaspy_in(line, environment);
        assert!(!did.stderr.contains("building its core"), "{}", did.stderr);
        assert_eq!(did.calls("cached_other::main"), Some(1), "{}", did.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_cache_that_others_can_write_to_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let package = Package::new(
        "uncached",
        &[("Cargo.toml", &manifest("uncached", "2024", "")), ("src/main.rs", "fn main() {\n}\n")],
    );
    let open = package.dir.join("open");
    fs::create_dir(&open).expect("it is new");
    for mode in [0o777, 0o775] {
        fs::set_permissions(&open, fs::Permissions::from_mode(mode)).expect("it is ours");
        let did = package.metaspy_in(&["build"], &[("METASPY_CACHE", open.as_os_str())]);
        assert!(
            did.code == 2
                && did.stderr.contains("METASPY_CACHE")
                && did.stderr.contains("another user"),
            "{}",
            did.stderr
        );
    }
}

#[test]
fn what_is_built_with_one_cache_links_with_what_is_built_with_another() {
    let package = three("recached");
    package.metaspy(&["run"]);
    package.write(".cargo/config.toml", QUICK_CORE);
    let other = package.dir.join("cache");
    let run = |line: &[&str]| package.metaspy_in(line, &[("METASPY_CACHE", other.as_os_str())]);
    let did = run(&["run", "--types"]);
    assert_eq!((did.code, did.calls("recached_a::one")), (0, Some(1)), "{}", did.stderr);

    let hot = profiler("hot_recached", HOT);
    let did = run(&["run", "--profiler", hot.dir.to_str().expect("it is UTF-8")]);
    assert!(did.stdout.contains("  heat  "), "{}", did.stdout);
    assert_eq!(cores(&other), 1, "a profiler is built with the core that is there");
}

/// The number of cores in a cache.
fn cores(directory: &Path) -> usize {
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let is_core = name.starts_with("libmetaspy_core-") && name.ends_with(".rlib");
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    usize::from(is_core) + entries.map(|entry| cores(&entry.path())).sum::<usize>()
}

#[cfg(unix)]
#[test]
fn a_copied_workspace_is_built_again() {
    let package = Package::new(
        "copied",
        &[
            ("Cargo.toml", &manifest("copied", "2024", "")),
            ("src/main.rs", "pub fn one() {}\nfn main() {\n    one();\n}\n"),
        ],
    );
    // The target directory is copied with the workspace.
    let build = |package: &Package, selector: &str| {
        let mut command = package.command(&["build", "--weave", selector], "metaspy.json");
        let output =
            command.env_remove("CARGO_TARGET_DIR").output().expect("it was built for this test");
        package.did(output, "metaspy.json")
    };
    let first = build(&package, "one");
    assert!(first.stderr.contains("wove 1 function: 1 of copied 0.1.0\n"), "{}", first.stderr);
    let again = build(&package, "one");
    assert!(
        again.stderr.contains("wove 1 function: 1 of copied 0.1.0 (up to date)\n"),
        "{}",
        again.stderr
    );
    let copy = Package::new("copied_elsewhere", &[]);
    let mut cp = std::process::Command::new("cp");
    assert!(cp.arg("-a").args([&package.dir, &copy.dir]).status().expect("it is there").success());
    let elsewhere = build(&copy, "one");
    assert_eq!(elsewhere.compiled(), ["copied"], "{}", elsewhere.stderr);
    assert!(elsewhere.wove("copied::one"), "{}", elsewhere.stderr);
    assert!(
        elsewhere.stderr.contains("wove 1 function: 1 of copied 0.1.0\n"),
        "{}",
        elsewhere.stderr
    );
}

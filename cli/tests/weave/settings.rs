//! What the environment and cargo's configuration say of a build.

use std::ffi::OsStr;
use std::fs;

#[cfg(unix)]
use crate::common::three;
use crate::common::{Package, QUICK_CORE, host, manifest};

#[cfg(unix)]
#[test]
fn an_earlier_wrapper_still_runs_and_builds_no_core_again() {
    let package = three("chained");
    package.metaspy(&["build"]);
    package.write("a/src/lib.rs", "pub fn one() -> u32 {\n    2\n}\n");
    let wrapper = package.script("wrapper.sh", "echo \"$@\" >> \"$WRAPPED\"\nexec \"$@\"\n");
    let wrapped = package.dir.join("wrapped.txt");
    let environment = [("RUSTC_WRAPPER", wrapper.as_os_str()), ("WRAPPED", wrapped.as_os_str())];
    let did = package.metaspy_in(&["run"], &environment);
    assert_eq!((did.code, did.calls("chained_a::one")), (0, Some(1)), "{}", did.stderr);
    let arguments = fs::read_to_string(wrapped).expect("the tool ran");
    assert!(
        arguments.contains("--crate-name chained_a") && arguments.contains("--extern __metaspy="),
        "{arguments}"
    );
    assert!(!arguments.contains("--crate-name metaspy_core"), "{arguments}");
}

#[cfg(unix)]
#[test]
fn wrappers_of_the_configuration_still_run() {
    let log = |name: &str| format!("echo \"$@\" >> \"${{0%.sh}}.txt\"\n# {name}\nexec \"$@\"\n");
    let package = Package::new(
        "configured",
        &[
            ("Cargo.toml", &manifest("configured", "2024", "")),
            ("src/lib.rs", "pub fn one() {\n}\n"),
            (
                ".cargo/config.toml",
                "[build]\nrustc-wrapper = \"tools/all.sh\"\nrustc-workspace-wrapper = \"tools/own.sh\"\n",
            ),
        ],
    );
    package.script("tools/all.sh", &log("all"));
    package.script("tools/own.sh", &log("own"));
    let did = package.metaspy(&["build"]);
    assert!(did.wove("configured::one") && !did.stderr.contains("warning"), "{}", did.stderr);
    for name in ["all", "own"] {
        let arguments = fs::read_to_string(package.dir.join(format!("tools/{name}.txt")))
            .expect("the tool ran");
        assert!(
            arguments.contains("--crate-name configured")
                && arguments.contains("--extern __metaspy="),
            "{name}: {arguments}"
        );
    }
}

#[test]
fn target_and_target_directory_may_be_configured_or_given() {
    let host = host();
    let package = Package::new(
        "directed",
        &[
            ("Cargo.toml", &manifest("directed", "2024", "")),
            ("src/lib.rs", "pub fn one() {\n}\n"),
            (
                ".cargo/config.toml",
                &format!("[build]\ntarget-dir = \"built here\"\ntarget = \"{host}\"\n"),
            ),
        ],
    );
    for (line, dir) in [
        (&["build"][..], "built here/metaspy"),
        (&["build", "--target-dir", "elsewhere"], "elsewhere"),
    ] {
        let mut command = package.command(line, "metaspy.json");
        let output =
            command.env_remove("CARGO_TARGET_DIR").output().expect("it was built for this test");
        let did = package.did(output, "metaspy.json");
        assert!(did.code == 0 && did.wove("directed::one"), "{}", did.stderr);
        assert!(
            package.dir.join(dir).join(&host).join("debug/libdirected.rlib").is_file(),
            "{dir}"
        );
    }
    assert!(!package.dir.join("target").exists(), "nothing is anywhere else");
}

#[test]
fn a_configured_directory_for_the_parts_of_builds_is_left_to_plain_builds() {
    let package = Package::new(
        "parted",
        &[
            ("Cargo.toml", &manifest("parted", "2024", "")),
            ("src/lib.rs", "pub fn one() {\n}\n"),
            ("src/main.rs", "fn main() {\n    parted::one();\n}\n"),
            (".cargo/config.toml", "[build]\nbuild-dir = \"parts\"\n"),
        ],
    );
    let metadata = package.cargo(&["metadata", "--offline", "--format-version=1", "--no-deps"]);
    if !metadata.stdout.contains("\"build_directory\"") {
        eprintln!("SKIPPED: this cargo knows no `build.build-dir`");
        return;
    }
    for line in [&["run"][..], &["run", "--config", "build.build-dir='given'"]] {
        let did = package.metaspy(line);
        assert_eq!(
            (did.calls("parted::one"), did.calls("parted::main")),
            (Some(1), Some(1)),
            "{}",
            did.stderr
        );
        for dir in ["parts", "given"] {
            assert!(!package.dir.join(dir).exists(), "{line:?}: {dir}");
        }
    }
    let plain = package.cargo(&["build", "--offline"]);
    assert_eq!((plain.code, plain.compiled()), (0, vec!["parted"]), "{}", plain.stderr);
    let other = package.metaspy(&["run", "--weave", "parted::main"]);
    assert_eq!(other.calls("parted::main"), Some(1), "{}", other.stderr);
    assert_eq!(
        package.cargo(&["build", "--offline"]).compiled(),
        [""; 0],
        "its parts are still there"
    );
}

#[test]
fn build_scripts_and_programs_may_start_cargo_and_build_what_it_builds() {
    let check = "assert_eq!(std::env::var(\"CARGO_TARGET_DIR\"), std::env::var(\"EXPECTED\"));";
    let package = Package::new(
        "starting",
        &[
            ("Cargo.toml", &manifest("starting", "2024", "")),
            (
                "build.rs",
                &format!(
                    "fn main() {{\n    println!(\"cargo::rerun-if-changed=build.rs\");\n    {check}\n}}\n"
                ),
            ),
            ("src/lib.rs", "pub fn one() {\n}\n"),
            (
                "src/main.rs",
                &format!(
                    "fn main() {{\n    starting::one();\n    {check}\n    let cargo = std::env::var(\"CARGO_AT_HAND\").unwrap();\n    \
                     let mut command = std::process::Command::new(cargo);\n    \
                     assert!(command.args([\"build\", \"--offline\"]).status().unwrap().success());\n}}\n"
                ),
            ),
        ],
    );
    let theirs = package.target_dir();
    let environment = [("CARGO_AT_HAND", env!("CARGO").as_ref()), ("EXPECTED", theirs.as_os_str())];
    let did = package.metaspy_in(&["run"], &environment);
    assert!(did.code == 0 && did.calls("starting::one") == Some(1), "{}", did.stderr);
    let program =
        fs::read(theirs.join("debug/starting")).expect("it was built where the user says");
    assert!(!program.windows(13).any(|part| part == b"metaspy_woven"), "it is plain");
    let again = package.metaspy_in(&["run"], &environment);
    assert_eq!(
        (again.compiled(), again.calls("starting::one")),
        (vec![], Some(1)),
        "{}",
        again.stderr
    );
}

#[test]
fn flags_that_the_configuration_names_are_kept() {
    let check = "#[cfg(not(told))]\ncompile_error!(\"nobody told\");\n";
    let profiler = Package::new(
        "flagged_profiler",
        &[
            (
                "Cargo.toml",
                &manifest("flagged_profiler", "2024", "[dependencies]\nmetaspy-core = \"0.1\""),
            ),
            ("src/lib.rs", check),
        ],
    );
    let documentation = "/// ```\n/// #[cfg(not(documented))]\n/// compile_error!(\"nobody told\");\n/// flagged::one();\n/// ```\n";
    // Flags make a core of their own.
    let flags = format!(
        "[build]\nrustflags = [\"--cfg\", \"told\"]\nrustdocflags = [\"--cfg\", \"documented\"]\n{QUICK_CORE}"
    );
    let package = Package::new(
        "flagged",
        &[
            ("Cargo.toml", &manifest("flagged", "2024", "")),
            ("src/lib.rs", &format!("{documentation}pub fn one() {{\n}}\n")),
            (".cargo/config.toml", &flags),
        ],
    );
    let profiler = profiler.dir.to_str().expect("it is UTF-8");
    let did = package.metaspy(&["test", "--profiler", profiler]);
    assert!(did.wove("flagged::one") && did.stdout.contains("1 passed"), "{}", did.stdout);
}

#[test]
fn the_names_of_thousands_of_functions_find_room_and_leave_room_for_profilers() {
    let functions: String = (0..2_000)
        .map(|number| format!("pub fn a_function_with_a_long_name_{number:060}() {{}}\n"))
        .collect();
    let last = format!("a_function_with_a_long_name_{:060}", 1_999);
    let source = format!("{functions}fn main() {{\n    {last}();\n}}\n");
    let package = Package::new(
        "thousands",
        &[("Cargo.toml", &manifest("thousands", "2024", "")), ("src/main.rs", &source)],
    );
    let did = package.metaspy_in(&["run", "--timed"], &[("METASPY_BUDGET", OsStr::new("4MiB"))]);
    assert_eq!(did.calls(&format!("thousands::{last}")), Some(1));
    assert!(!did.stderr.contains("no room"), "{}", did.stderr);
    let methods = did.json["methods"].as_array().expect("there is a list");
    assert!(
        methods.iter().any(|method| method["total_ns"].as_u64().is_some()),
        "no times: {}",
        did.json
    );
}

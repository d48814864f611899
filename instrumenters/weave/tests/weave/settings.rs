//! What the environment and cargo's configuration say of a build.

use std::fs;

#[cfg(unix)]
use crate::common::three;
use crate::common::{Package, host, manifest};

#[cfg(unix)]
#[test]
fn a_wrapper_that_was_there_is_still_asked() {
    let package = three("chained");
    let wrapper = package.script("wrapper.sh", "echo \"$@\" >> \"$WRAPPED\"\nexec \"$@\"\n");
    let wrapped = package.dir.join("wrapped.txt");
    let environment = [("RUSTC_WRAPPER", wrapper.as_os_str()), ("WRAPPED", wrapped.as_os_str())];
    let did = package.metaspy_in(&["run"], &environment);
    assert_eq!((did.code, did.calls("chained_a::one")), (0, Some(1)), "{}", did.said);
    let asked = fs::read_to_string(wrapped).expect("it was asked");
    assert!(asked.contains("--crate-name chained_a") && asked.contains("--extern __metaspy="), "{asked}");
}

#[cfg(unix)]
#[test]
fn wrappers_that_the_configuration_names_are_still_asked() {
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
    assert!(did.wove("configured::one") && !did.said.contains("warning"), "{}", did.said);
    for name in ["all", "own"] {
        let asked = fs::read_to_string(package.dir.join(format!("tools/{name}.txt"))).expect("it was asked");
        assert!(asked.contains("--crate-name configured") && asked.contains("--extern __metaspy="), "{name}: {asked}");
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
            (".cargo/config.toml", &format!("[build]\ntarget-dir = \"built here\"\ntarget = \"{host}\"\n")),
        ],
    );
    for (line, dir) in [(&["build"][..], "built here/metaspy"), (&["build", "--target-dir", "elsewhere"], "elsewhere")]
    {
        let mut command = package.command(line, "metaspy.json");
        let output = command.env_remove("CARGO_TARGET_DIR").output().expect("it was built for this test");
        let did = package.did(output, "metaspy.json");
        assert!(did.code == 0 && did.wove("directed::one"), "{}", did.said);
        assert!(package.dir.join(dir).join(&host).join("debug/libdirected.rlib").is_file(), "{dir}");
    }
    assert!(!package.dir.join("target").exists(), "nothing is anywhere else");
}

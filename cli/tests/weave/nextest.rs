//! `cargo metaspy nextest`: each test is a process of its own.

use std::process::Command;

use crate::common::{Package, manifest};

const LIB: &str = r#"
pub struct Scene(pub u32);
impl Scene {
    pub fn measure(&self) -> u32 { self.0 }
    pub fn never(&self) {}
}
#[cfg(test)]
mod tests {
    use super::Scene;
    #[test]
    fn once() { assert_eq!(Scene(1).measure(), 1); }
    #[test]
    fn twice() { let scene = Scene(2); assert_eq!(scene.measure() + scene.measure(), 4); }
    #[test]
    #[ignore]
    fn fails() { assert_eq!(Scene(1).measure(), 2); }
}
"#;

#[test]
fn the_processes_of_nextest_are_one_run() {
    if Command::new("cargo-nextest").args(["nextest", "--version"]).output().is_err() {
        println!("SKIPPED: nextest: it is not installed");
        return;
    }
    let package = Package::new(
        "nextest",
        &[("Cargo.toml", &manifest("nextest", "2024", "")), ("src/lib.rs", LIB)],
    );
    let options = ["--by-test", "--fail-under=50"];
    let threads = package.metaspy(&[&["test", "--lib"][..], &options].concat());
    let processes = package.metaspy(&[&["nextest", "run"][..], &options].concat());
    for did in [&threads, &processes] {
        assert_eq!(did.calls("nextest::Scene::measure"), Some(3), "{}", did.stdout);
        assert_eq!(
            (did.json["exact"].as_bool(), did.json["ratio"]["covered"].as_u64()),
            (Some(true), Some(1))
        );
    }
    for of in ["tests", "ratio", "patterns"] {
        assert_eq!(threads.json[of], processes.json[of], "{of}");
    }
    assert_eq!(threads.json["tests"].as_array().map(Vec::len), Some(2));
    // Its own arguments are behind `run`, and the names of profiles are those of cargo.
    let one = package.metaspy(&["nextest", "run", "--cargo-profile", "dev", "-E", "test(once)"]);
    assert_eq!(one.calls("nextest::Scene::measure"), Some(1), "{}", one.stderr);

    let failed = package.try_metaspy(&["nextest", "run", "--run-ignored", "all", "--no-fail-fast"]);
    assert_eq!(
        (failed.code, failed.calls("nextest::Scene::measure")),
        (100, Some(4)),
        "{}",
        failed.stderr
    );
    let listed = package.try_metaspy(&["nextest", "list"]);
    assert!(
        listed.code == 2 && listed.stderr.contains("cargo metaspy nextest run"),
        "{}",
        listed.stderr
    );
}

//! Pictures of a woven run: in one command, and from its recording.

use std::ffi::OsStr;
use std::process::Command;

use crate::common::{Package, manifest};

const MAIN: &str = "struct Scene(u32);\nimpl Scene {\n    fn layout(&mut self) {\n        for _ in 0..9 {\n            self.measure();\n        }\n    }\n    \
     fn measure(&mut self) -> u32 {\n        self.0 += 1;\n        (0..2000).sum::<u32>() + self.0\n    }\n    #[allow(dead_code)]\n    \
     fn never(&self) {}\n}\nfn main() {\n    Scene(0).layout();\n}\n";

fn package(name: &str) -> Package {
    Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/main.rs", MAIN)])
}

fn metaspy(package: &Package, line: &[&str]) -> (bool, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_metaspy")).args(line).current_dir(&package.dir).output();
    let output = output.expect("it was built for this test");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn a_run_is_drawn_in_one_command_and_from_its_recording() {
    let package = package("drawn");
    let did = package.metaspy(&["run", "--blueprint", "run.html"]);
    assert_eq!(did.code, 0, "{}", did.stderr);
    let html = std::fs::read_to_string(package.dir.join("run.html")).expect("the picture was written");
    assert!(html.contains("structural blueprint of drawn") && html.contains("\"measure\""), "{html}");

    let environment = [("METASPY_RECORD", OsStr::new("run.spy")), ("METASPY_PROFILE", OsStr::new("calls"))];
    package.metaspy_in(&["run"], &environment);
    let (is_fine, text) = metaspy(&package, &["blueprint", "behavioural", "run.spy", "--threshold", "0"]);
    assert!(is_fine, "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let at = |name: &str| lines.iter().position(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {text}"));
    assert!(at("main") <= at("measure") && lines[at("measure")].contains("9×"), "{text}");
    let (_, text) = metaspy(&package, &["blueprint", "coverage", "run.spy"]);
    assert!(text.contains("3/4") || text.contains("2/3"), "{text}");
    assert!(text.contains("never 1"), "{text}");
    let (is_fine, text) = metaspy(&package, &["blueprint", "behavioural", "run.spy", "--from", "mesure"]);
    assert!(!is_fine && text.contains("the nearest are drawn::Scene::measure"), "{text}");
}

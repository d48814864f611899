//! Pictures of a woven run: in one command, and from its recording.

use std::ffi::OsStr;
use std::process::Command;

use crate::chrome::Chrome;
use crate::common::schemas::assert_valid_if_json;
use crate::common::{Package, manifest};

const MAIN: &str = "struct Scene(u32);\nimpl Scene {\n    fn layout(&mut self) {\n        for _ in 0..9 {\n            self.measure();\n        }\n    }\n    \
     fn measure(&mut self) -> u32 {\n        self.0 += 1;\n        (0..2000).sum::<u32>() + self.0\n    }\n    #[allow(dead_code)]\n    \
     fn never(&self) {}\n}\nfn main() {\n    Scene(0).layout();\n}\n";

fn package(name: &str) -> Package {
    Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/main.rs", MAIN)])
}

fn metaspy(package: &Package, line: &[&str]) -> (bool, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_metaspy")).args(line).current_dir(&package.dir).output();
    let output = output.expect("it was built for this test");
    assert_valid_if_json(line, &String::from_utf8_lossy(&output.stdout));
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

fn git(package: &Package, line: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let output = package
        .clean_command("git".as_ref())
        .args(identity)
        .args(line)
        .output()
        .expect("git is here");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn commit(package: &Package, message: &str) {
    git(package, &["add", "Cargo.toml", "src"]);
    git(package, &["commit", "--quiet", "--message", message]);
}

#[test]
fn a_run_is_drawn_in_one_command_and_from_its_recording() {
    let package = package("drawn");
    // Half of the time is not in `measure`, also on a busy machine: a chain of calls that take all
    // of the time is one box.
    let work = "(0..500_000).map(|it| it % 7).sum::<u32>()";
    let layout = format!("self.measure();\n            std::hint::black_box({work});");
    package.write(
        "src/main.rs",
        &MAIN.replace("(0..2000).sum::<u32>()", work).replace("self.measure();", &layout),
    );
    let did = package.metaspy(&["run", "--blueprint", "run.html"]);
    assert_eq!(did.code, 0, "{}", did.stderr);
    let html =
        std::fs::read_to_string(package.dir.join("run.html")).expect("the picture was written");
    assert!(
        html.contains("structural blueprint of drawn") && html.contains("\"measure\""),
        "{html}"
    );

    if let Some(mut chrome) = Chrome::start(&package.dir.join("profile")) {
        chrome.open(&package.dir.join("run.html"), "");
        let faults = chrome.label_faults();
        assert!(faults.is_empty(), "{faults:#?}");
    }

    let environment =
        [("METASPY_RECORD", OsStr::new("run.spy")), ("METASPY_PROFILE", OsStr::new("calls"))];
    package.metaspy_in(&["run"], &environment);
    let (is_fine, text) =
        metaspy(&package, &["blueprint", "behavioural", "run.spy", "--threshold", "0"]);
    assert!(is_fine, "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let at = |name: &str| {
        lines
            .iter()
            .position(|line| line.contains(name))
            .unwrap_or_else(|| panic!("{name}: {text}"))
    };
    assert!(at("main") <= at("measure") && lines[at("measure")].contains("9×"), "{text}");
    // The cost of hooks is in the recording, so a picture has the same numbers whenever it is
    // drawn.
    let draw = |hooks: &[&str]| {
        metaspy(&package, &[&["blueprint", "structural", "run.spy", "--json"], hooks].concat())
    };
    let (first, again) = (draw(&[]), draw(&[]));
    assert!(
        first.0 && first == again && first == draw(&["--hooks", "measured"]),
        "{first:?}\n{again:?}"
    );
    assert_ne!(first, draw(&["--hooks", "kept"]));
    let (_, text) = metaspy(&package, &["blueprint", "coverage", "run.spy"]);
    assert!(text.contains("3/4") || text.contains("2/3"), "{text}");
    assert!(text.contains("never 1"), "{text}");
    let (is_fine, text) =
        metaspy(&package, &["blueprint", "behavioural", "run.spy", "--from", "mesure"]);
    assert!(!is_fine && text.contains("the nearest are drawn::Scene::measure"), "{text}");
}

#[test]
fn an_evolution_by_allocations_names_the_method_that_allocates_more() {
    let package = package("heavier");
    let _ = std::fs::remove_dir_all(package.runs());
    for objects in ["0..20", "0..30"] {
        let boxes =
            format!("({objects}).map(|it| *std::hint::black_box(Box::new(it))).sum::<u32>()");
        package.write("src/main.rs", &MAIN.replace("(0..2000).sum::<u32>()", &boxes));
        package.metaspy(&["run", "--allocations", "--profile", "calls"]);
    }
    let [old, new] = ["1", "2"].map(|run| package.runs().join(run).display().to_string());
    let (is_fine, text) =
        metaspy(&package, &["blueprint", "evolution", &old, &new, "--by", "allocations"]);
    assert!(
        is_fine && text.contains("Scene::measure: 180 → 270 (+50 %), source changed"),
        "{text}"
    );
}

#[test]
fn a_history_by_instructions_names_the_method_that_executes_more() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: callgrind: valgrind is not installed");
        return;
    }
    let package = package("executed");
    git(&package, &["init", "--quiet"]);
    for steps in [2000, 3000] {
        let sum = format!("({{ let mut at = 0_u32; while at < {steps} {{ at += 1; }} at }})");
        package.write("src/main.rs", &MAIN.replace("(0..2000).sum::<u32>()", &sum));
        commit(&package, "Another number of steps");
    }
    let mut history = package.clean_command(env!("CARGO_BIN_EXE_metaspy").as_ref());
    history.args(["history", "run", "HEAD~1..HEAD", "--instructions", "--"]);
    let output =
        history.args([env!("CARGO_BIN_EXE_cargo-metaspy"), "metaspy", "run", "--offline"]).output();
    let output = output.expect("it was built for this test");
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{error}");

    let command = out
        .lines()
        .find_map(|line| line.strip_prefix("as pictures: metaspy "))
        .expect("it names the next step");
    let (is_fine, text) = metaspy(&package, &command.split(' ').collect::<Vec<_>>());
    assert!(
        is_fine && text.contains("1 with more instructions, 0 with fewer instructions"),
        "{text}"
    );
    assert!(text.contains("(+50 %), source changed"), "the hook is no part of it: {text}");

    // What is counted already is not added up.
    let recording = command
        .split(' ')
        .next_back()
        .map(|dir| format!("{dir}/run-1"))
        .expect("it names a version");
    let (is_fine, text) = metaspy(&package, &["instructions", &recording, "--", "true"]);
    assert!(!is_fine && text.contains("it has instructions already"), "{text}");
}

#[test]
fn a_history_records_each_revision_and_names_what_changed() {
    let package = package("aged");
    git(&package, &["init", "--quiet"]);
    commit(&package, "Nine measures");
    package.write("src/main.rs", &MAIN.replace("fn never", "fun never"));
    commit(&package, "This does not build");
    let longer = MAIN
        .replace("0..9", "0..18")
        .replace("fn measure", "fn size")
        .replace("self.measure", "self.size");
    package.write("src/main.rs", &longer);
    commit(&package, "Eighteen measures, by another name");

    let mut history = package.clean_command(env!("CARGO_BIN_EXE_metaspy").as_ref());
    history.args(["history", "run", "HEAD~2..HEAD", "--html", "history.html", "--"]);
    let output =
        history.args([env!("CARGO_BIN_EXE_cargo-metaspy"), "metaspy", "run", "--offline"]).output();
    let output = output.expect("it was built for this test");
    let (out, error) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "one revision does not build:\n{out}\n{error}");
    assert_eq!(out.matches("    recorded  ").count(), 2, "{out}");
    assert!(
        out.contains("not recorded  This does not build") && error.contains("it does not build"),
        "{out}\n{error}"
    );

    let html = std::fs::read_to_string(package.dir.join("history.html")).expect("it was drawn");
    // Twice the calls of a method that has another name, and a caller with other tokens.
    assert!(html.contains("1 renamed, 1 with changed source"), "{html}");
    assert!(html.contains("9 → 18 (+100 %)"), "{html}");
    // The text names it, too, and the recordings are versions for a table.
    assert!(out.contains("1 with more calls, 0 with fewer calls, 0 new, 0 gone"), "{out}");
    assert!(out.contains("Scene::size: 9 → 18 (+100 %)"), "{out}");
    assert!(out.contains("aged::Scene::measure → aged::Scene::size"), "{out}");
    let command = out
        .lines()
        .find_map(|line| line.strip_prefix("as a table: metaspy "))
        .expect("it names the command");
    let (is_fine, text) = metaspy(&package, &command.split(' ').collect::<Vec<_>>());
    assert!(
        is_fine && text.contains("renamed: aged::Scene::measure → aged::Scene::size"),
        "{text}"
    );

    let (is_fine, text) = metaspy(&package, &["history", "run", "HEAD", "--", "true"]);
    assert!(!is_fine && text.contains("HEAD~5..HEAD"), "{text}");
    let (is_fine, text) = metaspy(&package, &["history", "run", "nowhere..HEAD", "--", "true"]);
    assert!(!is_fine && text.contains("nowhere"), "{text}");
}

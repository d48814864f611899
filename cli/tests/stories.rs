//! The stories on published crates, checked against what these crates and their engines say
//! themselves. They are built for some minutes, so they run with `METASPY_LONG=1` only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// The output of a story's script; `None` if long tests are off.
fn story(name: &str, arguments: &[&str]) -> Option<String> {
    if env::var_os("METASPY_LONG").is_none_or(|value| value.is_empty()) {
        println!("SKIPPED: {name}: METASPY_LONG=1 runs examples/{name}/run.sh");
        return None;
    }
    let programs = Path::new(env!("CARGO_BIN_EXE_metaspy")).parent().expect("in a directory");
    let path = format!("{}:{}", programs.display(), env::var("PATH").unwrap_or_default());
    let mut command = Command::new(root().join("examples").join(name).join("run.sh"));
    let output = command.args(arguments).env("PATH", path).output().expect("it is a script");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("it is text"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The number that is written like `1,200,012`.
fn number(text: &str) -> u64 {
    text.replace(',', "").parse().unwrap_or_else(|_| panic!("{text} is no number"))
}

/// The receivers of the calls of a method at a call site, and how often each arrived.
fn receivers(report: &str, call: &str) -> BTreeMap<String, u64> {
    let lines = report
        .lines()
        .skip_while(|line| !line.trim_end().ends_with(&format!("{call}: megamorphic")))
        .skip(1);
    let targets = lines.map_while(|line| line.split_once(" calls ("));
    let receiver = |line: &str| line.rsplit(':').next().unwrap_or_default().to_owned();
    targets.map(|(count, line)| (receiver(line), number(count.trim()))).collect()
}

#[test]
fn the_receivers_at_a_call_are_those_of_the_source() {
    let Some(report) = story("receivers", &[]) else { return };
    let at = "check_derivative_of_cdf_is_pdf calls";
    let (cdf, pdf) =
        (receivers(&report, &format!("{at} cdf")), receivers(&report, &format!("{at} pdf")));
    // The loop calls `cdf` twice for each `pdf`.
    assert_eq!(cdf, pdf.into_iter().map(|(receiver, count)| (receiver, 2 * count)).collect());
    // What arrived and what did not are the implementations in the source.
    let never = report
        .lines()
        .find_map(|line| line.trim().strip_prefix("statrs::distribution::ContinuousCDF: "));
    let (_, never) = never.and_then(|line| line.split_once(": ")).expect("some never arrived");
    let mut seen: Vec<String> = cdf.into_keys().collect();
    seen.extend(
        never.split(", ").map(|path| path.rsplit(':').next().unwrap_or_default().to_owned()),
    );
    seen.sort();
    assert_eq!(seen, implementations("ContinuousCDF"));
}

/// The types for which the source of statrs implements a trait.
fn implementations(of: &str) -> Vec<String> {
    let directory = root().join("target/receivers/statrs/src/distribution");
    let files = fs::read_dir(directory)
        .expect("the story copied it")
        .map(|entry| entry.expect("a file").path());
    let mut types = Vec::new();
    let files = files.filter(|path| path.is_file());
    for source in files.map(|path| fs::read_to_string(path).expect("it is text")) {
        let lines =
            source.lines().filter(|line| line.trim_start().starts_with(&format!("impl {of}<")));
        types.extend(
            lines.map(|line| line.split(' ').rev().nth(1).expect("a type and a brace").to_owned()),
        );
    }
    types.sort();
    types
}

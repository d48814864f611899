//! The most likely mistakes of a beginner: each gets its cause and the next command.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use metaspy::prelude::*;

use crate::{fixture, text};

/// Mistakes that are refused: the words after `metaspy`, the cause that the answer states, and the
/// next step that it names.
const MISTAKES: [(&str, &str, &str); 31] = [
    // The command line.
    ("", "Usage: metaspy COMMAND", "Start here"),
    ("repot run.spy", "unrecognized subcommand 'repot'", "'report'"),
    ("run.spy", "unrecognized subcommand 'run.spy'", "metaspy open run.spy"),
    ("report", "<FILE|NAME|->", "--help"),
    ("report run.spy --by subjects", "invalid value 'subjects'", "'subject'"),
    ("report run.spy --sort speed", "no row has a column `speed`", "self"),
    ("diff run.spy", "<AFTER>", "Usage: metaspy diff <BEFORE> <AFTER>"),
    ("export run.spy --to crome", "invalid value 'crome'", "'chrome'"),
    ("demo --seconds 3", "were not provided", "--record"),
    ("demo", "needs a terminal", "metaspy demo --record run.spy"),
    ("open run.spy", "needs a terminal", "metaspy report run.spy"),
    // What is not a recording, and what is none any more.
    (
        "report missing.spy",
        "there is no file missing.spy",
        "has no hooks (`cargo metaspy run` gives it some)",
    ),
    ("report missing.spy", "feature `record` is off", "cargo tree -e features -i metaspy"),
    ("report letter.spy", "not a metaspy recording", "metaspy list"),
    ("report empty.spy", "empty", "record again"),
    ("report old.spy", "version", "record"),
    ("open cut.spy", "cut.spy", "record"),
    ("demo --record letter.spy", "exists and is not a recording", "choose another name"),
    ("demo --record nowhere/run.spy", "cannot record to", "another path"),
    // Programs that are not recorded.
    ("attach", "none of your processes is being recorded", "METASPY_RECORD=live"),
    ("attach 1", "process 1 is not being recorded", "METASPY_RECORD=live"),
    ("attach 4194999", "does not exist", "metaspy list"),
    // What was not recorded.
    ("report run.spy --functions", "no samples were recorded", "metaspy sample -- CMD"),
    ("report run.spy --contexts", "no calling contexts", "cargo metaspy run --contexts"),
    ("report run.spy --types", "no types were recorded", "cargo metaspy run --types"),
    // Selectors and conditions.
    ("report run.spy --filter site:Scene::layuot", "no site matches", "Scene::layout"),
    ("report run.spy --filter took:>1x", "no length of time", "took:>1ms"),
    ("report run.spy --fail-if count(site:layuot)>1", "no site matches", "layout"),
    ("findings run.spy --kind repated", "no kind `repated`", "repeated"),
    // What is installed apart, or is missing.
    ("query SELECT-1 run.spy", "not installed", "cargo install --locked --path scale"),
    ("grammar none.pest --rule x run.spy", "cannot read none.pest", "file"),
];

/// Mistakes of which the recording knows: in the same words, and the command succeeds.
const RECORDED_MISTAKES: [(&str, &str, &str); 6] = [
    ("report idle.spy", "no hook ran while a profiler was installed", "METASPY_OBSERVE='*'"),
    ("findings idle.spy", "no hook ran while a profiler was installed", "METASPY_OBSERVE='*'"),
    (
        "report forgets.spy",
        "no profiler was installed",
        "call `Profiler::install` and keep what it returns",
    ),
    ("report exits.spy", "the program ended first, as with `process::exit`", "metaspy open"),
    (
        "report replaces.spy",
        "METASPY_RECORD=replaces.spy ends here",
        "`metaspy report own.spy` has what follows",
    ),
    ("diff run.spy run.spy", "run.spy is compared with itself", "METASPY_RECORD=after.spy"),
];

struct Work;

#[observe]
impl Work {
    fn runs(&self) {}

    fn exits(&self) {
        std::process::exit(0);
    }
}

/// What a program of these tests does; as a test of its own, nothing.
#[test]
fn program() {
    let own = |name: &str| {
        metaspy::Recording::file(name).budget(1 << 20).start().expect("the file can be made")
    };
    match std::env::var("METASPY_BEGINNER").as_deref() {
        Ok("forgets") => {
            let recording = own("forgets.spy");
            let profiler = Profiler::new("work").observe(methods(site!(Work::runs)));
            Work.runs();
            drop((recording, profiler));
        }
        Ok("exits") => Work.exits(),
        Ok("replaces") => drop(own("own.spy")),
        _ => {}
    }
}

/// Runs the program in a directory, recorded if it makes no recording of its own.
fn run(directory: &Path, mistake: &str) {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command
        .args(["beginner::program", "--exact"])
        .current_dir(directory)
        .env("METASPY_BEGINNER", mistake);
    command.env_remove("METASPY_OBSERVE").env_remove("METASPY_RECORD");
    if mistake != "forgets" {
        command.env("METASPY_RECORD", format!("{mistake}.spy"));
    }
    let output = command.output().expect("it can be run again");
    assert!(output.status.success(), "{mistake}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_help_of_commands_that_are_installed_apart_needs_no_program() {
    let directory = fixture::directory().join("help");
    fs::create_dir_all(&directory).expect("there is room");
    for command in ["query", "seal", "cluster", "restore", "ship", "serve", "otlp"] {
        let (code, printed) = answer(&directory, &format!("{command} --help"));
        assert_eq!(code, Some(0), "{printed}");
        assert!(printed.starts_with(&format!("Example:\n  metaspy {command} ")), "{printed}");
        assert!(printed.contains("cargo install --locked --path scale"), "{printed}");
    }
    fs::remove_dir_all(directory).expect("it is ours");
}

/// Runs `metaspy`, and returns its exit code and all that it prints.
fn answer(directory: &Path, arguments: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    command
        .args(arguments.split(' ').filter(|word| !word.is_empty()))
        .current_dir(directory)
        .stdin(Stdio::null());
    command
        .env("METASPY_DIR", text(&directory.join("live")))
        .env("PATH", "/nowhere")
        .env_remove("METASPY_RECORD");
    let output = command.output().expect("the command can be started");
    (
        output.status.code(),
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
    )
}

#[test]
fn each_mistake_is_answered_with_the_cause_and_the_next_command() {
    let directory = fixture::directory().join("beginner");
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let bytes = fs::read(fixture::closed("beginner.spy", 20)).expect("it was just recorded");
    let mut old = bytes.clone();
    old[12..16].copy_from_slice(&0u32.to_le_bytes());
    let files = [
        ("run.spy", &*bytes),
        ("letter.spy", b"Dear reader"),
        ("empty.spy", b""),
        ("old.spy", &old),
    ];
    for (name, content) in files.into_iter().chain([("cut.spy", &bytes[..100])]) {
        fs::write(directory.join(name), content).expect("the test's directory can be written");
    }
    for mistake in ["idle", "forgets", "exits", "replaces"] {
        run(&directory, mistake);
    }
    let mut unanswered = String::new();
    let recorded = RECORDED_MISTAKES.map(|mistake| (0, mistake));
    for (code, (arguments, cause, next)) in
        MISTAKES.map(|mistake| (2, mistake)).into_iter().chain(recorded)
    {
        let (ended, answer) = answer(&directory, arguments);
        // Long sentences are in several lines.
        let words = answer.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_answered =
            words.contains(cause) && words.contains(next) && !words.contains("panicked");
        if ended != Some(code) || !is_answered {
            unanswered +=
                &format!("metaspy {arguments}: {ended:?}, not `{cause}` and `{next}`:\n{answer}\n");
        }
    }
    assert_eq!(unanswered, "");
}

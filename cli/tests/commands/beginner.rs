//! The thirty most likely mistakes of a beginner: each gets its cause and the next command.

use std::fs;
use std::process::{Command, Stdio};

use crate::{fixture, text};

/// A mistake: the words after `metaspy`, the cause that the answer states, and the next step that it names.
const MISTAKES: [(&str, &str, &str); 30] = [
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
    ("report missing.spy", "there is no file missing.spy", "A program without hooks writes none: `cargo metaspy run`"),
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

#[test]
fn thirty_mistakes_are_answered_with_the_cause_and_the_next_command() {
    let directory = fixture::directory().join("beginner");
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let bytes = fs::read(fixture::closed("beginner.spy", 20)).expect("it was just recorded");
    let mut old = bytes.clone();
    old[12..16].copy_from_slice(&0u32.to_le_bytes());
    let files = [("run.spy", &*bytes), ("letter.spy", b"Dear reader"), ("empty.spy", b""), ("old.spy", &old)];
    for (name, content) in files.into_iter().chain([("cut.spy", &bytes[..100])]) {
        fs::write(directory.join(name), content).expect("the test's directory can be written");
    }
    let mut unanswered = String::new();
    for (arguments, cause, next) in MISTAKES {
        let mut command = Command::new(env!("CARGO_BIN_EXE_metaspy"));
        command.args(arguments.split(' ').filter(|word| !word.is_empty())).current_dir(&directory).stdin(Stdio::null());
        command.env("METASPY_DIR", text(&directory.join("live"))).env("PATH", "/nowhere").env_remove("METASPY_RECORD");
        let output = command.output().expect("the command can be started");
        let error = String::from_utf8_lossy(&output.stderr);
        let is_answered = error.contains(cause) && error.contains(next) && !error.contains("panicked");
        if output.status.code() != Some(2) || !is_answered {
            unanswered += &format!("metaspy {arguments}: {}, not `{cause}` and `{next}`:\n{error}\n", output.status);
        }
    }
    assert_eq!(unanswered, "");
}

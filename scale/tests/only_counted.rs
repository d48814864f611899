//! Hooks that only count, in a program of their own: one with such a hook cannot be recorded in
//! another way.

use std::path::Path;
use std::process::Command;

use metaspy::prelude::*;

fn counted() {
    metaspy_probe::entry!("counted", 1, 2, "c=1 self=none vis=private entry");
}

struct Account;

#[observe]
impl Account {
    fn close(&self) {}
}

#[test]
fn outcomes_that_no_hook_saw_are_null() {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("entered-{}.spy", std::process::id()));
    let recording = Recording::file(&path).budget(8 << 20).start().expect("there is room");
    let observed = ["counted", "Account::close"].map(|name| methods(name).mode(Mode::Tally));
    let profiler = observed.into_iter().fold(Profiler::new("entered"), Profiler::observe);
    let profiler = profiler.install().expect("they are observed");
    (0..3).for_each(|_| counted());
    Account.close();
    drop(profiler);
    recording.close();
    let sql = "SELECT calls, failed, panicked, cancelled, running FROM tallies ORDER BY calls";
    let mut query = Command::new(env!("CARGO_BIN_EXE_metaspy-scale"));
    let output =
        query.args(["query", "--format", "csv", sql]).arg(&path).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), ["1,0,0,0,0", "3,,,,"], "{text}");
    std::fs::remove_file(path).expect("it is ours");
}

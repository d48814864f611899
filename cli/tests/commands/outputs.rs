//! The files that commands write: never in the place of an input, whole or as before, and as
//! private as what was read.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Command as Options, CommandFactory};
use metaspy_cli::metaspy::arguments::Cli;
use metaspy_cli::outputs::Outputs;

use crate::{ended, fixture, metaspy, text};

/// Options that name a file to write. `IN` is a recording, `OUT` that file.
const OUTPUTS: [&str; 16] = [
    "report IN --json=OUT",
    "report IN --lcov OUT",
    "report IN --cobertura OUT",
    "report IN --by subject --json=OUT",
    "verify IN --json=OUT",
    "list --json=OUT",
    "diff IN IN --json=OUT",
    "findings IN --json=OUT",
    "findings IN --sarif OUT",
    "export IN --to csv -o OUT",
    "export IN --to spy -o OUT",
    "blueprint structural IN --html OUT",
    "blueprint structural IN --svg OUT",
    "blueprint structural IN --json=OUT",
    "blueprint domain IN --view VIEW --html OUT",
    "blueprint evolution IN IN --html OUT",
];

/// The same of commands that start a program, and of those with other inputs.
const OTHER_OUTPUTS: [&str; 16] = [
    "demo --record OUT --events 1k",
    "sample --json=OUT -- PROGRAM",
    "sample --html OUT -- PROGRAM",
    "sample --collapsed OUT -- PROGRAM",
    "sample --speedscope OUT -- PROGRAM",
    "sample --firefox OUT -- PROGRAM",
    "sample --pprof OUT -- PROGRAM",
    "import VIEW --period 1ms --output OUT",
    "instructions IN --json=OUT -- PROGRAM",
    "history run HEAD..HEAD --html OUT -- PROGRAM",
    "grammar PROGRAM --rule doc --json=OUT VIEW",
    "grammar PROGRAM --rule doc --lcov OUT VIEW",
    "grammar PROGRAM --rule doc --blueprint OUT VIEW",
    "grammar PROGRAM --rule doc --record OUT VIEW",
    "grammar report DIR --json=OUT",
    "blueprint grammar IN --html OUT",
];

/// Options of `cargo metaspy` that name a file to write. All of its commands that build have them.
#[cfg(feature = "weave")]
const OF_CARGO: [&str; 4] = ["--json=OUT", "--lcov=OUT", "--cobertura=OUT", "--blueprint=OUT"];

const VIEW: &str = "subjects = \"node\"\nfill = { value = \"count\", query = \"site:measure\" }\n";

fn arguments(command: &str, recording: &Path, view: &Path, out: &Path) -> Vec<String> {
    let place = |word: &str| {
        word.replace("IN", text(recording)).replace("VIEW", text(view)).replace("OUT", text(out))
    };
    command.split(' ').map(place).collect()
}

fn run(command: &str, recording: &Path, view: &Path, out: &Path) -> (i32, String) {
    let arguments = arguments(command, recording, view, out);
    let (code, _, error) = ended(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    (code, error)
}

/// A directory of its own with a recording and a view.
fn place(name: &str) -> (PathBuf, PathBuf, PathBuf) {
    let recording = fixture::closed(&format!("{name}.spy"), 2);
    let directory = fixture::directory().join(name);
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let view = directory.join("view.toml");
    fs::write(&view, VIEW).expect("it is written");
    let moved = directory.join("run.spy");
    fs::rename(recording, &moved).expect("it is in the same file system");
    (directory, moved, view)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is there");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("it is read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// The command of a row and its options that write a file, as in `report --json`.
fn written_by(row: &str) -> BTreeSet<String> {
    let words = std::iter::once("metaspy").chain(row.split(' '));
    let matches = Cli::command().try_get_matches_from(words).expect("a row is a command line");
    let (mut name, mut level) = (String::new(), &matches);
    while let Some((command, matches)) = level.subcommand() {
        name = format!("{name}{command} ");
        level = matches;
    }
    Outputs::of(&matches).options().map(|option| format!("{name}{option}")).collect()
}

/// All options that write a file, of a command and those below it.
fn all_of(command: &Options, name: &str, found: &mut BTreeSet<String>) {
    for option in command.get_arguments().filter_map(|option| option.get_long()) {
        let probe = command
            .clone()
            .ignore_errors(true)
            .try_get_matches_from(["metaspy", &format!("--{option}=x")]);
        let written =
            probe.map(|matches| Outputs::of(&matches).options().count()).unwrap_or_default();
        found.extend((written > 0).then(|| format!("{name}--{option}")));
    }
    for inner in command.get_subcommands() {
        all_of(inner, &format!("{name}{} ", inner.get_name()), found);
    }
}

#[test]
fn every_option_that_writes_a_file_has_a_row() {
    let rows: BTreeSet<String> =
        OUTPUTS.iter().chain(&OTHER_OUTPUTS).flat_map(|row| written_by(row)).collect();
    let mut all = BTreeSet::new();
    all_of(&Cli::command(), "", &mut all);
    assert_eq!(rows, all);
    assert!(all.len() > 25, "{all:?}");
}

#[cfg(feature = "weave")]
#[test]
fn outputs_of_cargo_metaspy_are_checked_before_it_builds() {
    let mut found = BTreeSet::new();
    all_of(&metaspy_cli::cargo_metaspy::arguments::Cli::command(), "", &mut found);
    let commands: BTreeSet<&str> =
        found.iter().filter_map(|option| Some(option.split_once(' ')?.0)).collect();
    let rows =
        |command: &str| OF_CARGO.map(|row| format!("{command} {}", row.trim_end_matches("=OUT")));
    assert_eq!(found, commands.iter().flat_map(|command| rows(command)).collect());
    assert!(commands.len() >= 5, "{commands:?}");

    let (directory, recording, _) = place("of_cargo");
    let baseline = directory.join("baseline.json");
    fs::write(&baseline, "precious").expect("it is written");
    for (command, row) in commands.iter().flat_map(|command| OF_CARGO.map(|row| (command, row))) {
        let ended = |out: &Path| {
            let mut metaspy = Command::new(env!("CARGO_BIN_EXE_cargo-metaspy"));
            metaspy.args([
                "metaspy",
                command,
                &row.replace("OUT", text(out)),
                "--baseline",
                text(&baseline),
            ]);
            // Without a package, a build fails.
            let output = metaspy.current_dir(&directory).output().expect("it starts");
            (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let (code, error) = ended(&directory.join("absent/out"));
        assert!(code == Some(2) && error.contains("cannot write"), "{command} {row}: {error}");
        let (code, error) = ended(&baseline);
        assert!(
            code == Some(2) && error.contains("it is an input of this command"),
            "{command} {row}: {error}"
        );
        let (code, error) = ended(&recording);
        assert!(code == Some(2) && error.contains("it is a recording"), "{command} {row}: {error}");
        assert_eq!(fs::read_to_string(&baseline).expect("it is there"), "precious");
    }
}

#[test]
fn outputs_are_checked_before_a_program_runs() {
    let (directory, recording, view) = place("before_a_run");
    let (program, ran) = (directory.join("program"), directory.join("ran"));
    let script = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
    fs::write(&program, &script).expect("it is written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    for row in OUTPUTS.iter().chain(&OTHER_OUTPUTS) {
        let row = row.replace("PROGRAM", text(&program)).replace("DIR", text(&directory));
        let (code, error) = run(&row, &recording, &view, &directory.join("absent/out"));
        assert!(code == 2 && !ran.exists(), "{row}: {error}");
        // What a file may become that is a recording is decided when it is recorded.
        if row.contains(text(&program)) && !row.contains("--record") {
            let (code, error) = run(&row, &recording, &view, &program);
            assert!(
                code == 2 && error.contains("it is an input of this command") && !ran.exists(),
                "{row}: {error}"
            );
            assert_eq!(fs::read_to_string(&program).expect("it is there"), script, "{row}");
        }
    }
}

#[test]
fn two_outputs_do_not_share_a_file() {
    let (directory, recording, view) = place("shared_outputs");
    let (out, link) = (directory.join("out"), directory.join("link"));
    fs::write(&out, "precious").expect("it is written");
    symlink("out", &link).expect("links are made");
    for other in [&out, &link, &directory.join("../shared_outputs/out")] {
        let row = format!("report IN --json=OUT --lcov {}", text(other));
        let (code, error) = run(&row, &recording, &view, &out);
        let expected = "give each a file of its own";
        assert!(code == 2 && error.contains("--json") && error.contains("--lcov"), "{error}");
        assert!(error.contains(expected), "{error}");
        assert_eq!(fs::read_to_string(&out).expect("it is there"), "precious");
    }
    assert_eq!(
        run("report IN --json=OUT --lcov OUT", &recording, &view, Path::new("/dev/null")).0,
        0
    );
}

#[test]
fn the_settings_of_the_project_stay() {
    let (directory, recording, _) = place("settings");
    let settings = directory.join("metaspy.toml");
    fs::write(&settings, "[findings]\n").expect("it is written");
    for command in ["report", "findings", "verify"] {
        let mut command = metaspy(&[command, text(&recording), "--json=metaspy.toml"]);
        let output = command.current_dir(&directory).output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(2) && error.contains("it is an input of this command"),
            "{error}"
        );
        assert_eq!(fs::read_to_string(&settings).expect("it is there"), "[findings]\n");
    }
}

#[test]
fn no_command_writes_in_the_place_of_an_input() {
    let (directory, recording, view) = place("onto_inputs");
    let [link, hard, other] = ["link", "hard", "other.spy"].map(|name| directory.join(name));
    symlink("run.spy", &link).expect("links are made");
    fs::hard_link(&recording, &hard).expect("links are made");
    fs::copy(&recording, &other).expect("it is copied");
    let before = fs::read(&recording).expect("it is there");
    let entries = names(&directory);
    for command in OUTPUTS {
        for out in [&recording, &link, &hard, &other] {
            // One recording may take the place of another.
            if command.contains("--to spy") && out == &other {
                continue;
            }
            let (code, error) = run(command, &recording, &view, out);
            assert!(
                code == 2 && error.contains("name another file"),
                "{command} to {}: {error}",
                out.display()
            );
            assert_eq!(
                fs::read(out).expect("it is there"),
                before,
                "{command} to {}",
                out.display()
            );
        }
    }
    let (code, error) = run("blueprint domain IN --view VIEW --html OUT", &recording, &view, &view);
    assert!(code == 2 && error.contains("it is an input of this command"), "{error}");
    assert_eq!(fs::read_to_string(&view).expect("it is there"), VIEW);
    assert!(link.is_symlink());
    assert_eq!(names(&directory), entries);
}

#[test]
fn a_recording_that_is_written_keeps_its_file() {
    let other = fixture::closed("outputs-other.spy", 1);
    let _turn = fixture::turn();
    let path = fixture::directory().join("outputs-live.spy");
    let _ = fs::remove_file(&path);
    let (recording, installed) = fixture::begin(metaspy_core::Recording::file(&path), 1);
    for command in ["report IN --json=OUT", "export IN --to spy -o OUT", "list --json=OUT"] {
        let (code, error) = run(command, &path, Path::new("none"), &path);
        assert!(code == 2 && error.contains("name another file"), "{command}: {error}");
    }
    let (code, error) = run("export IN --to spy -o OUT", &other, Path::new("none"), &path);
    assert!(code == 2 && error.contains("a process writes"), "{error}");
    fixture::frame();
    drop(installed);
    recording.close();
    let sites = fixture::open(&path).sites().len();
    assert!(sites > 0, "it is not the same recording");
}

#[test]
fn a_file_that_cannot_be_written_to_its_end_is_as_it_was_before() {
    let (directory, recording, view) = place("no_room");
    let out = directory.join("out");
    for command in OUTPUTS.iter().filter(|command| !command.starts_with("list")) {
        for before in [None, Some("precious")] {
            let _ = fs::remove_file(&out);
            before.inspect(|text| fs::write(&out, text).expect("it is written"));
            let entries = names(&directory);
            let mut limited = Command::new("sh");
            // No file may be larger than a block, as if the disk was full.
            limited
                .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""])
                .arg(env!("CARGO_BIN_EXE_metaspy"));
            let output = limited
                .args(arguments(command, &recording, &view, &out))
                .output()
                .expect("it starts");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(
                output.status.code() == Some(2) && error.contains("cannot write"),
                "{command}: {error}"
            );
            assert_eq!(fs::read_to_string(&out).ok().as_deref(), before, "{command}");
            assert_eq!(names(&directory), entries, "{command} leaves a part");
        }
    }
}

#[test]
fn what_was_private_stays_private() {
    let (directory, recording, view) = place("private");
    let mode =
        |path: &Path| fs::metadata(path).expect("it was written").permissions().mode() & 0o777;
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours")
    };
    assert_eq!(mode(&recording), 0o600);
    for command in OUTPUTS.iter().filter(|command| !command.starts_with("list")) {
        let out = directory.join("out");
        assert_eq!((run(command, &recording, &view, &out).0, mode(&out)), (0, 0o600), "{command}");
        // What is there is published, or not, by its user.
        set(&out, 0o640);
        assert_eq!((run(command, &recording, &view, &out).0, mode(&out)), (0, 0o640), "{command}");
        fs::remove_file(&out).expect("it is there");
    }
    set(&recording, 0o644);
    let out = directory.join("public");
    run("export IN --to csv -o OUT", &recording, &view, &out);
    let usual = directory.join("usual");
    fs::write(&usual, "").expect("it is written");
    assert_eq!(mode(&out), mode(&usual));
}

#[test]
fn links_pipes_and_devices_are_written_through() {
    let (directory, recording, _) = place("through");
    let [link, real, pipe] = ["link", "real", "pipe"].map(|name| directory.join(name));
    symlink("real", &link).expect("links are made");
    let export =
        |out: &Path| run("export IN --to csv -o OUT", &recording, Path::new("none"), out).0;
    assert_eq!((export(&link), link.is_symlink()), (0, true));
    let document = fs::read(&real).expect("it was written");
    assert_eq!(export(&link), 0, "it is replaced");
    assert_eq!(fs::read(&real).expect("it was written"), document);
    assert_eq!(export(Path::new("/dev/null")), 0);
    assert!(!Path::new("/dev/null").is_file());
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("every Unix has it").success());
    let reader =
        Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().expect("every Unix has it");
    assert_eq!(export(&pipe), 0);
    assert_eq!(reader.wait_with_output().expect("it ends").stdout, document);
    // Standard output is a file here, and stays this file.
    let shared = directory.join("shared");
    let out = fs::File::create(&shared).expect("it is made");
    let mut command = metaspy(&["export", text(&recording), "--to", "csv", "-o", "/dev/stdout"]);
    assert!(command.stdout(out).status().expect("it starts").success());
    assert_eq!(fs::read(&shared).expect("it was written"), document);
}

/// Runs a command behind a mount. Returns `None`, and says so, where a user may not mount anything.
fn behind_a_mount(
    mount: &str,
    directory: &Path,
    arguments: &[&str],
) -> Option<(Option<i32>, String)> {
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command
            .args(["-rm", "sh", "-c", script])
            .arg(env!("CARGO_BIN_EXE_metaspy"))
            .args(arguments);
        command.current_dir(directory).output()
    };
    if !unshare(mount).is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: small-file-system: nothing can be mounted here");
        return None;
    }
    let output =
        unshare(&format!("{mount} && exec \"$0\" \"$@\"")).expect("it started a moment ago");
    Some((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned()))
}

#[test]
fn a_mounted_file_is_written_and_a_read_only_file_system_is_named() {
    let (directory, recording, _) = place("mounted");
    let [out, mounted, read_only] =
        ["out", "mounted", "read-only"].map(|name| directory.join(name));
    fs::write(&out, "").and_then(|()| fs::write(&mounted, "earlier")).expect("it is written");
    fs::create_dir(&read_only).expect("it is new");
    let entries = names(&directory);
    let export = ["export", text(&recording), "--to", "csv", "-o"];
    let onto_file = [&export[..], &["out"]].concat();
    let Some((code, error)) = behind_a_mount("mount --bind mounted out", &directory, &onto_file)
    else {
        return;
    };
    assert_eq!(code, Some(0), "{error}");
    let written = fs::read_to_string(&mounted).expect("it is there");
    assert!(written.lines().count() > 2 && !written.contains("earlier"), "{written}");
    assert_eq!(names(&directory), entries, "it leaves a part");

    let into_directory = [&export[..], &["read-only/out"]].concat();
    let mount = "mount -t tmpfs -o ro tmpfs read-only";
    let Some((code, error)) = behind_a_mount(mount, &directory, &into_directory) else { return };
    assert!(
        code == Some(2)
            && error.contains("its file system is read-only: name a file in another one"),
        "{error}"
    );
    let (code, error) = run(
        "export IN --to csv -o OUT",
        &recording,
        Path::new("none"),
        &directory.join("absent/out"),
    );
    assert!(code == 2 && error.contains("mkdir -p") && error.contains("absent"), "{error}");
}

//! Bad input: a clear sentence, or what can be read together with what is missing. Never a panic.

use std::fs;
use std::path::PathBuf;

use crate::{ended, fixture, metaspy, text};

/// Every command that reads a file refuses it, with a sentence that has `word` in it.
fn refused(path: &str, word: &str) {
    for arguments in
        [&["report", path][..], &["report", path, "--json"], &["verify", path], &["open", path]]
    {
        let (code, out, error) = ended(arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {error}");
        assert!(error.starts_with("metaspy: ") && error.contains(word), "{arguments:?}: {error}");
        assert!(error.contains(path) && !error.contains("panicked"), "{arguments:?}: {error}");
    }
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = fixture::directory().join(name);
    fs::write(&path, bytes).expect("the test's directory can be written");
    path
}

#[test]
fn a_missing_file() {
    refused(text(&fixture::directory().join("missing.spy")), "there is no file");
}

#[test]
fn a_directory() {
    let (code, _, error) = ended(&["verify", text(&fixture::directory())]);
    assert!(code == 2 && error.contains("not a file"), "{error}");
}

#[test]
fn an_empty_file() {
    refused(text(&file("nothing.spy", b"")), "empty");
}

#[test]
fn a_file_that_is_not_ours() {
    refused(text(&file("letter.spy", &b"Dear reader, ".repeat(1000))), "record");
    refused(text(&file("zeros.spy", &[0; 8192])), "");
}

#[test]
fn a_recording_of_a_newer_version() {
    let mut bytes = fs::read(fixture::closed("newer.spy", 1)).unwrap();
    // Word 1: the major version stands in its high half.
    bytes[12..16].copy_from_slice(&77u32.to_le_bytes());
    refused(text(&file("newer.spy", &bytes)), "77");
}

#[test]
fn a_recording_that_was_cut_is_read_as_far_as_it_goes() {
    let bytes = fs::read(fixture::closed("whole.spy", 200)).unwrap();
    refused(text(&file("stump.spy", &bytes[..100])), "");
    // Ten blocks before the end of what was written.
    let written = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    let cut = file("cut.spy", &bytes[..written - 10 * 4096]);
    let (code, out, error) = ended(&["verify", text(&cut)]);
    assert_eq!(code, 1, "{out}{error}");
    assert!(out.contains("missing: ") && out.contains("NOT SOUND"), "{out}");
    let (code, out, error) = ended(&["report", text(&cut)]);
    assert_eq!(code, 1, "{out}{error}");
    assert!(out.contains("damaged: "), "{out}");
    // What is missing may be what a report is about.
    for of in ["--contexts", "--types", "--allocations"] {
        let (code, out, error) = ended(&["report", text(&cut), of]);
        assert_eq!(code, 2, "{of}: {out}{error}");
        assert!(error.contains("damaged: "), "{of}: {out}{error}");
    }
}

#[test]
fn a_report_is_not_exact_where_verify_finds_damage() {
    let bytes = fs::read(fixture::closed("undamaged.spy", 200)).unwrap();
    let written = bytes.iter().rposition(|&byte| byte != 0).unwrap() / 4096 * 4096;
    // The record of the first folder, which says how many events were folded.
    let place = metaspy_core::format::superblock::FOLDERS * 8;
    let record = u64::from_le_bytes(bytes[place..place + 8].try_into().unwrap()) as usize;
    let record_end = record + metaspy_core::format::folder::WORDS * 8;
    for (what, from, to) in
        [("blocks", written - 8 * 4096, written - 5 * 4096), ("folded", record, record_end)]
    {
        let mut damaged = bytes.clone();
        damaged[from..to].fill(if what == "folded" { 9 } else { 0 });
        let path = file("unsound.spy", &damaged);
        let (code, out, _) = ended(&["verify", text(&path)]);
        assert_eq!(code, 1, "{what}: {out}");
        let (code, out, _) = ended(&["report", text(&path)]);
        assert_eq!(code, 1, "{what}: {out}");
        assert!(
            out.contains("(not exact: it is damaged)") && out.contains("\ndamaged: "),
            "{what}: {out}"
        );
        let (code, out, _) = ended(&["report", text(&path), "--json"]);
        let report: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, &report["exact"]), (1, &false.into()), "{what}");
        assert!(report["missing"][0].is_string(), "{what}: {out}");
    }
}

#[test]
fn a_file_cut_behind_its_last_block_is_reported_as_sound() {
    let bytes = fs::read(fixture::closed("uncut.spy", 20)).unwrap();
    let written = bytes.iter().rposition(|&byte| byte != 0).unwrap() / 4096 * 4096;
    let path = file("short.spy", &bytes[..written + 2 * 4096]);
    let (code, out, _) = ended(&["verify", text(&path)]);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("was cut by") && out.trim_end().ends_with("sound"), "{out}");
    assert_eq!(ended(&["report", text(&path)]).0, 0);
}

#[test]
fn no_damage_makes_it_panic() {
    let bytes = fs::read(fixture::closed("sound.spy", 50)).unwrap();
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    for round in 0..40 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + round % 8 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Half of the hits go to the first page, where one word says where everything stands.
            let range = if round % 2 == 0 { 4096 } else { bytes.len() };
            damaged[random as usize % range] = (random >> 40) as u8;
        }
        let path = file("damaged.spy", &damaged);
        for arguments in
            [&["report", text(&path), "--by", "subject"][..], &["verify", text(&path), "--json"]]
        {
            let (code, _, error) = ended(arguments);
            assert!(
                (0..=2).contains(&code) && !error.contains("panicked"),
                "round {round}, {arguments:?}: {error}"
            );
        }
    }
}

#[test]
fn without_a_terminal_the_crawler_points_to_the_report() {
    let path = fixture::closed("terminal.spy", 1);
    let (code, _, error) = ended(&["open", text(&path)]);
    assert_eq!(code, 2);
    assert!(error.contains("terminal") && error.contains("metaspy report"), "{error}");
    if cfg!(feature = "demo") {
        let (code, _, error) = ended(&["demo"]);
        assert_eq!(code, 2);
        assert!(error.contains("terminal") && error.contains("metaspy report"), "{error}");
    }
}

#[test]
fn a_process_that_is_not_there_or_not_recorded() {
    let (code, _, error) = ended(&["attach", "4194999"]);
    assert_eq!(code, 2);
    assert!(error.contains("4194999 does not exist") && error.contains("metaspy list"), "{error}");
    let own = std::process::id().to_string();
    let (code, _, error) = ended(&["attach", &own]);
    assert_eq!(code, 2);
    assert!(
        error.contains("not being recorded") && error.contains("METASPY_RECORD=live"),
        "{error}"
    );
    let (code, _, error) = ended(&["attach"]);
    assert_eq!(code, 2);
    assert!(error.contains("none of your processes"), "{error}");
}

#[test]
fn a_wrong_command_line_is_refused_with_an_example() {
    for (arguments, word) in [
        (&["report"][..], "Usage"),
        (&["report", "x.spy", "--by", "colour"], "subject"),
        (&["report", "x.spy", "--fail-if", "count > 3"], "count(site:measure) > 1000"),
        (&["report", "x.spy", "--filter", "took:>1x"], "length of time"),
        (&["demo", "--record", "x.spy", "--events", "many"], "100M"),
        (&["demo", "--record", "x.spy", "--budget", "big"], "256MiB"),
        (&["demo", "--record", "x.spy", "--budget", "100KiB"], "1MiB to 1TiB"),
        (&["demo", "--record", "x.spy", "--budget", "2TiB"], "1MiB to 1TiB"),
        (&["demo", "--seconds", "5"], "--record"),
        (&["nonsense"], "metaspy"),
    ] {
        let (code, _, error) = ended(arguments);
        assert_eq!(code, 2, "{arguments:?}: {error}");
        assert!(error.contains(word), "{arguments:?}: {error}");
    }
}

#[test]
fn a_page_that_cannot_be_laid_out_is_an_error_before_anything_is_recorded() {
    if !cfg!(feature = "demo") {
        return;
    }
    let run = fixture::directory().join("page.spy");
    for (name, bytes, word) in [
        ("empty.html", &b""[..], "empty"),
        ("plain.html", b"\x00\x01\x02", "page"),
        ("blank.html", b"<p></p>", "page"),
    ] {
        let page = file(name, bytes);
        let (code, out, error) =
            ended(&["demo", text(&page), "--record", text(&run), "--seconds", "1"]);
        assert_eq!((code, out.as_str()), (2, ""), "{name}: {error}");
        assert!(error.contains(word) && !run.exists(), "{name}: {error}");
    }
}

#[test]
fn a_file_that_is_no_recording_is_not_overwritten() {
    if !cfg!(feature = "demo") {
        return;
    }
    let precious = file("precious.txt", b"do not lose this");
    let (code, _, error) = ended(&["demo", "--record", text(&precious), "--seconds", "1"]);
    assert_eq!(code, 2, "{error}");
    assert_eq!(fs::read(&precious).unwrap(), b"do not lose this");
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let path = fixture::closed("pipe.spy", 500);
    let mut child = metaspy(&["report", text(&path), "--by", "subject", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn an_empty_list_names_the_directory() {
    let (code, out, _) = ended(&["list"]);
    assert_eq!(code, 0);
    assert!(out.contains("live") && out.contains("metaspy demo"), "{out}");
    assert_eq!(ended(&["list", "--json"]).1.trim(), "[]");
    assert!(ended(&["clean"]).1.contains("0 recordings removed"));
}

/// Names of files and values of variables are not ours: no message passes their escape sequences to
/// the terminal.
#[cfg(unix)]
#[test]
fn messages_have_no_control_characters_of_names_and_variables() {
    const EVIL: &str = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m";
    let check = |what: &str, command: &mut std::process::Command| {
        let output = command.output().expect("the command can be started");
        let text =
            String::from_utf8([output.stdout, output.stderr].concat()).expect("it prints UTF-8");
        let bad = text.chars().find(|c| c.is_control() && *c != '\n');
        assert!(bad.is_none() && text.contains("title"), "{what}: {text:?}");
    };
    for command in ["report", "verify", "open", "stream"] {
        check(command, &mut metaspy(&[command, &format!("/nowhere/{EVIL}")]));
        check(command, &mut metaspy(&[command, EVIL]));
    }
    check(
        "--filter",
        &mut metaspy(&[
            "report",
            text(&fixture::closed("evil.spy", 1)),
            "--filter",
            &format!("site:{EVIL}"),
        ]),
    );
    let story = || {
        let mut story = metaspy(&["__story"]);
        story.env("METASPY_DIR", fixture::directory().join("evil-stories"));
        story
    };
    check("a word that is no command", &mut metaspy(&[EVIL]));
    check("a number", &mut metaspy(&["report", "x.spy", "--top", EVIL]));
    let cargo_metaspy = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-metaspy"));
        command.arg("metaspy").args(arguments);
        command
    };
    check("cargo metaspy: a word that is no command", &mut cargo_metaspy(&[EVIL]));
    check("cargo metaspy new", &mut cargo_metaspy(&["new", &format!("/nowhere/{EVIL}")]));
    check("METASPY_BUDGET", story().env("METASPY_RECORD", "live").env("METASPY_BUDGET", EVIL));
    check("METASPY_RECORD", story().env("METASPY_RECORD", format!("/nowhere/{EVIL}")));
    let directory = fixture::directory().join(EVIL);
    check("METASPY_DIR", metaspy(&["list"]).env("METASPY_DIR", &directory));
    std::fs::create_dir_all(&directory).expect("the test's directory can be written");
    let path = directory.join("layout-4194999-7.spy");
    std::fs::copy(fixture::closed("evil.spy", 1), path)
        .expect("the test's directory can be written");
    check("list", metaspy(&["list"]).env("METASPY_DIR", &directory));
    check("clean", metaspy(&["clean"]).env("METASPY_DIR", &directory));
}

#[test]
fn what_was_not_recorded_is_an_error_that_names_what_records_it() {
    let closed = fixture::closed("plain.spy", 1);
    let tree = fixture::directory().join("tree.txt");
    for (line, advice) in [
        (&["report", text(&closed), "--types"][..], "cargo metaspy run --types"),
        (&["report", text(&closed), "--contexts"], "cargo metaspy run --contexts"),
        (&["report", text(&closed), "--allocations"], "cargo metaspy run --allocations"),
        (
            &["export", text(&closed), "--format", "contexts-time", "-o", text(&tree)],
            "cargo metaspy run --contexts",
        ),
    ] {
        let (code, out, error) = ended(line);
        assert_eq!((code, out.as_str()), (2, ""), "{line:?}: {error}");
        assert!(error.contains(advice), "{line:?}: {error}");
    }
    assert!(!tree.exists(), "a document of nothing is not written");
}

#[test]
fn a_second_document_does_not_go_to_standard_output() {
    let (code, out, error) =
        ended(&["report", text(&fixture::closed("both.spy", 1)), "--lcov", "-"]);
    assert_eq!((code, out.as_str()), (2, ""), "{error}");
    assert!(error.contains("name a file"), "{error}");
}

#[cfg(unix)]
#[test]
fn no_command_waits_for_a_pipe_or_reads_a_device_without_end() {
    let directory = fixture::directory().join("pipes");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(directory.join("live")).expect("there is room");
    fs::copy(fixture::closed("pipes.spy", 1), directory.join("run.spy")).expect("there is room");
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo").arg(directory.join(name)).status();
        assert!(made.expect("every Unix has it").success());
    };
    ["pipe", "removed.txt", "live/removed.txt"].into_iter().for_each(pipe);
    let refused = [
        ("demo --record pipe", "is not a recording"),
        ("findings run.spy --config pipe", "it is not a regular file"),
        ("findings run.spy --baseline /dev/zero", "it is a device"),
        ("blueprint domain run.spy --view /dev/zero", "it is a device"),
        ("grammar /dev/zero --rule a run.spy", "it is a device"),
        ("grammar report .", "no recording of a grammar"),
        ("clean", ""),
    ];
    for (line, expected) in refused {
        let mut command = metaspy(&line.split(' ').collect::<Vec<_>>());
        command.current_dir(&directory).env("METASPY_DIR", directory.join("live"));
        let output = command.output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr);
        let is_refused = output.status.code() == Some(2) && error.contains(expected);
        assert!(
            is_refused || expected.is_empty() || line.starts_with("grammar report"),
            "{line}: {error}"
        );
    }
}

//! Letters whose width terminals do not agree on, and a terminal that answers nothing.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;

use crate::fixture;
use crate::tmux::Tmux;

#[test]
fn labels_with_flags_and_combining_scripts_leave_nothing_on_another_screen() {
    let path = fixture::directory().join("ghosts.spy");
    let _ = std::fs::remove_file(&path);
    let turn = fixture::turn();
    let (recording, installed) = fixture::begin(metaspy_core::Recording::file(&path), 1);
    for key in 1..=12 {
        metaspy_core::model::label(
            fixture::node(key),
            if key % 2 == 0 { "🇩🇪🇯🇵 flags" } else { "नमस्ते" },
        );
    }
    metaspy_core::model::label(fixture::node(77), "");
    fixture::measure(fixture::node(77));
    drop(installed);
    recording.close();
    drop(turn);
    let Some(mut terminal) = Tmux::start("ghosts") else { return };
    terminal.command(&format!(
        "LC_ALL=C.UTF-8 {} open {}",
        env!("CARGO_BIN_EXE_metaspy"),
        path.display()
    ));
    terminal.wait_for("1 Events");
    terminal.keys(&["2"]);
    terminal.wait_for("flags");
    // An empty label is none.
    terminal.wait_for("node #77");
    terminal.keys(&["3"]);
    let screen = terminal.wait_for("Scene::never");
    assert!(!["🇩", "🇪", "🇯", "🇵", "ते", "न"].iter().any(|part| screen.contains(part)), "{screen}");
}

#[test]
fn a_redraw_removes_what_another_program_has_printed() {
    let path = fixture::closed("redrawn.spy", 3);
    let Some(mut terminal) = Tmux::start("redraw") else { return };
    terminal.command(&format!("{} open {}", env!("CARGO_BIN_EXE_metaspy"), path.display()));
    let before = terminal.wait_for("1 Events");
    let pane = std::fs::File::options().write(true).open(terminal.ask("#{pane_tty}"));
    pane.and_then(|mut pane| pane.write_all(b"\x1b[8;9HGHOST"))
        .expect("it is the terminal of the test");
    terminal.wait_for("GHOST");
    terminal.keys(&["C-l"]);
    terminal.wait_until_gone("GHOST");
    assert_eq!(terminal.settled(), before);
}

/// The terminal of `script` answers no question, such as one for the place of the cursor.
#[test]
fn a_terminal_that_answers_nothing_keeps_the_crawler_after_the_editor() {
    let path = fixture::closed("silent.spy", 3);
    // An editor that ignores the line and the file which it is given.
    let editor = path.with_extension("sh");
    std::fs::write(&editor, "#!/bin/sh\necho edited\n").expect("there is room");
    std::fs::set_permissions(&editor, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    let command = format!(
        "stty rows 24 cols 80; exec {} open {}",
        env!("CARGO_BIN_EXE_metaspy"),
        path.display()
    );
    let mut script = std::process::Command::new("script");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    script.args(["-qec", &command, "/dev/null"]).current_dir(root).env("EDITOR", &editor);
    script.env_remove("VISUAL").env("TERM", "xterm");
    script.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let Ok(mut script) = script.spawn() else {
        let _ = writeln!(
            std::io::stderr(),
            "SKIPPED: terminal: it needs script, which is not installed"
        );
        return;
    };
    let mut keys = script.stdin.take().expect("it is piped");
    let mut screen = BufReader::new(script.stdout.take().expect("it is piped"));
    // Keys that are typed before the crawler has the terminal may be dropped.
    wait_for(&mut screen, "Events");
    keys.write_all(b"e").expect("it reads");
    wait_for(&mut screen, "edited\r\n");
    keys.write_all(b"q").expect("the crawler goes on");
    std::io::copy(&mut screen, &mut std::io::sink()).expect("it is a pipe");
    assert_eq!(script.wait().expect("it ends").code(), Some(0));
}

/// Reads until a text came.
fn wait_for(screen: &mut impl BufRead, text: &str) {
    let mut read = Vec::new();
    while !read.ends_with(text.as_bytes()) {
        let more = screen.fill_buf().expect("it is a pipe");
        assert!(!more.is_empty(), "it ended before `{text}`: {}", String::from_utf8_lossy(&read));
        read.push(more[0]);
        screen.consume(1);
    }
}

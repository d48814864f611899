//! The crawler in a real terminal: tmux types and reads the screen.
#![cfg(unix)]

#[cfg(feature = "demo")]
mod attached;
#[path = "../fixture/client_and_servers.rs"]
mod client_and_servers;
#[path = "../../../tui/tests/fixture/mod.rs"]
mod fixture;
mod ghosts;
mod session;
mod tmux;

use std::fs;

use session::{crawl, ended, quits};
use tmux::Tmux;

#[test]
fn back_from_a_cause_restores_the_screen() {
    let Some((mut terminal, _)) = crawl("walk.spy") else { return };
    terminal.keys(&["f"]);
    terminal.wait_for("filter: ▏");
    terminal.line("site:measure");
    terminal.wait_for("240 of 760");
    terminal.keys(&["Down", "Down"]);
    terminal.wait_for("measure #6 <div>");
    let before = terminal.wait_for("effects 1 (1 hit)");
    terminal.keys(&["c"]);
    terminal.wait_for("removed; Backspace");
    let cause = terminal.wait_for("Scene::layout ── #3 <p>");
    assert!(cause.contains("layout #3 <p>"), "{cause}");
    terminal.keys(&["BSpace"]);
    terminal.wait_for("240 of 760");
    assert_eq!(terminal.settled(), before);
    terminal.keys(&["?"]);
    terminal.wait_for("keys on Events");
    terminal.keys(&["Escape"]);
    quits(&mut terminal);
}

#[test]
fn the_structure_of_the_program_leads_to_events_and_back() {
    let Some((mut terminal, _)) = crawl("structure.spy") else { return };
    terminal.keys(&["6"]);
    terminal.wait_for("methods ran");
    terminal.keys(&["/"]);
    terminal.line("page::Scene::never");
    let screen = terminal.wait_for("page::Scene::never");
    assert!(screen.contains("never") && screen.contains("NEVER RAN"), "{screen}");
    terminal.keys(&["Left", "Left"]);
    terminal.wait_for("▸Scene");
    terminal.keys(&["Right"]);
    let before = terminal.settled();
    assert!(before.contains("└ paint") && !before.contains('▸'), "{before}");
    terminal.keys(&["Enter"]);
    terminal.wait_for("filter: site:page::Scene::**");
    terminal.keys(&["BSpace"]);
    terminal.wait_for("methods ran");
    assert_eq!(terminal.settled(), before);
    quits(&mut terminal);
}

/// From what is wrong to its events, its source, and back; and the same from the command line.
#[test]
fn a_finding_leads_to_its_events() {
    let path = fixture::repeating("findings.spy");
    let Some(mut terminal) = Tmux::start("findings") else { return };
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    terminal.command(&format!("{metaspy} open {}", path.display()));
    terminal.wait_for("1,110 events");
    terminal.keys(&["5"]);
    terminal.wait_for("nothing found by");
    terminal.keys(&["/"]);
    terminal.line("repeated");
    let list = terminal.wait_for("360 of 1,080 calls");
    terminal.keys(&["e"]);
    terminal.wait_for("edits +88");
    terminal.keys(&["Enter"]);
    terminal.wait_for("360 of 1,080 calls");
    terminal.keys(&["Enter"]);
    terminal.wait_for("1,080 of 1,110");
    terminal.keys(&["BSpace"]);
    assert_eq!(terminal.wait_for("360 of 1,080 calls"), list);
    quits(&mut terminal);
    terminal.command(&format!("{metaspy} open {} --finding 1", path.display()));
    terminal.wait_for("of 1,110");
    quits(&mut terminal);
    terminal.command(&format!("{metaspy} open {} --finding 99", path.display()));
    terminal.wait_for("there is no finding 99");
    let store = fixture::open(&path);
    let events = store
        .forward(metaspy_reader::Position::Start, &metaspy_reader::Filter::all(), 700, 10_000)
        .events;
    let measured = events.last().expect("there are so many");
    terminal.command(&format!("{metaspy} open {} --event {}", path.display(), measured.id));
    terminal.wait_for("1,110 events");
    quits(&mut terminal);
    terminal.command(&format!("{metaspy} open {} --event 9999.3", path.display()));
    terminal.wait_for("no event 9999.3");
}

/// What `metaspy.toml` accepts, and what costs less than its shares, is not listed as a finding on
/// the screen either.
#[test]
fn the_settings_of_the_project_count_on_the_screen() {
    let directory = fixture::directory().join("settings");
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    fs::rename(fixture::repeating("settings.spy"), directory.join("run.spy"))
        .expect("it was just written");
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    let set =
        |text: &str| fs::write(directory.join("metaspy.toml"), text).expect("it can be written");
    set("[findings.kinds.slow-because]\noff = true");
    let mut command = std::process::Command::new(metaspy);
    let found = command
        .current_dir(&directory)
        .args(["findings", "run.spy", "--json"])
        .output()
        .expect("it runs");
    let found = String::from_utf8(found.stdout).expect("it is UTF-8");
    let (_, fingerprint) = found.split_once("\"fingerprint\": \"repeated-").expect("it repeats");
    let fingerprint = format!("repeated-{}", &fingerprint[..16]);

    let Some(mut terminal) = Tmux::start("settings") else { return };
    let mut screen_with = |text: &str, row: &str, name: &str| {
        set(text);
        terminal.command(&format!("cd {} && {metaspy} open run.spy", directory.display()));
        terminal.wait_for("1,110 events");
        terminal.keys(&["5"]);
        terminal.wait_for(row);
        terminal.keys(&["/"]);
        terminal.line(name);
        let screen = terminal.settled();
        quits(&mut terminal);
        screen
    };
    let screen = screen_with("", "repeated", "repeated");
    assert!(screen.contains("360 of 1,080 calls"), "{screen}");
    let reason = "reason = \"each pass has its own size\"";
    let accepted = format!("[[findings.accepted]]\nfingerprint = \"{fingerprint}\"\n{reason}");
    let screen = screen_with(&accepted, "accepted", "1 finding");
    assert!(
        screen.contains("each pass has its own size") && !screen.contains("360 of 1,080 calls"),
        "{screen}"
    );
    let screen = screen_with(
        "[findings.kinds.repeated]\nleast-share = 60",
        "below the threshold",
        "1 finding",
    );
    assert!(!screen.contains("360 of 1,080 calls"), "{screen}");
    let screen = screen_with(
        "[findings.kinds.repeated]\nat-least = { calls = 361 }",
        "nothing found by",
        "repeated",
    );
    assert!(!screen.contains("360 of 1,080 calls"), "{screen}");
}

/// The papers' journeys: which node is displayed too often, and what activated this cache.
#[test]
fn questions_lead_to_answers_and_marks_are_kept_beside_the_recording() {
    let Some((mut terminal, path)) = crawl("questions.spy") else { return };
    // Which node is displayed too often? Sites, the subjects of one, and its events.
    // The profiler's own view opens first.
    terminal.keys(&["7"]);
    terminal.wait_for("page: subjects");
    terminal.keys(&[":"]);
    terminal.line("Too often");
    terminal.wait_for("Too often: site");
    terminal.wait_for("▸hit");
    terminal.keys(&["Down"]);
    terminal.wait_for("│ #5 <div>");
    terminal.keys(&["Right", "Down"]);
    terminal.wait_for("▸#5 <div>");
    terminal.keys(&["Enter"]);
    terminal.wait_for("filter: site:measure subject:node:#5");
    terminal.wait_for("40 of 760");
    // What activated this cache? Up the causes of a hit.
    terminal.keys(&["f", "C-u"]);
    terminal.line("site:hit");
    terminal.wait_for("240 of 760");
    terminal.keys(&["M"]);
    terminal.wait_for("name of the mark");
    terminal.line("the hit");
    terminal.wait_for("mark    the hit");
    terminal.keys(&["c", "c"]);
    terminal.wait_for("Scene::layout ── #");
    terminal.keys(&["P"]);
    terminal.wait_for("this leads to ◆ the hit in 2 steps");
    quits(&mut terminal);
    // A second crawl knows the mark.
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    terminal.command(&format!("{metaspy} open {}", path.display()));
    terminal.wait_for("760 events");
    terminal.keys(&["'"]);
    terminal.wait_for("mark    the hit");
    quits(&mut terminal);
}

#[test]
fn files_that_cannot_be_read_are_not_written() {
    let Some((mut terminal, path)) = crawl("unreadable.spy") else { return };
    quits(&mut terminal);
    let (config, marks) = (path.with_extension("config"), path.with_extension("spy.marks"));
    let (filters, victim) = (config.join("filters.toml"), config.join("victim"));
    let typo = "one = 'site:a'\ntwo = 'site:b'\nthree = site:c'\n";
    fs::create_dir_all(&config).expect("there is room");
    fs::write(&filters, typo).expect("there is room");
    fs::write(&marks, "notes of mine\n").expect("there is room");
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    let open = format!("METASPY_CONFIG={} {metaspy} open {}", config.display(), path.display());
    terminal.command(&open);
    terminal.wait_for("760 events");
    terminal.keys(&["f"]);
    terminal.line("site:hit");
    terminal.wait_for("240 of 760");
    terminal.keys(&[":"]);
    terminal.line("save filter new");
    terminal.wait_for("the filters are not saved");
    terminal.keys(&["m"]);
    terminal.wait_for("the marks are not saved");
    quits(&mut terminal);
    assert_eq!(fs::read_to_string(&filters).expect("it is there"), typo);
    assert_eq!(fs::read_to_string(&marks).expect("it is there"), "notes of mine\n");
    // A link beside a recording leads to no other file.
    fs::remove_file(&marks).expect("it is ours");
    fs::write(&victim, "").expect("there is room");
    std::os::unix::fs::symlink(&victim, &marks).expect("links are made");
    terminal.command(&open);
    terminal.wait_for("760 events");
    terminal.keys(&["m"]);
    terminal.wait_for("the marks are not saved");
    quits(&mut terminal);
    assert_eq!(fs::read_to_string(&victim).expect("it is there"), "");
    assert!(marks.is_symlink());
}

#[test]
fn a_recording_that_is_truncated_under_the_crawler_does_not_end_it() {
    let Some((mut terminal, path)) = crawl("truncated.spy") else { return };
    terminal.wait_for("760 events");
    fs::OpenOptions::new().write(true).truncate(true).open(path).expect("it can be truncated");
    terminal.keys(&["Down", "NPage", "End", "Right", "2"]);
    terminal.wait_for("subject");
    terminal.keys(&["3", "4", "1", "Home", "/"]);
    terminal.line("measure");
    quits(&mut terminal);
}

#[test]
fn the_editor_opens_the_source_and_returns_the_screen() {
    let Some((mut terminal, _)) = crawl("editor.spy") else { return };
    terminal.wait_for("760 events");
    terminal.keys(&["e"]);
    terminal.wait_for("edits +88");
    let screen = terminal.ask("#{alternate_on}");
    assert_eq!(screen, "0", "the editor has the terminal");
    terminal.keys(&["Enter"]);
    terminal.wait_for("760 events");
    quits(&mut terminal);
}

#[cfg(unix)]
#[test]
fn an_editor_gets_file_and_line_in_its_own_form() {
    use std::os::unix::fs::PermissionsExt;
    let directory = fixture::directory().join("editors");
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let code = directory.join("code");
    fs::write(&code, include_str!("editor.sh")).expect("the test's directory can be written");
    fs::set_permissions(&code, fs::Permissions::from_mode(0o755)).expect("it is the test's own");
    let path = fixture::closed("forms.spy", 40);
    for (number, (editor, expected)) in
        [("code -g", "edits -g"), ("code", "edits -g"), ("code {line}:{file}", "edits 88:")]
            .into_iter()
            .enumerate()
    {
        let Some(mut terminal) = Tmux::start(&format!("form{number}")) else { return };
        let metaspy = env!("CARGO_BIN_EXE_metaspy");
        terminal.command(&format!(
            "EDITOR='{}/{editor}' {metaspy} open {}",
            directory.display(),
            path.display()
        ));
        terminal.wait_for("760 events");
        terminal.keys(&["e"]);
        let screen = terminal.wait_for(expected);
        assert!(screen.contains("mod.rs:88") || editor.contains('{'), "{screen}");
        terminal.keys(&["Enter"]);
        terminal.wait_for("760 events");
        quits(&mut terminal);
    }
}

#[test]
fn a_resized_window_is_redrawn() {
    let Some((mut terminal, _)) = crawl("window.spy") else { return };
    terminal.wait_for("760 events");
    terminal.resize(160, 30);
    terminal.wait_for("Facets Times");
    terminal.resize(60, 12);
    terminal.wait_for("? help");
    terminal.resize(20, 5);
    terminal.wait_for("too small");
    terminal.resize(80, 24);
    terminal.wait_for("│▶00:");
    quits(&mut terminal);
}

#[test]
fn a_terminated_process_restores_the_terminal() {
    let Some((mut terminal, path)) = crawl("terminated.spy") else { return };
    terminal.wait_for("760 events");
    let kill = format!("kill $(cat {})", path.with_extension("pid").display());
    assert!(
        std::process::Command::new("sh")
            .args(["-c", &kill])
            .status()
            .is_ok_and(|status| status.success())
    );
    ended(&mut terminal);
}

/// Three recordings as one: from an event of a server back to its cause in the client.
#[test]
fn a_cause_leads_from_one_process_into_another() {
    let [client, server, second] = client_and_servers::three("crossing");
    let Some(mut terminal) = Tmux::start("crossing") else { return };
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    let files = [&client, &server, &second].map(|path| path.display().to_string()).join(" ");
    terminal.command(&format!("{metaspy} open {files}"));
    terminal.wait_for("304 events");
    terminal.keys(&["f"]);
    terminal.line("site:frame");
    terminal.wait_for("3 of 304");
    // The second event is of a server, below the one of the client.
    terminal.keys(&["Home", "Down"]);
    let of_server = terminal.wait_for("(server.spy)");
    assert!(of_server.contains("├ frame"), "{of_server}");
    terminal.keys(&["c"]);
    let of_client = terminal.wait_for("(client.spy)");
    assert!(of_client.contains("sent    span"), "{of_client}");
    terminal.keys(&["4"]);
    let lanes = terminal.wait_for("3 lanes");
    // A thread has its name from the system, which keeps 15 bytes of it.
    assert_eq!(lanes.matches("nd_serv").count(), 3, "{lanes}");
    quits(&mut terminal);
}

/// A recording on standard input: the keys of the crawler and of the editor come from the terminal.
#[test]
fn a_recording_on_standard_input_leaves_the_keys_to_the_terminal() {
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    let path = fixture::closed("piped.spy", 40);
    for sender in ["cat", &format!("{metaspy} stream")] {
        let name = if sender == "cat" { "cat" } else { "sent" };
        let Some(mut terminal) = Tmux::start(name) else { return };
        terminal.command(&format!("{sender} {} | {metaspy} open -", path.display()));
        terminal.wait_for("760 events");
        terminal.keys(&["f"]);
        terminal.wait_for("filter: ▏");
        terminal.line("site:measure");
        terminal.wait_for("240 of 760");
        terminal.keys(&["e"]);
        terminal.wait_for("edits +88");
        terminal.keys(&["Enter"]);
        terminal.wait_for("240 of 760");
        quits(&mut terminal);
    }
}

/// A live process through a pipe, killed while the crawler is open.
#[cfg(feature = "demo")]
#[test]
fn a_stream_is_shown_live_and_its_end_is_reported() {
    let Some(mut terminal) = Tmux::start("stream") else { return };
    let path = fixture::directory().join("streamed.spy");
    let mut story = std::process::Command::new(env!("CARGO_BIN_EXE_metaspy"))
        .arg("__story")
        .env("METASPY_RECORD", &path)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the story can be started");
    let began = std::time::Instant::now();
    while metaspy_core::Store::open(&path).is_err() {
        assert!(began.elapsed().as_secs() < 60, "the story does not begin");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    terminal.command(&format!("{metaspy} stream {} | {metaspy} open -", path.display()));
    terminal.wait_for("live ●");
    terminal.wait_for("following");
    shows_that_it_is_killed(&mut terminal, &mut story);
}

/// Kills the story that a crawler shows: the crawler reports it and stays open.
fn shows_that_it_is_killed(terminal: &mut Tmux, story: &mut std::process::Child) {
    story.kill().expect("it can be killed");
    story.wait().expect("it was killed");
    terminal.wait_for("the process is gone");
    terminal.keys(&["Home", "Down", "2"]);
    terminal.wait_for("never observed");
    assert!(terminal.settled().contains("killed"), "{}", terminal.settled());
    quits(terminal);
}

/// The whole demo: its process starts, is shown, and has ended afterwards.
#[cfg(feature = "demo")]
#[test]
fn the_demo_shows_a_live_story_and_leaves_nothing_behind() {
    let Some(mut terminal) = Tmux::start("demo") else { return };
    let live = fixture::directory().join("demo");
    terminal.command(&format!(
        "METASPY_DIR={} {} demo",
        live.display(),
        env!("CARGO_BIN_EXE_metaspy")
    ));
    terminal.wait_for("live ●");
    terminal.keys(&["2"]);
    terminal.wait_for("never observed: ");
    assert!(attached::recordings(&live) > 0);
    quits(&mut terminal);
    assert_eq!(attached::recordings(&live), 0);
}

/// The journey of a person who has read nothing: each key is one that the screen names.
#[cfg(feature = "demo")]
#[test]
fn the_demo_leads_to_its_finding_in_steps() {
    let Some(mut terminal) = Tmux::start("guide") else { return };
    let (live, metaspy) = (fixture::directory().join("guide"), env!("CARGO_BIN_EXE_metaspy"));
    let demo = format!("METASPY_DIR={} {metaspy} demo", live.display());
    terminal.command(&demo);
    let screen = terminal.wait_for("a layout engine at work");
    let is_whole = |screen: &str| !screen[screen.find(" of 5: ").expect("a card")..].contains('…');
    assert!(is_whole(&screen), "{screen}");
    for part in ["Which nodes are laid out in vain", "↵ next  Esc leave the guide"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    terminal.keys(&["Enter"]);
    terminal.wait_for("were needless");
    let nodes = terminal.wait_for("<div>");
    assert!(
        nodes.contains("2 of 5: which nodes?") && nodes.contains("filter: site:Scene::needless"),
        "{nodes}"
    );
    assert!(is_whole(&nodes), "{nodes}");
    terminal.keys(&["Enter"]);
    terminal.wait_for("3 of 5: why so often?");
    let why = terminal.wait_for("<div>");
    assert!(why.contains("were not kept by the cache") && is_whole(&why), "{why}");
    terminal.keys(&["Enter"]);
    let change = terminal.wait_for("4 of 5: which change?");
    assert!(
        change.contains("filter: site:Scene::change") && change.contains("changes led to"),
        "{change}"
    );
    assert!(is_whole(&change), "{change}");
    terminal.wait_for("change #");
    terminal.keys(&["BSpace"]);
    terminal.wait_for("3 of 5: why so often?");
    terminal.keys(&["Enter", "Enter"]);
    let finding = terminal.wait_for("5 of 5: the finding");
    assert!(finding.contains("901 are laid out: 888 in vain") && is_whole(&finding), "{finding}");
    assert!(finding.contains("↵ close  ⌫ back  Esc leave the guide"), "{finding}");
    terminal.keys(&["Enter"]);
    terminal.wait_until_gone("the finding");
    quits(&mut terminal);
    // Esc leaves it at once, and the other keys are those of the screen.
    terminal.command(&demo);
    terminal.wait_for("1 of 5");
    terminal.keys(&["2"]);
    terminal.wait_for("never observed");
    terminal.keys(&["Escape"]);
    terminal.wait_until_gone("of 5: ");
    quits(&mut terminal);
}

/// A closed terminal ends its programs: no process goes on reading a terminal that is gone.
#[cfg(all(feature = "demo", target_os = "linux"))]
#[test]
fn a_closed_terminal_ends_the_demo() {
    let Some(mut terminal) = Tmux::start("closed") else { return };
    let live = fixture::directory().join("closed");
    let pid = fixture::directory().join("closed.pid");
    let metaspy = env!("CARGO_BIN_EXE_metaspy");
    let demo = format!(
        "METASPY_DIR={} sh -c 'echo $$ > {}; exec {metaspy} demo'",
        live.display(),
        pid.display()
    );
    terminal.command(&demo);
    terminal.wait_for("live ●");
    let pid = fs::read_to_string(pid).expect("the file has the process id");
    let runs = || std::path::Path::new("/proc").join(pid.trim()).exists();
    assert!(runs() && attached::recordings(&live) > 0);
    drop(terminal);
    let began = std::time::Instant::now();
    while runs() || attached::recordings(&live) > 0 {
        assert!(began.elapsed().as_secs() < 60, "the demo outlives its terminal");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn the_shell_has_the_terminal_while_the_crawler_is_suspended() {
    let Some((mut terminal, _)) = crawl("suspended.spy") else { return };
    terminal.wait_for("760 events");
    terminal.keys(&["3"]);
    terminal.wait_for("8 sites");
    terminal.keys(&["C-z"]);
    terminal.wait_for("ended with 1");
    assert_eq!(terminal.ask("#{alternate_on}"), "0", "the shell has the screen");
    terminal.command("fg");
    terminal.wait_for("8 sites");
    quits(&mut terminal);
}

/// The demo allows it, and the process of this test does not.
#[cfg(feature = "demo")]
#[test]
fn sites_of_a_running_process_are_disarmed_and_armed_if_it_allows_it() {
    let Some(mut terminal) = Tmux::start("arming") else { return };
    let (live, metaspy) = (fixture::directory().join("arming"), env!("CARGO_BIN_EXE_metaspy"));
    terminal.command(&format!("METASPY_DIR={} {metaspy} demo", live.display()));
    terminal.wait_for("live ●");
    terminal.keys(&["3"]);
    terminal.wait_for("█ all");
    terminal.keys(&["d"]);
    terminal.wait_for("observed now: nothing, at ");
    terminal.wait_for(" nothing  ");
    terminal.line(":arm only subject:#40");
    terminal.wait_for("observed now: 1 subject, at ");
    terminal.line(":arm site:Scene::layout");
    terminal.wait_for("observed now: all, at ");
    terminal.line(":disarm took:>1ms");
    terminal.wait_for("selected by `site:`, `subject:` and `kind:` only");
    terminal.keys(&["R"]);
    terminal.wait_for("keep what meets: took:>p99.9 at site:");
    terminal.keys(&["C-u"]);
    terminal.line("site:Scene::layout");
    terminal.wait_for("what meets `site:Scene::layout` stays from now on");
    terminal.line(":rule took:>pfast");
    terminal.wait_for("nothing is kept: `took:>pfast` is no quantile");
    quits(&mut terminal);

    let _turn = fixture::turn();
    let path = fixture::directory().join("not-controlled.spy");
    let (recording, installed) = fixture::begin(metaspy_core::Recording::file(&path), 40);
    terminal.command(&format!("{metaspy} open {}", path.display()));
    terminal.wait_for("live ●");
    terminal.keys(&["3"]);
    terminal.wait_for("Scene::layout");
    terminal.keys(&["d"]);
    terminal.wait_for("does not allow it: start it with");
    quits(&mut terminal);
    drop(installed);
    recording.close();
}

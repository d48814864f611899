//! The guide `docs/your-framework.md`: what it quotes is in the files, and the commands print what
//! it shows.

#[path = "../../../examples/signals/depth.rs"]
mod depth;
#[path = "../../../examples/signals/graph.rs"]
mod graph;
mod guide;
#[path = "../../../examples/signals/invoice.rs"]
mod invoice;
#[path = "../../../examples/signals/listeners.rs"]
mod listeners;
#[path = "../../../examples/signals/profiler.rs"]
mod profiler;
#[path = "../../../examples/signals/unread.rs"]
mod unread;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use graph::Order;
use guide::Guide;
use invoice::{CHANGES, Invoice};
use metaspy::prelude::*;

/// There is one recording per process.
static TURN: Mutex<()> = Mutex::new(());

/// The profile of the example.
fn run(order: Order) -> Profile {
    let mut invoice = Invoice::new(order);
    let profiler = profiler::profiler(&invoice.graph).install().expect("it can be installed");
    invoice.change();
    profiler.uninstall()
}

/// Calls at a site about a signal.
fn count(profile: &Profile, site: &str, signal: &str) -> u64 {
    let (rows, store) = (profile.counts().by_site_and_subject(), profile.store());
    let is_it = |site_path: &str, label: &str| site_path.ends_with(site) && label == signal;
    let found = rows.rows.iter().find(|row| {
        row.site.zip(row.subject).is_some_and(|(site, subject)| {
            is_it(store.site_path(site), &store.subject_text(subject))
        })
    });
    found.map_or(0, |row| row.measure.count)
}

#[test]
fn the_graph_computes_too_often_and_the_other_order_does_not() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let changes = CHANGES as u64;
    let profile = run(Order::AtOnce);
    let counts =
        ["net", "tax", "total", "due"].map(|signal| count(&profile, "Graph::compute", signal));
    assert_eq!(counts, [changes, changes, 3 * changes, 3 * changes]);
    assert_eq!(count(&profile, "unread", "due"), 2 * changes);
    let profile = run(Order::InputsFirst);
    let counts =
        ["net", "tax", "total", "due"].map(|signal| count(&profile, "Graph::compute", signal));
    assert_eq!((counts, count(&profile, "unread", "due")), ([changes; 4], 0));
}

#[test]
fn what_the_guide_quotes_is_in_the_files() {
    let guide = Guide::read();
    assert!(guide.quotes.len() >= 8, "{:?}", guide.quotes);
    for quote in &guide.quotes {
        let file = guide::read(&quote.file);
        for part in &quote.parts {
            assert!(file.contains(part), "{} does not contain:\n{part}", quote.file);
        }
    }
}

#[test]
fn the_commands_print_what_the_guide_shows() {
    let _turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("signals-{}.spy", std::process::id()));
    let recording = Recording::file(&file).start().expect("it can be written");
    drop(run(Order::AtOnce));
    recording.close();
    let commands = Guide::read().commands;
    assert!(commands.len() >= 3, "{commands:?}");
    for command in commands {
        let arguments = command.arguments.iter().map(|argument| match argument.as_str() {
            "signals.spy" => file.to_str().expect("it is UTF-8"),
            argument => argument,
        });
        let output = Command::new(env!("CARGO_BIN_EXE_metaspy"))
            .args(arguments)
            .output()
            .expect("it can be started");
        let printed = String::from_utf8(output.stdout).expect("it prints UTF-8");
        let mut lines = printed.lines().map(guide::words);
        for shown in &command.output {
            let wanted = guide::words(shown);
            let found = lines.any(|line| line.starts_with(&wanted));
            assert!(
                found,
                "{:?} does not print, in this order: {shown}\n{printed}",
                command.arguments
            );
        }
    }
    let _ = std::fs::remove_file(file);
}

#[test]
fn the_guide_counts_the_lines_of_the_files() {
    let counted = Guide::read().line_counts;
    assert!(counted.len() >= 4, "{counted:?}");
    for (file, lines) in counted {
        assert_eq!(guide::code_lines(&file), lines, "{file}");
    }
}

//! How the memory of commands grows with events and subjects.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::child::{self, CaseResult};
use crate::report;
use crate::scan::anonymous_mib;
use crate::weaver;

/// Events and subjects of the recordings.
const RECORDINGS: [(&str, &str); 6] =
    [("100k", "1k"), ("1M", "1k"), ("10M", "1k"), ("10M", "10k"), ("10M", "100k"), ("10M", "1M")];

/// What is asked of each recording. The file that is written goes behind `-o` or `--html`.
const COMMANDS: [&str; 17] = [
    "report",
    "report --by subject",
    "report --by subject --json",
    "report --by site,subject",
    "report --by cause",
    "report --by cause,subject",
    "report --filter took:>1us",
    "findings",
    "blueprint behavioural --html",
    "blueprint flame --html",
    "export --to csv -o",
    "export --to jsonl -o",
    "export --to chrome -o",
    "export --to perfetto -o",
    "export --to firefox -o",
    "export --to collapsed -o",
    "export --to spy -o",
];

/// Prints a line for each command: the most memory of its own in MiB, as it is seen each millisecond,
/// and the time.
pub fn print() -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let metaspy = weaver::command("metaspy");
    let directory = report::target();
    let mut lines: Vec<String> = COMMANDS.map(|command| format!("{command:<30}")).to_vec();
    let mut head = format!("{:<30}", "events / subjects");
    let recordings = if child::is_smoke() { &RECORDINGS[..1] } else { &RECORDINGS };
    for (events, subjects) in recordings {
        let path = directory.join("growth.spy");
        let more =
            ["--file", &path.display().to_string(), "--events", events, "--subjects", subjects];
        child::start::<CaseResult>(&own, "record", &more.map(str::to_owned))?;
        head += &format!(" {:>16}", format!("{events} / {subjects}"));
        for (line, command) in lines.iter_mut().zip(COMMANDS) {
            eprint!("\r{events} / {subjects}: {command:<40}");
            let (mib, took) = run(&metaspy, command, &path, &directory.join("growth.out"))?;
            *line += &format!(" {mib:>7.0} {:>6.2} s", took.as_secs_f64());
        }
        fs::remove_file(path).map_err(|error| error.to_string())?;
    }
    eprintln!();
    println!("{head}   (MiB, s)\n{}", lines.join("\n"));
    Ok(())
}

/// The most anonymous memory of a command in MiB, and its time.
fn run(
    metaspy: &Path,
    words: &str,
    recording: &Path,
    output: &Path,
) -> Result<(f64, Duration), String> {
    let mut command = Command::new(metaspy);
    let (first, more) = words.split_once(' ').unwrap_or((words, ""));
    let more: Vec<&str> = more.split_whitespace().collect();
    // `blueprint` has the kind of the picture before the recording.
    let before = more.iter().take_while(|word| !word.starts_with('-')).count();
    command.arg(first).args(&more[..before]).arg(recording).args(&more[before..]);
    if words.ends_with("-o") || words.ends_with("--html") {
        command.arg(output);
    }
    let began = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("metaspy cannot start: {error}"))?;
    let mut most = 0.0;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        most = f64::max(most, anonymous_mib(child.id()));
        std::thread::sleep(Duration::from_millis(1));
    };
    let took = began.elapsed();
    let _ = fs::remove_file(output);
    if !status.success() {
        return Err(format!("metaspy {words} failed: {status}"));
    }
    Ok((most, took))
}

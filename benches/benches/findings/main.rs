//! Findings: how long the search for them takes, and of programs whose faults are known, how good
//! they are.
//!
//! Without an option it measures the time and the memory of a search on 10⁶ and 10⁷ events, with
//! `--large` also on 10⁸. `--quality` records all programs, each in a process of its own, and
//! prints what is found, what is missed, and what is said of correct programs. `--record DIRECTORY`
//! only records them there, for `metaspy findings`, and `--quality --of DIRECTORY` judges those
//! recordings. `--only mail,chess/search` selects some programs. `--examples`, and every smoke run,
//! compares what `docs/findings.md` quotes with what is said of its programs.

mod examples;
mod planted;
mod programs;
mod quality;
mod recorded;
mod scale;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use metaspy::Store;
use metaspy_benches::child::{self, option};
use metaspy_benches::report;
use planted::{Case, Fault};
use quality::{Judged, Quality};

fn main() -> ExitCode {
    if let Some(title) = child::case() {
        if scale::run(&title) {
            return ExitCode::SUCCESS;
        }
        let case = Case::all().into_iter().find(|case| case.title() == title);
        case.expect("the parent passes the title of a case").run();
        return ExitCode::SUCCESS;
    }
    let done = match option("--record") {
        Some(directory) => record_all(Path::new(&directory)),
        None if has("--quality") => judge_all(),
        None if has("--examples") => compare_examples(),
        None if child::is_smoke() => compare_examples().and_then(|()| scale::compare()),
        None => scale::compare(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn has(option: &str) -> bool {
    std::env::args().any(|argument| argument == option)
}

fn record_all(directory: &Path) -> Result<(), String> {
    std::fs::create_dir_all(directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    for case in wanted() {
        let file = recorded::record(&case, directory)?;
        let totals = Store::open(&file).map_err(|error| error.to_string())?.totals();
        let planted = case.planted().map_or_else(|| "nothing".into(), Fault::to_string);
        println!(
            "{:>9} events {:>6} lost  {:<32} {planted}",
            totals.emitted,
            totals.lost,
            case.title()
        );
    }
    Ok(())
}

fn judge_all() -> Result<(), String> {
    let given = option("--of").map(PathBuf::from);
    let directory = report::target().join("findings");
    std::fs::create_dir_all(&directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut judged = Vec::new();
    for case in wanted() {
        let file = match &given {
            Some(given) => recorded::file(&case, given),
            None => recorded::record(&case, &directory)?,
        };
        let next = Judged::of(case, &file)?;
        println!("{next}");
        judged.push(next);
    }
    println!("\n{}", Quality(&judged));
    std::fs::remove_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))
}

fn compare_examples() -> Result<(), String> {
    let directory = report::target().join("findings-examples");
    let compared = examples::compare(&directory)?;
    println!("{compared} examples of docs/findings.md are what the programs give");
    std::fs::remove_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))
}

/// The cases that `--only` selects by the beginning of their names.
fn wanted() -> Vec<Case> {
    let only = option("--only").unwrap_or_default();
    Case::all()
        .into_iter()
        .filter(|case| only.split(',').any(|start| case.name.starts_with(start)))
        .collect()
}

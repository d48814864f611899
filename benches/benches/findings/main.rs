//! Findings of programs whose faults are known.
//!
//! `--record DIRECTORY` records each of them there, for `metaspy findings`. `--only mail,chess/search` selects some.

mod planted;
mod programs;
mod recorded;

use std::path::Path;
use std::process::ExitCode;

use metaspy::Store;
use metaspy_benches::child::{self, option};
use planted::{Case, Fault};

fn main() -> ExitCode {
    if let Some(title) = child::case() {
        let case = Case::all().into_iter().find(|case| case.title() == title);
        case.expect("the parent passes the title of a case").run();
        return ExitCode::SUCCESS;
    }
    let Some(directory) = option("--record") else {
        eprintln!("nothing to do: `-- --record DIRECTORY` records the programs");
        return ExitCode::from(2);
    };
    match record_all(Path::new(&directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn record_all(directory: &Path) -> Result<(), String> {
    std::fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for case in wanted() {
        let file = recorded::record(&case, directory)?;
        let totals = Store::open(&file).map_err(|error| error.to_string())?.totals();
        let planted = case.planted().map_or_else(|| "nothing".into(), Fault::to_string);
        println!("{:>9} events {:>6} lost  {:<32} {planted}", totals.emitted, totals.lost, case.title());
    }
    Ok(())
}

/// The cases that `--only` selects by the beginning of their names.
fn wanted() -> Vec<Case> {
    let only = option("--only").unwrap_or_default();
    Case::all().into_iter().filter(|case| only.split(',').any(|start| case.name.starts_with(start))).collect()
}

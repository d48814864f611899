//! Instructions of each hook, compared with the committed table: a gate that does not depend on the
//! machine's load.
//!
//! Without an option it prints them and fails if a row has grown. `--write` makes the table anew.
//! It needs valgrind.

use std::process::{Command, ExitCode};

use metaspy_benches::child;
use metaspy_benches::instructions::{CASES, Table};

fn main() -> ExitCode {
    if let Some(name) = child::case() {
        CASES
            .iter()
            .find(|case| case.name == name)
            .expect("the parent starts a case that there is")
            .run();
        return ExitCode::SUCCESS;
    }
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        println!("SKIPPED: instructions: the table is of x86-64 Linux");
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: instructions: valgrind is not installed");
        return ExitCode::SUCCESS;
    }
    match check() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn check() -> Result<(), String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let found = Table::count(&own)?;
    print!("{}", found.text());
    let path = Table::path();
    if std::env::args().any(|argument| argument == "--write") {
        return std::fs::write(&path, found.text())
            .map_err(|error| format!("{}: {error}", path.display()));
    }
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let known = Table::parse(&text)
        .ok_or_else(|| format!("{} is no table: write it anew", path.display()))?;
    let larger = found.larger_than(&known);
    if larger.is_empty() {
        return Ok(());
    }
    Err(format!(
        "{}\nMake the hook smaller. If the growth is worth it, or the compiler is a newer one, write the table anew with \
         `-- --write` and commit it.",
        larger.join("\n")
    ))
}

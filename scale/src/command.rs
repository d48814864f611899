//! Entry point of the program: runs the command of the command line.

use std::process::ExitCode;

use anyhow::Result;
#[cfg(not(feature = "cluster"))]
use anyhow::bail;
use clap::Parser;
use metaspy_reader::text::print_message;

use crate::arguments::{Cli, Command};
use crate::panics::quiet_if_caught;
use crate::{otlp, query, restore, seal, serve, ship, threads};

/// Parses the arguments of the process, runs the command, and returns its exit code.
pub fn run() -> ExitCode {
    metaspy_core::recording::guard_against_truncation();
    quiet_if_caught();
    match run_command(Cli::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            print_message(&format_args!("metaspy: {}", sentence(&error)));
            ExitCode::from(2)
        }
    }
}

/// Joins the causes of an error to one sentence. Some libraries repeat causes in each of their
/// messages, so repetitions are left out.
fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !sentence.contains(&cause) {
            sentence.push_str(if sentence.is_empty() { "" } else { ": " });
            sentence.push_str(&cause);
        }
    }
    sentence
}

/// Runs a command. Returns false if a recording is damaged but was read.
fn run_command(command: Command) -> Result<bool> {
    threads::on_thread(|| {
        let runtime = threads::runtime()?;
        let ended = runtime.block_on(run_on_runtime(command));
        // Does not wait for work whose result is not needed any more, because it may take long.
        runtime.shutdown_background();
        ended
    })
}

async fn run_on_runtime(command: Command) -> Result<bool> {
    match command {
        Command::Query(options) => query::run(&options).await,
        Command::Seal(options) => seal::run(&options).await,
        #[cfg(feature = "cluster")]
        Command::Cluster(options) => crate::cluster::run(&options).await,
        #[cfg(not(feature = "cluster"))]
        Command::Cluster(_) => bail!(crate::query::NO_CLUSTER),
        Command::Restore(options) => restore::run(&options).await,
        Command::Ship(options) => ship::run(&options).await,
        Command::Otlp(options) => otlp::run(&options).await,
        Command::Serve(options) => serve::run(&options).await,
    }
}

//! `metaspy mcp`: the server for coding agents, and its entries in the files of clients.

use std::env;
use std::io::{self, IsTerminal};
use std::path::Path;

use anyhow::{Context, Result};
use metaspy_mcp::install::Client;
use metaspy_mcp::{Options, serve};
use metaspy_report::text::file_name;

use crate::exit::{Ended, say};
use crate::metaspy::arguments::Mcp;
use crate::metaspy::{incoming, scale};

/// Serves an agent, or prints or writes the entry for a client.
pub fn run(options: &Mcp) -> Result<Ended> {
    if options.recordings.iter().any(|name| name == Path::new(incoming::STANDARD)) {
        return Err(say(
            "standard input has the messages of the agent: name files or processes, not `-`",
        ));
    }
    if let Some(sealed) = options.recordings.iter().find(|name| scale::is_sealed(name)) {
        let name = file_name(sealed);
        return Err(say(format!(
            "{name} is a sealed set: `metaspy restore {name}` makes recordings of it"
        )));
    }
    if let Some(client) = options.install {
        return install(client, options);
    }
    if io::stdin().is_terminal() {
        return Err(say(
            "agents start `metaspy mcp` and speak to it on standard input; for the entry: metaspy mcp --install claude",
        ));
    }
    let served = Options {
        recordings: options.recordings.clone(),
        allow_run: options.allow_run.clone(),
        engine: scale::installed(),
    };
    serve(served).map_err(|error| say(format!("the agent cannot be served: {error}")))?;
    Ok(Ended::Fine)
}

fn install(client: Client, options: &Mcp) -> Result<Ended> {
    let own = env::current_exe().context("cannot find the file of this command")?;
    // A name is right on every machine that has the command, and its file only on this one.
    let is_found = scale::on_path("metaspy").and_then(|found| found.canonicalize().ok())
        == own.canonicalize().ok();
    let program = if is_found { "metaspy".to_owned() } else { own.to_string_lossy().into_owned() };
    let mut arguments = vec!["mcp".to_owned()];
    for pattern in &options.allow_run {
        arguments.extend(["--allow-run".to_owned(), pattern.text().to_owned()]);
    }
    arguments.extend(options.recordings.iter().map(|name| name.to_string_lossy().into_owned()));
    let directory = env::current_dir().context("cannot find the current directory")?;
    if options.write {
        let file = client.write(&directory, &program, &arguments);
        let file = file.map_err(|error| say(format!("--write: {error}")))?;
        println!(
            "{} has the entry. Next: start the client in this directory, and ask why it is slow.",
            file_name(&file)
        );
    } else {
        print!("{}", client.entry(&program, &arguments));
        let file = client.file(&directory).map_err(|error| say(error.to_string()))?;
        let word = client.word();
        metaspy_report::text::print_message(&format_args!(
            "metaspy: this belongs into {}; `metaspy mcp --install {word} --write` adds it",
            file_name(&file)
        ));
    }
    Ok(Ended::Fine)
}

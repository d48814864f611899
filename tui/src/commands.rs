//! The commands, each in a few lines: what they do is done elsewhere.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Result;
use serde::Serialize;

use crate::cli::{Cli, Command};
use crate::crawler::{self, state::Crawler};
use crate::exit::{Ended, say};
use crate::live::{self, Listed};
use crate::text::{clean, fit, pad_left, short, width};
use crate::{demo, grammar, report, verify};

/// Does what the command line says.
pub fn run(cli: Cli) -> Result<Ended> {
    live::guard();
    // Buffered: a report may have a million rows.
    let mut out = io::BufWriter::new(io::stdout().lock());
    match cli.command {
        Command::Demo(asked) => match asked.record {
            Some(file) => demo::record(asked.page.as_deref(), &file, &asked.limits, &mut out),
            None => {
                drop(out);
                needs_terminal("metaspy demo --record run.spy && metaspy report run.spy")?;
                demo::show(asked.page.as_deref())
            }
        },
        Command::Story { page } => demo::attended(page.as_deref()),
        Command::Attach { pid } => {
            drop(out);
            let found = live::attach(pid)?;
            needs_terminal(&format!("metaspy report {}", found.path.display()))?;
            crawl(&[found.path])
        }
        Command::Open { files } => {
            drop(out);
            // A file that cannot be opened is said first, terminal or not.
            let files = files.iter().map(|file| live::path_of(file)).collect::<Result<Vec<_>>>()?;
            for file in &files {
                live::open(file)?;
            }
            needs_terminal(&format!(
                "metaspy report {}",
                files.first().map_or(Path::new("FILE"), |file| file).display()
            ))?;
            crawl(&files)
        }
        Command::List { json } => list(json, &mut out),
        Command::Clean => clean_up(&mut out),
        Command::Report(asked) => report::run(&asked, &mut out),
        Command::Grammar(asked) => grammar::run(&asked, &mut out),
        Command::Verify { file, json } => verify::run(&file, json, &mut out),
    }
}

/// The crawler needs somebody who looks at it.
fn needs_terminal(instead: &str) -> Result<()> {
    match io::stdout().is_terminal() && io::stdin().is_terminal() {
        true => Ok(()),
        false => Err(say(format!("the crawler needs a terminal, and this is none; for text use: {instead}"))),
    }
}

fn crawl(files: &[PathBuf]) -> Result<Ended> {
    let open = |file: &PathBuf| {
        let name =
            file.file_name().map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned());
        Ok(Crawler::new(live::open(file)?, name, (80, 24)))
    };
    let crawlers = files.iter().map(open).collect::<Result<Vec<_>>>()?;
    crawler::run(crawlers)?;
    Ok(Ended::Fine)
}

#[derive(Serialize)]
struct ListedOut<'a> {
    pid: u32,
    name: &'a str,
    run: Option<&'a str>,
    alive: bool,
    bytes: u64,
    path: String,
}

fn list(json: bool, out: &mut impl Write) -> Result<Ended> {
    let all = live::list();
    if json {
        let rows = all.iter().map(|it| ListedOut {
            pid: it.pid,
            name: &it.name,
            run: it.run.as_deref(),
            alive: it.alive,
            bytes: it.bytes,
            path: it.path.display().to_string(),
        });
        serde_json::to_writer_pretty(&mut *out, &rows.collect::<Vec<_>>()).map_err(io::Error::from)?;
        writeln!(out)?;
    } else if all.is_empty() {
        writeln!(out, "No recordings in {}.", live::directory().display())?;
        writeln!(out, "Start a program with METASPY_RECORD=live, or try:  metaspy demo")?;
    } else {
        let columns = all.iter().map(|it| width(&clean(&it.name))).max().unwrap_or(4).clamp(4, 40);
        writeln!(out, "{:>8}  {}  state      size  last written  file", "process", fit("name", columns))?;
        for it in &all {
            let state = if it.alive { "running" } else { "ended" };
            let (name, size) = (fit(&clean(&it.name), columns), format!("{}B", short(it.bytes)));
            let (size, ago, path) = (pad_left(&size, 8), ago(it), it.path.display().to_string());
            writeln!(out, "{:>8}  {name}  {state:<7}  {size}  {ago:<12}  {}", it.pid, clean(&path))?;
        }
        writeln!(out, "\nmetaspy attach PID opens one; report, verify and open take names and processes, too.")?;
        writeln!(out, "metaspy clean removes those that ended.")?;
    }
    out.flush()?;
    Ok(Ended::Fine)
}

fn ago(listed: &Listed) -> String {
    let seconds = SystemTime::now().duration_since(listed.changed).unwrap_or_default().as_secs();
    match seconds {
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

fn clean_up(out: &mut impl Write) -> Result<Ended> {
    let removed = live::clean()?;
    let bytes = removed.iter().map(|it| it.bytes).sum();
    for it in &removed {
        writeln!(out, "removed {}", it.path.display())?;
    }
    let recordings = if removed.len() == 1 { "recording" } else { "recordings" };
    writeln!(out, "{} {recordings} removed, {}B", removed.len(), short(bytes))?;
    out.flush()?;
    Ok(Ended::Fine)
}

//! The command line.

use std::path::PathBuf;

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Announcements that are published.
    pub publishes: u64,
    /// Connections that subscribe.
    pub subscribers: usize,
    /// How many of them read nothing before everything is published.
    pub slow: usize,
    /// Bytes that each message is filled up to.
    pub payload: usize,
    pub json: bool,
    pub record: Option<PathBuf>,
}

/// What a command line comes to.
#[derive(Debug, PartialEq)]
pub enum Invocation {
    Help,
    Run(Options),
}

pub const HELP: &str = "\
Who published what, and who heard it how often, on a mini-redis that nobody edited.

usage: bus [--publishes N] [--subscribers N] [--slow N] [--payload BYTES] [--json] [--record FILE.spy]

  --publishes N      announcements that three publishers send in all, at most 1000000; 137 by default
  --subscribers N    connections that subscribe, at most 200; 5 by default
  --slow N           how many of them read nothing before everything is published; none
  --payload BYTES    what each message is filled up to, at most 65536; not at all
  --json             one object instead of text
  --record FILE      keeps the recording, for `metaspy open FILE`
  --help             this

example:
  cargo run --release --example bus -- --publishes 137 --subscribers 5 --record bus.spy
";

/// What mini-redis takes is 250 connections, and others than subscribers need some.
const SUBSCRIBERS_MAX: u64 = 200;
const PUBLISHES_MAX: u64 = 1_000_000;
const PAYLOAD_MAX: u64 = 1 << 16;

impl Default for Options {
    fn default() -> Self {
        Options { publishes: 137, subscribers: 5, slow: 0, payload: 0, json: false, record: None }
    }
}

/// Reads a command line. An error is a sentence.
pub fn read(arguments: impl IntoIterator<Item = String>) -> Result<Invocation, String> {
    let mut options = Options::default();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => {
                (name.to_owned(), Some(value.to_owned()))
            }
            _ => (argument, None),
        };
        if value.is_some() && ["--json", "--help", "-h"].contains(&name.as_str()) {
            return Err(format!("{name} takes no value"));
        }
        let mut value = || {
            value
                .clone()
                .or_else(|| arguments.next())
                .ok_or_else(|| format!("{name} needs a value"))
        };
        match name.as_str() {
            "--publishes" => options.publishes = number(&name, &value()?, PUBLISHES_MAX)?,
            "--subscribers" => {
                options.subscribers = number(&name, &value()?, SUBSCRIBERS_MAX)? as usize
            }
            "--slow" => options.slow = number(&name, &value()?, SUBSCRIBERS_MAX)? as usize,
            "--payload" => options.payload = number(&name, &value()?, PAYLOAD_MAX)? as usize,
            "--record" => options.record = Some(value()?.into()),
            "--json" => options.json = true,
            "--help" | "-h" => return Ok(Invocation::Help),
            _ => return Err(format!("{name} is not known")),
        }
    }
    if options.slow > options.subscribers {
        Err(format!("--slow {}: there are only {} subscribers", options.slow, options.subscribers))
    } else {
        Ok(Invocation::Run(options))
    }
}

fn number(name: &str, text: &str, max: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number <= max);
    number.ok_or_else(|| format!("{name} takes a number of at most {max}, not `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Invocation, String> {
        read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_line_selects_the_options() {
        let options =
            Options { publishes: 3, subscribers: 2, slow: 1, json: true, ..Options::default() };
        assert_eq!(
            parsed("--publishes 3 --subscribers=2 --slow 1 --json"),
            Ok(Invocation::Run(options))
        );
        assert_eq!(parsed(""), Ok(Invocation::Run(Options::default())));
        assert_eq!(parsed("--publishes 3 --help"), Ok(Invocation::Help));
    }

    #[test]
    fn a_wrong_line_is_refused_with_the_reason() {
        for (line, why) in [
            ("--publishes", "--publishes needs a value"),
            ("--publishes many", "--publishes takes a number of at most 1000000, not `many`"),
            ("--subscribers 201", "--subscribers takes a number of at most 200, not `201`"),
            ("--slow 3 --subscribers 2", "--slow 3: there are only 2 subscribers"),
            ("--json=yes", "--json takes no value"),
            ("137", "137 is not known"),
        ] {
            assert_eq!(parsed(line), Err(why.to_owned()));
        }
    }
}

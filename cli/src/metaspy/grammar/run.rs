//! The run: reads the grammar and the inputs, and parses every input.

use std::panic;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::Result;
use metaspy_core::{Installed, Profiler, Recording};
use metaspy_instrumenters::productions::pest::{Grammar, Limits, Source, Suite};
use metaspy_instrumenters::productions::productions;
use metaspy_reader::files;
use metaspy_report::grammar::Report;
use metaspy_report::text::{clean_lines, grouped};

use super::convert;
use super::corpus::Corpus;
use crate::exit::say;
use crate::metaspy::arguments;
use crate::metaspy::progress::Progress;

/// Stack beside that of the parse: for reading directories, compiling the grammar, writing the
/// report.
const OWN_STACK: usize = 2 << 20;
/// Time to compile a grammar. Those of large languages take less than a second.
const COMPILED_WITHIN: Duration = Duration::from_secs(30);

/// Compiles the grammar, parses the inputs and reports the coverage.
///
/// `recording` is the file that the parses are recorded into.
pub fn run(options: &arguments::Grammar, recording: Option<&Path>) -> Result<Report> {
    let mut limits = Limits { steps: options.steps, ..Limits::default() };
    if let Some(stack) = options.stack {
        limits.stack = usize::try_from(stack).unwrap_or(usize::MAX);
    }
    let size = limits.stack.saturating_add(OWN_STACK);
    // A parser calls itself as deep as its input nests, so it runs on a stack whose size is known.
    thread::scope(|scope| {
        let parser = thread::Builder::new().name("parser".into()).stack_size(size);
        let running = parser.spawn_scoped(scope, || exercise(options, limits, recording));
        let running = running
            .map_err(|error| say(format!("--stack: {size} bytes cannot be had: {error}")))?;
        running.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked))
    })
}

fn exercise(
    options: &arguments::Grammar,
    limits: Limits,
    recording: Option<&Path>,
) -> Result<Report> {
    let sources = options.grammar.iter().chain(&options.with).map(|path| source(path));
    let sources = sources.collect::<Result<Vec<_>>>()?;
    let rule = options.rule.as_deref().unwrap_or_default();
    let grammar = compile(sources.clone(), rule.to_owned(), limits.stack, COMPILED_WITHIN)?;
    let Corpus { found, mut skipped, .. } = Corpus::collect(&options.corpus, &options.glob)?;
    let recording = recording.map(|path| Walk::record(&grammar, path)).transpose()?;
    let mut progress = Progress::on_stderr();
    let suite = Suite::new(&grammar).with_limits(limits);
    let mut suite = if options.timed { suite.with_times() } else { suite };
    // The place in `found` of each input: an input that is no text gets no number.
    let mut parsed = Vec::with_capacity(found.len());
    for (at, input) in found.iter().enumerate() {
        progress.update(|| of_inputs("parsed", at, found.len()));
        match input.read() {
            Ok(text) => {
                suite.parse(input.name.clone(), &text);
                parsed.push(at);
            }
            Err(why) => skipped.unreadable.push(|| format!("{} ({why})", input.name)),
        }
    }
    if parsed.is_empty() {
        return Err(say(skipped.no_input()));
    }
    // Trials of alternatives are no part of a parse; their results are part of the recording.
    let recording = recording.map(Walk::end);
    if suite.needs_explaining() {
        let mut done = 0;
        suite.explain(|input| {
            progress.update(|| {
                of_inputs("looked for what takes the place of alternatives in", done, parsed.len())
            });
            done += 1;
            // A file that went away in between explains nothing.
            found[parsed[input]].read().ok().map(|text| text.into_owned())
        });
    }
    drop(recording);
    drop(progress);
    Ok(convert::report(&grammar, &sources, rule, suite.coverage(), skipped, options.timed))
}

fn of_inputs(what: &str, done: usize, of: usize) -> String {
    format!("{what} {} of {} inputs", grouped(done as u64), grouped(of as u64))
}

/// A recording of the parses, until it is dropped.
struct Walk {
    recording: Recording,
    installed: Option<Installed>,
}

impl Walk {
    fn record(grammar: &Grammar, path: &Path) -> Result<Self> {
        let recording = Recording::file(path).linked_sites(false).start()?;
        let installed = Profiler::new("grammar").observe(productions(grammar)).install()?;
        Ok(Walk { recording, installed: Some(installed) })
    }

    /// Nothing more is observed.
    fn end(mut self) -> Self {
        drop(self.installed.take());
        self
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        drop(self.installed.take());
        self.recording.close();
    }
}

/// Compiles a grammar on a thread of its own. The time of pest's checks doubles with each rule of
/// some grammars, and nothing stops them.
fn compile(sources: Vec<Source>, rule: String, stack: usize, within: Duration) -> Result<Grammar> {
    let (send, compiled) = mpsc::channel();
    let compiler =
        thread::Builder::new().name("compiler".into()).stack_size(stack.saturating_add(OWN_STACK));
    // If it is late, it ends with the process.
    compiler.spawn(move || _ = send.send(Grammar::new(&sources, &rule)))?;
    match compiled.recv_timeout(within) {
        Ok(grammar) => grammar.map_err(|error| say(clean_lines(&error.to_string()))),
        Err(RecvTimeoutError::Timeout) => Err(say(format!(
            "the grammar does not compile within {} s: give rules that refer to others several times fewer references, and \
             long sequences and choices rules of their own",
            within.as_secs()
        ))),
        Err(RecvTimeoutError::Disconnected) => {
            Err(say("the grammar cannot be compiled: pest's compiler failed"))
        }
    }
}

fn source(path: &Path) -> Result<Source> {
    let text = files::read_argument(path)
        .map_err(|error| say(format!("cannot read {}: {error}", path.display())))?;
    let text = String::from_utf8(text);
    let text =
        text.map_err(|_| say(format!("{} is no grammar: it is not UTF-8", path.display())))?;
    Ok(Source { name: path.display().to_string(), text })
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    #[test]
    fn a_grammar_whose_checks_do_not_end_is_an_error() {
        let mut text = "doc = { r0 }\n".to_owned();
        for rule in 0..18 {
            let next = rule + 1;
            writeln!(text, "r{rule} = {{ r{next} ~ r{next} | r{next}* }}").expect("texts take all");
        }
        text += "r18 = { \"x\" }\n";
        let sources = vec![Source { name: "a.pest".into(), text }];
        let error =
            compile(sources, "doc".into(), 1 << 20, Duration::ZERO).expect_err("it takes longer");
        assert!(
            error.to_string().starts_with("the grammar does not compile within 0 s"),
            "{error}"
        );
    }
}

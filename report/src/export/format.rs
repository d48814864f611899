//! [`Format`]: the list of formats, for a command line and for a screen.

use std::io::{self, Write};

use super::collapsed::contexts_of;
use super::{
    Chrome, Cobertura, Collapsed, Csv, Exporter, Firefox, Graphviz, Json, JsonLines, Lcov,
    Perfetto, Selection, Speedscope, Spy, Weight, Written,
};
use crate::coverage::Run;

/// A format that selected events of a recording can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A recording of its own.
    Spy,
    /// An object for each event.
    JsonLines,
    /// A line of a table for each event.
    Csv,
    /// Chrome's trace JSON, for Perfetto.
    Chrome,
    /// Perfetto's own trace.
    Perfetto,
    /// The Firefox Profiler.
    Firefox,
    /// Stacks with their calls.
    Collapsed,
    /// Stacks with their self time.
    CollapsedTime,
    /// Calling contexts with their calls.
    Contexts,
    /// Calling contexts with their self time.
    ContextsTime,
    /// speedscope.
    Speedscope,
    /// Graphviz.
    Graphviz,
    /// lcov's tracefile.
    Lcov,
    /// Cobertura's XML.
    Cobertura,
    /// The program with its numbers.
    Json,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 15] = [
        Format::Spy,
        Format::JsonLines,
        Format::Csv,
        Format::Chrome,
        Format::Perfetto,
        Format::Firefox,
        Format::Collapsed,
        Format::CollapsedTime,
        Format::Contexts,
        Format::ContextsTime,
        Format::Speedscope,
        Format::Graphviz,
        Format::Lcov,
        Format::Cobertura,
        Format::Json,
    ];

    /// The word for it on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Spy => "spy",
            Format::JsonLines => "jsonl",
            Format::Csv => "csv",
            Format::Chrome => "chrome",
            Format::Perfetto => "perfetto",
            Format::Firefox => "firefox",
            Format::Graphviz => "dot",
            Format::Collapsed => "collapsed",
            Format::CollapsedTime => "collapsed-time",
            Format::Contexts => "contexts",
            Format::ContextsTime => "contexts-time",
            Format::Speedscope => "speedscope",
            Format::Lcov => "lcov",
            Format::Cobertura => "cobertura",
            Format::Json => "json",
        }
    }

    /// A line of help.
    pub fn description(self) -> &'static str {
        match self {
            Format::Spy => "A recording of the selected events, for metaspy itself",
            Format::JsonLines => "JSON lines: an object for each event",
            Format::Csv => "A table: a line for each event",
            Format::Chrome => {
                "Chrome's trace JSON, for ui.perfetto.dev: slices on tracks, causes are arrows"
            }
            Format::Perfetto => {
                "Perfetto's own trace: as chrome, with every arrow bound to its slices"
            }
            Format::Firefox => {
                "profiler.firefox.com: events as markers, chains of causes as stacks"
            }
            Format::Graphviz => "Graphviz: which site caused which, and how often",
            Format::Collapsed => {
                "Collapsed stacks by chain of causes, weighed by calls: inferno, flamegraph.pl"
            }
            Format::CollapsedTime => {
                "Collapsed stacks by chain of causes, weighed by self time in ns"
            }
            Format::Contexts => {
                "Collapsed stacks by calling context, weighed by calls: METASPY_PROFILE=contexts"
            }
            Format::ContextsTime => {
                "Collapsed stacks by calling context, weighed by self time in ns"
            }
            Format::Speedscope => "speedscope.app: chains of causes by calls and by self time",
            Format::Lcov => "lcov's tracefile: which functions ran",
            Format::Cobertura => "Cobertura's XML: which functions ran",
            Format::Json => "JSON of the program: packages, types and methods with their numbers",
        }
    }

    /// The usual end of the names of such files.
    pub fn extension(self) -> &'static str {
        match self {
            Format::Spy => "spy",
            Format::JsonLines => "jsonl",
            Format::Csv => "csv",
            Format::Chrome => "trace.json",
            Format::Perfetto => "pftrace",
            Format::Firefox => "firefox.json",
            Format::Graphviz => "dot",
            Format::Collapsed | Format::CollapsedTime | Format::Contexts | Format::ContextsTime => {
                "folded"
            }
            Format::Speedscope => "speedscope.json",
            Format::Lcov => "info",
            Format::Cobertura => "xml",
            Format::Json => "json",
        }
    }

    /// True if it is written from the numbers of methods, and not from events.
    pub fn is_coverage(self) -> bool {
        matches!(self, Format::Lcov | Format::Cobertura | Format::Json)
    }

    /// True if it is written from calling contexts, and not from events.
    pub fn is_contexts(self) -> bool {
        matches!(self, Format::Contexts | Format::ContextsTime)
    }

    /// True if it is no text, so that it does not belong on a terminal.
    pub fn is_binary(self) -> bool {
        matches!(self, Format::Spy | Format::Perfetto)
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

impl Exporter<Selection<'_>> for Format {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let run = || Run::of_recording(selection.store, selection.filter);
        match self {
            Format::Spy => Spy.export(selection, out),
            Format::JsonLines => JsonLines.export(selection, out),
            Format::Csv => Csv.export(selection, out),
            Format::Chrome => Chrome.export(selection, out),
            Format::Perfetto => Perfetto.export(selection, out),
            Format::Firefox => Firefox.export(selection, out),
            Format::Graphviz => Graphviz.export(selection, out),
            Format::Collapsed => Collapsed(Weight::Count).export(selection, out),
            Format::CollapsedTime => Collapsed(Weight::SelfTime).export(selection, out),
            Format::Contexts => Collapsed(Weight::Count).export(&contexts_of(selection), out),
            Format::ContextsTime => {
                Collapsed(Weight::SelfTime).export(&contexts_of(selection), out)
            }
            Format::Speedscope => Speedscope.export(selection, out),
            Format::Lcov => Lcov.export(&run(), out),
            Format::Cobertura => Cobertura.export(&run(), out),
            Format::Json => Json::default().export(&run(), out),
        }
    }
}

//! Report in JSON for programs. `docs/sampling.md` describes the format.

use std::io::{self, Write};
use std::time::UNIX_EPOCH;

use metaspy_report::cpu::error_percent;
use serde::Serialize;

use crate::profile::{Edge, InlinedRow, Profile, RangeRow, Span};
use crate::statistics::Statistics;
use crate::symbols::Category;
use crate::text::notes;

#[derive(Serialize)]
struct Out<'a> {
    format: u32,
    target: &'a [String],
    pid: u32,
    started_s: u64,
    elapsed_ns: u64,
    processor_ns: u64,
    back_end: &'static str,
    clock: &'static str,
    stacks: &'static str,
    requested_hz: u32,
    achieved_hz: f64,
    samples: u64,
    lost: u64,
    cut: u64,
    broken: u64,
    unplaced: u64,
    kernel_sampled: bool,
    sections: Vec<SectionOut<'a>>,
    methods: Vec<MethodOut<'a>>,
    threads: Vec<ThreadOut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<EventsOut<'a>>,
    statistics: &'a Statistics,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct SectionOut<'a> {
    category: Category,
    samples: u64,
    functions: Vec<FunctionOut<'a>>,
}

#[derive(Serialize)]
struct FunctionOut<'a> {
    name: &'a str,
    file: Option<&'a str>,
    module: &'a str,
    samples: u64,
    percent: f64,
    error_percent: f64,
    ranges: Vec<RangeOut<'a>>,
}

#[derive(Serialize)]
struct RangeOut<'a> {
    /// First and last line, both included.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<(u32, u32)>,
    /// Positions of a code map; the end is excluded, and `None` at the end of the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    positions: Option<(u64, Option<u64>)>,
    samples: u64,
    by_line: &'a [(u32, u64)],
    inlined: Vec<NamedOut<'a>>,
}

impl<'a> RangeOut<'a> {
    fn of(row: &'a RangeRow, inlined: impl Fn(&InlinedRow) -> NamedOut<'a>) -> Self {
        let (lines, positions) = match row.span {
            Span::NoLine => (None, None),
            Span::Lines(first, last) => (Some((first, last)), None),
            Span::Positions(from, to) => (None, Some((from, (to != u64::MAX).then_some(to)))),
        };
        let inlined = row.inlined.iter().map(inlined).collect();
        RangeOut { lines, positions, samples: row.samples, by_line: &row.lines, inlined }
    }
}

#[derive(Serialize)]
struct NamedOut<'a> {
    name: &'a str,
    samples: u64,
}

#[derive(Serialize)]
struct MethodOut<'a> {
    name: &'a str,
    category: Category,
    self_ns: u64,
    self_percent: f64,
    error_percent: f64,
    total_ns: u64,
    total_percent: f64,
    self_cpu_ns: u64,
    total_cpu_ns: u64,
    callers: Vec<NamedOut<'a>>,
    callees: Vec<NamedOut<'a>>,
}

#[derive(Serialize)]
struct ThreadOut<'a> {
    pid: u32,
    tid: u32,
    name: &'a str,
    samples: u64,
}

/// Recorded events of the samples. The field exists only if a sampled process records.
#[derive(Serialize)]
struct EventsOut<'a> {
    recordings: Vec<String>,
    outside: u64,
    unknown: u64,
    rows: Vec<EventOut<'a>>,
}

#[derive(Serialize)]
struct EventOut<'a> {
    site: &'a str,
    subject: Option<&'a str>,
    key: Option<u64>,
    self_ns: u64,
    self_percent: f64,
    error_percent: f64,
    total_ns: u64,
    total_percent: f64,
}

/// Writes the report as a JSON object.
pub fn write(out: &mut dyn Write, profile: &Profile) -> io::Result<()> {
    let run = &profile.run;
    let total = profile.total();
    let doubts = profile.doubts();
    let function = |id: u32| &profile.symbols.functions[id as usize];
    let percent = |samples: u64| {
        if total == 0 { 0.0 } else { hundredths(100.0 * samples as f64 / total as f64) }
    };
    let inlined =
        |row: &InlinedRow| NamedOut { name: &function(row.function).name, samples: row.samples };
    let edge =
        |edge: &Edge| NamedOut { name: &function(edge.function).name, samples: edge.samples };
    let sections = profile.sections();
    let methods = profile.methods_and_calls();
    let mut by_thread = vec![0; run.samples.threads.len()];
    run.samples.samples.iter().for_each(|sample| by_thread[sample.thread as usize] += 1);
    let object = Out {
        format: 1,
        target: &run.target,
        pid: run.pid,
        started_s: run.started_at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        elapsed_ns: u64::try_from(run.elapsed.as_nanos()).unwrap_or(u64::MAX),
        processor_ns: run.processor_ns,
        back_end: run.back_end,
        clock: run.options.clock.name(),
        stacks: run.options.stacks.name(),
        requested_hz: run.options.rate_hz,
        achieved_hz: hundredths(run.achieved_hz()),
        samples: total,
        lost: run.samples.counts.lost,
        cut: doubts.cut,
        broken: doubts.broken,
        unplaced: doubts.unplaced,
        kernel_sampled: run.with_kernel,
        sections: (sections.iter())
            .map(|section| SectionOut {
                category: section.category,
                samples: section.samples,
                functions: (section.functions.iter())
                    .map(|row| FunctionOut {
                        name: &function(row.function).name,
                        file: function(row.function).file.as_deref(),
                        module: &function(row.function).module,
                        samples: row.samples,
                        percent: percent(row.samples),
                        error_percent: hundredths(error_percent(row.samples, total)),
                        ranges: row.ranges.iter().map(|row| RangeOut::of(row, inlined)).collect(),
                    })
                    .collect(),
            })
            .collect(),
        methods: (methods.iter())
            .map(|method| MethodOut {
                name: &function(method.function).name,
                category: function(method.function).category,
                self_ns: profile.ns(method.self_samples),
                self_percent: percent(method.self_samples),
                error_percent: hundredths(error_percent(method.self_samples, total)),
                total_ns: profile.ns(method.total_samples),
                total_percent: percent(method.total_samples),
                self_cpu_ns: method.self_cpu_ns,
                total_cpu_ns: method.total_cpu_ns,
                callers: method.callers.iter().map(edge).collect(),
                callees: method.callees.iter().map(edge).collect(),
            })
            .collect(),
        threads: (run.samples.threads.iter().zip(by_thread))
            .map(|(thread, samples)| ThreadOut {
                pid: thread.pid,
                tid: thread.tid,
                name: &thread.name,
                samples,
            })
            .collect(),
        events: (!run.recordings.is_empty()).then(|| events(profile)),
        statistics: &run.statistics,
        notes: notes(profile),
    };
    serde_json::to_writer_pretty(&mut *out, &object).map_err(io::Error::from)?;
    writeln!(out)
}

fn events(profile: &Profile) -> EventsOut<'_> {
    let run = &profile.run;
    let total = profile.total();
    let events = profile.events();
    let percent = |samples: u64| {
        if total == 0 { 0.0 } else { hundredths(100.0 * samples as f64 / total as f64) }
    };
    let row = |row: &crate::profile::EventRow| {
        let of = &run.samples.events[row.event as usize];
        EventOut {
            site: &of.site,
            subject: of.subject.as_deref(),
            key: of.of.subject.map(|subject| subject.key),
            self_ns: profile.ns(row.self_samples),
            self_percent: percent(row.self_samples),
            error_percent: hundredths(error_percent(row.self_samples, total)),
            total_ns: profile.ns(row.total_samples),
            total_percent: percent(row.total_samples),
        }
    };
    EventsOut {
        recordings: run.recordings.iter().map(|(path, _)| path.display().to_string()).collect(),
        outside: events.outside,
        unknown: events.unknown,
        rows: events.rows.iter().map(row).collect(),
    }
}

/// Rounds a number to two decimals.
fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

//! Chrome's trace JSON, as Perfetto opens it: events are slices on tracks, and causes are arrows.

use std::collections::HashSet;
use std::io::{self, Write};

use metaspy_reader::{Event, Store};
use serde::Serialize;
use serde_json::value::RawValue;

use super::arrows::Arrows;
use super::csv::detail;
use super::record::{Names, Record};
use super::tracks::{Slice, Track, Tracks};
use super::{Exporter, Selection, Written, short_name};

/// The Trace Event Format of Chrome and Perfetto:
/// <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.
#[derive(Clone, Copy, Debug)]
pub struct Chrome;

/// One object of the list.
#[derive(Serialize)]
struct TraceEvent<'a, Args> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    cat: &'a str,
    ph: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ts: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<Box<RawValue>>,
    pid: u32,
    tid: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Args>,
}

/// The properties of a selected event in a viewer.
#[derive(Serialize)]
struct Args<'a> {
    event: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    links: &'a [String],
    outcome: &'static str,
    timed: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<String>,
}

#[derive(Serialize)]
struct NameArgs<'a> {
    name: &'a str,
}

impl Exporter<Selection<'_>> for Chrome {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let store = selection.store;
        let names = Names::read(store);
        let arrows = Arrows::find(selection, &names)?;
        let mut list = List {
            out,
            store,
            names: &names,
            arrows: &arrows,
            named: HashSet::new(),
            is_empty: true,
        };
        list.out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        list.processes()?;
        let mut tracks = Tracks::new(store);
        let events = selection.each(|event| {
            let slice = tracks.place(event);
            list.event(event, &slice)
        })?;
        list.out.write_all(b"\n]}\n")?;
        Ok(Written { events, notes: [arrows.notes(), tracks.notes()].concat() })
    }
}

/// The list of objects, as far as it is written.
struct List<'a> {
    out: &'a mut dyn Write,
    store: &'a Store,
    names: &'a Names<'a>,
    arrows: &'a Arrows,
    /// The tracks with a name.
    named: HashSet<Track>,
    is_empty: bool,
}

impl List<'_> {
    /// The names of the processes.
    fn processes(&mut self) -> io::Result<()> {
        let processes = self.store.processes();
        if processes.is_empty() {
            let pid = self.store.header().pid;
            let name = self.store.program().name.clone();
            return self.name("process_name", pid, 0, &name);
        }
        processes
            .iter()
            .try_for_each(|process| self.name("process_name", process.pid, 0, &process.label))
    }

    /// A selected event, with its arrows. They follow their slice at once: an arrow belongs to the
    /// newest slice of its track.
    fn event(&mut self, event: &Event, slice: &Slice) -> io::Result<()> {
        let track = slice.track;
        let pid = self.pid(track);
        let tid = thread(track);
        if self.named.insert(track) {
            let name = track_name(self.names.thread(track.lane), track);
            self.name("thread_name", pid, tid, &name)?;
        }
        let record = self.names.record(event);
        let ts = || Some(micros(slice.start_ns));
        self.push(&TraceEvent {
            name: short_name(record.site),
            cat: record.kind,
            ph: if slice.end_ns.is_some() { "X" } else { "B" },
            ts: ts(),
            dur: slice.end_ns.map(|end| micros(end.saturating_sub(slice.start_ns))),
            pid,
            tid,
            id: None,
            bp: None,
            args: Some(args(
                &record,
                event.subject.map(|subject| self.store.subject_text(subject)),
            )),
        })?;
        let ends = self.arrows.to(event, self.names);
        let ends = ends.into_iter().map(|number| ("f", number, Some("e")));
        for (ph, number, bp) in
            ends.chain(self.arrows.from(event).map(|number| ("s", number, None)))
        {
            let name = "cause";
            let cat = "cause";
            self.push::<()>(&TraceEvent {
                name,
                cat,
                ph,
                ts: ts(),
                dur: None,
                pid,
                tid,
                id: Some(number),
                bp,
                args: None,
            })?;
        }
        Ok(())
    }

    fn name(&mut self, kind: &str, pid: u32, tid: u64, name: &str) -> io::Result<()> {
        let args = Some(NameArgs { name });
        self.push(&TraceEvent {
            name: kind,
            cat: "",
            ph: "M",
            ts: None,
            dur: None,
            pid,
            tid,
            id: None,
            bp: None,
            args,
        })
    }

    fn pid(&self, track: Track) -> u32 {
        self.store
            .process_of(track.lane)
            .map_or_else(|| self.store.header().pid, |process| process.pid)
    }

    fn push<Args: Serialize>(&mut self, event: &TraceEvent<'_, Args>) -> io::Result<()> {
        self.out.write_all(if std::mem::take(&mut self.is_empty) { b"\n" } else { b",\n" })?;
        Ok(serde_json::to_writer(&mut *self.out, event)?)
    }
}

fn args<'r>(record: &'r Record<'_>, subject: Option<String>) -> Args<'r> {
    Args {
        event: &record.event,
        path: record.site,
        source: (!record.file.is_empty()).then(|| format!("{}:{}", record.file, record.line)),
        subject,
        cause: record
            .cause
            .as_ref()
            .and_then(|cause| cause.event.as_deref().or(cause.span.as_deref())),
        links: &record.links,
        outcome: record.outcome,
        timed: record.timed,
        details: record.details.iter().map(detail).collect(),
    }
}

/// The name of a track: that of its thread, and for a further track its number.
pub(super) fn track_name(thread: &str, track: Track) -> String {
    let thread =
        if thread.is_empty() { format!("lane {}", track.lane.0) } else { thread.to_owned() };
    if track.number == 0 { thread } else { format!("{thread} · {}", track.number + 1) }
}

/// Lanes, for numbers of threads. With all further tracks of all lanes, the numbers have 32 bits,
/// as viewers expect.
const LANES: u64 = 1_000_000;

/// The number of a track as a thread. The system gives the number of an ended thread to a later
/// one, so it is not used.
fn thread(track: Track) -> u64 {
    u64::from(track.number) * LANES + u64::from(track.lane.0) % LANES + 1
}

/// Microseconds with all nanoseconds: a number of JSON that is exact where a float is not.
fn micros(ns: u64) -> Box<RawValue> {
    let text = format!("{}.{:03}", ns / 1000, ns % 1000);
    RawValue::from_string(text).expect("it is a number")
}

//! Perfetto's own trace: as Chrome's, with arrows that are bound to their slices.

mod proto;

use std::collections::HashSet;
use std::io::{self, Write};

use metaspy_reader::{Event, Store};

use super::arrows::Arrows;
use super::chrome::track_name;
use super::csv::detail;
use super::record::{Names, Record};
use super::tracks::{Slice, Track, Tracks};
use super::{Exporter, Selection, Written, short_name};
use proto::{
    Content, DebugAnnotation, ProcessDescriptor, SourceLocation, ThreadDescriptor, TracePacket,
    TrackDescriptor, TrackEvent, Type, Value,
};

/// Perfetto's protobuf: <https://perfetto.dev/docs/reference/synthetic-track-event>.
#[derive(Clone, Copy, Debug)]
pub struct Perfetto;

/// The field of a packet in a trace.
const PACKET: u32 = 1;
/// The sequence of all packets: the trace has one writer.
const SEQUENCE: u32 = 1;
/// Numbers of tracks: processes first, then the tracks of lanes.
const LANES_FROM: u64 = 1_000_000;
/// The numbers of the tracks of a lane.
const TRACKS_OF_LANE: u64 = 10_000;

impl Exporter<Selection<'_>> for Perfetto {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let store = selection.store;
        let names = Names::read(store);
        let arrows = Arrows::find(selection, &names)?;
        let mut trace = Trace {
            out,
            store,
            names: &names,
            arrows: &arrows,
            named: HashSet::new(),
            bytes: Vec::new(),
        };
        trace.processes()?;
        let mut tracks = Tracks::new(store);
        let events = selection.each(|event| {
            let slice = tracks.place(event);
            trace.event(event, &slice)
        })?;
        Ok(Written { events, notes: [arrows.notes(), tracks.notes()].concat() })
    }
}

/// The trace, as far as it is written.
struct Trace<'a> {
    out: &'a mut dyn Write,
    store: &'a Store,
    names: &'a Names<'a>,
    arrows: &'a Arrows,
    /// The tracks with a name.
    named: HashSet<Track>,
    bytes: Vec<u8>,
}

impl Trace<'_> {
    fn processes(&mut self) -> io::Result<()> {
        let mut all: Vec<(u32, String)> = self
            .store
            .processes()
            .iter()
            .map(|process| (process.pid, process.label.clone()))
            .collect();
        if all.is_empty() {
            all.push((self.store.header().pid, self.store.program().name.clone()));
        }
        for (number, (pid, name)) in (1..).zip(all) {
            let process = ProcessDescriptor { pid: Some(pid as i32), process_name: Some(name) };
            let track = TrackDescriptor {
                uuid: Some(number),
                process: Some(process),
                ..TrackDescriptor::default()
            };
            self.push(None, Content::TrackDescriptor(track))?;
        }
        Ok(())
    }

    fn event(&mut self, event: &Event, slice: &Slice) -> io::Result<()> {
        let track = slice.track;
        if self.named.insert(track) {
            self.name(track)?;
        }
        let record = self.names.record(event);
        let is_instant = slice.end_ns == Some(slice.start_ns);
        let location = SourceLocation {
            file_name: Some(record.file.to_owned()),
            function_name: Some(record.site.to_owned()),
            line_number: Some(record.line),
        };
        let begin = TrackEvent {
            debug_annotations: annotations(
                &record,
                event.subject.map(|subject| self.store.subject_text(subject)),
            ),
            r#type: Some(if is_instant { Type::Instant } else { Type::SliceBegin }.into()),
            track_uuid: Some(number(track)),
            categories: vec![record.kind.to_owned()],
            name: Some(short_name(record.site).to_owned()),
            source_location: (!record.file.is_empty()).then_some(location),
            flow_ids: self.arrows.from(event).collect(),
            terminating_flow_ids: self.arrows.to(event, self.names),
        };
        self.push(Some(slice.start_ns), Content::TrackEvent(begin))?;
        match slice.end_ns.filter(|_| !is_instant) {
            Some(end_ns) => {
                let end = TrackEvent {
                    r#type: Some(Type::SliceEnd.into()),
                    track_uuid: Some(number(track)),
                    ..TrackEvent::default()
                };
                self.push(Some(end_ns), Content::TrackEvent(end))
            }
            // A call that still runs has no end.
            None => Ok(()),
        }
    }

    /// Describes a track. The first track of a lane is its thread.
    fn name(&mut self, track: Track) -> io::Result<()> {
        let process = self.store.process_of(track.lane);
        let at = self
            .store
            .processes()
            .iter()
            .position(|it| Some(it.pid) == process.map(|process| process.pid));
        let pid = process.map_or_else(|| self.store.header().pid, |process| process.pid);
        let name = track_name(self.names.thread(track.lane), track);
        let descriptor = match track.number {
            0 => TrackDescriptor {
                uuid: Some(number(track)),
                parent_uuid: Some(at.unwrap_or(0) as u64 + 1),
                thread: Some(ThreadDescriptor {
                    pid: Some(pid as i32),
                    tid: Some(track.lane.0 as i32 + 1),
                    thread_name: Some(name),
                }),
                ..TrackDescriptor::default()
            },
            _ => {
                let first = Track { number: 0, ..track };
                if self.named.insert(first) {
                    self.name(first)?;
                }
                TrackDescriptor {
                    uuid: Some(number(track)),
                    parent_uuid: Some(number(first)),
                    name: Some(name),
                    ..TrackDescriptor::default()
                }
            }
        };
        self.push(None, Content::TrackDescriptor(descriptor))
    }

    fn push(&mut self, timestamp: Option<u64>, content: Content) -> io::Result<()> {
        let packet =
            TracePacket { timestamp, trusted_packet_sequence_id: SEQUENCE, content: Some(content) };
        self.bytes.clear();
        // Memory always has room for a message.
        prost::encoding::message::encode(PACKET, &packet, &mut self.bytes);
        self.out.write_all(&self.bytes)
    }
}

fn annotations(record: &Record<'_>, subject: Option<String>) -> Vec<DebugAnnotation> {
    let text = |name: &str, value: String| DebugAnnotation {
        name: Some(name.into()),
        value: Some(Value::Text(value)),
    };
    let mut all = vec![text("event", record.event.clone()), text("path", record.site.to_owned())];
    all.extend(subject.map(|subject| text("subject", subject)));
    let cause =
        record.cause.as_ref().and_then(|cause| cause.event.clone().or_else(|| cause.span.clone()));
    all.extend(cause.map(|cause| text("cause", cause)));
    if !record.links.is_empty() {
        all.push(text("links", record.links.join(" ")));
    }
    all.push(text("outcome", record.outcome.to_owned()));
    all.push(DebugAnnotation {
        name: Some("timed".into()),
        value: Some(Value::Bool(record.timed)),
    });
    all.extend(record.details.iter().map(|it| text("detail", detail(it))));
    all
}

/// The number of a track.
fn number(track: Track) -> u64 {
    LANES_FROM + u64::from(track.lane.0) * TRACKS_OF_LANE + u64::from(track.number)
}

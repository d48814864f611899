//! The Firefox Profiler: the events of a lane as markers of a thread, and the chains of causes as
//! stacks.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, MarkerFieldFlags,
    MarkerFieldFormat, MarkerTiming, ProcessHandle, Profile, SamplingInterval, StackHandle,
    StaticSchemaMarker, StaticSchemaMarkerField, StringHandle, ThreadHandle, Timestamp,
};
use metaspy_reader::{Event, LaneId, Store};

use super::csv::detail;
use super::record::{Names, Record};
use super::tracks::Tracks;
use super::{Exporter, Selection, Written, short_name, stacks};
use crate::text::grouped;

/// The "processed profile" of <https://profiler.firefox.com>.
#[derive(Clone, Copy, Debug)]
pub struct Firefox;

/// Markers at most. The profile is made in memory, and the viewer holds it in memory too.
const MARKERS_MAX: u64 = 500_000;

/// The fields of a marker.
const FIELDS: usize = 7;

/// A field that the search of the viewer finds.
const fn field(key: &'static str, label: &'static str) -> StaticSchemaMarkerField {
    StaticSchemaMarkerField {
        key,
        label,
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }
}

/// An event as a marker.
struct EventMarker {
    name: StringHandle,
    category: CategoryHandle,
    fields: [StringHandle; FIELDS],
}

impl StaticSchemaMarker for EventMarker {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "metaspy";
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.subject}");
    const TOOLTIP_LABEL: Option<&'static str> = Some("{marker.name} {marker.data.subject}");
    const TABLE_LABEL: Option<&'static str> = Some("{marker.data.subject} {marker.data.outcome}");
    const FIELDS: &'static [StaticSchemaMarkerField] = &[
        field("subject", "Subject"),
        field("path", "Path"),
        field("outcome", "Outcome"),
        field("event", "Event"),
        field("reasons", "Cause and links"),
        field("source", "Source"),
        field("details", "Details"),
    ];

    fn name(&self, _: &mut Profile) -> StringHandle {
        self.name
    }

    fn category(&self, _: &mut Profile) -> CategoryHandle {
        self.category
    }

    fn string_field_value(&self, field: u32) -> StringHandle {
        self.fields[field as usize]
    }

    fn number_field_value(&self, _: u32) -> f64 {
        0.0
    }
}

impl Exporter<Selection<'_>> for Firefox {
    fn export(&self, selection: &Selection<'_>, out: &mut dyn Write) -> io::Result<Written> {
        let store = selection.store;
        let chains = stacks::read(selection)?;
        let mut document = Document::new(store);
        let names = Names::read(store);
        let mut tracks = Tracks::new(store);
        let mut left_out = 0_u64;
        let mut written = 0;
        let events = selection.each(|event| {
            let slice = tracks.place(event);
            let timing = match slice.end_ns {
                None => MarkerTiming::IntervalStart(at(slice.start_ns)),
                Some(end) if end == slice.start_ns => MarkerTiming::Instant(at(end)),
                Some(end) => MarkerTiming::Interval(at(slice.start_ns), at(end)),
            };
            if written < MARKERS_MAX {
                written += 1;
                document.event(&names, event, timing);
            } else {
                left_out += 1
            }
            Ok(())
        })?;
        document.stacks(&chains);
        serde_json::to_writer(&mut *out, &document.profile)?;
        let mut notes = stacks::notes(&chains);
        if left_out > 0 {
            let left_out = grouped(left_out);
            let most = grouped(MARKERS_MAX);
            notes.push(format!("{left_out} later events are only in the stacks: a profile has {most} markers at most"));
        }
        Ok(Written { events, notes })
    }
}

/// The profile, as far as it is made.
struct Document<'s> {
    store: &'s Store,
    profile: Profile,
    processes: HashMap<u32, ProcessHandle>,
    threads: HashMap<LaneId, ThreadHandle>,
    categories: HashMap<&'static str, CategoryHandle>,
}

impl<'s> Document<'s> {
    fn new(store: &'s Store) -> Self {
        let began = UNIX_EPOCH + Duration::from_nanos(store.real_ns(store.header().first_tick));
        let name = &store.program().name;
        Document {
            store,
            profile: Profile::new(name, began.into(), SamplingInterval::from_millis(1)),
            processes: HashMap::new(),
            threads: HashMap::new(),
            categories: HashMap::new(),
        }
    }

    fn process(&mut self, lane: Option<LaneId>) -> ProcessHandle {
        let process = lane.and_then(|lane| self.store.process_of(lane));
        let own = || (self.store.header().pid, self.store.program().name.clone());
        let (pid, name) = process.map_or_else(own, |process| (process.pid, process.label.clone()));
        let profile = &mut self.profile;
        *self.processes.entry(pid).or_insert_with(|| profile.add_process(&name, pid, at(0)))
    }

    fn thread(&mut self, names: &Names<'_>, lane: LaneId) -> ThreadHandle {
        if let Some(&thread) = self.threads.get(&lane) {
            return thread;
        }
        let process = self.process(Some(lane));
        let thread = self.profile.add_thread(process, lane.0 + 1, at(0), false);
        let name = names.thread(lane);
        self.profile.set_thread_name(thread, if name.is_empty() { "thread" } else { name });
        self.profile.set_thread_show_markers_in_timeline(thread, true);
        self.threads.insert(lane, thread);
        thread
    }

    fn event(&mut self, names: &Names<'_>, event: &Event, timing: MarkerTiming) {
        let record = names.record(event);
        let thread = self.thread(names, event.lane);
        let subject =
            event.subject.map_or_else(String::new, |subject| self.store.subject_text(subject));
        let profile = &mut self.profile;
        let category = self.categories.entry(record.kind);
        let category =
            *category.or_insert_with(|| profile.add_category(record.kind, color(record.kind)));
        let fields = [
            subject,
            record.site.to_owned(),
            record.outcome.to_owned(),
            record.event.clone(),
            reasons(&record),
            if record.file.is_empty() {
                String::new()
            } else {
                format!("{}:{}", record.file, record.line)
            },
            record.details.iter().map(detail).collect::<Vec<_>>().join("; "),
        ];
        let fields = fields.map(|text| profile.intern_string(&text));
        let marker =
            EventMarker { name: profile.intern_string(short_name(record.site)), category, fields };
        profile.add_marker(thread, timing, marker);
    }

    /// A thread whose samples are the chains of causes: the weight of a stack is its calls, and its
    /// time is self time.
    fn stacks(&mut self, chains: &metaspy_reader::Chains) {
        let process = self.process(None);
        let thread = self.profile.add_thread(process, 0, at(0), false);
        self.profile.set_thread_name(thread, "chains of causes");
        let mut handles: Vec<StackHandle> = Vec::with_capacity(chains.chains.len());
        let mut now = 0;
        for chain in &chains.chains {
            let label = self.profile.intern_string(stacks::name(self.store, chain.frame));
            let category_pair = CategoryHandle::OTHER.into();
            let info =
                FrameInfo { frame: Frame::Label(label), category_pair, flags: FrameFlags::empty() };
            let frame = self.profile.intern_frame(thread, info);
            let parent = chain.parent.map(|parent| handles[parent as usize]);
            let stack = self.profile.intern_stack(thread, parent, frame);
            handles.push(stack);
            if chain.count > 0 {
                let own = self.store.span_ns(chain.self_ticks);
                now += own.max(1);
                let weight = i32::try_from(chain.count).unwrap_or(i32::MAX);
                self.profile.add_sample(
                    thread,
                    at(now),
                    Some(stack),
                    CpuDelta::from_nanos(own),
                    weight,
                );
            }
        }
    }
}

fn at(ns: u64) -> Timestamp {
    Timestamp::from_nanos_since_reference(ns)
}

fn reasons(record: &Record<'_>) -> String {
    let cause =
        record.cause.as_ref().and_then(|cause| cause.event.as_deref().or(cause.span.as_deref()));
    cause.into_iter().chain(record.links.iter().map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// The colour of a kind of sites.
fn color(kind: &str) -> CategoryColor {
    match kind {
        "method" => CategoryColor::Blue,
        "async" => CategoryColor::Purple,
        "announcement" => CategoryColor::Yellow,
        "span" => CategoryColor::Green,
        "production" => CategoryColor::Orange,
        _ => CategoryColor::Gray,
    }
}

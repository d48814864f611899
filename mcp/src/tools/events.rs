//! The tool `event`: a single event, or those that pass a filter.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self};

use metaspy_probe::Subject;
use metaspy_reader::{Conditions, DetailKind, Event, EventId, Filter, Position, Store};
use metaspy_report::text::{counted, time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{Answer, List, ToolError, quoted};
use crate::arguments::Call;
use crate::library::Opened;
use crate::session::{ITEMS, Session, check, filter_of, missing, only_counted};
use crate::shell::CommandLine;

/// Events that a walk tests before it looks at its client again.
const STEP: usize = 200_000;
/// Parts of a scan that justify a further thread.
const PARTS: usize = 16;

/// Arguments of `event`.
#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// A name of the tool `recordings`; several with commas are read as one [default: the only one]
    recording: Option<String>,
    /// The id of an event, such as `77.3`
    id: Option<String>,
    /// Without an id, lists the events that pass: `site:Scene::measure subject:#412 took:>1ms
    /// outcome:failed`
    filter: Option<String>,
    /// Which events come first [default: first]
    #[serde(default)]
    order: Order,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    /// The oldest
    #[default]
    First,
    /// The newest
    Last,
    /// The longest
    Slowest,
}

/// Events.
#[derive(Serialize, JsonSchema)]
pub struct Output {
    events: Vec<EventOut>,
    /// Number of events that pass, as far as they were counted: see `counted_all`.
    total: u64,
    /// Number of these that are not in this answer.
    left_out: u64,
    /// False if there are more events behind the counted ones.
    counted_all: bool,
    /// Goes on with the next events.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// What is not known, or to distrust.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// The command that shows a person the same.
    command: String,
}

/// An event. Times are in nanoseconds since the beginning of the recording.
#[derive(Serialize, JsonSchema)]
pub(super) struct EventOut {
    /// The id, for the tools `event`, `causes` and `effects`.
    id: String,
    /// Path of the site.
    pub(super) site: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<SubjectOut>,
    start_ns: u64,
    /// Duration; absent while the event runs, and where calls are not timed.
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ns: Option<u64>,
    /// How it ended: succeeded, returned, failed, err, none, panicked, cancelled, instant, moved;
    /// or running.
    outcome: String,
    /// The id of the cause; absent for a root.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    /// Thread that it began on.
    lane: u32,
    /// More, where one event was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<Box<More>>,
}

/// What is only said of a single event.
#[derive(Serialize, JsonSchema)]
struct More {
    /// Source file of the site.
    file: String,
    line: u32,
    /// Name of the thread.
    thread: String,
    /// Site of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    cause_site: Option<String>,
    /// The cause is in another process: its trace and span.
    #[serde(skip_serializing_if = "Option::is_none")]
    remote_cause: Option<String>,
    /// Further reasons beside the cause.
    links: Vec<String>,
    /// Arguments, returned value and labels, in their `Debug` form.
    details: Vec<DetailOut>,
    /// Time inside polls or entries, of async calls and spans.
    #[serde(skip_serializing_if = "Option::is_none")]
    busy_ns: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    polls: Option<u64>,
    /// Time from the sending of a message to this receipt.
    #[serde(skip_serializing_if = "Option::is_none")]
    queued_ns: Option<u64>,
    /// Announcements that were missed before this event.
    #[serde(skip_serializing_if = "Option::is_none")]
    missed: Option<u64>,
    /// Subjects that the model relates to the subject.
    relations: Vec<RelationOut>,
}

#[derive(Serialize, JsonSchema)]
struct RelationOut {
    relation: String,
    from: String,
    to: String,
}

#[derive(Serialize, JsonSchema)]
struct DetailOut {
    /// `argument`, `return` or `label`.
    kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    value: String,
    /// True if the value was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<bool>,
}

/// A domain object.
#[derive(Serialize, JsonSchema)]
struct SubjectOut {
    label: String,
    /// The term that selects it in a filter.
    filter: String,
}

/// Relations of a subject that an answer names.
const RELATIONS: usize = 10;

/// Answers a call of `event`.
pub fn answer(session: &Session, input: Input, call: &Call<'_>) -> Result<Answer, ToolError> {
    let opened = session.recordings.open(input.recording.as_deref())?;
    if let Some(id) = &input.id {
        if input.filter.is_some() {
            return Err("give an id or a filter, not both".into());
        }
        return one(&opened, id);
    }
    let mut notes = missing(&opened.store);
    let filter = filter_of(input.filter.as_deref())?;
    check(&filter, &opened.store, &mut notes)?;
    let totals = opened.store.totals();
    let calls = totals.folded + totals.counted + totals.lost;
    match only_counted(&opened.store) {
        Some(why) => notes.push(format!("{why}; the tool `rows` has the counts")),
        None if calls > 0 => {
            let calls = counted(calls, "call");
            notes.push(format!(
                "{calls} have no event, and are only counted: the tool `rows` has them"
            ));
        }
        None => {}
    }
    let listed = match input.order {
        Order::First => in_order(&opened.store, &filter, true, call)?,
        Order::Last => in_order(&opened.store, &filter, false, call)?,
        Order::Slowest => slowest(&opened.store, &filter, call)?,
    };
    let events: Vec<EventOut> =
        listed.events.iter().map(|event| EventOut::of(event, &opened.store)).collect();
    let lines = events.iter().map(EventOut::line).collect();
    let sign = if listed.counted_all { "" } else { "at least " };
    let summary = match input.order {
        Order::Slowest => {
            format!("{} pass and are timed, the slowest first.", counted(listed.total, "event"))
        }
        Order::First | Order::Last => {
            format!("{sign}{} from here on.", counted(listed.total, "event"))
        }
    };
    let command = CommandLine::new("export", &opened.names)
        .with("--to", "jsonl")
        .with_some("--filter", input.filter.as_deref().filter(|text| !text.trim().is_empty()));
    let output = Output {
        events,
        total: 0,
        left_out: 0,
        counted_all: listed.counted_all,
        next_cursor: None,
        notes,
        command: command.line(),
    };
    let Listed { start, total, counted_all: is_whole, place, .. } = listed;
    let list = List { key: "events", lines, start, total, is_whole, place: Some(place) };
    Ok(Answer::new(summary, &output).with_placed_list(list))
}

/// Events of an answer.
struct Listed {
    events: Vec<Event>,
    /// Number of events before these, in `total`.
    start: u64,
    total: u64,
    counted_all: bool,
    place: Box<dyn Fn(usize) -> String>,
}

/// The events behind the place of the cursor, or before it from the newest on.
fn in_order(
    store: &Store,
    filter: &Filter,
    is_forward: bool,
    call: &Call<'_>,
) -> Result<Listed, ToolError> {
    let from = match call.place() {
        None if is_forward => Position::Start,
        None => Position::End,
        Some(place) => Position::Event(
            place.parse().map_err(|error| ToolError::new(format!("cursor: {error}")))?,
        ),
    };
    let mut events: Vec<Event> = Vec::new();
    let mut next = Some(from);
    let mut looked_at = 0_u64;
    while let Some(from) = next.take_if(|_| events.len() < ITEMS) {
        let most = ITEMS - events.len();
        let page = if is_forward {
            store.forward(from, filter, most, STEP)
        } else {
            let mut page = store.backward(from, filter, most, STEP);
            page.events.reverse();
            page
        };
        looked_at += page.looked_at as u64;
        events.extend(page.events);
        next = page.more;
        if !call.watch.tell(|| format!("looked at {}", counted(looked_at, "event"))) {
            return Err(crate::watch::cancelled());
        }
    }
    let ids: Vec<EventId> = events.iter().map(|event| event.id).collect();
    let place = Box::new(move |shown: usize| {
        ids.get(shown.wrapping_sub(1)).map_or(String::new(), EventId::to_string)
    });
    let total = events.len() as u64 + u64::from(next.is_some());
    Ok(Listed { events, start: 0, total, counted_all: next.is_none(), place })
}

/// The longest events that pass. Several threads read parts of the recording.
fn slowest(store: &Store, filter: &Filter, call: &Call<'_>) -> Result<Listed, ToolError> {
    let start = call.start()?;
    let most = (start as usize).saturating_add(ITEMS);
    let scan = store.scan(Conditions::default());
    let next = AtomicUsize::new(0);
    let search = || {
        let mut found = Longest { most, total: 0, events: BinaryHeap::new() };
        let mut tester = filter.tester(store);
        let mut events = Vec::new();
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let is_wanted =
                call.watch.tell(|| format!("looked at {part} of {} chunks", scan.parts()));
            if part >= scan.parts() || !is_wanted {
                return found;
            }
            events.clear();
            scan.read(part, &mut events);
            for event in events.iter().filter(|event| event.timed) {
                if let Some(span) = event.span
                    && tester.matches(event)
                {
                    found.total += 1;
                    found.add(span, event.id);
                }
            }
        }
    };
    let threads =
        thread::available_parallelism().map_or(1, usize::from).min(scan.parts().div_ceil(PARTS));
    let found = thread::scope(|scope| {
        // If the system refuses a thread, the others do its work.
        let others: Vec<_> = (1..threads)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, search).ok())
            .collect();
        let own = search();
        others.into_iter().fold(own, |found, other| match other.join() {
            Ok(other) => found.with(other),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    call.watch.check()?;
    let ids = found.events.into_sorted_vec().into_iter().skip(start as usize);
    let events = ids.filter_map(|Reverse((_, Reverse(id)))| store.event(id)).collect();
    let place = Box::new(move |shown: usize| (start + shown as u64).to_string());
    Ok(Listed { events, start, total: found.total, counted_all: true, place })
}

/// The longest events that one thread has found.
struct Longest {
    /// Events that are kept.
    most: usize,
    /// Events that pass.
    total: u64,
    events: BinaryHeap<Reverse<(u64, Reverse<EventId>)>>,
}

impl Longest {
    fn add(&mut self, span: u64, id: EventId) {
        let event = Reverse((span, Reverse(id)));
        if self.events.len() < self.most {
            self.events.push(event);
        } else if let Some(mut shortest) = self.events.peek_mut()
            && event < *shortest
        {
            *shortest = event;
        }
    }

    fn with(mut self, other: Longest) -> Longest {
        self.total += other.total;
        other.events.into_iter().for_each(|Reverse((span, Reverse(id)))| self.add(span, id));
        self
    }
}

/// One event, with all that is known of it.
fn one(opened: &Opened, id: &str) -> Result<Answer, ToolError> {
    let store = &opened.store;
    let event = found(store, id)?;
    let mut out = EventOut::of(&event, store);
    let site = store.site(event.site);
    let polls = store.polls(event.id);
    let lane = store.lanes().into_iter().find(|lane| lane.id == event.lane);
    let relations = event.subject.map(|subject| store.relations_of(subject)).unwrap_or_default();
    let remote = store.remote_cause(&event);
    out.more = Some(Box::new(More {
        file: site.map(|site| site.file.clone()).unwrap_or_default(),
        line: site.map_or(0, |site| site.lines.0),
        thread: lane.map(|lane| lane.name).unwrap_or_default(),
        cause_site: event
            .cause
            .and_then(|cause| store.event(cause))
            .map(|cause| store.site_path(cause.site).to_owned()),
        remote_cause: remote.map(|remote| format!("{:032x}-{:016x}", remote.trace, remote.span)),
        links: store.links(event.id).iter().map(ToString::to_string).collect(),
        details: store.details(event.id).into_iter().map(DetailOut::of).collect(),
        busy_ns: polls.map(|polls| store.span_ns(polls.busy_ticks)),
        polls: polls.map(|polls| polls.polls),
        queued_ns: store.queued(event.id).map(|ticks| store.span_ns(ticks)),
        missed: store.gap(event.id),
        relations: relations
            .into_iter()
            .take(RELATIONS)
            .map(|relation| RelationOut {
                from: store.subject_text(relation.from),
                to: store.subject_text(relation.to),
                relation: relation.name,
            })
            .collect(),
    }));
    let line = out.line();
    let output = Output {
        events: vec![out],
        total: 0,
        left_out: 0,
        counted_all: true,
        next_cursor: None,
        notes: Vec::new(),
        command: open_at(opened, event.id),
    };
    Ok(Answer::new("One event.", &output).with_list("events", vec![line], 0, 1))
}

/// The command that shows an event with its causes and effects.
pub(super) fn open_at(opened: &Opened, id: EventId) -> String {
    CommandLine::new("open", &opened.names).with("--event", id.to_string()).line()
}

/// Finds an event by its id.
pub(super) fn found(store: &Store, id: &str) -> Result<Event, ToolError> {
    let id: EventId = id.parse().map_err(|error| ToolError::new(format!("`{id}`: {error}")))?;
    store.event(id).ok_or_else(|| {
        let why = only_counted(store).unwrap_or_else(|| {
            "it left the window, or it is of another recording; the tool `event` lists events that pass a filter"
                .to_owned()
        });
        ToolError::new(format!("the recording has no event {id}: {why}"))
    })
}

impl EventOut {
    pub(super) fn of(event: &Event, store: &Store) -> EventOut {
        EventOut {
            id: event.id.to_string(),
            site: store.site_path(event.site).to_owned(),
            subject: event.subject.map(|subject| SubjectOut::of(subject, store)),
            start_ns: store.time_ns(event.start),
            took_ns: event.span.filter(|_| event.timed).map(|ticks| store.span_ns(ticks)),
            outcome: store.outcome_word(event).to_owned(),
            cause: event.cause.map(|cause| cause.to_string()),
            lane: event.lane.0,
            more: None,
        }
    }

    pub(super) fn line(&self) -> String {
        let subject = self
            .subject
            .as_ref()
            .map_or(String::new(), |subject| format!(" on {}", quoted(&subject.label)));
        let took = self.took_ns.map_or(String::new(), |ns| format!(", took {}", time(ns)));
        format!("- {} {}{subject}{took}, {}", self.id, quoted(&self.site), self.outcome)
    }
}

impl SubjectOut {
    fn of(subject: Subject, store: &Store) -> SubjectOut {
        SubjectOut {
            label: store.subject_text(subject),
            filter: Filter::subject(subject).text().to_owned(),
        }
    }
}

impl DetailOut {
    fn of(detail: metaspy_reader::Detail) -> DetailOut {
        let kind = match detail.kind {
            DetailKind::Argument => "argument",
            DetailKind::Return => "return",
            DetailKind::Label => "label",
        };
        DetailOut { kind, name: detail.name, value: detail.value, cut: detail.cut.then_some(true) }
    }
}

//! An event with its names, for the formats with one record for each event.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::sync::Arc;

use metaspy_reader::{AllMarks, Detail, DetailKind, Event, EventId, LaneId, Links, Polls, Store};
use serde::Serialize;

/// An event with its names. Times are in nanoseconds; a text is as in the recording, without
/// control characters.
#[derive(Clone, Debug, Serialize)]
pub struct Record<'s> {
    /// The id, as screens show it.
    pub event: String,
    /// The start, since the beginning of the recording.
    pub time_ns: u64,
    /// The duration; `None` for an instant, while it runs, and if it was not timed.
    pub took_ns: Option<u64>,
    /// The path of the site.
    pub site: &'s str,
    /// The kind of the site: `method`, `announcement`, …
    pub kind: &'static str,
    /// The source file of the site.
    pub file: &'s str,
    /// Its first line.
    pub line: u32,
    /// The subject.
    pub subject: Option<SubjectRecord<'s>>,
    /// The cause.
    pub cause: Option<CauseRecord<'s>>,
    /// Further reasons.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// The number of the lane.
    pub lane: u32,
    /// The name of the lane's thread.
    pub thread: &'s str,
    /// The end.
    pub outcome: &'static str,
    /// True if start and duration were measured.
    pub timed: bool,
    /// Arguments, returned value, labels and polls, if they were recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<DetailRecord>,
}

/// A subject with its names.
#[derive(Clone, Debug, Serialize)]
pub struct SubjectRecord<'s> {
    /// The name of the kind.
    pub kind: String,
    /// The key.
    pub key: u64,
    /// The label that the domain set.
    pub label: Option<&'s str>,
}

/// The cause of an event.
#[derive(Clone, Debug, Serialize)]
pub struct CauseRecord<'s> {
    /// The id of the event, as screens show it; `None` if the cause is in another process.
    pub event: Option<String>,
    /// The path of its site; `None` if the event is not in the recording.
    pub site: Option<&'s str>,
    /// The span of a cause in another process, as in a `traceparent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<String>,
}

/// A detail of an event.
#[derive(Clone, Debug, Serialize)]
pub struct DetailRecord {
    /// `argument`, `returned` or `label`; `polls` and `busy_ns` of an async call.
    pub kind: &'static str,
    /// The name of the argument; empty otherwise.
    pub name: String,
    /// The value in its `Debug` form.
    pub value: String,
    /// True if the value was cut.
    pub cut: bool,
}

/// Events at most whose marks are searched for one by one. A pass over the recording is faster for
/// more of them.
const SEARCHED_MAX: u32 = 256;

/// The names of a recording, read once for all events.
pub(super) struct Names<'s> {
    store: &'s Store,
    links: Arc<Links>,
    /// Events whose marks were searched for.
    searched: Cell<u32>,
    /// Read when many events need them.
    marks: OnceCell<AllMarks<'s>>,
    threads: HashMap<LaneId, String>,
}

impl<'s> Names<'s> {
    /// Reads them.
    pub fn read(store: &'s Store) -> Self {
        let threads = store.lanes().into_iter().map(|lane| (lane.id, lane.name)).collect();
        Names {
            store,
            links: store.all_links(),
            searched: Cell::new(0),
            marks: OnceCell::new(),
            threads,
        }
    }

    /// The name of a lane's thread.
    pub fn thread(&self, lane: LaneId) -> &str {
        self.threads.get(&lane).map_or("", String::as_str)
    }

    /// The further reasons of an event.
    pub fn links(&self, id: EventId) -> Vec<EventId> {
        let mut links = Vec::new();
        self.links.reasons(id, &mut links);
        links.sort_unstable();
        links.dedup();
        links
    }

    /// The event with its names.
    pub fn record<'n>(&'n self, event: &Event) -> Record<'n>
    where
        's: 'n,
    {
        let store = self.store;
        let site = store.site(event.site);
        Record {
            event: event.id.to_string(),
            time_ns: store.time_ns(event.start),
            took_ns: event.span.map(|span| store.span_ns(span)),
            site: store.site_path(event.site),
            kind: site.map_or("", |site| site.kind.name()),
            file: site.map_or("", |site| &site.file),
            line: site.map_or(0, |site| site.lines.0),
            subject: event.subject.map(|subject| SubjectRecord {
                kind: store.kind(subject.kind).map_or(String::new(), |kind| kind.whole_name()),
                key: subject.key,
                label: store.label(subject),
            }),
            cause: event.cause.map(|id| self.cause(event, id)),
            links: self.links(event.id).iter().map(EventId::to_string).collect(),
            lane: event.lane.0,
            thread: self.thread(event.lane),
            outcome: self.store.outcome_word(event),
            timed: event.timed,
            details: self.details(event),
        }
    }

    fn cause(&self, event: &Event, id: EventId) -> CauseRecord<'_> {
        match self.store.remote_cause(event) {
            Some(remote) => {
                CauseRecord { event: None, site: None, span: Some(format!("{:016x}", remote.span)) }
            }
            None => {
                let site = self.store.site_of_reason(id).map(|site| self.store.site_path(site));
                CauseRecord { event: Some(id.to_string()), site, span: None }
            }
        }
    }

    /// The marks of all events, if many events need theirs. Those of a few are searched for.
    fn marks(&self) -> Option<&AllMarks<'s>> {
        if self.searched.get() < SEARCHED_MAX {
            self.searched.set(self.searched.get() + 1);
            return None;
        }
        Some(self.marks.get_or_init(|| self.store.all_marks()))
    }

    /// The details of an event. Most events have none, and are not searched.
    pub fn details(&self, event: &Event) -> Vec<DetailRecord> {
        let mut details = self.polls(event);
        if event.details == 0 {
            return details;
        }
        let marked = match self.marks() {
            Some(marks) => marks.details(event),
            None => self.store.details(event.id),
        };
        details.extend(marked.into_iter().map(|Detail { kind, name, value, cut }| DetailRecord {
            kind: match kind {
                DetailKind::Argument => "argument",
                DetailKind::Return => "returned",
                DetailKind::Label => "label",
            },
            name,
            value,
            cut,
        }));
        details
    }

    /// The number of polls of an async call and their time, or those of a span that was entered.
    fn polls(&self, event: &Event) -> Vec<DetailRecord> {
        let is_entered = self.store.site(event.site).is_some_and(|site| site.kind.is_entered());
        let polls = is_entered.then(|| match self.marks() {
            Some(marks) => marks.polls(event),
            None => self.store.polls(event.id),
        });
        let detail = |kind, value: u64| DetailRecord {
            kind,
            name: String::new(),
            value: value.to_string(),
            cut: false,
        };
        let of = |polls: Polls| {
            [detail("polls", polls.polls), detail("busy_ns", self.store.span_ns(polls.busy_ticks))]
        };
        polls.flatten().into_iter().flat_map(of).collect()
    }
}

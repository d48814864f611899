//! Events as spans. A span has the numbers that its process sends as `traceparent`, so the spans of
//! several services form one trace.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use anyhow::{Result, anyhow};
use metaspy_reader::{Conditions, Event, EventId, Outcome};
use opentelemetry::trace::{
    Link, SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _, SpanLinks};

use super::advice::advice;
use super::journal::{Journal, Key};
use super::rejected::Rejected;
use super::resource::Named;
use crate::borders::span_of;
use crate::recordings::Recording;

/// Maximum number of spans in a message: some 300 kB, where a receiver takes 4 MB.
const SPANS: usize = 1_000;

/// Numbers of sent and omitted spans.
#[derive(Default)]
pub struct Sent {
    /// Spans that the receiver accepted.
    pub spans: u64,
    /// Events without a span, because they have no end.
    pub running: u64,
    /// Spans that the receiver rejected.
    pub rejected: Rejected,
}

/// Journal for a recording, which tells its new events.
pub struct News<'j> {
    /// Journal of the events that the receiver has.
    pub journal: &'j mut Journal,
    /// Key of the recording in the journal.
    pub key: Key,
    /// True from the interrupt on: nothing more is sent.
    pub is_over: &'j AtomicBool,
}

/// Sends the events of a recording and counts them in `sent`. With `news`, sends only new events.
pub async fn send(
    recording: &Recording,
    exporter: &mut SpanExporter,
    sent: &mut Sent,
    named: &Named,
    mut news: Option<News<'_>>,
) -> Result<()> {
    exporter.set_resource(&named.of_spans(recording));
    let spans = Spans::of(recording);
    let scan = recording.store.scan(Conditions::default());
    let mut events = Vec::new();
    for part in 0..scan.parts() {
        events.clear();
        scan.read(part, &mut events);
        let all = events.len();
        events.retain(|event| !event.is_running());
        sent.running += (all - events.len()) as u64;
        if let Some(News { journal, key, .. }) = &news {
            events.retain(|event| !journal.has(key, event.id));
        }
        for some in events.chunks(SPANS) {
            if news.as_ref().is_some_and(|news| news.is_over.load(Ordering::Relaxed)) {
                return Ok(());
            }
            let batch = some.iter().map(|event| spans.span(event)).collect();
            let rejected = Rejected::by(exporter.export(batch)).await.map_err(|error| {
                anyhow!("the receiver takes no spans ({error}): {}", advice(&error))
            })?;
            if let Some(News { journal, key, .. }) = &mut news {
                journal.add(*key, some)?;
            }
            sent.spans += (some.len() as u64).saturating_sub(rejected.count);
            sent.rejected.add(rejected);
        }
    }
    Ok(())
}

/// Conversion of the events of a recording to spans.
struct Spans<'r> {
    recording: &'r Recording,
    scope: InstrumentationScope,
    reasons: HashMap<EventId, Vec<EventId>>,
}

impl<'r> Spans<'r> {
    fn of(recording: &'r Recording) -> Self {
        let mut reasons: HashMap<EventId, Vec<EventId>> = HashMap::new();
        for (event, reason) in recording.store.all_links().iter() {
            reasons.entry(event).or_default().push(reason);
        }
        Spans {
            recording,
            scope: InstrumentationScope::builder("metaspy")
                .with_version(env!("CARGO_PKG_VERSION"))
                .build(),
            reasons,
        }
    }

    fn span(&self, event: &Event) -> SpanData {
        let store = &self.recording.store;
        let start_time = SystemTime::UNIX_EPOCH + Duration::from_nanos(store.real_ns(event.start));
        let took = Duration::from_nanos(event.span.map_or(0, |ticks| store.span_ns(ticks)));
        let remote = store.remote_cause(event);
        let parent = match (remote, event.cause) {
            (Some(remote), _) => SpanId::from(remote.span),
            // A cause that has left the window has no span.
            (None, Some(cause)) if store.event(cause).is_some() => self.span_id(cause),
            _ => SpanId::INVALID,
        };
        let mut links = SpanLinks::default();
        let reasons = self.reasons.get(&event.id).into_iter().flatten();
        links.links =
            reasons.map(|reason| Link::new(self.context(*reason), Vec::new(), 0)).collect();
        SpanData {
            span_context: self.context(event.id),
            parent_span_id: parent,
            parent_span_is_remote: remote.is_some(),
            span_kind: if remote.is_some() { SpanKind::Server } else { SpanKind::Internal },
            name: store.site_path(event.site).to_owned().into(),
            start_time,
            end_time: start_time + took,
            attributes: self.attributes(event),
            dropped_attributes_count: 0,
            events: Default::default(),
            links,
            status: status(event.outcome, store.outcome_word(event)),
            instrumentation_scope: self.scope.clone(),
        }
    }

    fn attributes(&self, event: &Event) -> Vec<KeyValue> {
        let store = &self.recording.store;
        let mut attributes = vec![
            KeyValue::new("metaspy.event", event.id.raw() as i64),
            KeyValue::new("metaspy.outcome", store.outcome_word(event)),
            KeyValue::new("thread.id", i64::from(event.lane.0)),
        ];
        if let Some(site) = store.site(event.site) {
            attributes.push(KeyValue::new("code.function.name", site.path.clone()));
            attributes.push(KeyValue::new("code.file.path", site.file.clone()));
            attributes.push(KeyValue::new("code.line.number", i64::from(site.lines.0)));
        }
        if let Some(subject) = event.subject {
            let kind = store.kind(subject.kind).map_or_else(String::new, |kind| kind.name.clone());
            attributes.push(KeyValue::new("metaspy.subject.kind", kind));
            // Text, because attributes have no unsigned numbers.
            attributes.push(KeyValue::new("metaspy.subject.key", subject.key.to_string()));
            if let Some(label) = store.label(subject) {
                attributes.push(KeyValue::new("metaspy.subject.label", label.to_owned()));
            }
        }
        attributes
    }

    fn context(&self, event: EventId) -> SpanContext {
        let trace = TraceId::from(self.recording.store.ring().trace_of(event).trace);
        let span = self.span_id(event);
        SpanContext::new(trace, span, TraceFlags::SAMPLED, false, TraceState::default())
    }

    fn span_id(&self, event: EventId) -> SpanId {
        SpanId::from(span_of(&self.recording.store, event))
    }
}

fn status(outcome: Outcome, word: &'static str) -> Status {
    match outcome {
        Outcome::Failed | Outcome::Panicked => Status::error(word),
        Outcome::Succeeded => Status::Ok,
        _ => Status::Unset,
    }
}

//! Layer of `tracing-subscriber` that makes events of spans.

use std::sync::Arc;

use metaspy_core::hook::{self, Cause, SpanCall};
use metaspy_core::{EventId, Outcome};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::subscriber::Interest;
use tracing_core::{Event, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::spans::callsite::{self, Callsite, EventRole};
use crate::spans::open_spans::{OpenSpans, SpanLookup};
use crate::spans::{fields, log_records};

/// Creates a layer that records the observed spans and events:
/// `tracing_subscriber::registry().with(spans::layer())`.
///
/// It gets the spans that the subscriber's filters let through, and filters nothing for other
/// layers. A second layer in the same subscriber is idle.
pub fn layer() -> Spans {
    Spans { open: OpenSpans::new(), is_idle: false }
}

/// Layer that records observed spans and events; see [`layer`].
pub struct Spans {
    open: OpenSpans,
    is_idle: bool,
}

/// Span that found its cell taken. It is kept in the registry's extensions.
struct Overflow(Arc<SpanCall>);

impl<S> Layer<S> for Spans
where
    S: Subscriber + for<'l> LookupSpan<'l>,
{
    fn on_layer(&mut self, subscriber: &mut S) {
        // Two layers would record everything twice.
        self.is_idle = (subscriber as &dyn Subscriber).is::<Spans>();
    }

    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        // The site is listed and armed before its first run.
        callsite::lookup(metadata);
        Interest::always()
    }

    #[inline]
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let callsite = callsite::lookup(attributes.metadata());
        if callsite.site.is_armed() && !self.is_idle {
            self.begin(callsite, attributes, id, &context);
        }
    }

    #[inline]
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        self.with(id, &context, SpanCall::enter);
    }

    #[inline]
    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        self.with(id, &context, SpanCall::leave);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        self.with(id, &context, |span| span.record(|reify| fields::arguments(values, reify)));
    }

    fn on_follows_from(&self, id: &Id, follows: &Id, context: Context<'_, S>) {
        if let Some(cause) = self.event_of(follows, &context) {
            self.with(id, &context, |span| span.follows(cause));
        }
    }

    #[inline]
    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let callsite = callsite::lookup(event.metadata());
        if self.is_idle {
            return;
        }
        match callsite.role {
            EventRole::Plain => {}
            EventRole::LogRecord => {
                return self.record_event(
                    log_records::callsite(event).unwrap_or(callsite),
                    event,
                    &context,
                );
            }
            EventRole::Return | EventRole::Error => self.record_end(callsite.role, event, &context),
        }
        self.record_event(callsite, event, &context);
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        match self.open.find(&id) {
            SpanLookup::InCell(span) => {
                span.end();
                self.open.release(&id);
            }
            SpanLookup::InExtensions => {
                if let Some(span) = overflow(&id, &context) {
                    span.end();
                    self.open.release_overflow(&id);
                }
            }
            SpanLookup::NotObserved => {}
        }
    }
}

impl Spans {
    #[inline(never)]
    fn begin<S>(
        &self,
        callsite: &Callsite,
        attributes: &Attributes<'_>,
        id: &Id,
        context: &Context<'_, S>,
    ) where
        S: Subscriber + for<'l> LookupSpan<'l>,
    {
        let cause = self.cause(attributes.is_root(), attributes.parent(), context);
        let subject = fields::subject(callsite, attributes);
        let begin = |span: &SpanCall| {
            span.begin(callsite.site, subject, cause, |reify| fields::arguments(attributes, reify));
        };
        match self.open.claim(id) {
            Some(span) => begin(span),
            None => {
                let span = Arc::new(SpanCall::vacant());
                begin(&span);
                if let Some(data) = context.span(id) {
                    data.extensions_mut().replace(Overflow(span));
                }
            }
        }
    }

    /// Records an event of the program as an instant.
    #[inline]
    fn record_event<S>(&self, callsite: &Callsite, event: &Event<'_>, context: &Context<'_, S>)
    where
        S: Subscriber + for<'l> LookupSpan<'l>,
    {
        if !callsite.site.is_armed() {
            return;
        }
        let subject = fields::subject(callsite, event);
        let begin =
            || hook::enter_with(callsite.site, subject, |reify| fields::arguments(event, reify));
        let cause = self.cause(event.is_root(), event.parent(), context);
        cause.of(|| begin().done(Outcome::Instant));
    }

    /// Returns the named parent, or else the thread's current event.
    fn cause<S>(&self, is_root: bool, parent: Option<&Id>, context: &Context<'_, S>) -> Cause
    where
        S: Subscriber + for<'l> LookupSpan<'l>,
    {
        match parent {
            _ if is_root => Cause::Nothing,
            None => Cause::Around,
            Some(parent) => self.nearest(parent, context).map_or(Cause::Around, Cause::Named),
        }
    }

    /// Returns the event of a span, or of the nearest observed span around it.
    fn nearest<S>(&self, id: &Id, context: &Context<'_, S>) -> Option<EventId>
    where
        S: Subscriber + for<'l> LookupSpan<'l>,
    {
        self.event_of(id, context).or_else(|| {
            context.span(id)?.scope().skip(1).find_map(|span| self.event_of(&span.id(), context))
        })
    }

    fn event_of<S>(&self, id: &Id, context: &Context<'_, S>) -> Option<EventId>
    where
        S: Subscriber + for<'l> LookupSpan<'l>,
    {
        self.with(id, context, SpanCall::event).flatten()
    }

    /// Records the end of a function. `#[instrument(ret)]` and `#[instrument(err)]` emit it as an
    /// event with a single field, in the line of its span.
    #[cold]
    fn record_end<S>(&self, role: EventRole, event: &Event<'_>, context: &Context<'_, S>)
    where
        S: Subscriber + for<'l> LookupSpan<'l>,
    {
        let Some(around) = context.event_span(event) else { return };
        let own = event.metadata();
        let other = around.metadata();
        if (own.file(), own.line(), own.target()) != (other.file(), other.line(), other.target()) {
            return;
        }
        self.with(&around.id(), context, |span| {
            if role == EventRole::Error {
                span.exit(Outcome::Failed);
            }
            fields::only(event, |value| span.returns(value));
        });
    }

    /// Runs `then` on a span, if it is observed.
    #[inline]
    fn with<S, R>(
        &self,
        id: &Id,
        context: &Context<'_, S>,
        then: impl FnOnce(&SpanCall) -> R,
    ) -> Option<R>
    where
        S: Subscriber + for<'l> LookupSpan<'l>,
    {
        match self.open.find(id) {
            SpanLookup::InCell(span) => Some(then(span)),
            SpanLookup::InExtensions => overflow(id, context).map(|span| then(&span)),
            SpanLookup::NotObserved => None,
        }
    }
}

/// Returns the span in the extensions. These are released at once, because a field's `Debug` may
/// use them.
#[cold]
#[inline(never)]
fn overflow<S>(id: &Id, context: &Context<'_, S>) -> Option<Arc<SpanCall>>
where
    S: Subscriber + for<'l> LookupSpan<'l>,
{
    context.span(id)?.extensions().get::<Overflow>().map(|found| Arc::clone(&found.0))
}

impl std::fmt::Debug for Spans {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spans").field("is_idle", &self.is_idle).finish_non_exhaustive()
    }
}

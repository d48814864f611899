//! [`Rejected`]: spans and data points that a receiver rejects in a message that it accepts.
//!
//! The exporters do not return this part of an answer. They log it as an event of `tracing`, which
//! a subscriber reads here.
//!
//! So metaspy needs no clients of its own. One subscriber, active only during an export, serves
//! gRPC and HTTP.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use metaspy_reader::units::grouped;
use opentelemetry_sdk::error::{OTelSdkError, OTelSdkResult};
use tracing::field::{Field, Visit};
use tracing::instrument::WithSubscriber;
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Rejected part of the sent spans or data points.
#[derive(Clone, Default)]
pub struct Rejected {
    /// Number of rejected spans or data points.
    pub count: u64,
    /// Message of the receiver: the reason, or a warning if the receiver rejected nothing.
    message: String,
}

impl Rejected {
    /// Awaits an export, and returns the part of it that the receiver rejected.
    pub async fn by(export: impl Future<Output = OTelSdkResult>) -> Result<Self, OTelSdkError> {
        let logged = Logged::default();
        export.with_subscriber(logged.clone()).await?;
        Ok(logged.0.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Adds the rejected part of another export. The first message remains, but a reason replaces a
    /// warning.
    pub fn add(&mut self, other: Self) {
        let replaces = match (self.count, other.count) {
            (0, 1..) => true,
            (1.., 0) => false,
            _ => self.message.is_empty(),
        };
        if replaces {
            self.message = other.message;
        }
        self.count = self.count.saturating_add(other.count);
    }

    /// Returns a report if something was rejected or the receiver warns. `items` is the word for
    /// the sent items.
    pub fn report(&self, items: &str) -> Option<String> {
        match (self.count, &*self.message) {
            (0, "") => None,
            (0, warning) => Some(format!("the receiver takes all {items}, and warns: {warning}")),
            (count, "") => Some(format!(
                "the receiver rejects {} {items}: its log has the reason",
                grouped(count)
            )),
            (count, reason) => {
                Some(format!("the receiver rejects {} {items}: {reason}", grouped(count)))
            }
        }
    }
}

/// Subscriber to the warnings of the exporters.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Rejected>>);

impl Subscriber for Logged {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && *metadata.level() == Level::WARN
            && metadata.target() == "opentelemetry-otlp"
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    // Spans are not enabled.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

impl Visit for Rejected {
    fn record_i64(&mut self, field: &Field, value: i64) {
        if matches!(field.name(), "rejected_spans" | "rejected_data_points") {
            self.count = u64::try_from(value).unwrap_or(0);
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "error_message" {
            self.message = value.to_owned();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}

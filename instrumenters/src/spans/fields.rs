//! Fields of a span or an event: its arguments, and its subject.

use std::fmt::Debug;

use metaspy_core::hook::{self, Reify};
use metaspy_core::{KindId, Subject};
use tracing_core::field::{Field, Visit};
use tracing_core::{Event, span};

use crate::spans::callsite::Callsite;
use crate::text_key;

/// Source of fields.
pub(super) trait Fields {
    /// Visits the fields.
    fn show(&self, visit: &mut dyn Visit);
}

impl Fields for span::Attributes<'_> {
    fn show(&self, visit: &mut dyn Visit) {
        self.record(visit);
    }
}

impl Fields for span::Record<'_> {
    fn show(&self, visit: &mut dyn Visit) {
        self.record(visit);
    }
}

impl Fields for Event<'_> {
    fn show(&self, visit: &mut dyn Visit) {
        self.record(visit);
    }
}

/// Records all fields as arguments.
pub(super) fn arguments(fields: &impl Fields, reify: &mut Reify<'_>) {
    fields.show(&mut Arguments(reify));
}

struct Arguments<'r, 'a>(&'r mut Reify<'a>);

impl Visit for Arguments<'_, '_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // These fields have the place of a `log` record, which is its site already.
        if !field.name().starts_with("log.") {
            self.0.arg(field.name(), value);
        }
    }
}

/// Finds the subject in its field. A panic in a `Debug` is caught, and there is no subject.
#[inline]
pub(super) fn subject(callsite: &Callsite, fields: &impl Fields) -> Subject {
    match callsite.subject {
        Some((field, kind)) => subject_of(field, kind, fields),
        None => Subject::NONE,
    }
}

fn subject_of(field: usize, kind: KindId, fields: &impl Fields) -> Subject {
    hook::subject(|| {
        let mut named = Named { field, kind, subject: Subject::NONE };
        fields.show(&mut named);
        named.subject
    })
}

struct Named {
    field: usize,
    kind: KindId,
    subject: Subject,
}

impl Visit for Named {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.index() == self.field {
            self.subject = Subject::new(self.kind, value);
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.record_u64(field, value as u64);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.index() == self.field {
            self.subject = text_key::subject(self.kind, value);
        }
    }
}

/// Runs `then` on the first value, for events with a single field.
pub(super) fn only(fields: &impl Fields, then: impl FnOnce(&dyn Debug)) {
    fields.show(&mut Only(Some(then)));
}

struct Only<F>(Option<F>);

impl<F: FnOnce(&dyn Debug)> Visit for Only<F> {
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        if let Some(then) = self.0.take() {
            then(value);
        }
    }
}

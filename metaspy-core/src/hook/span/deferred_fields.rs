//! Fields of a span that are recorded while it lasts, and written when it ends.

use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

use crate::event::{EventId, Outcome};
use crate::format::slot::Mark;
use crate::hook::details::{DetailBytes, Reify};
use crate::hook::handler::{self, Open};
use crate::platform::lock::lock_for_long;
use crate::recorder;

/// Links that are written once more at the end.
const LINKS_MAX: usize = 64;

/// Room for them. Nearly no span needs it, so a flag requests it.
#[derive(Default)]
pub(super) struct DeferredFields {
    is_there: AtomicBool,
    fields: Mutex<Option<Box<Fields>>>,
}

/// The fields.
#[derive(Default)]
pub(super) struct Fields {
    /// The view that handlers had, for handlers that run at the end.
    open: Option<Open>,
    arguments: Option<Box<DetailBytes>>,
    follows: Vec<EventId>,
}

impl DeferredFields {
    pub const fn nothing() -> Self {
        DeferredFields { is_there: AtomicBool::new(false), fields: Mutex::new(None) }
    }

    pub fn open(&self, open: Option<Open>) {
        self.change(|fields| fields.open = open);
    }

    /// Arguments are shown before the lock is taken: a `Debug` may use spans itself.
    pub fn arguments<'a>(&self, reify: impl FnOnce(&mut Reify<'a>)) {
        let mut reified = Reify::default();
        crate::recorder::at_meta_level(|| reify(&mut reified));
        self.change(|fields| fields.argue(reified.bytes.as_slice()));
    }

    pub fn returns(&self, value: &dyn Debug) {
        let shown = handler::show(value);
        self.change(|fields| {
            if let Some(open) = &mut fields.open {
                open.returned(shown);
            }
        });
    }

    pub fn follows(&self, cause: EventId) {
        self.change(|fields| {
            if fields.follows.len() < LINKS_MAX {
                fields.follows.push(cause);
            }
        });
    }

    fn change(&self, change: impl FnOnce(&mut Fields)) {
        change(lock_for_long(&self.fields).get_or_insert_default());
        self.is_there.store(true, Release);
    }

    /// Takes all of them out.
    #[inline]
    pub fn take(&self) -> Option<Box<Fields>> {
        if !self.is_there.load(Acquire) {
            return None;
        }
        self.is_there.store(false, Release);
        lock_for_long(&self.fields).take()
    }
}

impl Fields {
    fn argue(&mut self, arguments: &[u8]) {
        if let Some(open) = &mut self.open {
            open.argue(arguments);
            if open.wants_details() {
                self.arguments.get_or_insert_default().append(arguments);
            }
        }
    }

    /// Writes the fields. Fields that find no room are counted.
    pub fn write(&self, now: u64, id: u64) {
        if let Some(open) = &self.open {
            open.write_return(now);
        }
        if let Some(arguments) = &self.arguments {
            recorder::mark_at(now, Mark::Detail, id, [0; 2], arguments.as_slice());
        }
        for cause in &self.follows {
            recorder::mark_at(now, Mark::Link, id, [cause.raw(), 0], &[]);
        }
    }

    /// Runs the handlers that run afterwards.
    pub fn finish(self, outcome: Outcome) {
        if let Some(open) = self.open {
            handler::finish(open, outcome);
        }
    }
}

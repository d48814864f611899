//! What is said of a span while it lasts, and written down when it ends.

use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};

use crate::event::{EventId, Outcome};
use crate::format::slot::Mark;
use crate::hook::details::{DetailBytes, Reify};
use crate::hook::handler::{self, Open};
use crate::platform::lock::lock;
use crate::recorder;

/// Links that are said once more at the end.
const LINKS_MAX: usize = 64;

/// Room for it. Nearly no span needs it, so it is asked for by a flag.
#[derive(Default)]
pub(super) struct Later {
    is_there: AtomicBool,
    told: Mutex<Option<Box<Told>>>,
}

/// What was said.
#[derive(Default)]
pub(super) struct Told {
    /// What handlers were told, for those that run at the end.
    open: Option<Open>,
    arguments: Option<Box<DetailBytes>>,
    follows: Vec<EventId>,
}

impl Later {
    pub const fn nothing() -> Self {
        Later { is_there: AtomicBool::new(false), told: Mutex::new(None) }
    }

    pub fn open(&self, open: Option<Open>) {
        self.say(|told| told.open = open);
    }

    /// Arguments are shown before the lock is taken: a `Debug` may use spans itself.
    pub fn arguments<'a>(&self, reify: impl FnOnce(&mut Reify<'a>)) {
        let mut reified = Reify::default();
        super::super::at_meta_level(|| reify(&mut reified));
        self.say(|told| told.argue(reified.bytes.as_slice()));
    }

    pub fn returns(&self, value: &dyn Debug) {
        let shown = handler::show(value);
        self.say(|told| {
            if let Some(open) = &mut told.open {
                open.returned(shown);
            }
        });
    }

    pub fn follows(&self, cause: EventId) {
        self.say(|told| {
            if told.follows.len() < LINKS_MAX {
                told.follows.push(cause);
            }
        });
    }

    fn say(&self, say: impl FnOnce(&mut Told)) {
        say(lock(&self.told).get_or_insert_default());
        self.is_there.store(true, Release);
    }

    /// Takes it all.
    #[inline]
    pub fn take(&self) -> Option<Box<Told>> {
        if !self.is_there.load(Acquire) {
            return None;
        }
        self.is_there.store(false, Release);
        lock(&self.told).take()
    }
}

impl Told {
    fn argue(&mut self, arguments: &[u8]) {
        if let Some(open) = &mut self.open {
            open.argue(arguments);
            if open.wants_details() {
                self.arguments.get_or_insert_default().append(arguments);
            }
        }
    }

    /// Writes it down. What finds no room is counted.
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

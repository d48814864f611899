//! Handlers: the `do:` blocks of the papers.
//!
//! Handlers before an event borrow its typed value. No value is kept for readers, because an event
//! outlives the value, and the process. Values that readers need belong in a detail or a column.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::event::{EventId, Outcome};
use crate::format::detail::Detail;
use crate::recorder;
use crate::site::Site;
use crate::subject::Subject;

/// The view that a handler has of a call.
#[non_exhaustive]
pub struct CallView<'a> {
    /// Where.
    pub site: &'static Site,
    /// The subject; [`Subject::NONE`] if there is none.
    pub subject: Subject,
    /// The event around it.
    pub cause: Option<EventId>,
    /// Its own event; `None` if it found no room in the log.
    pub event: Option<EventId>,
    /// The arguments that the site offers (`#[observe(args(a, b))]`), by name.
    pub arguments: Vec<Detail>,
    /// How it ended; `None` before.
    pub outcome: Option<Outcome>,
    pub(crate) receiver: Option<&'a dyn Any>,
}

impl CallView<'_> {
    /// An argument by its name.
    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.iter().find(|detail| detail.name == name).map(|detail| detail.value.as_str())
    }

    /// The typed value that the event carries, if its instrumenter passed one and it is a `T`. Only
    /// before the event: afterwards it may be gone.
    pub fn payload<T: 'static>(&self) -> Option<&T> {
        self.receiver()
    }

    /// The receiver, if the site offers it and it is a `T`. Only before the call: afterwards it may
    /// be gone.
    pub fn receiver<T: 'static>(&self) -> Option<&T> {
        self.receiver?.downcast_ref()
    }
}

type Action = dyn Fn(&CallView<'_>) + Send + Sync;

/// A handler, with its place in the install order.
#[derive(Clone)]
pub struct Handler {
    order: u64,
    alive: Arc<AtomicBool>,
    pub(crate) when: When,
    action: Arc<Action>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Before,
    After,
}

impl Handler {
    /// Runs before each call.
    pub fn before(action: impl Fn(&CallView<'_>) + Send + Sync + 'static) -> Self {
        Self::new(When::Before, Arc::new(action))
    }

    /// Runs after each call.
    pub fn after(action: impl Fn(&CallView<'_>) + Send + Sync + 'static) -> Self {
        Self::new(When::After, Arc::new(action))
    }

    fn new(when: When, action: Arc<Action>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let order = NEXT.fetch_add(1, Ordering::Relaxed);
        Handler { order, alive: Arc::new(AtomicBool::new(true)), when, action }
    }

    pub(crate) fn order(&self) -> u64 {
        self.order
    }

    /// Prevents further runs. A running handler may finish.
    pub(crate) fn retire(&self) {
        self.alive.store(false, Ordering::SeqCst);
    }

    pub(crate) fn run(&self, view: &CallView<'_>) {
        if self.alive.load(Ordering::SeqCst)
            && recorder::at_meta_level(|| (self.action)(view)).is_none()
        {
            report_once();
        }
    }
}

impl Debug for Handler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Handler({:?} #{})", self.when, self.order)
    }
}

/// Notes the first panic of a handler in the recording. All panics are counted.
fn report_once() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        if let Some(log) = recorder::current() {
            log.note("A handler panicked; its panics are caught and counted.");
        }
    });
}

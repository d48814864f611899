//! Tap: an additional receiver on a bus.
//!
//! A tap has a thread, a subscription and sites of its own. A task would need a runtime, and it
//! starves beside a busy one. Profilers do not share a tap, because its condition and its first
//! message belong to one profiler, and counts must be exact.

use std::any::type_name;
use std::fmt::{self, Debug};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::{Identify, InstallError, Installation, Instrumenter, Session, Subject, label};
use tokio_stream::Stream;

mod block_on;
mod emit;
mod listener;
mod sites;
mod sources;

use super::kind::{ByClosure, ByItself, KindOf};
use super::named_bus::{BUS, named_bus};
use crate::dynamic_sites::path_of;
use emit::Emitter;
use listener::Listener;
use sites::TapSites;
use sources::Streamed;

pub use sources::{Announcer, Received, Source};

/// Observes the messages of a bus, without edits at the senders: `announcements(&bus)`.
///
/// A bus is a tokio `broadcast` (its sender, weak sender or a receiver) or `watch` (its sender or a
/// receiver). For streams see [`announcements_in`]. The tap subscribes when its profiler is
/// installed, and listens on its own thread. It needs no runtime, and the application never waits
/// for it.
///
/// Each announcement is an event at the site of its kind, `module::Kind`. Its subject is the bus.
/// Messages that the bus overwrites before the tap receives them are counted at the site `missed`,
/// with one event for each gap. Received and missed messages add up to the messages sent.
///
/// ```
/// use metaspy::prelude::*;
/// use tokio::sync::broadcast;
///
/// #[derive(Clone, Debug)]
/// enum Job { Begun(u32), Done(u32) }
///
/// let (bus, _receiver) = broadcast::channel(16);
/// let profiler = Profiler::new("jobs").observe(announcements(&bus).named("jobs")).install()?;
/// bus.send(Job::Begun(1)).unwrap();
/// bus.send(Job::Begun(2)).unwrap();
/// bus.send(Job::Done(1)).unwrap();
/// let profile = profiler.uninstall();
/// let kinds = profile.counts().by_site();
/// assert_eq!(kinds.at("jobs::Begun").unwrap().measure.count, 2);
/// assert_eq!(kinds.at("jobs::Done").unwrap().measure.count, 1);
/// # Ok::<(), metaspy::InstallError>(())
/// ```
#[track_caller]
pub fn announcements<A: Announcer>(bus: A) -> Announcements<A::Source> {
    Announcements {
        subscribe: Some(Box::new(bus.subscription())),
        disturbs: A::DISTURBS,
        name: None,
        at: Location::caller(),
        arming: Arming::all(Mode::Full),
        emitter: Some(Emitter {
            kind: ByItself::new(),
            when: None,
            subject: None,
            each: Vec::new(),
            show: None,
        }),
    }
}

/// Observes the items of a stream, which the tap takes over. `gaps` returns a number for an item
/// that only reports how many others were missed:
///
/// ```
/// use metaspy::prelude::*;
/// use tokio_stream::wrappers::BroadcastStream;
/// use tokio_stream::wrappers::errors::BroadcastStreamRecvError::Lagged;
///
/// let (_bus, receiver) = tokio::sync::broadcast::channel::<u32>(16);
/// let stream = BroadcastStream::new(receiver);
/// let tap = announcements_in(stream, |item| match item {
///     Err(Lagged(missed)) => Some(*missed),
///     Ok(_) => None,
/// });
/// ```
#[track_caller]
pub fn announcements_in<S>(
    stream: S,
    gaps: fn(&S::Item) -> Option<u64>,
) -> Announcements<impl Source<Message = S::Item>>
where
    S: Stream<Item: 'static> + Send + 'static,
{
    announcements(Streamed::new(stream, gaps))
}

/// Tap on a bus or a stream. [`announcements`] and [`announcements_in`] return it.
#[must_use = "an instrumenter does nothing until a profiler installs it"]
pub struct Announcements<S: Source, K = ByItself<<S as Source>::Message>> {
    subscribe: Option<Subscribe<S>>,
    disturbs: &'static str,
    name: Option<String>,
    at: &'static Location<'static>,
    arming: Arming,
    emitter: Option<Emitter<S::Message, K>>,
}

type Subscribe<S> = Box<dyn FnOnce() -> Option<S> + Send>;

impl<S: Source, K> Announcements<S, K> {
    /// Names the bus: the module of its sites, and the label of its subject. Taps with the same
    /// name have the same subject. The default is the module of the message's type.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Selects announcements. Overwritten messages count as missed, because the condition cannot
    /// run on them. If the condition panics, the announcement is recorded.
    pub fn when(self, condition: impl Fn(&S::Message) -> bool + Send + 'static) -> Self {
        self.configure(|emitter| emitter.when = Some(Box::new(condition)))
    }

    /// Sets the subject of an announcement. The default is the bus.
    pub fn subject<I: Identify>(self, subject: impl Fn(&S::Message) -> I + Send + 'static) -> Self {
        self.configure(|emitter| {
            emitter.subject = Some(Box::new(move |message| subject(message).identify()))
        })
    }

    /// Sets the kind of an announcement. The default is the kind of `#[derive(Announce)]`, or else
    /// the first name in the message's `Debug`.
    pub fn kind<F>(self, kind: F) -> Announcements<S, ByClosure<F>>
    where
        F: Fn(&S::Message) -> &str + Send + 'static,
    {
        let Announcements { subscribe, disturbs, name, at, arming, emitter } = self;
        let emitter = emitter.map(|Emitter { when, subject, each, show, .. }| {
            let kind = ByClosure(kind);
            Emitter { kind, when, subject, each, show }
        });
        Announcements { subscribe, disturbs, name, at, arming, emitter }
    }

    /// Runs `handler` for each selected announcement, on the tap's thread. The functions that it
    /// calls are not observed, and a panic in it is caught.
    pub fn each(self, handler: impl Fn(&S::Message) + Send + 'static) -> Self {
        self.configure(|emitter| emitter.each.push(Box::new(handler)))
    }

    /// Records each message, by its `Debug`.
    pub fn details(mut self) -> Self
    where
        S::Message: Debug,
    {
        self.arming.details = true;
        self.configure(|emitter| {
            emitter.show = Some(|message, reify| reify.arg("message", message))
        })
    }

    /// Sets the mode of observation, which is [`Mode::Full`] by default.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.arming.mode = mode;
        self.arming.details &= mode > Mode::Tally;
        self
    }

    /// Describes the tap's effect on the application, in a sentence.
    pub fn disturbs(&self) -> &'static str {
        self.disturbs
    }

    fn configure(mut self, change: impl FnOnce(&mut Emitter<S::Message, K>)) -> Self {
        if let Some(emitter) = &mut self.emitter {
            change(emitter);
        }
        self
    }

    /// Returns the module of the sites, and the subject of the announcements.
    fn bus(&self) -> (&str, Subject) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (module, message) = path_of(type_name::<S::Message>());
        match &self.name {
            Some(name) => (name, named_bus(name)),
            None => {
                // These numbers are beyond the numbers of all names.
                let bus = Subject::new(BUS.id(), 1 << 32 | NEXT.fetch_add(1, Ordering::Relaxed));
                label(bus, format!("bus of {message}"));
                (module, bus)
            }
        }
    }
}

impl<S, K> Instrumenter for Announcements<S, K>
where
    S: Source,
    K: KindOf<S::Message>,
    S::Message: 'static,
{
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        let (Some(subscribe), Some(emitter)) = (self.subscribe.take(), self.emitter.take()) else {
            return Err(InstallError::Other(
                "this tap was installed before: make a new one with `announcements(&bus)`".into(),
            ));
        };
        let (module, bus) = self.bus();
        let sites = Arc::new(TapSites::lease(module, self.at));
        emitter.kind.known_kinds().iter().for_each(|kind| _ = sites.of_kind(kind));
        session.arm_family(sites.family(), &self.arming)?;
        // The bus has ended, so there are no announcements.
        let Some(source) = subscribe() else { return Ok(Installation::with_guard(sites)) };
        let listener = Listener::start(source, emitter, Arc::clone(&sites), bus);
        let listener = Arc::new(listener.map_err(|error| InstallError::Other(error.into()))?);
        // The order keeps other taps from getting the sites while a profiler has them armed.
        let held = Installation::with_guard((Arc::clone(&listener), sites));
        Ok(held.before_uninstall(move || listener.finish()))
    }
}

impl<S: Source, K> fmt::Debug for Announcements<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcements")
            .field("name", &self.name)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

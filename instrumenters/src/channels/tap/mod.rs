//! The tap: one receiver more on a bus that nobody edited.

use std::any::type_name;
use std::fmt::{self, Debug};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::{Identify, InstallError, Installation, Instrumenter, Kind, Session, Subject, label};
use tokio_stream::Stream;

mod block_on;
mod emit;
mod listener;
mod sites;
mod sources;

use super::kind::{ByClosure, ByItself, KindOf};
use crate::dynamic_sites::path_of;
use emit::Emitter;
use listener::Listener;
use sites::TapSites;
use sources::Streamed;

pub use sources::{Announcer, Received, Source};

/// Observes what a bus announces, without editing whoever sends: `announcements(&bus)`.
///
/// A bus is a tokio `broadcast` (its sender, weak sender or a receiver) or `watch` (its sender or a receiver); for
/// streams see [`announcements_in`]. The tap subscribes when its profiler is installed, and listens on a thread of its
/// own: it works without a runtime and beside any, and the application never waits for it.
///
/// Each announcement is an event at the site of its kind, `module::Kind`, about the bus. What the bus overwrote before
/// the tap heard it is counted at the site `missed`, one event of which stands in the log where the gap is: what was
/// received and what was missed add up to what was sent.
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
        emitter: Some(Emitter { kind: ByItself::new(), when: None, subject: None, each: Vec::new(), show: None }),
    }
}

/// Observes what comes out of a stream that is given to the tap. `gaps` says which items are none but tell that others
/// were missed, and how many:
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

/// A tap; made by [`announcements`] and [`announcements_in`].
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
    /// What the bus is called: the module of its sites and the label of the subject. Two taps of one name are about one
    /// bus. Without a name the module is that of the message's type.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Which announcements are asked for. Of those that the bus overwrote nobody can tell: they are counted as missed,
    /// whether they would have been asked for or not. A condition that panics asks for the announcement.
    pub fn when(self, condition: impl Fn(&S::Message) -> bool + Send + 'static) -> Self {
        self.configure(|emitter| emitter.when = Some(Box::new(condition)))
    }

    /// Whom an announcement is about, instead of the bus.
    pub fn subject<I: Identify>(self, subject: impl Fn(&S::Message) -> I + Send + 'static) -> Self {
        self.configure(|emitter| emitter.subject = Some(Box::new(move |message| subject(message).identify())))
    }

    /// What kind of announcement a message is. Without it the message says so itself: by `#[derive(Announce)]`, else by
    /// the name that its `Debug` begins with.
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

    /// Does something about each announcement that is asked for, on the tap's thread. What it calls is not observed,
    /// and a panic in it is caught.
    pub fn each(self, handler: impl Fn(&S::Message) + Send + 'static) -> Self {
        self.configure(|emitter| emitter.each.push(Box::new(handler)))
    }

    /// Writes down each message, by its `Debug`.
    pub fn details(mut self) -> Self
    where
        S::Message: Debug,
    {
        self.arming.details = true;
        self.configure(|emitter| emitter.show = Some(|message, reify| reify.arg("message", message)))
    }

    /// How closely; [`Mode::Full`] if nothing is said.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.arming.mode = mode;
        self.arming.details &= mode > Mode::Tally;
        self
    }

    /// What the tap changes for the application, in a sentence.
    pub fn disturbs(&self) -> &'static str {
        self.disturbs
    }

    fn configure(mut self, change: impl FnOnce(&mut Emitter<S::Message, K>)) -> Self {
        if let Some(emitter) = &mut self.emitter {
            change(emitter);
        }
        self
    }

    /// The module of its sites, and whom the announcements are about.
    fn bus(&self) -> (&str, Subject) {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (module, message) = path_of(type_name::<S::Message>());
        match &self.name {
            Some(name) => (name, named_bus(name)),
            None => {
                // Beyond all numbers of names.
                let bus = Subject::new(BUS.id(), 1 << 32 | NEXT.fetch_add(1, Ordering::Relaxed));
                label(bus, format!("bus of {message}"));
                (module, bus)
            }
        }
    }
}

static BUS: Kind = Kind::new("Bus");

/// The bus of this name.
pub(in crate::channels) fn named_bus(name: &str) -> Subject {
    let bus = Subject::new(BUS.id(), crate::interned::number(name));
    label(bus, name);
    bus
}

impl<S, K> Instrumenter for Announcements<S, K>
where
    S: Source,
    K: KindOf<S::Message>,
    S::Message: 'static,
{
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        let (Some(subscribe), Some(emitter)) = (self.subscribe.take(), self.emitter.take()) else {
            return Err(InstallError::Other("a tap is installed once: make another one".into()));
        };
        let (module, bus) = self.bus();
        let sites = Arc::new(TapSites::lease(module, self.at));
        emitter.kind.known_kinds().iter().for_each(|kind| _ = sites.of_kind(kind));
        session.arm_family(sites.family(), &self.arming)?;
        // A bus that has ended announces nothing.
        let Some(source) = subscribe() else { return Ok(Installation::with_guard(sites)) };
        let listener = Listener::start(source, emitter, Arc::clone(&sites), bus);
        let listener = Arc::new(listener.map_err(|error| InstallError::Other(error.into()))?);
        // While a profiler has them armed, the sites are nobody else's.
        let held = Installation::with_guard((Arc::clone(&listener), sites));
        Ok(held.before_uninstall(move || listener.finish()))
    }
}

impl<S: Source, K> fmt::Debug for Announcements<S, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Announcements").field("name", &self.name).field("at", &self.at).finish_non_exhaustive()
    }
}

//! Profilers: instrumenters composed for one question about one model.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

pub use metaspy_format::View;

use crate::arm;
use crate::event::{Event, EventId};
use crate::format::arena::Entry;
use crate::hook;
use crate::instrumenter::{Installation, Instrumenter, Session};
use crate::method_profilers::{MethodProfiler, Observer};
use crate::model;
use crate::platform::lock::{Locked, lock};
use crate::profile::Profile;
use crate::profiler::keep::Keep;
use crate::profiler::method_profiler::Instrument;
use crate::profiler::{FACTORIES, InstallError, ProfilerFactory};
use crate::recorder::{self, Boundary, Draft};
use crate::recording::Recording;
use crate::store::{Filter, Scope, Store, debug_as_message};
use crate::subject::Identify;
use crate::subscription::Subscription;
use crate::trigger::Trigger;

/// Instrumenters composed for one question.
///
/// A profiler is a view on the one log: ten profilers of one object cost as much as one, and
/// uninstalling one never disturbs another.
#[must_use = "a profiler does nothing until it is installed"]
pub struct Profiler {
    view: View,
    instrumenters: Vec<Box<dyn Instrumenter>>,
    triggers: Vec<Trigger>,
    is_controlled: bool,
}

impl Profiler {
    /// A profiler with this name.
    pub fn new(name: impl Into<String>) -> Self {
        let view = View { name: name.into(), group_by: "subject".into(), ..View::default() };
        Profiler { view, instrumenters: Vec::new(), triggers: Vec::new(), is_controlled: false }
    }

    /// Adds an instrumenter.
    pub fn observe(mut self, instrumenter: impl Instrumenter) -> Self {
        self.instrumenters.push(Box::new(instrumenter));
        self
    }

    /// Adds a method profiler: hooks before, after and around the calls of all methods that it
    /// selects, observed or woven.
    ///
    /// Its values are [tables of the recording](crate::Profile::tables), and how often a method ran
    /// is counted by the tally.
    pub fn method_profiler(mut self, profiler: impl MethodProfiler) -> Self {
        self.instrumenters.push(Box::new(Instrument(Some(profiler))));
        self
    }

    /// A profiler with the method profiler that has this name: one of metaspy's, or one that is
    /// made available by [`profiler!`](crate::profiler!).
    pub fn named(name: &str) -> Result<Self, UnknownProfiler> {
        match ProfilerFactory::find(name) {
            Some(factory) => Ok(factory.add_to(Profiler::new(name))),
            None => Err(UnknownProfiler(name.to_owned())),
        }
    }

    /// Adds a trigger: an action that runs when its pattern occurs in the profiler's events.
    pub fn trigger(mut self, trigger: Trigger) -> Self {
        self.triggers.push(trigger);
        self
    }

    /// Adds rules that say which events stay when they leave the window, as in
    /// [`Builder::keep`](crate::recording::Builder::keep). They hold for the whole recording while
    /// the profiler is installed: for the events in the window at that time, and for later ones.
    /// The events that they keep stay afterwards.
    pub fn keep(self, rules: impl Into<String>) -> Self {
        self.observe(Keep(rules.into()))
    }

    /// Sets the grouping that screens show first: `subject`, `site` or `cause`.
    pub fn group_by(mut self, grouping: impl Into<String>) -> Self {
        self.view.group_by = grouping.into();
        self
    }

    /// A relation of the model that belongs to the question.
    pub fn relation(mut self, name: impl Into<String>) -> Self {
        self.view.relations.push(name.into());
        self
    }

    /// A value of each row on screens: `count`, `bar`, `total`, `self` or `max`. The rows are
    /// sorted by the first of them that is `count`, `total` or `max`.
    pub fn column(mut self, value: impl Into<String>) -> Self {
        self.view.columns.push(value.into());
        self
    }

    /// Lets the crawler disarm the sites of this profiler, in a
    /// [controlled](crate::recording::Builder::controlled) recording. Without it, the crawler only
    /// adds to the sites of a profiler.
    pub fn controlled(mut self) -> Self {
        self.is_controlled = true;
        self
    }

    /// Installs it: the whole process is observed until the guard is dropped. Tests run in
    /// parallel, so a test that counts uses [`Profiler::profile`] or [`Profiler::install_here`].
    pub fn install(self) -> Result<Installed, InstallError> {
        hook::meta(|| self.install_in(Session::new))
    }

    pub(super) fn install_in(
        mut self,
        session: fn(u64) -> Session,
    ) -> Result<Installed, InstallError> {
        let recording = Recording::current()?;
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut session = session(NEXT.fetch_add(1, Ordering::Relaxed));
        if self.is_controlled {
            arm::arms().control(session.profiler());
        }
        // The epoch first, then the arm words: the events of this view begin in its first epoch.
        let first = Arc::new(recorder::next_boundary(&format!("{} is installed", self.view.name)));
        let mut hooks = Vec::with_capacity(self.instrumenters.len());
        let mut triggers = Vec::with_capacity(self.triggers.len());
        for instrumenter in &mut self.instrumenters {
            match instrumenter.install(&mut session) {
                Ok(installed) => hooks.push(installed),
                Err(error) => {
                    session.disarm();
                    return Err(error);
                }
            }
        }
        let members = session.members();
        for trigger in self.triggers {
            let scope = Scope {
                epochs: first.epoch()..u32::MAX,
                members: Some(members.clone()),
                ..Scope::default()
            };
            match trigger.install(&mut session, scope) {
                Ok(watching) => triggers.push(watching),
                Err(error) => {
                    session.disarm();
                    return Err(error);
                }
            }
        }
        self.view.sites = paths(&session.armed());
        if let Ok(json) = serde_json::to_string(&self.view) {
            recording.append(Draft::new(Entry::View, first.epoch()).text(&json));
        }
        let method_profilers = session.method_profilers().to_vec();
        let shared = Arc::new(Shared {
            view: self.view,
            recording,
            session: Mutex::new(session),
            method_profilers,
            first,
        });
        lock(&INSTALLED).push(Arc::downgrade(&shared));
        Ok(Installed { shared, hooks, triggers, ended: false })
    }
}

/// No method profiler of this program has the name.
#[derive(Clone, PartialEq, Eq)]
pub struct UnknownProfiler(String);

impl fmt::Display for UnknownProfiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<&str> = FACTORIES.iter().map(|factory| factory.name).collect();
        write!(f, "there is no profiler `{}`; this program has {}", self.0, known.join(", "))
    }
}

debug_as_message!(UnknownProfiler);

impl std::error::Error for UnknownProfiler {}

fn paths(sites: &[crate::SiteId]) -> Vec<String> {
    let all = crate::site::entries();
    let path = |id: &crate::SiteId| all.get(id.0 as usize - 1).map(|entry| entry.site.path());
    sites.iter().filter_map(path).collect()
}

/// An installed profiler: dropping it uninstalls it. Owns everything it needs, and borrows nothing
/// from the model.
#[must_use = "dropping it uninstalls the profiler"]
pub struct Installed {
    shared: Arc<Shared>,
    hooks: Vec<Installation>,
    triggers: Vec<Subscription>,
    ended: bool,
}

/// The parts of an installed profiler from which its profile is built.
struct Shared {
    view: View,
    recording: Recording,
    session: Mutex<Session>,
    method_profilers: Vec<Arc<dyn Observer>>,
    first: Arc<Boundary>,
}

/// The profilers that are installed, in the order of their installation.
static INSTALLED: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// The profile, so far, of the installed profiler with this name; of several, that of the one that
/// was installed last.
pub fn profile(name: &str) -> Option<Profile> {
    let installed: Vec<Arc<Shared>> = lock(&INSTALLED).iter().filter_map(Weak::upgrade).collect();
    installed.iter().rfind(|shared| shared.view.name == name).map(|shared| shared.so_far())
}

impl Shared {
    fn session(&self) -> Locked<'_, Session> {
        lock(&self.session)
    }

    fn scope(&self, epochs: std::ops::Range<u32>) -> Scope {
        Scope { epochs, members: Some(self.session().members()), ..Scope::default() }
    }

    /// The profile until an epoch; `None` = all epochs to come.
    fn profile(&self, end: Option<Boundary>) -> Profile {
        // The names of the recording are read below, and the session is not locked for so long.
        let until = end.as_ref().map_or(u32::MAX, Boundary::epoch);
        let view = self.view.clone();
        let scope = self.scope(self.first.epoch()..until);
        let boundaries =
            std::iter::once(Arc::clone(&self.first)).chain(end.map(Arc::new)).collect();
        let profiler = self.session().profiler();
        Profile::new(
            view,
            self.recording,
            scope,
            boundaries,
            self.method_profilers.clone(),
            profiler,
        )
    }

    fn so_far(&self) -> Profile {
        hook::meta(|| self.profile(None))
    }
}

impl Installed {
    /// Uninstalls it, and returns its profile.
    pub fn uninstall(mut self) -> Profile {
        self.end()
    }

    /// Keeps it installed until `model` ends; then uninstalls it, and passes its profile to `then`.
    ///
    /// A `Spied<T>` ends when it is dropped. Any other subject ends with [`forget`](crate::forget),
    /// which the `Drop` of a model can call. `then` runs on the thread that ends the model. Its
    /// calls are not observed, and a panic in it is caught. A model can also own its profiler: a
    /// field of this type is dropped with it.
    pub fn until_end_of(self, model: impl Identify, then: impl FnOnce(Profile) + Send + 'static) {
        model::when_ended(model.identify(), move || then(self.uninstall()));
    }

    /// As [`until_end_of`](Self::until_end_of), until the last `Arc` of the model is dropped. This
    /// is seen after the next round of the collector, on its thread.
    pub fn until_dropped<T>(self, model: &Arc<T>, then: impl FnOnce(Profile) + Send + 'static)
    where
        T: Send + Sync + 'static + ?Sized,
    {
        let model = Arc::downgrade(model);
        model::when_gone(move || model.strong_count() == 0, move || then(self.uninstall()));
    }

    /// The profile so far.
    pub fn so_far(&self) -> Profile {
        self.shared.so_far()
    }

    /// Calls `see` once for each of its events that passes the filter, at most a tenth of a second
    /// after the event has ended, on a thread of metaspy's. Calls that are only counted, and those
    /// that found no room, are no events. An event that is still running when it leaves the window
    /// is delivered then, as *moved*.
    ///
    /// The calls of `see` are not observed, and a panic in it is caught. The program never waits
    /// for `see`; but events are lost, and counted, while it takes longer than the ring is long.
    pub fn watch(
        &self,
        filter: Filter,
        mut see: impl FnMut(&Store, &Event) + Send + 'static,
    ) -> Subscription {
        let scope = self.shared.scope(self.shared.first.epoch()..u32::MAX);
        Subscription::begin(scope, vec![filter], move |store, event, _| see(store, event))
    }

    /// The number of the profiler.
    pub(super) fn number(&self) -> u64 {
        self.shared.session().profiler()
    }

    /// The block that it is installed around begins.
    pub(super) fn begin_block(&self, event: Option<EventId>) {
        if let Some(block) = self.shared.session().block() {
            block.begin(event);
        }
    }

    fn end(&mut self) -> Profile {
        hook::meta(|| {
            self.uninstall_all();
            self.shared.profile(Some(recorder::next_boundary(&self.ending())))
        })
    }

    /// Why the next epoch begins.
    fn ending(&self) -> String {
        format!("{} is uninstalled", self.shared.view.name)
    }

    fn uninstall_all(&mut self) {
        self.ended = true;
        lock(&INSTALLED)
            .retain(|installed| !std::ptr::eq(installed.as_ptr(), Arc::as_ptr(&self.shared)));
        self.hooks.iter_mut().rev().for_each(Installation::run_before_uninstall);
        // Triggers have seen everything that happened, and their effects are recorded.
        self.triggers.clear();
        self.shared.session().disarm();
        // Last in, first out, as with everything that nests.
        while self.hooks.pop().is_some() {}
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        if !self.ended {
            hook::meta(|| {
                self.uninstall_all();
                recorder::next_epoch(&self.ending());
            });
        }
    }
}

impl fmt::Debug for Installed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Installed").field("view", &self.shared.view).finish_non_exhaustive()
    }
}

const _: () = {
    const fn travels<T: Send + 'static>() {}
    travels::<Profiler>();
    travels::<Installed>();
};

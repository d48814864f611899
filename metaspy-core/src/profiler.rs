//! Profilers: instrumenters composed for one question about one model.

use std::sync::atomic::{AtomicU64, Ordering};

pub use metaspy_format::View;

use crate::arm::{self, Arming, Mode};
use crate::event::Event;
use crate::format::arena::Entry;
use crate::hook;
use crate::instrumenter::{InstallError, Installation, Instrumenter, Session};
use crate::profile::Profile;
use crate::recorder::Draft;
use crate::recording::Recording;
use crate::site::{Site, SiteDef, SiteKind};
use crate::store::{Filter, Scope, Store};
use crate::subject::Subject;
use crate::trigger::Trigger;
use crate::watch::Watching;

/// Instrumenters composed for one question.
///
/// A profiler is a view on the one log: ten profilers of one object cost what one costs, and uninstalling one never
/// disturbs another.
#[must_use = "a profiler does nothing until it is installed"]
pub struct Profiler {
    view: View,
    instrumenters: Vec<Box<dyn Instrumenter>>,
    triggers: Vec<Trigger>,
}

impl Profiler {
    /// A profiler of this name.
    pub fn new(name: impl Into<String>) -> Self {
        let view = View { name: name.into(), group_by: "subject".into(), ..View::default() };
        Profiler { view, instrumenters: Vec::new(), triggers: Vec::new() }
    }

    /// Adds an instrumenter.
    pub fn observe(mut self, instrumenter: impl Instrumenter) -> Self {
        self.instrumenters.push(Box::new(instrumenter));
        self
    }

    /// Adds a trigger: something is done when its pattern is met in the profiler's events.
    pub fn trigger(mut self, trigger: Trigger) -> Self {
        self.triggers.push(trigger);
        self
    }

    /// What screens show of it first: `subject`, `site` or `cause`.
    pub fn group_by(mut self, grouping: impl Into<String>) -> Self {
        self.view.group_by = grouping.into();
        self
    }

    /// A relation of the model that belongs to the question.
    pub fn relation(mut self, name: impl Into<String>) -> Self {
        self.view.relations.push(name.into());
        self
    }

    /// Installs it: the whole process is observed until the guard is dropped.
    pub fn install(self) -> Result<Installed, InstallError> {
        hook::meta(|| self.install_in(Session::new))
    }

    fn install_in(mut self, session: fn(u64) -> Session) -> Result<Installed, InstallError> {
        let recording = Recording::current()?;
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let mut session = session(NEXT.fetch_add(1, Ordering::Relaxed));
        // The epoch first, then the arm words: what is armed for this view begins in its first epoch.
        let first = arm::next_epoch(&format!("{} is installed", self.view.name));
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
            let scope = Scope { epochs: first..u32::MAX, members: Some(members.clone()), ..Scope::default() };
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
            recording.append(Draft::new(Entry::View, first).text(&json));
        }
        Ok(Installed { view: self.view, recording, session, hooks, triggers, first, ended: false })
    }

    /// Installs it around a block: the profile is about what ran in the block and what that caused, on any thread.
    ///
    /// Every call in it is an event, as only events know what led to them: modes below [`Mode::Sampled`] are raised to
    /// [`Mode::Full`].
    pub fn profile<R>(self, block: impl FnOnce() -> R) -> Result<(R, Profile), InstallError> {
        let mut installed = hook::meta(|| self.install_in(Session::of_events))?;
        let site = block_site();
        hook::meta(|| arm::arms().arm(installed.session.profiler(), site, Arming::all(Mode::Full)));
        let call = hook::enter(site, Subject::NONE);
        let root = call.event();
        let value = block();
        call.done(crate::event::Outcome::Returned);
        let mut profile = installed.end();
        profile.narrow_to(root);
        Ok((value, profile))
    }
}

fn block_site() -> &'static Site {
    static SITE: Site = Site::new(SiteDef {
        kind: SiteKind::Block,
        module: "metaspy",
        name: "Profiler::profile",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
    &SITE
}

fn paths(sites: &[crate::SiteId]) -> Vec<String> {
    let all = crate::site::entries();
    let path = |id: &crate::SiteId| all.get(id.0 as usize - 1).map(|entry| entry.site.path());
    sites.iter().filter_map(path).collect()
}

/// An installed profiler: dropping it uninstalls it. Owns everything it needs, and borrows nothing from the model.
#[must_use = "dropping it uninstalls the profiler"]
pub struct Installed {
    view: View,
    recording: Recording,
    session: Session,
    hooks: Vec<Installation>,
    triggers: Vec<Watching>,
    first: u32,
    ended: bool,
}

impl Installed {
    /// Uninstalls it, and hands back what it saw.
    pub fn uninstall(mut self) -> Profile {
        self.end()
    }

    /// What it has seen so far.
    pub fn so_far(&self) -> Profile {
        let epochs = self.first..u32::MAX;
        hook::meta(|| Profile::new(self.view.clone(), self.recording, self.scope(epochs)))
    }

    /// Tells `see` of each of its events that passes the filter, once, after it has ended: at most a tenth of a second
    /// later, on a thread of metaspy's. Calls that are only counted, and those that found no room, are no events. An event
    /// that ran on when the window went past it is told then, as *moved*.
    ///
    /// What `see` calls is not observed, and a panic in it is caught. The program never waits for it; but events are lost,
    /// and counted, while it takes longer than the ring is long.
    pub fn watch(&self, filter: Filter, mut see: impl FnMut(&Store, &Event) + Send + 'static) -> Watching {
        Watching::begin(self.scope(self.first..u32::MAX), vec![filter], move |store, event, _| see(store, event))
    }

    fn end(&mut self) -> Profile {
        hook::meta(|| {
            self.take_out();
            let next = arm::next_epoch(&format!("{} is uninstalled", self.view.name));
            Profile::new(self.view.clone(), self.recording, self.scope(self.first..next))
        })
    }

    fn scope(&self, epochs: std::ops::Range<u32>) -> Scope {
        Scope { epochs, members: Some(self.session.members()), ..Scope::default() }
    }

    fn take_out(&mut self) {
        self.ended = true;
        self.hooks.iter_mut().rev().for_each(Installation::run_before_uninstall);
        // What has happened is told, and what that triggers is recorded.
        self.triggers.clear();
        self.session.disarm();
        // Last in, first out, as with everything that nests.
        while self.hooks.pop().is_some() {}
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        if !self.ended {
            hook::meta(|| {
                self.take_out();
                arm::next_epoch(&format!("{} is uninstalled", self.view.name));
            });
        }
    }
}

impl std::fmt::Debug for Installed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Installed").field("view", &self.view).finish_non_exhaustive()
    }
}

const _: () = {
    const fn travels<T: Send + 'static>() {}
    travels::<Profiler>();
    travels::<Installed>();
};

//! Reactions of other modules of the core to changes of the log. They depend on the recorder, so
//! they register here.

use std::sync::OnceLock;

use crate::platform::fork_gate::Unforked;
use crate::platform::lock::lock;
use crate::recorder::log::{Log, Named};
use crate::site::{self, Site};

/// Reacts to changes of the log. Each method does nothing unless it is overridden.
pub trait Listener: Sync {
    /// A log is about to become the current one: write the earlier statements.
    fn started(&self, log: &'static Log) {
        let _ = log;
    }

    /// A log has become the current one. The one before is closed after this.
    fn replaced(&self, log: &'static Log) {
        let _ = log;
    }

    /// No lane can reach the log any more: keep the values that are still needed.
    fn hand_over(&self, log: &'static Log) {
        let _ = log;
    }

    /// Writes the names that were registered since `written`, and counts them there.
    fn name(&self, log: &Log, written: &mut Named) {
        let _ = (log, written);
    }

    /// An epoch has begun.
    fn epoch_began(&self) {}

    /// A site was made at run time.
    fn site_registered(&self, site: &'static Site) {
        let _ = site;
    }

    /// This process is a forked child. Only atomics may be used here.
    fn forked(&self) {}

    /// A thread that called hooks ends.
    fn thread_ended(&self) {}

    /// True if events are to be read as they end.
    fn wants_events(&self) -> bool {
        false
    }

    /// The collector has done a round of its work.
    fn round_ended(&self, log: &Log) {
        let _ = log;
    }
}

/// The modules that can register, in the order in which they are called.
#[derive(Clone, Copy)]
pub enum Module {
    Names,
    Model,
    Arms,
    MethodProfilers,
    Subscriptions,
    Ends,
    Control,
}

static LISTENERS: [OnceLock<&'static dyn Listener>; 7] = [const { OnceLock::new() }; 7];

/// Registers a module. Later calls do nothing.
pub fn listen(module: Module, listener: &'static dyn Listener) {
    let _unforked = Unforked::begin();
    LISTENERS[module as usize].get_or_init(|| listener);
    site::watch_registrations(site_registered);
}

fn all() -> impl Iterator<Item = &'static dyn Listener> {
    LISTENERS.iter().filter_map(|place| place.get().copied())
}

/// Writes the names that the recording does not have yet.
pub fn sync_names(log: &Log) {
    let mut written = lock(&log.names);
    all().for_each(|listener| listener.name(log, &mut written));
}

pub(super) fn started(log: &'static Log) {
    all().for_each(|listener| listener.started(log));
}

pub(super) fn replaced(log: &'static Log) {
    all().for_each(|listener| listener.replaced(log));
}

pub(super) fn hand_over(log: &'static Log) {
    all().for_each(|listener| listener.hand_over(log));
}

pub(super) fn epoch_began() {
    all().for_each(|listener| listener.epoch_began());
}

fn site_registered(site: &'static Site) {
    all().for_each(|listener| listener.site_registered(site));
}

pub(super) fn forked() {
    all().for_each(|listener| listener.forked());
}

pub(super) fn thread_ended() {
    all().for_each(|listener| listener.thread_ended());
}

pub(super) fn wants_events() -> bool {
    all().any(|listener| listener.wants_events())
}

pub(super) fn round_ended(log: &Log) {
    all().for_each(|listener| listener.round_ended(log));
}

//! Callback lists: buses that call back at once, `on(event, callback)`.

use std::panic::Location;

use metaspy_core::hook::{self, Call};
use metaspy_core::{Identify, Outcome, Site, Subject};

use crate::dynamic_sites;

/// The two ends of a callback list, whatever type the list has: whoever announces says so, and so does each callback.
///
/// What is announced is an event for as long as the callbacks run; each of them is one under it, so who was called by
/// what is seen without knowing the list.
///
/// ```
/// use metaspy::channels::Callbacks;
/// use metaspy::prelude::*;
///
/// let editor = Callbacks::new("editor");
/// let mut on_save: Vec<Box<dyn Fn(&str)>> = Vec::new();
/// on_save.push(Box::new(move |path| editor.callback("saved", || println!("index {path}"))));
/// on_save.push(Box::new(move |path| editor.callback("saved", || println!("upload {path}"))));
///
/// let profiler = Profiler::new("saving").observe(proxied([editor.sent("saved"),
/// editor.received("saved")])).install()?; editor.announce("saved", || on_save.iter().for_each(|callback|
/// callback("a.txt"))); let profile = profiler.uninstall();
/// assert_eq!(profile.counts().by_site().at("editor::saved::received").unwrap().measure.count, 2);
/// # Ok::<(), metaspy::InstallError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Callbacks {
    name: &'static str,
    bus: Subject,
    at: &'static Location<'static>,
}

impl Callbacks {
    /// The callback list of this name.
    #[track_caller]
    pub fn new(name: &str) -> Self {
        Callbacks { name: crate::interned::kept(name), bus: super::tap::named_bus(name), at: Location::caller() }
    }

    /// Announces something: `announce` calls the callbacks.
    pub fn announce<R>(&self, kind: &'static str, announce: impl FnOnce() -> R) -> R {
        self.run(self.sent(kind), announce)
    }

    /// Runs a callback.
    pub fn callback<R>(&self, kind: &'static str, callback: impl FnOnce() -> R) -> R {
        self.run(self.received(kind), callback)
    }

    /// The site of what is announced. It is known from now on.
    pub fn sent(&self, kind: &'static str) -> &'static Site {
        self.site(kind, "sent")
    }

    /// The site of the callbacks. It is known from now on.
    pub fn received(&self, kind: &'static str) -> &'static Site {
        self.site(kind, "received")
    }

    fn site(&self, kind: &'static str, what: &'static str) -> &'static Site {
        dynamic_sites::of_announcement(self.name, kind, what, self.at)
    }

    fn run<R>(&self, site: &'static Site, run: impl FnOnce() -> R) -> R {
        let call = if site.is_armed() { hook::enter(site, self.bus) } else { Call::inert() };
        let value = run();
        call.done(Outcome::Returned);
        value
    }
}

/// The bus.
impl Identify for Callbacks {
    fn identify(&self) -> Subject {
        self.bus
    }
}

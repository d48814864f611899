//! Callback lists: buses that call their callbacks at once, `on(event, callback)`.

use std::panic::Location;

use metaspy_core::hook::{self, Call};
use metaspy_core::{Identify, Outcome, Site, Subject};

use crate::dynamic_sites;

/// Observer of a callback list of any type. Wrap the code that announces, and each callback.
///
/// An announcement is an event that lasts as long as its callbacks. Each callback is an effect of
/// the announcement.
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
/// let sites = [editor.sent("saved"), editor.received("saved")];
/// let ((), profile) = Profiler::new("saving").observe(proxied(sites)).profile(|| {
///     editor.announce("saved", || on_save.iter().for_each(|callback| callback("a.txt")));
/// })?;
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
    /// Creates an observer with this name, which begins the names of its sites.
    #[track_caller]
    pub fn new(name: &str) -> Self {
        Callbacks {
            name: crate::interned::name(name),
            bus: super::named_bus::named_bus(name),
            at: Location::caller(),
        }
    }

    /// Records an announcement, during which `announce` calls the callbacks.
    pub fn announce<R>(&self, kind: &'static str, announce: impl FnOnce() -> R) -> R {
        self.run(self.sent(kind), announce)
    }

    /// Records a call of a callback.
    pub fn callback<R>(&self, kind: &'static str, callback: impl FnOnce() -> R) -> R {
        self.run(self.received(kind), callback)
    }

    /// Registers the site of the announcements, and returns it.
    pub fn sent(&self, kind: &'static str) -> &'static Site {
        self.site(kind, "sent")
    }

    /// Registers the site of the callbacks, and returns it.
    pub fn received(&self, kind: &'static str) -> &'static Site {
        self.site(kind, "received")
    }

    fn site(&self, kind: &'static str, what: &'static str) -> &'static Site {
        dynamic_sites::for_announcements(self.name, kind, what, self.at)
    }

    fn run<R>(&self, site: &'static Site, run: impl FnOnce() -> R) -> R {
        let call = if site.is_armed() { hook::enter(site, self.bus) } else { Call::inert() };
        let value = run();
        call.done(Outcome::Returned);
        value
    }
}

/// The identity is that of the callback list.
impl Identify for Callbacks {
    fn identify(&self) -> Subject {
        self.bus
    }
}

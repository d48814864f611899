//! An element of a program: a package, a type or a method, with the numbers of its calls.

use std::fmt;
use std::sync::Arc;

use metaspy_format::facts::{Facts, SelfKind};
use metaspy_probe::SiteId;
use metaspy_reader::{Measure, Store};

use super::method::Method;
use super::ratio::Ratio;
use crate::text::{counted, grouped};

/// The identity of an element. It stays the same when the recording is read again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A crate or a module, by its path.
    Package(Arc<str>),
    /// A type or a trait, by its path.
    Type(Arc<str>),
    /// The free functions of a module, by its path.
    Functions(Arc<str>),
    /// A method.
    Method(SiteId),
}

/// The kind of an element, with its static facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// A crate or a module.
    Package,
    /// A type, or a trait with its default methods.
    Type {
        /// True for a trait.
        is_trait: bool,
        /// True if its definition was not found: it may be the same type as another one.
        is_unresolved: bool,
        /// The implemented traits that have a method in the recording, or the supertraits of a
        /// trait.
        traits: Vec<String>,
    },
    /// The free functions of a module.
    Functions,
    /// A method or a function, with the facts that the weaver read from its source.
    Method(Option<Box<Facts>>),
}

/// The distinct objects that calls were about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receivers {
    /// The number of objects with an identity; 0 if none is known, as with values that are moved or
    /// have no size.
    pub count: u64,
    /// True if there may be more: some objects share a row, or have no identity but a place.
    pub is_least: bool,
    /// The places of objects that only an address identifies. This is no bound of their number: a
    /// value that moves has several, and several values have one after the other.
    pub places: u64,
}

impl Receivers {
    /// True if the number of objects is not known.
    pub fn is_unknown(self) -> bool {
        self.count == 0
    }

    /// The order of magnitude, for pictures and patterns: objects, and places where there is
    /// nothing better.
    pub fn magnitude(self) -> u64 {
        self.count.saturating_add(self.places)
    }

    /// As a phrase: `≥3 receivers`, or `receivers n/a (21 places)`.
    pub fn phrase(self) -> String {
        match self.count {
            0 => format!("receivers {}", self.with_places()),
            1 => format!("{self} receiver"),
            _ => format!("{self} receivers"),
        }
    }

    /// The objects, and the places if that is all that is known of some: `n/a (21 places)`.
    pub fn with_places(self) -> String {
        if self.places == 0 {
            self.to_string()
        } else {
            format!("{self} ({})", counted(self.places, "place"))
        }
    }
}

impl fmt::Display for Receivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.is_least { "≥" } else { "" };
        if self.is_unknown() {
            f.pad("n/a")
        } else {
            f.pad(&format!("{sign}{}", grouped(self.count)))
        }
    }
}

/// An element.
#[derive(Clone, Debug)]
pub struct Element {
    /// Its identity.
    pub key: Key,
    /// Its name, without the path of its parent.
    pub name: String,
    /// Its kind.
    pub of: Of,
    /// The method, if it is one.
    pub method: Option<Box<Method>>,
    /// The place of its parent.
    pub under: Option<usize>,
    /// True if it is the last child of its parent.
    pub is_last: bool,
    /// The numbers of the calls of its methods. Its total is the time in which at least one of them
    /// was open.
    pub measure: Measure,
    /// The objects that its calls were about, each counted once.
    pub receivers: Receivers,
    /// The number of methods that ran, of those that [count](Method::is_counted).
    pub ran: u32,
    /// The number of methods that [count](Method::is_counted).
    pub methods: u32,
    /// The number of types with such methods.
    pub types: u32,
    /// The number of types with a method that ran.
    pub covered_types: u32,
    /// The lines of its methods.
    pub lines: u64,
    /// The cyclomatic complexity of its most complex method; `None` if nothing of it was woven.
    pub complexity: Option<u32>,
}

impl Element {
    /// An element without counts.
    pub(super) fn new(key: Key, name: String, of: Of, under: Option<usize>) -> Self {
        Element {
            key,
            name,
            of,
            method: None,
            under,
            is_last: false,
            measure: Measure { self_ticks: Some(0), ..Measure::default() },
            receivers: Receivers::default(),
            ran: 0,
            methods: 0,
            types: 0,
            covered_types: 0,
            lines: 0,
            complexity: None,
        }
    }

    /// Its site, if it is a method.
    pub fn site(&self) -> Option<SiteId> {
        match self.key {
            Key::Method(site) => Some(site),
            _ => None,
        }
    }

    /// The word for its kind.
    pub fn sort(&self) -> &'static str {
        match &self.of {
            Of::Package if self.under.is_none() => "crate",
            Of::Package => "module",
            Of::Type { is_trait: true, .. } => "trait",
            Of::Type { .. } => "type",
            Of::Functions => "functions",
            Of::Method(_) => "method",
        }
    }

    /// Its whole path. The path of free functions is the path of their module.
    pub fn path<'a>(&'a self, store: &'a Store) -> &'a str {
        match &self.key {
            Key::Package(path) | Key::Type(path) | Key::Functions(path) => path,
            Key::Method(site) => store.site_path(*site),
        }
    }

    /// The same, from the model alone.
    pub fn path_text(&self) -> &str {
        match (&self.key, &self.method) {
            (Key::Package(path) | Key::Type(path) | Key::Functions(path), _) => path,
            (Key::Method(_), Some(method)) => &method.site.path,
            (Key::Method(_), None) => &self.name,
        }
    }

    /// True for a type whose definition was not found.
    pub fn is_unresolved(&self) -> bool {
        matches!(self.of, Of::Type { is_unresolved: true, .. })
    }

    /// How much of it ran.
    pub fn ratio(&self) -> Ratio {
        let Element { methods, ran, types, covered_types, .. } = *self;
        Ratio { methods, covered: ran, types, covered_types }
    }

    /// The reason, if it cannot run.
    pub fn skipped<'a>(&self, store: &'a Store) -> Option<&'a str> {
        store.site(self.site()?)?.skipped.as_deref()
    }

    /// True if it can run, and no method of it did. A type without a known definition may have run
    /// under another path.
    pub fn never_ran(&self) -> bool {
        self.methods > 0 && self.ran == 0 && !self.is_unresolved()
    }

    /// Returns true if it ran on objects that cannot be distinguished.
    pub fn has_unknown_receivers(&self) -> bool {
        let takes_self =
            matches!(&self.of, Of::Method(Some(facts)) if facts.self_kind != SelfKind::None);
        let ran_on_objects = takes_self && self.measure.count > 0 || self.receivers.places > 0;
        ran_on_objects && self.receivers.is_unknown()
    }

    /// The ticks in which at least one of its calls was open; `None` if that is not known.
    pub fn total_ticks(&self) -> Option<u64> {
        let is_known = self.site().is_some() || self.measure.total_ticks > 0;
        (is_known && self.measure.timed > 0).then_some(self.measure.total_ticks)
    }

    /// The ticks of its calls without timed calls in them; `None` if they are not known.
    pub fn self_ticks(&self) -> Option<u64> {
        self.measure.self_ticks.filter(|_| self.measure.timed > 0)
    }

    /// Adds the numbers of a method. Methods call each other, so the total of anything but a method
    /// is added apart.
    pub(super) fn add(&mut self, measure: &Measure) {
        let is_method = self.site().is_some();
        let own = &mut self.measure;
        if is_method {
            own.total_ticks = own.total_ticks.saturating_add(measure.total_ticks);
            own.total_at_most |= measure.total_at_most;
        }
        own.at_least |= measure.at_least;
        own.wall_ticks = own.wall_ticks.saturating_add(measure.wall_ticks);
        own.count = own.count.saturating_add(measure.count);
        own.lost = own.lost.saturating_add(measure.lost);
        own.timed = own.timed.saturating_add(measure.timed);
        own.instants = own.instants.saturating_add(measure.instants);
        own.max_ticks = own.max_ticks.max(measure.max_ticks);
        own.failed = own.failed.saturating_add(measure.failed);
        own.panicked = own.panicked.saturating_add(measure.panicked);
        own.cancelled = own.cancelled.saturating_add(measure.cancelled);
        own.running = own.running.saturating_add(measure.running);
        own.window_self_ticks = own.window_self_ticks.saturating_add(measure.window_self_ticks);
        // A method that was never timed leaves the known self time as it is.
        if measure.timed > 0 {
            own.self_ticks =
                own.self_ticks.zip(measure.self_ticks).map(|(own, more)| own.saturating_add(more));
        }
    }
}

//! An element of a program, and what its calls came to.

use std::sync::Arc;

use metaspy_core::method_profilers::Facts;
use metaspy_core::store::Measure;
use metaspy_core::{SiteId, Store};

/// What an element is, whatever is read of it at another time.
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

/// What is known of an element before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Of {
    /// A crate or a module.
    Package,
    /// A type, or a trait with its default methods.
    Type {
        /// Whether it is a trait.
        is_trait: bool,
        /// The traits that it implements, as far as methods of theirs are known; of a trait, its supertraits.
        traits: Vec<String>,
    },
    /// The free functions of a module.
    Functions,
    /// A method or a function, with what a weaver knows of it.
    Method(Option<Box<Facts>>),
}

/// The distinct objects that calls were about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Receivers {
    /// So many.
    pub count: u64,
    /// Whether there may be more, as some found no row of their own.
    pub is_least: bool,
}

/// An element.
#[derive(Clone, Debug)]
pub struct Element {
    /// What it is.
    pub key: Key,
    /// Its name, without what it hangs under.
    pub name: String,
    /// What is known of it before it runs.
    pub of: Of,
    /// The place of the element that it hangs under.
    pub under: Option<usize>,
    /// Whether it is the last one there.
    pub is_last: bool,
    /// What the calls of its methods came to; the total of anything but a method counts what calls itself twice.
    pub measure: Measure,
    /// Objects that its calls were about.
    pub receivers: Receivers,
    /// Methods that ran.
    pub ran: u32,
    /// Methods that can run.
    pub methods: u32,
    /// Lines of its methods.
    pub lines: u64,
    /// The cyclomatic complexity of its most complex method; `None` where nobody wove it.
    pub complexity: Option<u32>,
}

impl Element {
    /// An element of which nothing was counted yet.
    pub(super) fn new(key: Key, name: String, of: Of, under: Option<usize>) -> Self {
        Element {
            key,
            name,
            of,
            under,
            is_last: false,
            measure: Measure { self_ticks: Some(0), ..Measure::default() },
            receivers: Receivers::default(),
            ran: 0,
            methods: 0,
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

    /// What sort of element it is, in a word.
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

    /// Its whole path; of free functions, that of their module.
    pub fn path<'a>(&'a self, store: &'a Store) -> &'a str {
        match &self.key {
            Key::Package(path) | Key::Type(path) | Key::Functions(path) => path,
            Key::Method(site) => store.site_path(*site),
        }
    }

    /// Why it cannot run at all, if it cannot.
    pub fn skipped<'a>(&self, store: &'a Store) -> Option<&'a str> {
        store.site(self.site()?)?.skipped.as_deref()
    }

    /// Whether it could run, and nothing of it did.
    pub fn never_ran(&self) -> bool {
        self.methods > 0 && self.ran == 0
    }

    /// Ticks with what it called, once for each call: of a method, as those of others would be counted twice.
    pub fn total_ticks(&self) -> Option<u64> {
        (self.site().is_some() && self.measure.timed > 0).then_some(self.measure.total_ticks)
    }

    /// Ticks without what was called and timed; `None` where that is not known.
    pub fn self_ticks(&self) -> Option<u64> {
        self.measure.self_ticks.filter(|_| self.measure.timed > 0)
    }

    /// Adds what a method came to.
    pub(super) fn add(&mut self, measure: &Measure) {
        let own = &mut self.measure;
        own.count = own.count.saturating_add(measure.count);
        own.lost = own.lost.saturating_add(measure.lost);
        own.timed = own.timed.saturating_add(measure.timed);
        own.instants = own.instants.saturating_add(measure.instants);
        own.total_ticks = own.total_ticks.saturating_add(measure.total_ticks);
        own.max_ticks = own.max_ticks.max(measure.max_ticks);
        own.failed = own.failed.saturating_add(measure.failed);
        own.panicked = own.panicked.saturating_add(measure.panicked);
        own.cancelled = own.cancelled.saturating_add(measure.cancelled);
        own.running = own.running.saturating_add(measure.running);
        // What was never timed takes nothing away from what is known.
        if measure.timed > 0 {
            own.self_ticks = own.self_ticks.zip(measure.self_ticks).map(|(own, more)| own.saturating_add(more));
        }
    }
}

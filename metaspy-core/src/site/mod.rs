//! Sites: the places in the code that can emit.
//!
//! A site is a `static`, one per source function whatever its type arguments, and known before `main`: a site that
//! never ran can be named, listed and armed.

mod family;
mod registry;
pub mod woven;

pub use family::Family;
pub use linkme;
pub use registry::{SITES, SiteEntry, entries, entry, register_dynamic};
pub(crate) use registry::{by_id, count, entries_since, register_dynamic_in};

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

pub use metaspy_probe::{SiteId, SiteKind};

use crate::arm::Plan;

/// What is known of a site when the program is built.
#[derive(Clone, Copy, Debug)]
pub struct SiteDef {
    /// Its kind.
    pub kind: SiteKind,
    /// The module it stands in, as `module_path!()` says.
    pub module: &'static str,
    /// What follows the module: `Scene::measure`, `Scene::Layout::measure` for `<Scene as Layout>::measure`.
    pub name: &'static str,
    /// The source file.
    pub file: &'static str,
    /// First and last line of the function.
    pub lines: (u32, u32),
    /// Why it cannot be observed; such a site is listed and never armed.
    pub skipped: Option<&'static str>,
}

/// A place in the code that can emit.
pub struct Site {
    /// 0 = nobody looks; all ones = everybody is observed; else one bit for each hash of an observed subject.
    pub(crate) arm: AtomicU64,
    /// Number and modes: see [`crate::arm::Config`].
    pub(crate) config: AtomicU64,
    /// What the observers want of it, where the two words above do not say it all.
    pub(crate) plan: AtomicPtr<Plan>,
    /// Whose row a call without a subject is counted in, if that is all that anybody wants of it; else 0. See
    /// [`crate::format::row::Who`].
    pub(crate) tally: AtomicU64,
    pub(crate) id: AtomicU32,
    pub(crate) family: Family,
    def: SiteDef,
    facts: &'static str,
}

impl Site {
    /// A site. It must be registered to be armed: `#[observe]` does both.
    pub const fn new(def: SiteDef) -> Self {
        Site::of_family(Family::NONE, def)
    }

    /// A site of which more is known: what a weaver wrote of a function, as words; see [`crate::method_profilers::Facts`].
    pub const fn with_facts(def: SiteDef, facts: &'static str) -> Self {
        Site { facts, ..Site::new(def) }
    }

    pub(crate) const fn of_family(family: Family, def: SiteDef) -> Self {
        Site {
            arm: AtomicU64::new(0),
            config: AtomicU64::new(0),
            plan: AtomicPtr::new(std::ptr::null_mut()),
            tally: AtomicU64::new(0),
            id: AtomicU32::new(0),
            family,
            def,
            facts: "",
        }
    }

    /// Whether anybody looks: one relaxed load. Nothing else of a hook runs while this says no.
    #[inline(always)]
    pub fn is_armed(&self) -> bool {
        self.arm.load(std::sync::atomic::Ordering::Relaxed) != 0
    }

    /// What was known of it when the program was built.
    pub fn def(&self) -> &SiteDef {
        &self.def
    }

    /// What else is known of it, as words; empty where nobody wove it.
    pub fn facts(&self) -> &'static str {
        self.facts
    }

    /// Its path: module and name.
    pub fn path(&self) -> String {
        match self.def.module {
            "" => self.def.name.to_owned(),
            module => format!("{module}::{}", self.def.name),
        }
    }
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Site").field(&self.path()).finish()
    }
}

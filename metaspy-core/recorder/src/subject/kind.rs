//! Kinds of subjects: whose key it is.

use std::sync::atomic::{AtomicU16, Ordering};

pub use metaspy_probe::KindId;

use crate::platform::saving;
use crate::subject::registry::{Nature, register, register_owned};

/// A kind of subjects, as a `static` beside the [`Identify`](crate::subject::Identify) impl that
/// uses it.
pub struct Kind {
    name: &'static str,
    nature: Nature,
    id: AtomicU16,
}

impl Kind {
    /// A kind whose keys are given by the domain and never reused.
    pub const fn new(name: &'static str) -> Self {
        Kind { name, nature: Nature::Own, id: AtomicU16::new(0) }
    }

    /// A kind whose keys have one meaning in every process, for example requests that travel. If
    /// several recordings are read as one, equal keys are one subject.
    pub const fn across_processes(name: &'static str) -> Self {
        Kind { name, nature: Nature::Across, id: AtomicU16::new(0) }
    }

    /// A kind whose keys are addresses: Rust moves values and reuses memory, so such a subject is a
    /// place.
    pub const fn place_of(name: &'static str) -> Self {
        Kind { name, nature: Nature::Place, id: AtomicU16::new(0) }
    }

    /// Its number: one load, after the first call.
    #[inline(always)]
    pub fn id(&self) -> KindId {
        match self.id.load(Ordering::Relaxed) {
            0 => {
                // SAFETY: the function expects a kind.
                let id = unsafe { saving::call(register_at, std::ptr::from_ref(self).cast()) };
                KindId(id as u16)
            }
            id => KindId(id),
        }
    }

    fn register(&self) -> KindId {
        let id = register(self.name, self.nature);
        self.id.store(id.0, Ordering::Relaxed);
        id
    }
}

/// Registers the kind at an address.
unsafe extern "C" fn register_at(kind: *const u8) -> usize {
    // SAFETY: it is a kind.
    unsafe { &*kind.cast::<Kind>() }.register().0.into()
}

/// One of several owners of equal keys: each tree of nodes has one, so that node 5 of two trees are
/// two subjects.
///
/// One process distinguishes at most 65,000 owners. The rest share a kind whose name states this.
#[derive(Debug)]
pub struct Owner {
    kind: KindId,
}

impl Owner {
    /// A new owner of keys of this name.
    pub fn new(name: &str) -> Self {
        Owner { kind: register_owned(name, Nature::Own) }
    }

    /// The subject with this key of this owner.
    #[inline(always)]
    pub fn subject(&self, key: impl crate::subject::Key) -> crate::subject::Subject {
        crate::subject::Subject::new(self.kind, key.key())
    }

    /// The kind of this owner's subjects.
    pub fn kind(&self) -> KindId {
        self.kind
    }
}

//! Without the feature `record`: the names that observed code uses, and nothing behind them. The
//! feature's own items have the docs; the items here must accept the same code.

#![expect(
    missing_docs,
    reason = "the items of the same names with the feature `record` have the docs"
)]

mod causality;
mod identity;
pub mod productions;
pub mod remote;
mod values;

pub use causality::{Because, EventId, because, current, forget, label, link, relate, unrelate};
pub use identity::{Identify, Key, Kind, KindId, ObjectId, Owner, Subject};
pub use remote::{FromRemote, MalformedTraceParent, TraceParent, from_remote};
pub use values::{Lookups, Spied, Watched};

/// A message that has a kind; see `#[derive(Announce)]`.
pub trait Announce {
    const KINDS: &'static [&'static str];

    fn kind(&self) -> &'static str;
}

/// Records a transition. Its arguments are not evaluated.
#[macro_export]
macro_rules! state {
    ($subject:expr, $from:expr, $to:expr $(,)?) => {
        if false {
            let _ = (&$subject, &$from, &$to);
        }
    };
}

/// The names that the derives generate. They may change in any version.
#[doc(hidden)]
pub mod __private {
    use crate::{Identify, Key, Kind, Subject};

    pub trait DirectIdentity: Identify {}
    pub trait GuardedIdentity {}
    pub trait GuardedKey {}
    pub trait NoKey {}

    pub struct KeyOf;

    #[inline(always)]
    pub fn key_of<K: Key>(_: K) -> KeyOf {
        KeyOf
    }

    impl KeyOf {
        #[inline(always)]
        pub fn subject(&self, _: &Kind) -> Subject {
            Subject::NONE
        }
    }

    pub struct Receiver<'a, T: ?Sized>(pub &'a T);

    impl<T: Identify + ?Sized> Receiver<'_, T> {
        #[inline(always)]
        pub fn identity(&self) -> Subject {
            self.0.identify()
        }
    }
}

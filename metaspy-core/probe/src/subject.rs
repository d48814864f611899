//! Subjects by identity: kind and key together.

/// The number of a kind in this process; 0 is "no subject", 65,535 "the others of a site".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub u16);

/// The identity of a domain object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    /// Whose key it is; 0 stands for "no subject".
    pub kind: KindId,
    /// The key among the objects of its kind.
    pub key: u64,
}

impl Subject {
    /// The subject with this key among the objects of `kind`.
    #[inline(always)]
    pub const fn new(kind: KindId, key: u64) -> Self {
        Subject { kind, key }
    }

    /// No subject: an event about no object.
    pub const NONE: Subject = Subject { kind: KindId(0), key: 0 };

    /// True if this is [`Subject::NONE`].
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.kind.0 == 0
    }

    /// One of 64 bits, for the filter in a site's arm word.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn bit(self) -> u64 {
        1 << (self.hash() >> 58)
    }

    /// A hash of kind and key.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn hash(self) -> u64 {
        crate::hash::scatter(self.key ^ (self.kind.0 as u64) << 48)
    }
}

//! Subjects that nobody asks about: they take no room.

/// The identity of a domain object. All are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject;

impl Subject {
    /// Nobody.
    pub const NONE: Subject = Subject;

    /// The subject with this key among the objects of `kind`.
    #[inline(always)]
    pub const fn new(_kind: KindId, _key: u64) -> Self {
        Subject
    }

    /// Whether this is [`Subject::NONE`].
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        true
    }
}

/// Says which subject a value is.
pub trait Identify {
    /// The subject that this value is, or stands for.
    fn identify(&self) -> Subject;
}

impl Identify for Subject {
    #[inline(always)]
    fn identify(&self) -> Subject {
        *self
    }
}

impl<T: Identify + ?Sized> Identify for &T {
    #[inline(always)]
    fn identify(&self) -> Subject {
        Subject
    }
}

impl<T: Identify + ?Sized> Identify for &mut T {
    #[inline(always)]
    fn identify(&self) -> Subject {
        Subject
    }
}

impl<K: Key> Identify for (&Owner, K) {
    #[inline(always)]
    fn identify(&self) -> Subject {
        Subject
    }
}

/// A key of at most 64 bits.
pub trait Key: Copy {
    /// The key as a number.
    fn key(self) -> u64;
}

macro_rules! keys {
    ($($key:ty),*) => {$(
        impl Key for $key {
            #[inline(always)]
            fn key(self) -> u64 {
                self as u64
            }
        }

        impl Identify for $key {
            #[inline(always)]
            fn identify(&self) -> Subject {
                Subject
            }
        }
    )*};
}

keys!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, char);

/// The number of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId;

/// A kind of subjects.
pub struct Kind;

impl Kind {
    /// A kind whose keys are given by the domain and never reused.
    pub const fn new(_name: &'static str) -> Self {
        Kind
    }

    /// A kind whose keys mean the same in every process.
    pub const fn across_processes(_name: &'static str) -> Self {
        Kind
    }

    /// A kind whose keys are addresses.
    pub const fn place_of(_name: &'static str) -> Self {
        Kind
    }

    /// Its number.
    #[inline(always)]
    pub fn id(&self) -> KindId {
        KindId
    }
}

/// One of several owners of equal keys.
#[derive(Debug)]
pub struct Owner;

impl Owner {
    /// A new owner of keys of this name.
    #[inline(always)]
    pub fn new(_name: &str) -> Self {
        Owner
    }

    /// The subject with this key of this owner.
    #[inline(always)]
    pub fn subject(&self, _key: impl Key) -> Subject {
        Subject
    }

    /// The kind of this owner's subjects.
    #[inline(always)]
    pub fn kind(&self) -> KindId {
        KindId
    }
}

/// An identity of its own, as a field of an object. It takes no room.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId;

impl ObjectId {
    /// An identity.
    #[inline(always)]
    pub fn new() -> Self {
        ObjectId
    }

    /// The number.
    #[inline(always)]
    pub fn number(&self) -> u64 {
        0
    }
}

impl Identify for ObjectId {
    #[inline(always)]
    fn identify(&self) -> Subject {
        Subject
    }
}

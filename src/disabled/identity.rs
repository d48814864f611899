//! Identities without a size: all subjects are equal.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject;

impl Subject {
    pub const NONE: Subject = Subject;

    #[inline(always)]
    pub const fn new(_kind: KindId, _key: u64) -> Self {
        Subject
    }

    #[inline(always)]
    pub const fn is_none(self) -> bool {
        true
    }
}

pub trait Identify {
    fn identify(&self) -> Subject;
}

/// All values are the same subject.
macro_rules! identify {
    ($($({$($parameter:tt)+})? $ty:ty),*) => {$(
        impl $(<$($parameter)+>)? $crate::Identify for $ty {
            #[inline(always)]
            fn identify(&self) -> $crate::Subject {
                $crate::Subject::NONE
            }
        }
    )*};
}
pub(super) use identify;

identify!(Subject, ObjectId, {T: Identify + ?Sized} &T, {T: Identify + ?Sized} &mut T, {K: Key} (&Owner, K));

pub trait Key: Copy {
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

        identify!($key);
    )*};
}

keys!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize, char);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId;

pub struct Kind;

impl Kind {
    pub const fn new(_name: &'static str) -> Self {
        Kind
    }

    pub const fn across_processes(_name: &'static str) -> Self {
        Kind
    }

    pub const fn place_of(_name: &'static str) -> Self {
        Kind
    }

    #[inline(always)]
    pub fn id(&self) -> KindId {
        KindId
    }
}

#[derive(Debug)]
pub struct Owner;

impl Owner {
    #[inline(always)]
    pub fn new(_name: &str) -> Self {
        Owner
    }

    #[inline(always)]
    pub fn subject(&self, _key: impl Key) -> Subject {
        Subject
    }

    #[inline(always)]
    pub fn kind(&self) -> KindId {
        KindId
    }
}

#[derive(Debug, Default, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId;

impl ObjectId {
    #[inline(always)]
    pub fn new() -> Self {
        ObjectId
    }

    #[inline(always)]
    pub fn of<T: ?Sized>() -> Self {
        ObjectId
    }

    #[inline(always)]
    pub fn number(&self) -> u64 {
        0
    }
}

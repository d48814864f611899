//! There are no events, so no cause crosses processes.

use core::fmt;
use core::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceParent {}

impl TraceParent {
    #[inline(always)]
    pub fn current() -> Option<TraceParent> {
        None
    }

    #[inline(always)]
    pub fn parse(_text: &str) -> Result<TraceParent, MalformedTraceParent> {
        Err(MalformedTraceParent)
    }

    #[inline(always)]
    pub fn trace_id(self) -> u128 {
        match self {}
    }

    #[inline(always)]
    pub fn span_id(self) -> u64 {
        match self {}
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl FromStr for TraceParent {
    type Err = MalformedTraceParent;

    #[inline(always)]
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        TraceParent::parse(text)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedTraceParent;

impl fmt::Display for MalformedTraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no traceparent is read: switch on the feature `record` of metaspy")
    }
}

impl core::error::Error for MalformedTraceParent {}

#[inline(always)]
#[must_use = "the cause is named until the guard is dropped"]
pub fn from_remote(_text: &str) -> FromRemote {
    FromRemote { _thread: core::marker::PhantomData }
}

#[derive(Debug)]
pub struct FromRemote {
    _thread: core::marker::PhantomData<*const ()>,
}

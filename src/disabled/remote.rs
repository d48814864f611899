//! Causes that cross processes, of which there are none.

use core::fmt;
use core::str::FromStr;

/// What one process tells another about the event that it is in. There are no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceParent {}

impl TraceParent {
    /// For the event that this thread is in: none.
    #[inline(always)]
    pub fn current() -> Option<TraceParent> {
        None
    }

    /// Reads a `traceparent`. Nobody looks at it.
    #[inline(always)]
    pub fn parse(_text: &str) -> Result<TraceParent, MalformedTraceParent> {
        Err(MalformedTraceParent)
    }

    /// The number of the trace.
    #[inline(always)]
    pub fn trace_id(self) -> u128 {
        match self {}
    }

    /// The number of the span.
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

/// A text that is no `traceparent`, or that nobody looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MalformedTraceParent;

impl fmt::Display for MalformedTraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing is recorded, so no traceparent is read")
    }
}

impl core::error::Error for MalformedTraceParent {}

/// Names an event of another process as the cause of what this thread does next.
#[inline(always)]
#[must_use = "the cause is named until the guard is dropped"]
pub fn from_remote(_text: &str) -> FromRemote {
    FromRemote { _thread: core::marker::PhantomData }
}

/// A named cause in another process.
#[derive(Debug)]
pub struct FromRemote {
    /// As where it is recorded: the guard belongs to its thread.
    _thread: core::marker::PhantomData<*const ()>,
}

//! Causes that cross processes, as W3C `traceparent` carries them: `00-<trace>-<span>-01`.
//!
//! The sender writes [`TraceParent::current`] into a header, an environment variable or a message.
//! The receiver works under [`from_remote`]. `metaspy open` and `metaspy report` with both
//! recordings then lead from one process into the other. Hooks are not involved.
//!
//! ```
//! use metaspy_recorder::remote::{TraceParent, from_remote};
//!
//! // In the sending process; `None` outside of events.
//! let header: Option<String> = TraceParent::current().map(|parent| parent.to_string());
//!
//! // In the receiving process.
//! let _cause = from_remote("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
//! // That event is the cause of what begins here.
//! ```
//!
//! A cause in another process is a slot: [`from_remote`] writes one mark, and its id is the
//! thread's current event. With a mark beside each event, hooks would have to know about other
//! processes.

use std::fmt;
use std::str::FromStr;

use crate::event::EventId;
use crate::format::slot::Mark;
use crate::format::{span, superblock as sb};
use crate::recorder;
use crate::store::{Ring, debug_as_message};

/// The current event, as one process sends it to another. Its text is that of the W3C header
/// `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceParent {
    /// The trace; never 0.
    trace: u128,
    /// The event, as the number of a span; never 0.
    span: u64,
    flags: u8,
}

/// The flag for a recorded trace.
const SAMPLED: u8 = 1;
/// Bytes of version 00, which ends with the flags.
const LENGTH: usize = 55;

impl TraceParent {
    /// The current event of this thread. `None` outside of events, and without a recording.
    ///
    /// The recording notes that the event was sent. Outside of events, but under [`from_remote`],
    /// this is the received cause, so that it can be passed on.
    pub fn current() -> Option<TraceParent> {
        let log = recorder::current()?;
        let event = EventId::from_raw(recorder::current_event_in(log))?;
        let ring = Ring { words: log.region.words(), layout: &log.layout };
        if let Some(remote) = ring.remote(event) {
            return Some(TraceParent { trace: remote.trace, span: remote.span, flags: SAMPLED });
        }
        let span = span::of_event(event.raw(), ring.words.get(sb::SPAN_WORD));
        let trace = ring.trace_of(event).trace;
        // A mark without room is counted; the number identifies the event without it.
        recorder::mark(Mark::Sent, event.raw(), [span, trace as u64], &[]);
        Some(TraceParent { trace, span, flags: SAMPLED })
    }

    /// Parses a `traceparent` as strictly as the W3C requires.
    pub fn parse(text: &str) -> Result<TraceParent, MalformedTraceParent> {
        read(text.as_bytes()).ok_or(MalformedTraceParent)
    }

    /// The number of the trace.
    pub fn trace_id(self) -> u128 {
        self.trace
    }

    /// The number of the span: the event's number for other processes.
    pub fn span_id(self) -> u64 {
        self.span
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

impl FromStr for TraceParent {
    type Err = MalformedTraceParent;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        TraceParent::parse(text)
    }
}

/// An error: the text is no `traceparent`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MalformedTraceParent;

impl fmt::Display for MalformedTraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is no traceparent: it reads 00-<32 digits of the trace>-<16 of the span>-01, in lower case")
    }
}

debug_as_message!(MalformedTraceParent);

impl std::error::Error for MalformedTraceParent {}

/// Names an event of another process as the cause of this thread's next events, until the guard is
/// dropped. `text` is a `traceparent`.
///
/// A malformed text is ignored and counted, and so is a cause without room.
/// [`crate::causality::current`] returns this cause as well, so it can be passed to another thread
/// and named there with [`crate::causality::because`].
#[must_use = "the cause is named until the guard is dropped"]
pub fn from_remote(text: &str) -> FromRemote {
    let Some(log) = recorder::current() else { return FromRemote { _current: None } };
    let Ok(parent) = TraceParent::parse(text) else {
        log.count(sb::REMOTE_MALFORMED, 1);
        return FromRemote { _current: None };
    };
    let high = (parent.trace >> 64) as u64;
    let noted = recorder::mark(Mark::Remote, high, [parent.span, parent.trace as u64], &[]);
    FromRemote { _current: noted.map(recorder::Current::name) }
}

/// A named cause in another process; see [`from_remote`].
#[derive(Debug)]
pub struct FromRemote {
    _current: Option<recorder::Current>,
}

fn read(text: &[u8]) -> Option<TraceParent> {
    if text.len() < LENGTH || [2, 35, 52].iter().any(|&at| text[at] != b'-') {
        return None;
    }
    let version = number(&text[..2])?;
    // Later versions may add fields after a further dash.
    let fits = match version {
        0 => text.len() == LENGTH,
        0xFF => false,
        _ => text.get(LENGTH).is_none_or(|&next| next == b'-'),
    };
    let (trace, span, flags) =
        (number(&text[3..35])?, number(&text[36..52])?, number(&text[53..55])?);
    (fits && trace != 0 && span != 0).then_some(TraceParent {
        trace,
        span: span as u64,
        flags: flags as u8,
    })
}

/// Parses hexadecimal digits in lower case, the only form that is allowed.
fn number(digits: &[u8]) -> Option<u128> {
    digits.iter().try_fold(0, |number, &digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'a'..=b'f' => digit - b'a' + 10,
            _ => return None,
        };
        Some(number << 4 | u128::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_is_read_is_what_is_written() {
        let parent = TraceParent::parse(GOOD).expect("the example of the W3C");
        assert_eq!((parent.span_id(), parent.to_string().as_str()), (0x00f0_67aa_0ba9_02b7, GOOD));
        assert_eq!(parent.trace_id(), 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
    }

    #[test]
    fn a_later_version_is_read_as_far_as_it_is_known() {
        for later in
            [GOOD.replacen("00", "01", 1), format!("{}-more-of-it", GOOD.replacen("00", "cc", 1))]
        {
            assert_eq!(
                later.parse::<TraceParent>().map(TraceParent::span_id),
                Ok(0x00f0_67aa_0ba9_02b7),
                "{later}"
            );
        }
    }

    #[test]
    fn what_is_malformed_is_no_cause() {
        let zeros = |from: usize, to: usize| {
            format!("{}{}{}", &GOOD[..from], "0".repeat(to - from), &GOOD[to..])
        };
        for wrong in [
            String::new(),
            GOOD.to_uppercase(),
            GOOD.replacen("00", "ff", 1),
            format!("{GOOD}-more"),
            format!("{}x", GOOD.replacen("00", "01", 1)),
            format!(" {GOOD}"),
            GOOD[..54].to_owned(),
            GOOD.replace('-', "_"),
            zeros(3, 35),
            zeros(36, 52),
            "ä".repeat(40),
            GOOD.replace("4b", "+b"),
        ] {
            assert_eq!(TraceParent::parse(&wrong), Err(MalformedTraceParent), "{wrong}");
        }
    }
}

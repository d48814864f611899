//! A call, as a method profiler sees it.

use std::fmt::Write;

use metaspy_probe::{Identity, Value};

use crate::event::Outcome;
use crate::method_profilers::TestId;
use crate::method_profilers::call_stack::Entry;
use crate::recorder::with_patience;
use crate::site::SiteId;
use crate::subject::Subject;
use crate::subject::receiver;

/// A call that begins or ends.
pub struct Call<'c> {
    pub(super) entry: &'c Entry,
    /// The observed calls around it, the outermost first.
    pub(super) around: &'c [Entry],
    pub(super) test: u32,
    pub(super) arguments: &'c [Value<'c>],
    /// By the number of a site, the place of its method in the mirror of the profiler, + 1.
    pub(super) places: &'c [u32],
}

/// The end of a call.
pub struct CallEnd<'e> {
    pub(super) ticks: u64,
    pub(super) inner: u64,
    pub(super) calls: u64,
    pub(super) outcome: Outcome,
    pub(super) returned: Option<&'e Value<'e>>,
}

/// An argument of a call.
pub struct Argument<'a>(&'a Value<'a>);

impl Call<'_> {
    /// A hash of the receiver: of its type, and its address or its key. `None` without a receiver,
    /// and for receivers that were moved or have no size.
    #[inline]
    pub fn identity(&self) -> Option<u64> {
        let receiver = self.entry.receiver();
        if receiver.identity == Identity::None {
            return None;
        }
        // An object and its first field stand at one address: their types have other names. The end
        // of a name says most.
        let name = receiver.type_name.get().as_bytes();
        let end = name.last_chunk::<8>().map_or(0, |end| u64::from_le_bytes(*end));
        let kind = (end ^ (name.len() as u64) << 56).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
        Some((receiver.word ^ kind.rotate_left(17)).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// True if an address is all that identifies the receiver: another object may have it at
    /// another time.
    #[inline]
    pub fn is_by_address(&self) -> bool {
        self.entry.receiver().identity == Identity::Place
    }

    /// The type of the receiver; empty without a receiver.
    pub fn receiver_type(&self) -> &'static str {
        self.entry.receiver().type_name.get()
    }

    /// The address or the key of the receiver.
    pub fn receiver(&self) -> Option<u64> {
        (self.entry.receiver().identity != Identity::None).then_some(self.entry.receiver().word)
    }

    /// The receiver of a woven call as a subject, for rows of a
    /// [`SubjectTable`](crate::method_profilers::SubjectTable). [`Subject::NONE`] without a
    /// receiver, and for methods with `#[observe]`, whose subjects have kinds of their own.
    pub fn subject(&self) -> Subject {
        match self.receiver_type() {
            "" => Subject::NONE,
            _ => receiver::subject(self.entry.receiver()),
        }
    }

    /// The caller, as its place in the mirror: the nearest call around it that the profiler
    /// selected.
    pub fn caller(&self) -> Option<usize> {
        self.around.iter().rev().find_map(|entry| self.place_of(entry))
    }

    /// The site of the caller.
    pub fn caller_site(&self) -> Option<SiteId> {
        let caller = self.around.iter().rev().find(|entry| self.place_of(entry).is_some());
        caller.map(|entry| SiteId(entry.site))
    }

    fn place_of(&self, entry: &Entry) -> Option<usize> {
        (*self.places.get(entry.site as usize)? as usize).checked_sub(1)
    }

    /// The number of calls of the same method around it on this thread.
    pub fn depth(&self) -> u32 {
        self.entry.depth
    }

    /// The number of calls around it on this thread that the profiler selected.
    pub fn level(&self) -> usize {
        self.around.iter().filter(|entry| self.place_of(entry).is_some()).count()
    }

    /// The test that made the call: the test of its thread, or else the only running test.
    #[inline]
    pub fn test(&self) -> Option<TestId> {
        let test = if self.test == 0 { TestId::only() } else { self.test };
        (test != 0).then_some(TestId(test))
    }

    /// The values that its hook shows, `self` among them.
    pub(super) fn values(&self) -> &[Value<'_>] {
        self.arguments
    }

    /// The arguments, if they are recorded (`--args`). Only before the call.
    pub fn arguments(&self) -> impl Iterator<Item = Argument<'_>> {
        self.arguments.iter().filter(|value| value.name.get() != "self").map(Argument)
    }
}

impl CallEnd<'_> {
    /// The ticks of the call, including the calls that it made; 0 if no clock was read. Of an async
    /// call, the ticks of its polls. Readers show a column of ticks
    /// ([`Column::ticks`](crate::method_profilers::Column::ticks)) as time.
    pub fn ticks(&self) -> u64 {
        self.ticks
    }

    /// The ticks of the call without the observed calls that it made. A thread adds these up once
    /// for all profilers, so the number is smaller while another profiler observes more methods.
    pub fn own_ticks(&self) -> u64 {
        self.ticks.saturating_sub(self.inner)
    }

    /// The number of observed calls that it made, of all profilers: see [`CallEnd::own_ticks`].
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The outcome. Without deep weaving, a failed call is *returned*.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    pub(super) fn returned(&self) -> Option<&Value<'_>> {
        self.returned
    }

    /// Writes the returned value as `Debug` does. False if the value is not visible, or if its type
    /// has no `Debug` or one that panics or was too slow before.
    pub fn show(&self, into: &mut dyn Write) -> bool {
        self.returned.is_some_and(|value| shown(value, into))
    }
}

impl Argument<'_> {
    /// The name of the parameter.
    pub fn name(&self) -> &'static str {
        self.0.name.get()
    }

    /// The name of the type.
    pub fn type_name(&self) -> &'static str {
        self.0.type_name()
    }

    /// Writes the argument as `Debug` does. False if its type has no `Debug`, or one that panics or
    /// was too slow before.
    pub fn show(&self, into: &mut dyn Write) -> bool {
        shown(self.0, into)
    }
}

/// Writes a value as `Debug` does. False if its type has no `Debug`, or one that panics or was too
/// slow before.
pub(super) fn shown(value: &Value<'_>, into: &mut dyn Write) -> bool {
    with_patience(value.kind(), || value.show(into)).done().unwrap_or(false)
}

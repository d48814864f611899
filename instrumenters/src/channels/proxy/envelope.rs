//! What a message travels in.

use metaspy_core::EventId;
use metaspy_core::causality::Carried;

/// A message, and the event of its sending. It is what the channel inside a proxy carries; nobody else sees it.
#[derive(Clone, Debug)]
pub struct Envelope<T> {
    pub(super) value: T,
    pub(super) cause: Carried,
}

impl<T> Envelope<T> {
    /// A message that nobody has seen being sent: for whom a proxy's [`into_inner`](super::mpsc::Sender::into_inner)
    /// handed the channel itself.
    pub fn new(value: T) -> Self {
        Envelope { value, cause: Carried::NOTHING }
    }

    /// The message.
    pub fn into_value(self) -> T {
        self.value
    }

    /// The event of its sending, where that was observed.
    pub fn cause(&self) -> Option<EventId> {
        self.cause.event()
    }
}

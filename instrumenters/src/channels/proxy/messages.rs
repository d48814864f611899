//! Iterator over the messages of a receiver.

use std::fmt;

/// Iterator over the messages of a proxied receiver. It receives a message when the message is
/// taken.
pub struct Messages<R, T> {
    receiver: R,
    next: fn(&R) -> Option<T>,
}

impl<R, T> Messages<R, T> {
    pub(super) fn new(receiver: R, next: fn(&R) -> Option<T>) -> Self {
        Messages { receiver, next }
    }
}

impl<R, T> Iterator for Messages<R, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        (self.next)(&self.receiver)
    }
}

impl<R: fmt::Debug, T> fmt::Debug for Messages<R, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Messages").field(&self.receiver).finish()
    }
}

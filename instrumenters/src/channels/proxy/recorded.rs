//! Choice of the recorded parts of a channel's messages.
//!
//! A message travels in an envelope with the event of its sending. A table beside the channel would
//! need a lock around every send, and would guess where a channel drops. A sending is a pending
//! event, ended by one store without a second clock read.

use std::fmt::Debug;

use metaspy_core::hook::Reify;

use crate::announce::Announce;

/// Function that adds a message to the details of its event.
#[doc(hidden)]
pub type Show<T> = for<'m> fn(&'m T, &mut Reify<'m>);

/// Choice of the recorded parts of a message.
pub trait Messages<T> {
    #[doc(hidden)]
    fn kind(&self) -> Option<fn(&T) -> &'static str>;
    /// Returns the kinds of messages, if they are distinguished.
    #[doc(hidden)]
    fn kinds(&self) -> &'static [&'static str] {
        &[]
    }
    #[doc(hidden)]
    fn show(&self) -> Option<Show<T>>;
}

/// Choice to record no part of the messages.
#[derive(Debug)]
pub struct Plain;

/// Choice to record messages as details.
#[derive(Debug)]
pub struct Shown<M>(pub(super) M);

/// Choice to distinguish messages by kind.
#[derive(Debug)]
pub struct Kinds<M>(pub(super) M);

impl<T> Messages<T> for Plain {
    fn kind(&self) -> Option<fn(&T) -> &'static str> {
        None
    }

    fn show(&self) -> Option<Show<T>> {
        None
    }
}

impl<T: Debug + 'static, M: Messages<T>> Messages<T> for Shown<M> {
    fn kind(&self) -> Option<fn(&T) -> &'static str> {
        self.0.kind()
    }

    fn kinds(&self) -> &'static [&'static str] {
        self.0.kinds()
    }

    fn show(&self) -> Option<Show<T>> {
        Some(|message, reify| {
            reify.payload(message);
            reify.arg("message", message);
        })
    }
}

impl<T: Announce, M: Messages<T>> Messages<T> for Kinds<M> {
    fn kind(&self) -> Option<fn(&T) -> &'static str> {
        Some(T::kind)
    }

    fn kinds(&self) -> &'static [&'static str] {
        T::KINDS
    }

    fn show(&self) -> Option<Show<T>> {
        self.0.show()
    }
}

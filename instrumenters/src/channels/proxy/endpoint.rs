//! Common part of a channel's handles, which records sends and receipts.

use std::panic::Location;

#[cfg(any(feature = "async-channel", feature = "flume"))]
use crate::attempt::Attempt;
use metaspy_core::causality::{Carried, current};
use metaspy_core::hook::{self, Frame, Guard, Pending, Reify};
use metaspy_core::{EventId, Outcome, Site, Subject};

use super::channel_sites::ChannelSites;
use super::recorded::Show;
use crate::__private::enter_with;

/// Message with the event of its sending, as the channel inside a proxy carries it.
#[derive(Clone, Debug)]
pub struct Envelope<T> {
    pub(super) value: T,
    pub(super) cause: Carried,
}

impl<T> Envelope<T> {
    /// Wraps a message whose sending is not observed, for use with a raw sender
    /// ([`into_inner`](super::mpsc::Sender::into_inner)).
    pub fn new(value: T) -> Self {
        Envelope { value, cause: Carried::NOTHING }
    }

    /// Returns the message.
    pub fn into_value(self) -> T {
        self.value
    }

    /// Returns the event of the message's sending, if it was recorded.
    pub fn cause(&self) -> Option<EventId> {
        self.cause.event()
    }
}

/// State of a channel, of which each handle has a copy.
#[derive(Debug)]
pub(super) struct Endpoint<T> {
    sites: &'static ChannelSites,
    // Every message needs these two sites, so copies of them save a load.
    sent: &'static Site,
    received: &'static Site,
    subject: Subject,
    kind: Option<fn(&T) -> &'static str>,
    show: Option<Show<T>>,
}

impl<T> Clone for Endpoint<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Endpoint<T> {}

impl<T> Endpoint<T> {
    pub fn new(
        sites: &'static ChannelSites,
        kind: Option<fn(&T) -> &'static str>,
        show: Option<Show<T>>,
    ) -> Self {
        Endpoint {
            sites,
            sent: sites.sent,
            received: sites.received,
            subject: sites.next_channel(),
            kind,
            show,
        }
    }

    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Sends a message. `is_ok` tells whether the result of `send` is a success.
    #[inline]
    pub fn send<R>(
        &self,
        value: T,
        at: &'static Location<'static>,
        send: impl FnOnce(Envelope<T>) -> R,
        is_ok: impl FnOnce(&R) -> bool,
    ) -> R {
        if self.is_unarmed() {
            return send(Envelope::new(value));
        }
        let site = self.sent_site(&value);
        let Some(attempt) = Pending::begin(site, self.subject) else {
            return self.send_as_call(value, at, send, is_ok);
        };
        let sent = send(Envelope { value, cause: Carried::new(attempt.event().or_else(current)) });
        attempt.done(outcome(is_ok(&sent)));
        sent
    }

    /// Sends a message to a channel that may be full. The wait for room is part of the event.
    #[inline]
    pub fn send_waiting<R>(
        &self,
        value: T,
        at: &'static Location<'static>,
        send: impl FnOnce(Envelope<T>) -> R,
        is_ok: impl FnOnce(&R) -> bool,
    ) -> R {
        if self.is_unarmed() {
            send(Envelope::new(value))
        } else {
            self.send_as_call(value, at, send, is_ok)
        }
    }

    /// Sends a message after it has awaited room, which is part of the event. Dropping the future
    /// cancels the sending.
    #[cfg(any(feature = "async-channel", feature = "flume"))]
    pub async fn send_awaited<R, F: Future<Output = R>>(
        &self,
        value: T,
        at: &'static Location<'static>,
        send: impl FnOnce(Envelope<T>) -> F,
        is_ok: impl FnOnce(&R) -> bool,
    ) -> R {
        if self.is_unarmed() {
            return send(Envelope::new(value)).await;
        }
        let mut attempt = Attempt::begin(self.sent_site(&value), self.subject, |reify| {
            self.show(&value, reify);
            reify.arg("caller", &format_args!("{at}"));
        });
        let cause = Carried::new(attempt.event().or_else(current));
        let sent = send(Envelope { value, cause }).await;
        attempt.end(outcome(is_ok(&sent)));
        sent
    }

    /// Returns true if neither end is observed. A receipt needs its cause even if only receipts are
    /// observed.
    #[inline(always)]
    fn is_unarmed(&self) -> bool {
        self.kind.is_none() && !self.sent.is_armed() && !self.received.is_armed()
    }

    /// Sends a message as a call that may take time, with the message and the caller as details.
    ///
    /// If sends are only counted, or not observed, the cause of the receipt is the sender's current
    /// event.
    #[inline(never)]
    pub fn send_as_call<R>(
        &self,
        value: T,
        at: &'static Location<'static>,
        send: impl FnOnce(Envelope<T>) -> R,
        is_ok: impl FnOnce(&R) -> bool,
    ) -> R {
        let site = self.sent_site(&value);
        let mut frame = Frame::vacant();
        let call = if site.is_armed() {
            Guard::of(
                site,
                enter_with(&mut frame, site, self.subject, |reify| {
                    self.show(&value, reify);
                    reify.arg("caller", &format_args!("{at}"));
                }),
            )
        } else {
            Guard::unarmed(site)
        };
        let sent = send(Envelope { value, cause: Carried::new(current()) });
        call.done(outcome(is_ok(&sent)));
        sent
    }

    /// Records a sending without a length, and returns the cause of its receipts. The value is not
    /// shown: its `Debug` may use the channel, which may be locked.
    #[cfg(feature = "tokio")]
    pub fn announced(&self, value: &T, at: &'static Location<'static>) -> Carried {
        let site = self.sent_site(value);
        if !site.is_armed() {
            return Carried::new(current());
        }
        let call = hook::enter_with(site, self.subject, |reify| {
            reify.arg("caller", &format_args!("{at}"))
        });
        let cause = Carried::new(current());
        call.done(Outcome::Succeeded);
        cause
    }

    /// Records a receipt.
    #[inline]
    pub fn received(&self, envelope: &Envelope<T>) -> Option<EventId> {
        let site = self.kind.map_or(self.received, |kind| {
            self.site_of_kind(kind, &envelope.value, ChannelSites::received_of)
        });
        if !site.is_armed() {
            return None;
        }
        hook::instant_with(site, self.subject, envelope.cause(), |reify| {
            self.show(&envelope.value, reify)
        })
    }

    /// Records messages that were overwritten before they were received.
    #[cfg(feature = "tokio")]
    #[cold]
    pub fn missed(&self, count: u64) {
        hook::missed(self.sites.missed, self.subject, count);
    }

    #[inline]
    fn sent_site(&self, value: &T) -> &'static Site {
        self.kind.map_or(self.sent, |kind| self.site_of_kind(kind, value, ChannelSites::sent_of))
    }

    /// Returns the site of the message's kind. `kind` is the user's code: it runs at meta level,
    /// and a panic in it is caught.
    fn site_of_kind(
        &self,
        kind: fn(&T) -> &'static str,
        value: &T,
        site: fn(&ChannelSites, &'static str) -> &'static Site,
    ) -> &'static Site {
        site(self.sites, hook::at_meta_level(|| kind(value)).unwrap_or("unknown"))
    }

    fn show<'m>(&self, value: &'m T, reify: &mut Reify<'m>) {
        if let Some(show) = self.show {
            show(value, reify);
        }
    }
}

fn outcome(is_ok: bool) -> Outcome {
    if is_ok { Outcome::Succeeded } else { Outcome::Failed }
}

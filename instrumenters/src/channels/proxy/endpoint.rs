//! What both ends of a channel do with a message.

use std::panic::Location;

use metaspy_core::causality::{Because, Carried, because, current};
use metaspy_core::hook::{self, Attempt, Frame, Guard, Reify};
use metaspy_core::{EventId, Outcome, Site, Subject};

use super::channel_sites::ChannelSites;
use super::envelope::Envelope;
use crate::__private::enter_with;

/// One channel, as each of its handles knows it.
#[derive(Debug)]
pub(super) struct Endpoint<T> {
    sites: &'static ChannelSites,
    // As the line says, one step nearer.
    sent: &'static Site,
    received: &'static Site,
    subject: Subject,
    kind: Option<fn(&T) -> &'static str>,
    show: Option<fn(&T, &mut Reify<'_>)>,
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
        show: Option<fn(&T, &mut Reify<'_>)>,
    ) -> Self {
        Endpoint { sites, sent: sites.sent, received: sites.received, subject: sites.next_channel(), kind, show }
    }

    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Sends a message; `is_ok` says whether it went.
    #[inline]
    pub fn send<R>(
        &self,
        value: T,
        at: &'static Location<'static>,
        send: impl FnOnce(Envelope<T>) -> R,
        is_ok: impl FnOnce(&R) -> bool,
    ) -> R {
        // A receipt wants to know its cause, whether sendings are observed or not.
        if self.kind.is_none() && !self.sent.is_armed() && !self.received.is_armed() {
            return send(Envelope::new(value));
        }
        let site = self.kind.map_or(self.sent, |kind| self.of_kind(kind, &value, ChannelSites::sent_of));
        let Some(attempt) = Attempt::begin(site, self.subject) else {
            return self.send_as_call(value, at, send, is_ok);
        };
        let sent = send(Envelope { value, cause: Carried::new(attempt.event().or_else(current)) });
        attempt.done(if is_ok(&sent) { Outcome::Succeeded } else { Outcome::Failed });
        sent
    }

    /// Sends a message as a call: one that may take its time, and shows what is sent and from where. Where sendings are
    /// only counted, or not observed, the cause of the receipt is what the sender is in.
    #[inline(never)]
    pub fn send_as_call<R>(
        &self,
        value: T,
        at: &'static Location<'static>,
        send: impl FnOnce(Envelope<T>) -> R,
        is_ok: impl FnOnce(&R) -> bool,
    ) -> R {
        let site = self.kind.map_or(self.sent, |kind| self.of_kind(kind, &value, ChannelSites::sent_of));
        let mut frame = Frame::vacant();
        let call = match site.is_armed() {
            true => Guard::of(enter_with(&mut frame, site, self.subject, |reify| {
                self.show(&value, reify);
                reify.arg("caller", &format_args!("{at}"));
            })),
            false => Guard::unarmed(),
        };
        let sent = send(Envelope { value, cause: Carried::new(current()) });
        call.done(if is_ok(&sent) { Outcome::Succeeded } else { Outcome::Failed });
        sent
    }

    /// Records that a value was changed in place, and what that changes the cause to. The value is not shown: its
    /// `Debug` may look at the channel, which is locked.
    pub fn changed(&self, value: &T, at: &'static Location<'static>) -> Carried {
        let site = self.kind.map_or(self.sent, |kind| self.of_kind(kind, value, ChannelSites::sent_of));
        if !site.is_armed() {
            return Carried::new(current());
        }
        let call = hook::enter_with(site, self.subject, |reify| reify.arg("caller", &format_args!("{at}")));
        let cause = Carried::new(current());
        call.done(Outcome::Succeeded);
        cause
    }

    /// Takes a message out; `last` is the event of its receipt from now on.
    #[inline]
    pub fn receive(&self, envelope: Envelope<T>, last: &mut Option<EventId>) -> T {
        *last = self.received(&envelope);
        envelope.value
    }

    /// Records that a message was received.
    #[inline]
    pub fn received(&self, envelope: &Envelope<T>) -> Option<EventId> {
        let kind = |kind| self.of_kind(kind, &envelope.value, ChannelSites::received_of);
        let site = self.kind.map_or(self.received, kind);
        let show = |reify: &mut Reify<'_>| self.show(&envelope.value, reify);
        if site.is_armed() { hook::instant_with(site, self.subject, envelope.cause(), show) } else { None }
    }

    /// Records that messages were overwritten before they were received.
    #[cold]
    pub fn missed(&self, count: u64) {
        hook::missed(self.sites.missed, self.subject, count);
    }

    /// What kind a message is, asked with care.
    fn of_kind(
        &self,
        kind: fn(&T) -> &'static str,
        value: &T,
        site: fn(&ChannelSites, &'static str) -> &'static Site,
    ) -> &'static Site {
        site(self.sites, hook::at_meta_level(|| kind(value)).unwrap_or("unknown"))
    }

    fn show(&self, value: &T, reify: &mut Reify<'_>) {
        if let Some(show) = self.show {
            show(value, reify);
        }
    }
}

/// Names an event as the cause of what this thread does next.
pub(super) fn because_of(event: Option<EventId>) -> Option<Because> {
    event.map(because)
}

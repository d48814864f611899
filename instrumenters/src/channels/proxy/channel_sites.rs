//! Sites and subject kind that all channels with the same name share.

use std::any::type_name;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use metaspy_core::{Owner, Site, SiteKind, Subject};

use crate::dynamic_sites::{self, path_of};
use crate::lookup_cache::{LookupCache, Names};

/// Sites of all channels with the same name, for the rest of the process.
#[derive(Debug)]
pub(super) struct ChannelSites {
    /// Module of the sites: the name, or the path of the message's type.
    bus: &'static str,
    at: &'static Location<'static>,
    pub sent: &'static Site,
    pub received: &'static Site,
    #[cfg_attr(
        not(feature = "tokio"),
        expect(dead_code, reason = "only tokio's broadcast overwrites messages")
    )]
    pub missed: &'static Site,
    owner: Owner,
    channels: AtomicU64,
}

impl ChannelSites {
    /// Returns the sites of a name. The default name is the type of the messages.
    pub fn named<T>(
        name: Option<&'static str>,
        at: &'static Location<'static>,
    ) -> &'static ChannelSites {
        thread_local! {
            static KNOWN: LookupCache<Names, &'static ChannelSites> = const { LookupCache::new() };
        }
        let name = name.unwrap_or_else(type_name::<T>);
        let look_up = || ChannelSites::find(name, at);
        KNOWN.try_with(|known| known.get([name, ""], look_up)).unwrap_or_else(|_| look_up())
    }

    #[cold]
    fn find(name: &'static str, at: &'static Location<'static>) -> &'static ChannelSites {
        static ALL: Mutex<Option<HashMap<&'static str, &'static ChannelSites>>> = Mutex::new(None);
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        all.get_or_insert_default().entry(name).or_insert_with(|| {
            let (module, message) = path_of(name);
            let bus = if module.is_empty() {
                message
            } else {
                crate::interned::name(&format!("{module}::{message}"))
            };
            let site =
                |end: &str| dynamic_sites::site(SiteKind::Announcement, bus, end.to_owned(), at);
            let sent = site("sent");
            let received = site("received");
            let missed = site("missed");
            Box::leak(Box::new(ChannelSites {
                bus,
                at,
                sent,
                received,
                missed,
                owner: Owner::new(message),
                channels: AtomicU64::new(1),
            }))
        })
    }

    /// Returns the subject of a new channel.
    pub fn next_channel(&self) -> Subject {
        self.owner.subject(self.channels.fetch_add(1, Ordering::Relaxed))
    }

    /// Registers both sites of a kind.
    pub fn list(&self, kind: &'static str) {
        let _ = self.sent_of(kind);
        let _ = self.received_of(kind);
    }

    /// Returns the site of sent messages of a kind.
    pub fn sent_of(&self, kind: &'static str) -> &'static Site {
        dynamic_sites::for_announcements(self.bus, kind, "sent", self.at)
    }

    /// Returns the site of received messages of a kind.
    pub fn received_of(&self, kind: &'static str) -> &'static Site {
        dynamic_sites::for_announcements(self.bus, kind, "received", self.at)
    }
}

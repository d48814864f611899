//! Announcements: taps and proxies, in everyday cases and in bad ones.

mod libraries;
mod proxies;
mod proxy_failures;
mod tap_failures;
mod taps;
mod watching;

use metaspy::Event;
use metaspy::prelude::*;
use metaspy::store::{Filter, Position};

/// Calls at the site with this path.
fn count(profile: &Profile, site: &str) -> u64 {
    profile.counts().by_site().at(site).map_or(0, |row| row.measure.count)
}

/// The profile's events that a filter lets through, in the order in which they began.
fn events(profile: &Profile, filter: &str) -> Vec<Event> {
    let filter: Filter = filter.parse().expect("a filter");
    let mut events =
        profile.store().forward(Position::Start, &filter, usize::MAX, usize::MAX).events;
    events.retain(|event| profile.scope().epochs.contains(&event.epoch));
    events
}

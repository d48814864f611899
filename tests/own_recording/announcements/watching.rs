//! What tests of channels have in common.

use metaspy::Event;
use metaspy::prelude::*;
use metaspy_instrumenters::channels::proxied;

use super::events;

/// Runs while the channels of a name are observed.
pub fn watching<R>(bus: &str, run: impl FnOnce() -> R) -> (R, Profile) {
    let sites = format!("{bus}::**");
    let profiler = Profiler::new(bus)
        .observe(proxied(sites).details())
        .install()
        .expect("there is such a channel");
    let value = run();
    (value, profiler.uninstall())
}

/// `name outcome <- name of the cause`, for each event of a channel.
pub fn story(profile: &Profile, bus: &str) -> Vec<String> {
    let name = |event: &Event| {
        let path = profile.store().site_path(event.site);
        path.rsplit("::").next().unwrap_or_default().to_owned()
    };
    let line = |event: &Event| {
        let cause = event.cause.and_then(|cause| profile.store().event(cause));
        let cause = cause.map_or("nothing".to_owned(), |cause| name(&cause));
        format!("{} {} <- {cause}", name(event), event.outcome.name())
    };
    events(profile, &format!("site:{bus}::**")).iter().map(line).collect()
}

/// Each receipt is caused by its sending, and knows how long the message was under way.
pub fn check_receipts(profile: &Profile, bus: &str, expected: usize) {
    let receipts = events(profile, &format!("site:{bus}::received"));
    assert_eq!(receipts.len(), expected);
    for receipt in &receipts {
        let sent = profile
            .store()
            .event(receipt.cause.expect("it has a cause"))
            .expect("it is in the window");
        assert!(profile.store().site_path(sent.site).ends_with("::sent"));
        assert_eq!(profile.store().queued(receipt.id), Some(receipt.start - sent.start));
        assert_eq!(profile.store().queued(sent.id), None);
    }
}

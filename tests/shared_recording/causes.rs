//! Causes that are named, on whatever thread.

use crate::common::watch;
use metaspy::prelude::*;

#[observe]
fn sends() -> metaspy::EventId {
    current().expect("it is observed")
}

#[observe]
fn receives() {}

#[test]
fn a_cause_is_kept_on_a_thread_that_has_recorded_nothing_yet() {
    let seen = watch(methods("causes::*"), "causes::*", || {
        let sent = sends();
        let received = std::thread::spawn(move || {
            let _because = because(sent);
            receives();
        });
        received.join().expect("it does not panic");
    });
    assert_eq!(seen.text(), "sends returned\n  receives returned\n");
}

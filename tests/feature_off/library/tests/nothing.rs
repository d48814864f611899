//! Switched off, nothing is left.

use core::mem::{align_of, size_of};

use library::Scene;
use metaspy::{from_remote, FromRemote, Lookups, ObjectId, Owner, Spied, Subject, TraceParent, Watched};

#[test]
fn a_spied_value_is_the_value() {
    assert_eq!(size_of::<Spied<Scene>>(), size_of::<Scene>());
    assert_eq!(align_of::<Spied<Scene>>(), align_of::<Scene>());
    assert_eq!(size_of::<Option<Spied<Box<u8>>>>(), size_of::<Box<u8>>());
    assert_eq!(size_of::<Watched<u16>>(), size_of::<u16>());
}

#[test]
fn identities_take_no_room() {
    assert_eq!(size_of::<(ObjectId, Owner, Subject)>(), 0);
    assert_eq!(size_of::<Scene>(), size_of::<[u32; 4]>());
}

#[test]
fn no_cause_crosses_processes() {
    let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let _cause = from_remote(text);
    assert_eq!((TraceParent::current(), TraceParent::parse(text).is_err()), (None, true));
    assert_eq!(size_of::<FromRemote>() + size_of::<Option<TraceParent>>(), 0);
}

#[test]
fn the_library_works() {
    assert_eq!(library::drawn(), 22);
    let (mut cache, lookups) = ([None; 4], Lookups::new("halves"));
    assert_eq!([6, 6].map(|number| library::half(&mut cache, &lookups, number)), [3, 3]);
    assert_eq!(size_of::<Lookups>(), 0);
}

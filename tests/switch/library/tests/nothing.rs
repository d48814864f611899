//! Switched off, nothing is left.

use core::mem::{align_of, size_of};

use library::Scene;
use metaspy::{ObjectId, Owner, Spied, Subject, Watched};

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
fn the_library_works() {
    assert_eq!(library::drawn(), 22);
}

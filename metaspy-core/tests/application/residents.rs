//! A registered object keeps its identity while others come and go.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use metaspy_core::hook::{AddressIdentity, RegisteredIdentity};
use metaspy_core::{Identify, ObjectId};

/// Places of objects, and objects at a time. A table is filled again when many places were used
/// once, so objects move on.
const PLACES: usize = 20_000;
const OBJECTS: usize = 40;

#[test]
fn an_object_is_found_while_the_table_of_objects_is_rebuilt() {
    static PLACE: AddressIdentity = AddressIdentity::new();
    let object = Box::new(7_u64);
    let registered = RegisteredIdentity::new(&*object, ObjectId::new());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let looks = || {
            let mut others = 0;
            while !is_over.load(Ordering::Relaxed) {
                others += usize::from(PLACE.of(&*object) != registered.id().identify());
            }
            others
        };
        // More threads than processors: one that loses its processor in the middle of a lookup
        // finds another table later.
        let readers: Vec<_> = (0..4).map(|_| scope.spawn(looks)).collect();
        let places: Vec<usize> = (0..PLACES).collect();
        for objects in places.chunks(OBJECTS) {
            let ids: Vec<_> =
                objects.iter().map(|it| RegisteredIdentity::new(it, ObjectId::new())).collect();
            assert!(objects.iter().zip(&ids).all(|(it, id)| PLACE.of(it) == id.id().identify()));
        }
        is_over.store(true, Ordering::Relaxed);
        let others: usize = readers.into_iter().map(|reader| reader.join().expect("it ends")).sum();
        assert_eq!(others, 0, "calls under another identity");
    });
}

//! A registered object keeps its identity while others come and go.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use metaspy_core::hook::{AddressIdentity, RegisteredIdentity};
use metaspy_core::{Identify, ObjectId};

#[test]
fn an_object_is_found_while_the_table_of_objects_is_rebuilt() {
    static PLACE: AddressIdentity = AddressIdentity::new();
    let object = Box::new(7_u64);
    let registered = RegisteredIdentity::new(&*object, ObjectId::new());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let seen = scope.spawn(|| {
            let mut others = 0;
            while !is_over.load(Ordering::Relaxed) {
                others += usize::from(PLACE.of(&*object) != registered.id().identify());
            }
            others
        });
        // Each round outgrows the table, or fills it with the places of objects that are gone.
        for round in 0..60 {
            let objects: Vec<Box<u64>> = (0..round * 200).map(Box::new).collect();
            let ids: Vec<_> = objects.iter().map(|it| RegisteredIdentity::new(&**it, ObjectId::new())).collect();
            assert!(objects.iter().zip(&ids).all(|(it, id)| PLACE.of(&**it) == id.id().identify()));
        }
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(seen.join().expect("it ends"), 0, "calls under another identity");
    });
}

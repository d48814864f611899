//! What is stated about subjects that come and go: it is kept as long as it is needed, and takes no
//! room of names.

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::format::superblock as sb;
use metaspy_core::store::Store;
use metaspy_core::{Kind, ObjectId, Recording, model};

use crate::{INNER, OUTER, arm, call, node, turn};

/// A small recording without a collector's thread, so that the test decides when it works.
fn small() -> Recording {
    Recording::memory().budget(1 << 20).collector(false).start().unwrap()
}

/// Lets many labelled and related objects come and go.
fn churn(recording: &Recording, objects: usize) {
    for n in 0..objects {
        let (object, parent) = (ObjectId::new(), ObjectId::new());
        model::label(&object, format!("object {n}"));
        model::relate("parent", &object, &parent);
        model::forget(&object);
        model::forget(&parent);
        if n % 10 == 0 {
            recording.collect();
        }
    }
}

fn turns(store: &Store) -> u64 {
    store.ring().words.get(sb::STATEMENTS_TURN)
}

#[test]
fn objects_that_come_and_go_leave_room_for_names() {
    let _turn = turn();
    static LATER: Kind = Kind::new("Later");
    let recording = small();
    churn(&recording, 20_000);
    let installed = arm([&OUTER], Arming::all(Mode::Full)).install().unwrap();
    let later = metaspy_core::Subject::new(LATER.id(), 7);
    model::label(later, "the seventh");
    call(&OUTER, later, || ());
    drop(installed);
    recording.note("a note");
    let store = recording.store();
    assert_eq!(
        (store.subject_name(later).as_str(), store.subject_text(later).as_str()),
        ("Later #7", "the seventh")
    );
    assert!(store.notes().iter().any(|note| note == "a note"), "{:?}", store.notes());
    assert!(store.epochs().iter().any(|epoch| epoch.text == "test is uninstalled"));
    assert_eq!((store.header().arena_lost, store.header().statements_lost), (0, 0));
    assert!(turns(&store) > 10 && store.verify().is_sound(), "{:?}", store.verify());
    model::forget(later);
}

#[test]
fn what_was_stated_of_an_object_stays_while_an_event_of_it_is_stored() {
    let _turn = turn();
    let recording = small();
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let (kept, gone) = (node(1_000_001), node(1_000_002));
    model::label(kept, "kept");
    model::label(gone, "gone");
    model::relate("beside", kept, gone);
    call(&OUTER, kept, || ());
    model::forget(kept);
    model::forget(gone);
    churn(&recording, 2_000);
    let mut store = recording.store();
    assert!(turns(&store) > 1);
    assert_eq!((store.label(kept), store.ended_at(kept).is_some()), (Some("kept"), true));
    assert_eq!(
        (store.label(gone), store.ended_at(gone), store.relations_of(kept).len()),
        (None, None, 0)
    );
    // The ring goes round, so its event is folded.
    for _ in 0..100 {
        (0..1_000).for_each(|key| call(&INNER, node(key), || ()));
        while recording.collect() {}
    }
    assert!(recording.store().totals().folded > 0);
    churn(&recording, 2_000);
    store.refresh().unwrap();
    assert_eq!((store.label(kept), store.ended_at(kept)), (None, None));
}

#[test]
fn what_is_stated_of_objects_that_live_is_kept_in_order_and_followed() {
    let _turn = turn();
    let recording = small();
    let mut store = recording.store();
    let (root, children) = (node(2_000_000), [3, 1, 2].map(|key| node(2_000_000 + key)));
    model::label(root, "first");
    children.into_iter().for_each(|child| model::relate("child", root, child));
    model::unrelate("child", root, children[1]);
    model::label(root, "root");
    churn(&recording, 5_000);
    store.refresh().unwrap();
    assert!(turns(&store) > 3);
    let related: Vec<_> =
        store.relations_of(root).into_iter().map(|relation| relation.to).collect();
    assert_eq!((store.label(root), related), (Some("root"), vec![children[0], children[2]]));
    // A recording that begins later has them too, and nothing of those that ended.
    model::forget(children[2]);
    let later = small().store();
    let related: Vec<_> =
        later.relations_of(root).into_iter().map(|relation| relation.to).collect();
    assert_eq!(
        (later.label(root), related, later.verify().labels),
        (Some("root"), vec![children[0]], 1)
    );
    [root, children[0]].into_iter().for_each(model::forget);
}

#[test]
fn statements_without_room_are_counted_and_names_are_not_lost() {
    let _turn = turn();
    let recording = small();
    let nodes = 3_000_000..3_005_000;
    nodes.clone().for_each(|key| model::label(node(key), "a label of some length"));
    while recording.collect() {}
    let installed = arm([&OUTER], Arming::all(Mode::Full)).install().unwrap();
    drop(installed);
    let store = recording.store();
    let (header, labels) = (store.header(), store.verify().labels);
    assert_eq!((header.arena_lost, header.statements_lost + labels), (0, 5_000));
    assert!(
        store.notes().iter().any(|note| note.contains("no room for more labels")),
        "{:?}",
        store.notes()
    );
    assert!(store.epochs().iter().any(|epoch| epoch.text == "test is uninstalled"));
    nodes.for_each(|key| model::forget(node(key)));
}

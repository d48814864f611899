//! Triggers: patterns over the events of all threads, found while the program runs.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::quietly;
use crate::turn;
use metaspy::prelude::*;
use metaspy::store::{Filter, Position};
use metaspy::{Event, EventId, Outcome, Store};

struct Door(ObjectId);

#[observe(subject = self.0)]
impl Door {
    fn open(&self) {}
    fn close(&self) {}
    fn check(&self, sound: bool) -> Result<(), ()> {
        sound.then_some(()).ok_or(())
    }
    fn paint(&self) {}
    fn repaint(&self) {
        self.paint();
    }
    fn order(&self) -> Option<EventId> {
        metaspy::current()
    }
    fn deliver(&self, order: EventId) {
        assert!(metaspy::current().is_some_and(|delivery| metaspy::link(delivery, order)));
        self.paint();
    }
}

fn door() -> Door {
    Door(ObjectId::new())
}

/// A trigger that tells how it was met.
fn telling(trigger: Trigger) -> (Trigger, Receiver<String>) {
    let (send, receive) = channel();
    (trigger.then(move |hit| send.send(hit.to_string()).expect("there is a listener")), receive)
}

/// The marks of a trigger.
fn marks(store: &Store, name: &str) -> Vec<Event> {
    let mut filter = Filter::all();
    filter = format!("site:trigger::{name}").parse().unwrap_or(filter);
    store.forward(Position::Start, &filter, usize::MAX, usize::MAX).events
}

#[test]
fn a_trigger_fires_while_the_program_runs_and_marks_the_recording() {
    let _turn = turn();
    let (first, second) = (door(), door());
    let (trigger, met) =
        telling(Trigger::count(3, "site:check outcome:failed").per_subject().named("broken"));
    let profiler = Profiler::new("doors")
        .observe(methods("Door::*"))
        .trigger(trigger)
        .install()
        .expect("it is observed");
    let checks =
        [(&first, false), (&second, false), (&first, true), (&second, false), (&first, false)];
    // On other threads: the pattern is one over all of them.
    for (door, sound) in checks {
        std::thread::scope(|scope| drop(scope.spawn(|| door.check(sound)).join()));
    }
    assert!(met.try_recv().is_err(), "neither has failed three times");
    assert!(second.check(false).is_err());
    let hit =
        met.recv_timeout(Duration::from_secs(60)).expect("the collector looks for it by itself");
    assert!(
        hit.starts_with("broken:") && hit.matches("triggers::Door::check").count() == 3,
        "{hit}"
    );
    let profile = profiler.uninstall();
    let [mark] = marks(profile.store(), "broken")[..] else { panic!("there is one mark") };
    assert_eq!(
        (mark.subject, mark.outcome, mark.level),
        (Some(second.0.identify()), Outcome::Instant, 0)
    );
    // It hangs under the last event of the pattern, and is linked to the others.
    let cause =
        mark.cause.and_then(|cause| profile.store().event(cause)).expect("it is in the window");
    assert_eq!((cause.subject, cause.outcome), (mark.subject, Outcome::Failed));
    assert_eq!(profile.store().links(mark.id).len(), 2);
    assert_eq!(
        profile
            .counts()
            .by_site()
            .at("trigger::broken")
            .expect("a profile has its marks")
            .measure
            .count,
        1
    );
}

#[test]
fn events_before_the_uninstall_still_fire_a_trigger() {
    let _turn = turn();
    let (trigger, met) =
        telling(Trigger::sequence(["site:open", "site:close"]).per_subject().unless("site:paint"));
    let profiler = Profiler::new("doors")
        .observe(methods("Door::*"))
        .trigger(trigger)
        .install()
        .expect("it is observed");
    let [first, second, third] = [door(), door(), door()];
    for door in [&first, &second, &third] {
        door.open();
    }
    second.repaint();
    for door in [&first, &second] {
        door.close();
    }
    drop(profiler);
    // The trigger and its callback are gone.
    let met: Vec<String> = met.iter().collect();
    assert_eq!(met.len(), 1, "{met:?}");
    assert!(met[0].starts_with("site:open then site:close: "), "{met:?}");
}

#[test]
fn an_event_without_the_expected_cause_misses_the_expectation() {
    let _turn = turn();
    let (trigger, met) =
        telling(Trigger::expect("site:paint", "cause:Door::repaint").named("needless"));
    let profiler = Profiler::new("doors")
        .observe(methods("Door::*"))
        .trigger(trigger)
        .install()
        .expect("it is observed");
    let door = door();
    door.repaint();
    door.paint();
    door.repaint();
    let profile = profiler.uninstall();
    assert_eq!(met.iter().count(), 1);
    let offender =
        marks(profile.store(), "needless")[0].cause.and_then(|cause| profile.store().event(cause));
    assert_eq!(offender.map(|event| event.cause), Some(None));
}

#[test]
fn a_link_is_a_reason_for_an_expectation() {
    let _turn = turn();
    let (trigger, met) =
        telling(Trigger::expect("site:paint", "cause:Door::order").named("unordered"));
    let profiler = Profiler::new("doors")
        .observe(methods("Door::*"))
        .trigger(trigger)
        .install()
        .expect("it is observed");
    let door = door();
    let order = door.order().expect("it is observed");
    door.deliver(order);
    drop(profiler);
    assert_eq!(met.iter().collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_trigger_does_not_fire_itself_and_a_panic_in_it_is_caught() {
    let _turn = turn();
    let opens = door();
    let again = Door(opens.0.clone());
    let fired = std::sync::Arc::new(std::sync::atomic::AtomicU64::new(0));
    let count = fired.clone();
    let everything = Trigger::count(1, "").named("everything").then(move |_| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // What it calls is not observed.
        again.open();
        quietly(|| panic!("on purpose"))
    });
    let other = Trigger::count(1, "site:trigger::*").named("other");
    let profiler = Profiler::new("doors")
        .observe(methods("Door::*"))
        .trigger(everything)
        .trigger(other)
        .install()
        .expect("it is observed");
    opens.open();
    opens.open();
    let profile = profiler.uninstall();
    assert_eq!(fired.load(std::sync::atomic::Ordering::Relaxed), 2);
    assert_eq!(
        (marks(profile.store(), "everything").len(), marks(profile.store(), "other").len()),
        (2, 0)
    );
}

#[test]
fn an_impossible_trigger_is_refused() {
    let _turn = turn();
    for (trigger, word) in [
        (Trigger::count(1, "took:>soon"), "soon"),
        (Trigger::sequence(Vec::<String>::new()), "1 to 32 filters"),
        (Trigger::count(100_000, "").within(Duration::from_secs(1)), "65,536"),
    ] {
        let error = Profiler::new("doors")
            .observe(methods("Door::*"))
            .trigger(trigger)
            .install()
            .expect_err("it is refused");
        assert!(error.to_string().contains(word), "{error}");
    }
}

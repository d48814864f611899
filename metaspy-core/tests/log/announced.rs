//! Instants, attempts, gaps, and sites that come later.

use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use metaspy_core::hook::Pending;
use metaspy_core::site::Family;

use super::*;

fn site(name: &'static str) -> SiteDef {
    let (file, lines) = (file!(), (1, 1));
    SiteDef { kind: SiteKind::Announcement, module: "announced", name, file, lines, skipped: None }
}

#[test]
fn a_gap_counts_what_was_missed_in_every_mode_and_stays_exact_when_its_event_is_folded() {
    let _turn = turn();
    for mode in [Mode::Tally, Mode::Sampled, Mode::Full] {
        let recording = Recording::memory().budget(1 << 20).start().unwrap();
        let installed = arm([&OUTER, &INNER], Arming::all(mode)).install().unwrap();
        let gaps = [1, 2, 1_000_000].map(|missed| hook::missed(&OUTER, node(1), missed));
        let store = recording.store();
        let gaps = gaps.map(|gap| gap.and_then(|gap| store.gap(gap)));
        assert_eq!(
            gaps,
            if mode == Mode::Tally { [None; 3] } else { [Some(1), Some(2), Some(1_000_000)] }
        );
        (0..200_000).for_each(|_| _ = hook::instant(&INNER, node(2)));
        let profile = installed.uninstall();
        assert_eq!(
            (profile.count_of(node(1)), profile.count_of(node(2))),
            (1_000_003, 200_000),
            "{mode:?}"
        );
        // The collector may still fold while they are read.
        let totals =
            std::iter::repeat_with(|| recording.store().totals()).find(|totals| totals.exact);
        assert_eq!(totals.map(|totals| totals.emitted), Some(1_200_003));
    }
}

#[test]
fn a_gap_of_an_unobserved_receiver_is_not_counted() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    assert_eq!(hook::missed(&OUTER, node(1), 5), None);
    let installed = arm([&OUTER], Arming::only(Mode::Full, vec![node(1)])).install().unwrap();
    assert_eq!(hook::missed(&OUTER, node(2), 5), None);
    assert_eq!(hook::missed(&OUTER, node(1), 0), None);
    assert_eq!(installed.uninstall().counts().total(), 0);
    assert_eq!(recording.store().totals().emitted, 0);
}

#[test]
fn a_cause_that_is_named_before_the_first_event_of_a_thread_is_the_cause_of_that() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let cause = hook::instant(&OUTER, node(1)).unwrap();
    let effect = std::thread::spawn(move || {
        let _because = metaspy_core::because(cause);
        hook::instant(&INNER, node(2)).unwrap()
    });
    let effect = effect.join().unwrap();
    assert_eq!(recording.store().event(effect).unwrap().cause, Some(cause));
}

/// One poll of an async call, in which something happens; what that is.
fn poll(call: &mut hook::AsyncCall) -> Event {
    let mut inside = None;
    let subject = || Subject::NONE;
    let _: Poll<()> = call.poll(
        subject,
        || {
            inside = hook::instant(&INNER, node(2));
            Poll::Pending
        },
        |(), _| Outcome::Returned,
    );
    let store = Recording::current().unwrap().store();
    store.event(inside.expect("it is observed")).unwrap()
}

#[test]
fn what_an_async_call_does_on_a_thread_that_never_did_anything_hangs_under_the_call() {
    let _turn = turn();
    let _recording = Recording::memory().budget(1 << 20).start().unwrap();
    let _installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let mut future = hook::AsyncCall::new(&OUTER);
    let here = poll(&mut future);
    let there = std::thread::spawn(move || (poll(&mut future), future)).join().unwrap();
    assert!(here.cause.is_some());
    assert_eq!(there.0.cause, here.cause);
    let mut future = there.1;
    let _another = Recording::memory().budget(1 << 20).start().unwrap();
    assert_eq!(poll(&mut future).cause, None, "its event is in another recording");
}

#[test]
fn an_attempt_is_an_event_before_its_outcome() {
    let _turn = turn();
    let recording = Recording::memory().budget(1 << 20).start().unwrap();
    let installed = arm([&OUTER, &INNER], Arming::all(Mode::Full)).install().unwrap();
    let attempt = |outcome| {
        let attempt = Pending::begin(&OUTER, node(1)).unwrap();
        let event = attempt.event().unwrap();
        assert!(recording.store().event(event).unwrap().is_running());
        assert_eq!(metaspy_core::current(), None, "nothing is ever in it");
        // Some end in the block that they began in, and some when the lane has long left it.
        (0..event.raw() % 3 * 200).for_each(|_| _ = hook::instant(&INNER, node(2)));
        match outcome {
            Outcome::Panicked => {
                let unwinding = std::panic::AssertUnwindSafe(|| {
                    let _attempt = attempt;
                    std::panic::resume_unwind(Box::new(()));
                });
                assert!(std::panic::catch_unwind(unwinding).is_err());
            }
            outcome => attempt.done(outcome),
        }
        let ended = recording.store().event(event).unwrap();
        assert_eq!(
            (ended.outcome, ended.span),
            (outcome, None),
            "the clock is not read at its end"
        );
    };
    for _ in 0..20 {
        [Outcome::Succeeded, Outcome::Failed, Outcome::Panicked].into_iter().for_each(attempt);
    }
    let outer = installed.uninstall();
    let outer = outer.counts().by_site().at("OUTER").unwrap().measure;
    assert_eq!((outer.count, outer.failed, outer.panicked, outer.running), (60, 20, 20, 0));
}

/// Arms a family, and says its last words.
struct Late(Family, &'static AtomicU64);

impl Instrumenter for Late {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_family(self.0, &Arming::all(Mode::Full))?;
        let (family, ends) = (self.0, self.1);
        let before_uninstall = move || {
            ends.fetch_add(1, Ordering::Relaxed);
            let site = family.register(site("before_uninstall"));
            hook::instant(site, node(9)).expect("it is still armed");
        };
        Ok(Installation::none().before_uninstall(before_uninstall))
    }
}

#[test]
fn an_armed_family_arms_its_later_sites_until_its_end() {
    let _turn = turn();
    static SAID: AtomicU64 = AtomicU64::new(0);
    let _recording = Recording::memory().budget(1 << 20).start().unwrap();
    let (family, other) = (Family::new(), Family::new());
    let first = family.register(site("first"));
    let profiler = Profiler::new("late").observe(Late(family, &SAID)).install().unwrap();
    let second = family.register(site("second"));
    let stranger = other.register(site("second"));
    assert_eq!([first, second, stranger].map(Site::is_armed), [true, true, false]);
    hook::instant(second, node(1)).unwrap();
    let profile = hook::meta(|| profiler.uninstall());
    assert_eq!((SAID.load(Ordering::Relaxed), profile.count_of(node(1))), (1, 1));
    assert!(!first.is_armed() && !second.is_armed());
    assert!(!family.register(site("third")).is_armed());
}

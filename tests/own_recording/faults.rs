//! Faults: code that panics, or never ends, where metaspy looks.

use std::fmt::{self, Debug, Write};
use std::future::Future;
use std::path::Path;
use std::pin::pin;
use std::process::Command;
use std::task::{Context, Poll, Waker};

use crate::common::{alone, panics, quietly, watch};
use crate::turn;
use metaspy::prelude::*;

/// Writes 100 MB; a patient one stops on an error.
struct Endless {
    patient: bool,
}

impl Debug for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..100_000_000 / 1_000 {
            let written = f.write_str(&"é".repeat(500));
            if self.patient {
                written?;
            }
            let _ = f.write_char('!');
        }
        Ok(())
    }
}

#[test]
fn an_argument_that_prints_100_mb_is_cut_at_256_bytes_and_marked() {
    let _turn = turn();
    #[observe(args(thing), ret)]
    fn takes_endless(thing: Endless) -> Endless {
        thing
    }
    for patient in [true, false] {
        let seen = watch(methods("takes_endless").details(), "takes_endless", || {
            takes_endless(Endless { patient });
        });
        let details = seen.profile.store().details(seen.events[0].id);
        assert_eq!(details.len(), 2);
        for detail in details {
            assert_eq!((detail.value.as_str(), detail.cut), ("é".repeat(128).as_str(), true));
        }
    }
}

struct Bomb;

impl Debug for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tick")?;
        std::panic::panic_any(Bomb)
    }
}

/// A payload that panics as well: dropping it is not quiet.
impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("even its end is a fault")
        }
    }
}

#[test]
fn an_argument_whose_debug_panics_is_marked_and_the_call_goes_on() {
    let _turn = turn();
    #[observe(args(bomb, n))]
    fn takes_bomb(bomb: &Bomb, n: u32) -> u32 {
        let _ = bomb;
        n + 1
    }
    let seen = watch(methods("takes_bomb").details(), "takes_bomb", || {
        let bomb = std::mem::ManuallyDrop::new(Bomb);
        assert_eq!(quietly(|| takes_bomb(&bomb, 2)), 3);
    });
    assert_eq!(seen.details(0), ["bomb=tick (its Debug panicked)", "n=2"]);
    let details = seen.profile.store().details(seen.events[0].id);
    assert_eq!((details[0].cut, details[1].cut), (true, false));
}

struct Mirror(u32);

impl Debug for Mirror {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Looks at itself through the method whose argument and return value it is.
        write!(f, "mirror {}", self.shown(&Mirror(self.0 + 1)).0)
    }
}

#[observe]
impl Mirror {
    #[observe(args(other), ret)]
    fn shown(&self, other: &Mirror) -> Mirror {
        Mirror(self.0 + other.0)
    }
}

#[test]
fn an_argument_whose_debug_calls_the_observed_method_does_not_recurse() {
    alone(
        module_path!(),
        "an_argument_whose_debug_calls_the_observed_method_does_not_recurse",
        || {
            let seen = watch(methods("Mirror::shown").details(), "Mirror::shown", || {
                Mirror(1).shown(&Mirror(2));
            });
            assert_eq!(seen.text(), "shown returned\n", "what Debug calls is metaspy's doing");
            assert_eq!(seen.details(0), ["other=mirror 5", "=mirror 7"]);
        },
    );
}

#[observe(subject = key)]
fn decided(key: u32) -> bool {
    assert!(key < 7, "no such key");
    key.is_multiple_of(2)
}

#[test]
fn a_group_whose_predicate_calls_an_observed_method_does_not_recurse() {
    alone(
        module_path!(),
        "a_group_whose_predicate_calls_an_observed_method_does_not_recurse",
        || {
            let belongs = |subject: Subject| decided(subject.key as u32);
            let seen = watch(group(belongs, site!(decided)), "decided", || {
                assert_eq!([2, 3, 2].map(decided), [true, false, true]);
                panics(|| _ = decided(8));
            });
            assert_eq!(
                seen.text(),
                "decided returned\ndecided returned\n",
                "a predicate that panics says no"
            );
            assert_eq!((seen.profile.count_of(2_u32), seen.profile.counts().total()), (2, 2));
        },
    );
}

#[observe(subject = calls_itself(key + 1) + 1)]
fn calls_itself(key: u32) -> u32 {
    if key == 11 { std::panic::panic_any(Bomb) } else { key }
}

#[test]
fn a_subject_expression_may_call_its_own_method_and_may_panic_with_anything() {
    alone(
        module_path!(),
        "a_subject_expression_may_call_its_own_method_and_may_panic_with_anything",
        || {
            let seen = watch(methods(site!(calls_itself)), "calls_itself", || {
                assert_eq!(calls_itself(3), 3);
                quietly(|| assert_eq!(calls_itself(10), 10));
            });
            let subjects: Vec<_> = seen.events.iter().map(|event| event.subject).collect();
            assert_eq!(subjects, [Some(5_u32.identify()), None]);
            assert_eq!(seen.text(), "calls_itself returned\ncalls_itself returned\n");
            assert_eq!(seen.profile.store().header().handler_panics, 1);
        },
    );
}

/// Its identity is computed by code that is observed, and cannot be for 13.
#[derive(Clone, Copy)]
struct Unlucky(u32);

impl Identify for Unlucky {
    fn identify(&self) -> Subject {
        looked_up(*self).identify()
    }
}

/// Observed, and about the very value whose identity it computes.
#[observe(subject = key)]
fn looked_up(key: Unlucky) -> u32 {
    assert_ne!(key.0, 13, "no such key");
    key.0
}

/// A key is code of the program as well.
impl metaspy::Key for Unlucky {
    fn key(self) -> u64 {
        looked_up(self).into()
    }
}

#[derive(Identify)]
struct ByKey(Unlucky);

#[derive(Identify)]
struct BySame {
    #[identify(same)]
    it: Unlucky,
}

/// A pointer of the program's own.
struct Pointer(Unlucky);

impl std::ops::Deref for Pointer {
    type Target = Unlucky;

    fn deref(&self) -> &Unlucky {
        looked_up(self.0);
        &self.0
    }
}

struct Unluckies {
    owner: metaspy::Owner,
    it: Unlucky,
}

#[observe]
impl Unluckies {
    #[observe(subject = self.it)]
    fn unlucky_field(&self) {}
    #[observe(subject = (&self.owner, self.it))]
    fn unlucky_key(&self) {}
    #[observe(subject = self.it)]
    async fn unlucky_future(&self) {}
}

#[observe(subject = key)]
fn unlucky(key: Unlucky) {
    _ = key;
}

#[observe(subject = key, args(n))]
fn unlucky_with_arguments(key: &Unlucky, n: u32) {
    _ = (key, n);
}

#[observe(subject = *key)]
fn unlucky_pointer(key: Pointer) {
    _ = key.0;
}

#[observe(subject = Unlucky(key))]
fn unlucky_made(key: u32) {
    _ = key;
}

#[observe]
impl ByKey {
    fn unlucky_derived(&self) {
        _ = self.0;
    }
}

#[observe]
impl BySame {
    fn unlucky_derived_same(&self) {
        _ = self.it;
    }
}

#[test]
fn an_identity_may_panic_and_call_hooks_wherever_a_subject_is_stated() {
    alone(
        module_path!(),
        "an_identity_may_panic_and_call_hooks_wherever_a_subject_is_stated",
        || {
            let calls = |key: u32| {
                let all = Unluckies { owner: metaspy::Owner::new("Unluckies"), it: Unlucky(key) };
                all.unlucky_field();
                all.unlucky_key();
                let polled =
                    pin!(all.unlucky_future()).poll(&mut Context::from_waker(Waker::noop()));
                assert_eq!(polled, Poll::Ready(()));
                unlucky(all.it);
                unlucky_with_arguments(&all.it, 1);
                unlucky_pointer(Pointer(all.it));
                unlucky_made(key);
                ByKey(all.it).unlucky_derived();
                BySame { it: all.it }.unlucky_derived_same();
            };
            const CALLS: usize = 9;
            let seen = watch(methods("**").details(), "**", || {
                calls(7);
                quietly(|| calls(13));
            });
            let calls: Vec<_> = seen
                .events
                .iter()
                .filter(|event| event.cause == seen.profile.scope().under)
                .collect();
            let names: Vec<&str> =
                calls.iter().map(|event| seen.profile.store().site_path(event.site)).collect();
            assert_eq!(
                calls.len(),
                2 * CALLS,
                "what an identity calls is not the application's: {names:?}"
            );
            let has_subject: Vec<bool> =
                calls.iter().map(|event| event.subject.is_some()).collect();
            assert_eq!(has_subject, [[true; CALLS], [false; CALLS]].concat(), "{names:?}");
            assert_eq!(seen.profile.store().header().handler_panics, CALLS as u64);
        },
    );
}

#[observe(subject = key)]
fn handled(key: u64) -> u64 {
    key
}

#[test]
fn a_panic_in_a_handler_never_reaches_the_application() {
    alone(module_path!(), "a_panic_in_a_handler_never_reaches_the_application", || {
        #[observe]
        async fn handled_later() -> u32 {
            2
        }
        let faulty = |sites: &str| {
            methods(sites)
                .before(|_| std::panic::panic_any(Bomb))
                .after(|_| panic!("after, too"))
                .before(|_| ())
        };
        let profiler =
            Profiler::new("faulty").observe(faulty("handled")).observe(faulty("handled_later"));
        let installed = profiler.install().expect("panics are caught");
        quietly(|| {
            assert_eq!(handled(1), 1);
            let answer = pin!(handled_later()).poll(&mut Context::from_waker(Waker::noop()));
            assert_eq!(answer, Poll::Ready(2));
        });
        let profile = installed.uninstall();
        assert_eq!(profile.counts().total(), 2);
        let store = profile.store();
        assert_eq!(store.header().handler_panics, 4);
        assert!(
            store.notes().iter().any(|note| note.starts_with("A handler panicked")),
            "{:?}",
            store.notes()
        );
        assert_eq!(handled(1), 1);
        assert_eq!(metaspy::current(), None);
    });
}

/// Builds a package of `tests` into a directory of its own.
fn build(package: &str) -> std::path::PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(package);
    let output = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(package))
        .env("CARGO_TARGET_DIR", &target)
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs, as it runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("debug")
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_that_recorded_on_a_thread_that_ended_may_be_closed() {
    let built = build("unloaded");
    let output = Command::new(built.join("unloaded"))
        .arg(built.join("libunloaded.so"))
        .output()
        .expect("it runs");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{}: {printed}{errors}", output.status);
    assert_eq!(printed, "1 calls, 0\n".repeat(3));
}

#[test]
fn with_panic_abort_handlers_are_refused_unless_a_variable_allows_them() {
    let run = |insists: &str| {
        let output = Command::new(env!("CARGO"))
            .args(["run", "--offline", "--quiet"])
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/abort"))
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("abort"))
            .env("METASPY_HANDLERS_MAY_ABORT", insists)
            .env_remove("RUSTFLAGS")
            .output()
            .expect("cargo runs, as it runs this test");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let refused = run("0");
    assert!(refused.starts_with("refused: ") && refused.contains("panic = \"abort\""), "{refused}");
    assert_eq!(run("1"), "handled\n");
}

#[test]
fn a_profile_whose_recording_is_replaced_has_lower_bounds() {
    let _turn = turn();
    #[observe]
    fn works_on() {}
    let replaced = || {
        works_on();
        metaspy::Recording::memory().budget(4 << 20).start().expect("there is memory");
        works_on();
    };
    let installed =
        Profiler::new("whole").observe(methods("works_on")).install().expect("it can be installed");
    let before = installed.so_far();
    replaced();
    let whole = installed.uninstall();
    let ((), of_thread) =
        Profiler::new("block").observe(methods("works_on")).profile(replaced).expect("as above");
    for profile in [&before, &whole, &of_thread] {
        let rows = profile.counts().by_site();
        assert!(!rows.exact && profile.counts().total() <= 1, "{rows}");
        assert!(rows.to_string().contains("works_on  ≥         1"), "{rows}");
    }
    let ((), after) =
        Profiler::new("after").observe(methods("works_on")).profile(works_on).expect("as above");
    assert!(after.counts().by_site().exact && after.counts().total() == 1);
}

#[test]
fn calls_behind_the_end_of_a_closed_recording_are_counted() {
    let _turn = turn();
    #[observe]
    fn works_behind() {}
    let installed = Profiler::new("closed")
        .observe(methods("works_behind"))
        .install()
        .expect("it can be installed");
    works_behind();
    metaspy::Recording::current().expect("there is one").close();
    works_behind();
    let rows_of = installed.uninstall();
    let rows = rows_of.counts().by_site();
    assert!(!rows.exact || rows_of.counts().total() == 2, "{rows}");
}

#[test]
fn a_call_that_closes_its_recording_and_calls_on_ends_in_whatever_slot_it_has() {
    let _turn = turn();
    #[observe]
    fn closes(then: impl FnOnce()) {
        then();
    }
    #[observe]
    fn follows() {}
    for before in [0, 1, 60, 124, 125, 126, 127, 128, 200, 252, 253, 254, 255] {
        let recording = metaspy::Recording::memory().budget(4 << 20).start().expect("it starts");
        let profiler =
            Profiler::new("closes").observe(methods("closes")).observe(methods("follows"));
        let installed = profiler.install().expect("it can be installed");
        (0..before).for_each(|_| follows());
        closes(|| {
            recording.close();
            (0..2).for_each(|_| follows());
        });
        assert!(metaspy::current().is_none(), "{before} calls before it");
        let store = recording.store();
        let filter = "site:closes".parse().expect("it is a filter");
        let events = store.forward(metaspy::store::Position::Start, &filter, 9, usize::MAX).events;
        let outcomes: Vec<_> = events.iter().map(|event| event.outcome).collect();
        assert_eq!(outcomes, [metaspy::Outcome::Returned], "{before} calls before it");
        drop(installed);
    }
}

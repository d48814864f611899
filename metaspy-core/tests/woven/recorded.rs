//! Woven code in a recording: counted by default, else events with subjects, causes and values.

use metaspy_core::InstallError;
use metaspy_core::arm::{Arming, Mode};
use metaspy_core::instrumenter::{Installation, Instrumenter, Session};
use metaspy_core::store::{By, Filter, Measure, Position, Scope};
use metaspy_core::{Outcome, Profiler, Recording, Selector};

use crate::alone;
use crate::domain::{Key, Layout, Scene, block_on};

/// Arms all of the domain.
pub struct All(pub Mode);

impl Instrumenter for All {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        let selector: Selector = "woven::domain::**".parse().expect("it is a selector");
        let arming = Arming { details: self.0 == Mode::Full, ..Arming::all(self.0) };
        for entry in session.select(&selector)? {
            session.arm(entry.site, arming.clone())?;
        }
        Ok(Installation::none())
    }
}

pub fn calls(store: &metaspy_core::Store, name: &str) -> (u64, u64) {
    let measure = measure(store, name);
    (measure.count, measure.panicked)
}

fn measure(store: &metaspy_core::Store, name: &str) -> Measure {
    let tally = store.tally(By::Site, &Scope::default());
    let mut rows = tally.rows.iter().filter(|row| {
        row.site
            .and_then(|site| store.site(site))
            .is_some_and(|site| site.path == format!("woven::domain::{name}"))
    });
    rows.next().map_or_else(Measure::default, |row| row.measure)
}

#[test]
fn calls_that_are_only_counted_fail_as_often_as_they_return_err() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let profiler =
        Profiler::new("counts").observe(All(Mode::Tally)).install().expect("it installs");
    let (empty, scene) = (Scene::new(&[]), Scene::new(&[1]));
    for n in 0..300 {
        let _ = empty.first(n % 3 == 0);
        let _ = empty.newest();
        let _ = scene.first(false);
    }
    drop(profiler);
    let [first, newest] =
        ["first", "newest"].map(|name| measure(&recording.store(), &format!("Scene::{name}")));
    assert_eq!((first.count, first.failed), (600, 200));
    assert_eq!((newest.count, newest.failed), (300, 300));
}

#[test]
fn counts_are_exact_over_threads_epochs_and_panics() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    for round in 1..=3 {
        let profiler =
            Profiler::new("counts").observe(All(Mode::Tally)).install().expect("it installs");
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut scene = Scene::new(&[1]);
                    for _ in 0..1000 {
                        scene.measure();
                    }
                    let _ =
                        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scene.fails()));
                });
            }
        });
        drop(profiler);
        Scene::new(&[1]).measure();
        while recording.collect() {}
        let store = recording.store();
        assert_eq!(calls(&store, "Scene::Layout::measure"), (round * 3000, 0));
        assert_eq!(calls(&store, "Scene::fails"), (round * 3, round * 3));
    }
}

#[test]
fn a_key_is_hashed_beside_the_program() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let profiler = Profiler::new("keys").observe(All(Mode::Full)).install().expect("it installs");
    let scene = Scene::new(&[5]);
    assert!(scene.holds(&Key(5)));
    assert!(!scene.holds(&Key(13)));
    drop(profiler);
    while recording.collect() {}
    let store = recording.store();
    let page = store.forward(Position::Start, &Filter::default(), usize::MAX, usize::MAX);
    let events = page.events.iter().filter_map(|event| {
        let path = &store.site(event.site)?.path;
        Some((
            path.strip_prefix("woven::domain::")?.to_owned(),
            event.subject.map(|subject| subject.key),
        ))
    });
    let events: Vec<_> = events.filter(|(path, _)| path != "Scene::new").collect();
    let holds = |key| ("Scene::holds".to_owned(), key);
    assert_eq!(events, [holds(Some(5)), holds(None)]);
}

#[test]
fn events_have_subjects_causes_arguments_and_what_was_returned() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let profiler = Profiler::new("events").observe(All(Mode::Full)).install().expect("it installs");
    let scene = Scene::new(&[1]);
    scene.twice();
    let _ = scene.first(true);
    block_on(scene.waits(2));
    drop(profiler);
    while recording.collect() {}
    let store = recording.store();
    let named = |name: &str| {
        let path = format!("woven::domain::{name}");
        let is_it = |event: &metaspy_core::Event| {
            store.site(event.site).is_some_and(|site| site.path == path)
        };
        let page = store.forward(Position::Start, &Filter::default(), usize::MAX, usize::MAX);
        page.events.into_iter().filter(is_it).collect::<Vec<_>>()
    };
    let (twice, measured) = (named("Layout::twice"), named("Scene::Layout::measure"));
    assert_eq!((twice.len(), measured.len()), (1, 3));
    assert_eq!(measured[0].cause, Some(twice[0].id));
    assert_eq!(twice[0].subject, measured[0].subject);
    assert_eq!(
        twice[0].subject.map(|subject| subject.key),
        Some(std::ptr::from_ref(&scene).addr() as u64)
    );
    let waits = named("Scene::waits");
    assert_eq!((waits.len(), waits[0].outcome), (1, Outcome::Returned));
    assert!(measured[1..].iter().all(|event| event.cause == Some(waits[0].id)));
    let first = named("Scene::first");
    assert_eq!(first[0].outcome, Outcome::Succeeded);
    let details: Vec<(String, String)> =
        store.details(first[0].id).into_iter().map(|detail| (detail.name, detail.value)).collect();
    assert_eq!(
        details,
        [("or".to_owned(), "true".to_owned()), (String::new(), "Ok(7)".to_owned())]
    );
}

/// Arms all of the domain for events that nothing looks into: the thread begins and ends them by
/// itself.
struct Events(Mode);

impl Instrumenter for Events {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        let selector: Selector = "woven::domain::**".parse().expect("it is a selector");
        session.arm_matching(&selector, &Arming::all(self.0))?;
        Ok(Installation::none())
    }
}

/// What is recorded of calls of many kinds: the function, the place of its object, the number of
/// its cause, and the outcome.
fn recorded(
    observe: impl Instrumenter + 'static,
    scenes: &mut [Scene; 2],
) -> Vec<(String, Option<u64>, Option<usize>, Outcome)> {
    let recording = Recording::memory().start().expect("it starts");
    let profiler = Profiler::new("events").observe(observe).install().expect("it installs");
    for scene in &mut *scenes {
        scene.twice();
        scene.is_even(5);
        let _ = (scene.newest(), scene.count());
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| scene.fails()));
    }
    scenes[0].factorial(3);
    drop(Scene::new(&[1]));
    drop(profiler);
    while recording.collect() {}
    let store = recording.store();
    let page = store.forward(Position::Start, &Filter::default(), usize::MAX, usize::MAX);
    let number = |id| page.events.iter().position(|event| event.id == id);
    let shown = |event: &metaspy_core::Event| {
        let path = store.site(event.site).expect("it has a name").path.clone();
        (
            path,
            event.subject.map(|subject| subject.key),
            event.cause.and_then(number),
            event.outcome,
        )
    };
    page.events.iter().map(shown).collect()
}

#[test]
fn events_are_the_same_whether_their_thread_makes_them_by_itself_or_something_looks_into_them() {
    let _alone = alone();
    let mut scenes = [Scene::new(&[1, 2]), Scene::new(&[])];
    let looked_into = recorded(All(Mode::Full), &mut scenes);
    let outcomes = |name: &str| {
        let path = format!("woven::domain::Scene::{name}");
        looked_into
            .iter()
            .filter(|(it, ..)| *it == path)
            .map(|(.., outcome)| *outcome)
            .collect::<Vec<_>>()
    };
    assert_eq!(outcomes("newest"), [Outcome::Succeeded, Outcome::Failed]);
    assert_eq!(outcomes("fails"), [Outcome::Panicked; 2]);
    assert_eq!(outcomes("new"), [Outcome::Returned]);
    for mode in [Mode::Full, Mode::Sampled] {
        assert_eq!(recorded(Events(mode), &mut scenes), looked_into, "{mode:?}");
    }
}

#[test]
fn a_recording_has_the_facts_of_the_weaver() {
    let _alone = alone();
    let recording = Recording::memory().start().expect("it starts");
    let store = recording.store();
    let facts = |name: &str| {
        let path = format!("woven::domain::{name}");
        let site = store
            .sites()
            .iter()
            .find(|site| site.path == path)
            .expect("every site is written down");
        site.facts().expect("it was woven")
    };
    let never = facts("Scene::never");
    assert_eq!(
        (never.module.as_str(), never.of_type.as_deref(), never.name.as_str()),
        ("woven::domain", Some("Scene"), "never")
    );
    assert_eq!(
        (never.complexity, never.lines, never.path().as_str()),
        (3, (32, 35), "woven::domain::Scene::never")
    );
    let twice = facts("Layout::twice");
    assert_eq!(
        (twice.of_type, twice.of_trait.as_deref(), twice.supertraits),
        (None, Some("Layout"), vec!["Sized".to_owned()])
    );
    assert!(facts("a_test").is_alone && facts("Scene::waits").is_async);
}

//! Who is observed, and what runs around a call.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use metaspy::instrumenter::register;
use metaspy::prelude::*;
use metaspy::{Site, SiteDef, SiteKind, hook};

struct Scene(u32);

trait Layout {
    fn layout(&self, deep: u32) -> Result<u32, String>;
}

#[observe]
impl Layout for Scene {
    #[observe(args(deep))]
    fn layout(&self, deep: u32) -> Result<u32, String> {
        if deep > 3 { Err("too deep".into()) } else { Ok(self.0) }
    }
}

#[observe]
impl Scene {
    fn measure(&self) -> u32 {
        self.0
    }
    fn shown(&self) -> u32 {
        self.0
    }
    fn touched(&self) -> u32 {
        self.0
    }
    fn made() -> Self {
        Scene(1)
    }
    #[observe(args(n))]
    async fn waits(&self, n: u32) -> Option<u32> {
        let mut first = true;
        std::future::poll_fn(|_| {
            if std::mem::take(&mut first) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        (n > 0).then_some(n)
    }
    async fn later(&self) -> u32 {
        self.0
    }
}

/// Lines that handlers wrote, in order.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn say(&self, words: impl Into<String>) {
        self.0.lock().expect("no handler panics while it speaks").push(words.into());
    }
    fn all(&self) -> Vec<String> {
        self.0.lock().expect("no handler panics while it speaks").clone()
    }
}

#[test]
fn handlers_see_the_receiver_the_arguments_and_the_outcome() {
    let lines = Lines::default();
    let (first, second, last) = (lines.clone(), lines.clone(), lines.clone());
    let profiler = Profiler::new("handlers")
        .observe(on(site!(<Scene as Layout>::layout), move |scene: &Scene, call| {
            first.say(format!("scene {} deep {}", scene.0, call.argument("deep").unwrap_or("?")));
        }))
        .observe(methods("Scene::Layout::layout").before(move |_| second.say("second")).after(
            move |call| {
                last.say(format!("{:?}", call.outcome));
            },
        ))
        .install()
        .expect("installed");
    assert!(Scene(8).layout(4).is_err());
    drop(profiler);
    assert!(Scene(8).layout(1).is_ok());
    assert_eq!(lines.all(), ["scene 8 deep 4", "second", "Some(Failed)"]);
}

#[test]
fn handlers_run_around_async_calls_once_each() {
    let lines = Lines::default();
    let (before, after) = (lines.clone(), lines.clone());
    let profiler = Profiler::new("async handlers")
        .observe(
            methods(site!(Scene::waits))
                .before(move |call| {
                    before.say(format!("before {}", call.argument("n").unwrap_or("?")))
                })
                .after(move |call| {
                    after.say(format!(
                        "after {} {:?}",
                        call.argument("n").unwrap_or("?"),
                        call.outcome
                    ));
                }),
        )
        .install()
        .expect("installed");
    let scene = Scene(1);
    assert_eq!(finished(scene.waits(1)), Some(1));
    assert_eq!(finished(scene.waits(0)), None);
    let mut moved = Box::pin(scene.waits(2));
    assert!(polled(moved.as_mut()).is_pending());
    // A call may end on another thread than it began on.
    std::thread::scope(|scope| drop(scope.spawn(move || drop(moved))));
    drop(scene.waits(3));
    drop(profiler);
    assert_eq!(finished(scene.waits(4)), Some(4));
    assert_eq!(
        lines.all(),
        [
            "before 1",
            "after 1 Some(Succeeded)",
            "before 0",
            "after 0 Some(Failed)",
            "before 2",
            "after 2 Some(Cancelled)"
        ]
    );
}

fn polled<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

fn finished<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(value) = polled(future.as_mut()) {
            return value;
        }
    }
}

#[test]
fn what_a_handler_calls_is_not_observed_and_its_panic_is_caught() {
    let profiler = Profiler::new("meta")
        .observe(on(site!(Scene::measure), |scene: &Scene, _| {
            scene.measure();
            panic!("a handler");
        }))
        .install()
        .expect("installed");
    assert_eq!(crate::common::quietly(|| Scene(3).measure()), 3);
    assert_eq!(profiler.uninstall().counts().total(), 1);
}

#[test]
fn a_site_without_a_receiver_has_none() {
    // `site!` knows that there is none, so the handler can only be given `()`.
    for calls in [on(site!(Scene::made), |(): &(), _| ()), on(site!(Scene::later), |(): &(), _| ())]
    {
        let refused =
            Profiler::new("none").observe(calls).install().expect_err("there is no receiver");
        assert!(refused.to_string().starts_with("this site offers no receiver"), "{refused}");
    }
    drop(Scene::made().later());
}

#[test]
fn only_the_chosen_objects_are_observed() {
    let scenes: Vec<Spied<Scene>> = (0..20).map(|n| Spied::new(Scene(n))).collect();
    let belongs = {
        let odd: Vec<_> =
            scenes.iter().filter(|scene| scene.0 % 2 == 1).map(|scene| scene.identify()).collect();
        move |subject| odd.contains(&subject)
    };
    let chosen = Profiler::new("chosen")
        .observe(objects(&scenes[..3], site!(Scene::touched)))
        .install()
        .expect("installed");
    let grouped = Profiler::new("group")
        .observe(group(belongs, site!(Scene::touched)))
        .install()
        .expect("installed");
    for scene in &scenes {
        scene.touched();
    }
    let (chosen, grouped) = (chosen.uninstall(), grouped.uninstall());
    assert_eq!((chosen.counts().total(), grouped.counts().total()), (3, 10));
    assert_eq!((chosen.count_of(&scenes[0]), grouped.count_of(&scenes[0])), (1, 0));
}

#[test]
fn objects_enter_and_leave_a_group() {
    let scenes: Vec<Spied<Scene>> = (0..4).map(|n| Spied::new(Scene(n))).collect();
    let visible = Arc::new(Mutex::new(vec![scenes[0].identify()]));
    let shown = visible.clone();
    let group =
        Group::new(move |subject| shown.lock().expect("no holder panics").contains(&subject));
    let profiler = Profiler::new("visible")
        .observe(in_group(&group, site!(Scene::shown)))
        .install()
        .expect("installed");
    let show = || scenes.iter().for_each(|scene| assert_eq!(scene.shown(), scene.0));
    show();
    *visible.lock().expect("no holder panics") = vec![scenes[1].identify(), scenes[2].identify()];
    show();
    group.reconsider(scenes[1].identify());
    show();
    group.refresh();
    show();
    let profile = profiler.uninstall();
    assert_eq!([0, 1, 2, 3].map(|n| profile.count_of(&scenes[n])), [3, 2, 1, 0]);
}

#[test]
fn a_selector_that_matches_nothing_names_the_nearest() {
    let refused = Profiler::new("typo")
        .observe(methods("Scene::mesure"))
        .install()
        .expect_err("a typing error");
    assert!(refused.to_string().contains("Scene::measure"), "{refused}");
    // `fn main() -> Result<(), InstallError>` prints this.
    assert_eq!(format!("{refused:?}"), refused.to_string());
}

register! {
    static MOVED: Site = Site::new(SiteDef {
        kind: SiteKind::Announcement,
        module: module_path!(),
        name: "moved",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
}

#[derive(Debug, PartialEq)]
struct Moved {
    to: (i32, i32),
}

#[test]
fn a_handler_gets_the_typed_value_that_an_event_carries() {
    let places = Arc::new(Mutex::new(Vec::new()));
    let (seen, others) = (places.clone(), Lines::default());
    let wrong = others.clone();
    let calls = methods(&MOVED).before(move |call| match call.payload::<Moved>() {
        Some(moved) => seen.lock().expect("no holder panics").push(moved.to),
        None => wrong.say(format!("{:?}", call.payload::<u32>())),
    });
    let profiler = Profiler::new("moves").observe(calls).install().expect("installed");
    for moved in [Moved { to: (1, 2) }, Moved { to: (3, 4) }] {
        hook::instant_with(&MOVED, Subject::NONE, None, |reify| reify.payload(&moved));
    }
    hook::instant_with(&MOVED, Subject::NONE, None, |reify| reify.payload(&7_u32));
    hook::instant(&MOVED, Subject::NONE);
    assert_eq!(profiler.uninstall().counts().total(), 4);
    assert_eq!(*places.lock().expect("no holder panics"), [(1, 2), (3, 4)]);
    assert_eq!(others.all(), ["Some(7)", "None"]);
}

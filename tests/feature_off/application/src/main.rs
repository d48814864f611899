//! Switches the library on, and looks.

#![deny(warnings)]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use library::{NodeId, Scene};
use metaspy::prelude::*;

fn main() {
    let mut scene = Scene::default();
    let profiler = Profiler::new("library")
        .observe(methods("library::Scene::*"))
        .observe(methods("library::SpiedDraw::Draw::draw"))
        .install()
        .expect("the library is observed");
    assert!(scene.measure(NodeId(7), "5").is_ok());
    assert!(scene.measure(NodeId(7), "x").is_err());
    assert_eq!(poll(goes_anywhere(scene.later())), Some(5));
    assert_eq!(poll(goes_anywhere(scene.anywhere())), 5);
    assert_eq!(library::drawn(), 22);
    let profile = profiler.uninstall();
    assert_eq!(profile.count_of(&scene), 4);
    assert_eq!(profile.count_of(NodeId(7)), 2);
    let is_idle = |entry: &metaspy::instrumenter::SiteEntry| entry.site.path() == "library::idle::never_called";
    assert!(metaspy::instrumenter::entries().iter().any(is_idle), "a site that nothing refers to is known");
    println!("{}", profile.counts().by_site());
    cache();
    grammar();
}

/// The same for a cache.
fn cache() {
    let mut cache = [None; 4];
    let lookups = metaspy::Lookups::new("halves");
    let profiler = Profiler::new("halves").observe(methods("halves::*")).install().expect("they are named");
    assert_eq!([6, 6].map(|number| library::half(&mut cache, &lookups, number)), [3, 3]);
    let profile = profiler.uninstall();
    let counts = profile.counts().by_site();
    let of = |name: &str| counts.at(name).map(|row| row.measure.count);
    assert_eq!(["halves::hit", "halves::miss", "halves::fill"].map(of), [Some(1); 3]);
}

/// The same for a parser.
fn grammar() {
    let of = ["grammar::list", "grammar::decimal", "grammar::digit"].map(metaspy::productions);
    let [list, decimal, digit] = of;
    let profiler = Profiler::new("grammar").observe(list).observe(decimal).observe(digit);
    let profiler = profiler.install().expect("they are named");
    assert_eq!((grammar::count("1, 2"), grammar::count("1,x"), grammar::digits("1x")), (Some(2), None, 1));
    let profile = profiler.uninstall();
    let counts = profile.counts().by_site();
    let of = |name: &str| counts.at(name).map(|row| (row.measure.count, row.measure.failed));
    assert_eq!((of("grammar::list"), of("grammar::decimal")), (Some((2, 1)), Some((4, 1))));
    assert_eq!(of("grammar::digit"), Some((2, 1)));
}

/// No future loses what it was by being observed.
fn goes_anywhere<T: Send + Sync>(it: T) -> T {
    it
}

fn poll<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing waits"),
    }
}

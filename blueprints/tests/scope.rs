//! A part of a run: the calls of one thread, or of the methods that a filter selects.

use std::sync::{Mutex, PoisonError};

use metaspy_blueprints::{Graph, Kind, Options, picture};
use metaspy_core::arm::{Arming, Mode};
use metaspy_core::hook::{Frame, Guard, observed};
use metaspy_core::method_profilers::Calls;
use metaspy_core::site::register_dynamic;
use metaspy_core::{
    InstallError, Installation, Instrumenter, Profiler, Recording, Session, Site, SiteDef, SiteKind,
};
use metaspy_reader::Filter;

/// Records each call at a site as an event.
struct Events(&'static Site);

impl Instrumenter for Events {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm(self.0, Arming::all(Mode::Full))?;
        Ok(Installation::none())
    }
}

fn site(name: &'static str) -> &'static Site {
    let lines = (line!(), line!());
    register_dynamic(SiteDef {
        kind: SiteKind::Method,
        module: "app",
        name,
        file: file!(),
        lines,
        skipped: None,
    })
}

fn calls(outer: &'static Site, inner: &'static Site, count: usize) {
    let mut frame = Frame::vacant();
    let _outer = Guard::of(outer, observed::enter_site(&mut frame, outer));
    for _ in 0..count {
        let mut frame = Frame::vacant();
        drop(Guard::of(inner, observed::enter_site(&mut frame, inner)));
    }
}

/// A call that takes a while, in this many calls of the same method.
fn nested(site: &'static Site, depth: usize) {
    let mut frame = Frame::vacant();
    let _call = Guard::of(site, observed::enter_site(&mut frame, site));
    match depth.checked_sub(1) {
        Some(depth) => nested(site, depth),
        None => std::thread::sleep(std::time::Duration::from_millis(2)),
    }
}

/// There is one recording in a process at a time.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn the_total_of_a_method_with_many_callers_includes_its_own_time() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let recording = Recording::memory().budget(8 << 20).start().expect("there is memory");
    let inner = site("shared");
    let callers: Vec<_> = (0..50).map(|caller| site(format!("caller{caller}").leak())).collect();
    let methods = callers.iter().copied().chain([inner]);
    let profiler =
        methods.fold(Profiler::new("events"), |profiler, site| profiler.observe(Events(site)));
    let installed = profiler.install().expect("it installs");
    callers.iter().for_each(|caller| calls(caller, inner, 3));
    drop(installed);
    let graph = Graph::read(&recording.store(), &Filter::all());
    assert!(graph.callers_are_causes);
    for method in &graph.methods {
        assert!(method.self_ns <= method.total_ns, "{method:?}");
    }
    let shared = graph.find("app::shared").expect("it ran");
    assert_eq!(graph.methods[shared].self_ns, graph.methods[shared].total_ns, "it calls nothing");
}

#[test]
fn a_picture_is_of_all_threads_or_of_one() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let recording = Recording::memory().budget(8 << 20).start().expect("there is memory");
    let (outer, inner) = (site("outer"), site("inner"));
    let profiler = Profiler::new("calls")
        .method_profiler(Calls::default())
        .observe(Events(outer))
        .observe(Events(inner));
    let installed = profiler.install().expect("it installs");
    for (name, count) in [("one", 3), ("other", 40)] {
        let thread = std::thread::Builder::new().name(name.into());
        let thread = thread.spawn(move || calls(outer, inner, count)).expect("it starts");
        thread.join().expect("it ends");
    }
    let deep = std::thread::Builder::new()
        .name("deep".into())
        .spawn(move || nested(outer, 9))
        .expect("it starts");
    deep.join().expect("it ends");
    drop(installed);
    let store = recording.store();
    let draw = |filter: &str| {
        let graph = Graph::read(&store, &filter.parse().expect("it is a filter"));
        let at = graph.find("app::inner").expect("it ran");
        let notes = picture::draw(Kind::Behavioural, &graph, &Options::default())
            .map(|scene| scene.notes.join("; "));
        let from: u64 =
            graph.calls.iter().filter(|call| call.to == at).map(|call| call.count).sum();
        (
            graph.methods[at].executions,
            from,
            graph.callers_are_causes,
            notes.expect("its calls are known"),
        )
    };
    assert!(Filter::all().is_of_sites());
    let (executions, from, is_of_events, notes) = draw("");
    assert_eq!((executions, from, is_of_events), (43, 43, false));
    assert!(notes.contains("threads together"), "{notes}");
    let (executions, from, is_of_events, notes) = draw("lane:one");
    assert_eq!((executions, from, is_of_events), (3, 3, true));
    assert!(notes.contains("only stored events that pass lane:one"), "{notes}");
    assert_eq!(draw("lane:other").0, 40);
    // A recursion takes as long as its outermost call, without a profiler as well.
    let deep = Graph::read(&store, &"lane:deep".parse().expect("it is a filter"));
    let outer = deep.find("app::outer").expect("it ran");
    let entered: u64 = deep.entries.iter().map(|(_, edge)| edge.total_ns).sum();
    assert_eq!((deep.methods[outer].executions, deep.total(outer)), (10, entered));
    assert!(entered >= 2_000_000, "{entered}");
    let (executions, _, is_of_events, _) = draw("site:app::*");
    assert_eq!((executions, is_of_events), (43, false));
}

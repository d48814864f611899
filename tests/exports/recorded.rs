//! The recording of these tests.

use std::thread;

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::{
    EventId, InstallError, Installation, Instrumenter, Profiler, Recording, Session, Store, clock,
    model,
};

use crate::fixture::{self, node};

/// Labels that formats are bad at.
pub fn wild_names() -> [(u64, String); 6] {
    [
        (21, "a \"quoted\" name, with a comma; and a semicolon".into()),
        (22, "<b onclick='x()'>HTML & more</b>".into()),
        (23, "two\nlines\tand \u{1b}[31m an escape \u{0} a zero".into()),
        (24, "עברית \u{202e}backwards".into()),
        (25, "x".repeat(10_000)),
        (26, "=HYPERLINK(\"http://example.com\") \\ \u{1F600}".into()),
    ]
}

/// Arms the layouts with their arguments.
struct Arguments;

impl Instrumenter for Arguments {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(
            &"Scene::layout".parse()?,
            &Arming { details: true, ..Arming::all(Mode::Full) },
        )?;
        Ok(Installation::none())
    }
}

/// Three frames of the page on one thread. On another one, a frame with arguments, a linked layout,
/// and measures of nodes with wild names. The measures are caused by the last event of the first
/// thread.
pub fn store(name: &str) -> Store {
    let _turn = fixture::turn();
    let path = fixture::directory().join(name);
    let (recording, installed) = fixture::begin(Recording::file(&path), 3);
    let cause = last_event(&Store::open(&path).expect("it is being recorded"));
    let work = move || {
        clock::advance(1_000);
        let arguments =
            Profiler::new("arguments").observe(Arguments).install().expect("the site is there");
        fixture::frame();
        drop(arguments);
        fixture::linked_layout();
        let _because = metaspy_core::because(cause);
        for (key, label) in wild_names() {
            model::label(node(key), label);
            fixture::measure(node(key));
        }
    };
    let worker = thread::Builder::new()
        .name("worker \"2\"".into())
        .spawn(work)
        .expect("a thread can be started");
    worker.join().expect("recording does not fail");
    drop(installed);
    recording.close();
    fixture::open(&path)
}

fn last_event(store: &Store) -> EventId {
    use metaspy_reader::{Filter, Position};
    let page = store.backward(Position::End, &Filter::all(), 1, usize::MAX);
    page.events.last().expect("frames were recorded").id
}

//! A small recording with everything in it: two frames of a page, on a clock that is set by hand.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::hook::{self, Call};
use metaspy_core::instrumenter::Hooks;
use metaspy_core::recording::Builder;
use metaspy_core::{
    InstallError, Installed, Instrumenter, Kind, Outcome, Profiler, Recording, Session, Site, SiteDef, SiteKind, Store,
    Subject, clock, model,
};

macro_rules! sites {
    ($($name:ident $path:literal $kind:ident $skipped:expr;)*) => {$(
        #[metaspy_core::site::linkme::distributed_slice(metaspy_core::site::SITES)]
        #[linkme(crate = metaspy_core::site::linkme)]
        static $name: Site = Site::new(SiteDef {
            kind: SiteKind::$kind,
            module: "page",
            name: $path,
            file: "examples/page/src/scene.rs",
            lines: (88, 96),
            skipped: $skipped,
        });
    )*};
}

sites! {
    FRAME "frame" Method None;
    RESIZE "resize" Change None;
    LAYOUT "Scene::layout" Method None;
    MEASURE "Scene::measure" Method None;
    HIT "cache::hit" Announcement None;
    PAINT "Scene::paint" Method None;
    NEVER "Scene::never" Method None;
    SKIPPED "Scene::EMPTY" Method Some("a const fn runs at compile time");
}

static NODE: Kind = Kind::new("node");

/// A node of the page.
pub fn node(key: u64) -> Subject {
    Subject::new(NODE.id(), key)
}

/// There is one log per process, so recordings are made one after the other.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

struct Everything;

impl Instrumenter for Everything {
    fn install(&mut self, session: &mut Session) -> Result<Hooks, InstallError> {
        session.arm_selected(&"page::**".parse()?, &Arming::all(Mode::Full))?;
        Ok(Hooks::none())
    }
}

/// A recording of so many frames, on a thread of its own: a lane's clock never runs backwards.
pub fn begin(builder: Builder, frames: usize) -> (Recording, Installed) {
    let record = move || {
        let begun = begin_here(builder);
        (0..frames).for_each(|_| frame());
        begun
    };
    let thread = std::thread::Builder::new().name("page".into()).spawn(record).expect("a thread can be started");
    thread.join().expect("recording does not fail")
}

/// Begins a recording of the page, with its nodes labelled and related.
fn begin_here(builder: Builder) -> (Recording, Installed) {
    clock::set_manual(1_000_000);
    let recording = builder.budget(4 << 20).collector(false).start().expect("a small recording can be made");
    let installed = Profiler::new("page").observe(Everything).install().expect("the sites are there");
    for key in 1..=12 {
        let label = match key {
            1 => "#1 <html>".to_owned(),
            3 => "#3 <p> \"The quick brown fox jumps over the lazy dog\"".to_owned(),
            4 => "#4 evil \x1b[2J\u{202e}".to_owned(),
            key => format!("#{key} <div>"),
        };
        model::label(node(key), label);
        if key > 1 {
            model::relate("owner", node(key), node(key / 2));
        }
    }
    (recording, installed)
}

fn enter(site: &'static Site, subject: Subject) -> Call {
    clock::advance(1_000);
    if site.is_armed() { hook::enter(site, subject) } else { Call::inert() }
}

fn leave(call: Call, after_ns: u64, outcome: Outcome) {
    clock::advance(after_ns);
    call.done(outcome);
}

/// One frame: a change, layouts below each other, measures, and one node that panics.
pub fn frame() {
    let frame = enter(&FRAME, Subject::NONE);
    clock::advance(500);
    hook::instant(&RESIZE, Subject::NONE);
    let root = hook::enter_with(&LAYOUT, node(1), |reify| reify.arg("known", &(Some(1279), None::<u32>)));
    for key in 2..=4 {
        let layout = enter(&LAYOUT, node(key));
        for child in [key * 2, key * 2 + 1] {
            let measure = enter(&MEASURE, node(child));
            clock::advance(300);
            hook::instant(&HIT, node(child));
            leave(measure, 60_000, if child == 7 { Outcome::Failed } else { Outcome::Succeeded });
        }
        leave(layout, 8_900, if key == 4 { Outcome::Panicked } else { Outcome::Succeeded });
    }
    leave(root, 1_000_000, Outcome::Succeeded);
    leave(enter(&PAINT, Subject::NONE), 402_000, Outcome::Returned);
    leave(frame, 2_000, Outcome::Returned);
    clock::advance(15_000_000);
}

/// A directory of this test process's own.
pub fn directory() -> PathBuf {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("crawler-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("cargo's own directory can be written");
    dir
}

/// A closed recording of so many frames, as a file.
pub fn closed(name: &str, frames: usize) -> PathBuf {
    let _turn = turn();
    let path = directory().join(name);
    let (recording, installed) = begin(Recording::file(&path), frames);
    drop(installed);
    recording.close();
    path
}

/// Opens a recording.
pub fn open(path: &Path) -> Store {
    Store::open(path).expect("it was just written")
}

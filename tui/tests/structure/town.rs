//! A program in two modules with the facts of a woven one.

use std::path::PathBuf;

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::hook::{self, Call};
use metaspy_core::instrumenter::Installation;
use metaspy_core::{
    InstallError, Installed, Instrumenter, Kind, Outcome, Profiler, Recording, Session, Site,
    SiteDef, SiteKind, Subject, clock,
};

use crate::fixture;

macro_rules! woven {
    ($($name:ident $module:literal $path:literal $lines:expr, $facts:literal;)*) => {$(
        metaspy_core::site::register! {
            pub static $name: Site = Site::with_facts(SiteDef {
                kind: SiteKind::Method,
                module: $module,
                name: $path,
                file: "town/src/roads.rs",
                lines: $lines,
                skipped: None,
            }, $facts);
        }
    )*};
}

woven! {
    MAIN "town" "main" (3, 12), "c=2 self=none vis=private unit";
    NEW "town::roads" "Road::new" (20, 24), "c=1 self=none type=Road vis=pub";
    DRIVE "town::roads" "Road::drive" (26, 40), "c=6 self=mut type=Road vis=pub";
    TURN "town::roads" "Road::turn" (42, 60), "c=9 self=mut type=Road vis=restricted";
    FMT "town::roads" "Road::Debug::fmt" (62, 66), "c=1 self=ref type=Road trait=Debug vis=pub";
    IS_WET "town::roads" "Surface::is_wet" (70, 72), "c=1 self=ref trait=Surface super=Debug+Sized vis=pub";
    CROSS "town::roads" "cross" (75, 90), "c=4 self=none vis=pub";
    CROSS_INNER "town::roads" "cross::inner" (77, 80), "c=1 self=none vis=private";
    BRIDGE "town::roads::bridges" "Bridge::open" (5, 9), "c=3 self=ref type=Bridge vis=pub";
    TOLL_PAY "town::roads" "Toll::pay" (110, 114), "c=2 self=ref type=Toll owner=self::Toll vis=pub";
    TOLL_RAISE "town::roads::bridges" "Toll::raise" (12, 15), "c=1 self=mut type=Toll owner=super::Toll vis=pub";
    A_TEST "town::roads" "a_test" (100, 104), "c=1 self=none vis=private test alone unit";
}

static ROAD: Kind = Kind::new("town::roads::Road");

fn road(key: u64) -> Subject {
    Subject::new(ROAD.id(), key)
}

struct Town(Mode);

impl Instrumenter for Town {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&"town::**".parse()?, &Arming::all(self.0))?;
        Ok(Installation::none())
    }
}

fn enter(site: &'static Site, subject: Subject) -> Call {
    clock::advance(1_000);
    if site.is_armed() { hook::enter(site, subject) } else { Call::inert() }
}

fn leave(call: Call, after_ns: u64) {
    clock::advance(after_ns);
    call.done(Outcome::Returned);
}

/// Drives `times` times along each of three roads, and prints one of them.
pub fn drive(times: u64) {
    let main = enter(&MAIN, Subject::NONE);
    for key in 1..=3 {
        leave(enter(&NEW, Subject::NONE), 500);
        for _ in 0..times {
            let drive = enter(&DRIVE, road(key));
            leave(enter(&CROSS, Subject::NONE), 20_000);
            leave(drive, 300_000);
        }
    }
    leave(enter(&FMT, road(2)), 7_000);
    leave(enter(&IS_WET, road(4)), 1_000);
    leave(main, 1_000);
}

/// Pays a toll that has no identity.
pub fn pay() {
    leave(enter(&TOLL_PAY, Subject::NONE), 1_000);
}

/// A recording of the town, until `Installed` is dropped.
pub fn begin(path: &PathBuf, mode: Mode) -> (Recording, Installed) {
    clock::set_manual(1_000_000);
    let recording =
        Recording::file(path).budget(4 << 20).collector(false).start().expect("a small recording");
    let installed =
        Profiler::new("page").observe(Town(mode)).install().expect("the sites are there");
    (recording, installed)
}

/// A closed recording of the town.
pub fn closed(name: &str, mode: Mode) -> PathBuf {
    let _turn = fixture::turn();
    let path = fixture::directory().join(name);
    let (recording, installed) = begin(&path, mode);
    drive(4);
    drop(installed);
    recording.close();
    path
}

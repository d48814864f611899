//! Profiles have names, and are found by them: in the process, and in the directory of its recordings when it has ended.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use linkme::distributed_slice;

use crate::platform::{exit, lock::lock, process};
use crate::recording::directory;
use crate::spy::dispatch::{Observing, observe};
use crate::spy::{Calls, Map, Spying, TestCoverage, Value, json};

/// The profilers of this program that can be started by their name: those of metaspy, and those that say
/// [`profiler!`](crate::profiler!).
#[distributed_slice]
pub static PROFILERS: [Startable];

/// A profiler that can be started by its name.
pub struct Startable {
    /// Its name.
    pub name: &'static str,
    /// Starts it.
    pub start: fn() -> &'static dyn Profile,
}

/// The profile of a running profiler, whoever that is.
pub trait Profile: Send + Sync {
    /// What it is called.
    fn name(&self) -> &'static str;
    /// What it tells of each method: `path`, `file`, `line`, and whatever the profiler adds.
    fn methods(&self) -> Vec<Map<String, Value>>;
    /// What it says for people.
    fn report(&self) -> String;
}

#[distributed_slice(PROFILERS)]
static COVERAGE: Startable = Startable::of::<TestCoverage>();
#[distributed_slice(PROFILERS)]
static CALLS: Startable = Startable::of::<Calls>();

static STARTED: Mutex<Vec<&'static dyn Profile>> = Mutex::new(Vec::new());

impl Startable {
    /// A profiler that needs to be told nothing.
    pub const fn of<P: Spying + Default>() -> Self {
        Startable { name: P::NAME, start: start::<P> }
    }
}

/// Lets a profiler be started by its name, as `cargo metaspy run --profiler` does.
#[macro_export]
macro_rules! profiler {
    ($type:ty) => {
        const _: () = {
            #[$crate::site::linkme::distributed_slice($crate::spy::PROFILERS)]
            #[linkme(crate = $crate::site::linkme)]
            static STARTABLE: $crate::spy::Startable = $crate::spy::Startable::of::<$type>();
        };
    };
}

fn start<P: Spying + Default>() -> &'static dyn Profile {
    observe(P::default())
}

impl<P: Spying> Profile for Observing<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn methods(&self) -> Vec<Map<String, Value>> {
        let all = self.mirror.methods().iter().zip(self.profiler.tell_all(&self.mirror));
        all.map(|(spy, mut told)| {
            told.insert("path".into(), json!(spy.facts.path()));
            told.insert("file".into(), json!(spy.facts.file));
            told.insert("line".into(), json!(spy.facts.lines.0));
            told
        })
        .collect()
    }

    fn report(&self) -> String {
        self.profiler.report(&self.mirror)
    }
}

/// The profile of this name, if its profiler was started by name.
pub fn profile(name: &str) -> Option<&'static dyn Profile> {
    lock(&STARTED).iter().copied().find(|profile| profile.name() == name)
}

/// Starts the profiler of this name, for the rest of the process, and writes its profile down at the end. `None`: there
/// is none of this name.
pub fn start_named(name: &str) -> Option<&'static dyn Profile> {
    if let Some(running) = profile(name) {
        return Some(running);
    }
    let startable = PROFILERS.iter().find(|startable| startable.name == name)?;
    let profile = (startable.start)();
    let mut started = lock(&STARTED);
    if started.is_empty() {
        STARTER.store(std::process::id(), Ordering::Relaxed);
        exit::at_exit(|_| write_all());
    }
    started.push(profile);
    Some(profile)
}

/// Starts all profilers that are not metaspy's own: those that the program's author, or whoever built it, brought along.
pub(crate) fn start_own() {
    let is_own = |name: &str| !matches!(name, TestCoverage::NAME | Calls::NAME);
    for startable in PROFILERS.iter().filter(|startable| is_own(startable.name)) {
        start_named(startable.name);
    }
}

/// The process that started profilers: what its children counted before they were forked, it counts itself.
static STARTER: AtomicU32 = AtomicU32::new(0);

fn write_all() {
    if STARTER.load(Ordering::Relaxed) != std::process::id() {
        return;
    }
    for profile in lock(&STARTED).iter() {
        if let Err(error) = write(*profile) {
            eprintln!("metaspy: the profile `{}` cannot be written: {error}", profile.name());
        }
    }
}

/// Writes a profile into the directory of recordings, or that of its run: whole or not at all.
fn write(profile: &dyn Profile) -> Result<(), Box<dyn std::error::Error>> {
    let path = directory::new_profile(profile.name())?;
    let text = json!({
        "format": 1,
        "profile": profile.name(),
        "program": process::program().to_string_lossy(),
        "pid": std::process::id(),
        "report": profile.report(),
        "methods": profile.methods(),
    });
    let part = path.with_extension("part");
    fs::write(&part, serde_json::to_vec(&text)?)?;
    fs::rename(part, path)?;
    Ok(())
}

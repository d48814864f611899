//! Profiles have names, and are found by them: in the process, and in the directory of its recordings when it has ended.

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

use linkme::distributed_slice;

use crate::hook;
use crate::instrumenter::InstallError;
use crate::method_profilers::dispatch::observe;
use crate::method_profilers::registry::Observing;
use crate::method_profilers::{Calls, Map, MethodProfiler, TestCoverage, Value, json};
use crate::platform::{exit, lock::lock, process};
use crate::recording::directory;

/// The profilers of this program that can be started by their name: those of metaspy, and those that say
/// [`profiler!`](crate::profiler!).
#[distributed_slice]
pub static FACTORIES: [ProfilerFactory];

/// A profiler that can be started by its name.
pub struct ProfilerFactory {
    /// Its name.
    pub name: &'static str,
    /// Starts it.
    pub start: fn() -> Result<&'static dyn Profile, InstallError>,
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

#[distributed_slice(FACTORIES)]
static COVERAGE: ProfilerFactory = ProfilerFactory::of::<TestCoverage>();
#[distributed_slice(FACTORIES)]
static CALLS: ProfilerFactory = ProfilerFactory::of::<Calls>();

/// The profilers that look, in the order in which they were installed. No code of theirs runs while this is locked: they
/// may ask for each other's profiles.
static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());

struct Running {
    profile: &'static dyn Profile,
    /// It was started by its name: its profile is written down at the end.
    is_named: bool,
}

/// A profiler looks from now on.
pub(super) fn add(profile: &'static dyn Profile) {
    lock(&RUNNING).push(Running { profile, is_named: false });
}

/// It looks no more.
pub(super) fn remove(profile: &'static dyn Profile) {
    lock(&RUNNING).retain(|running| !std::ptr::addr_eq(running.profile, profile));
}

impl ProfilerFactory {
    /// A profiler that needs to be told nothing.
    pub const fn of<P: MethodProfiler + Default>() -> Self {
        ProfilerFactory { name: P::NAME, start: start::<P> }
    }
}

/// Lets a profiler be started by its name, as `cargo metaspy run --profiler` does.
#[macro_export]
macro_rules! profiler {
    ($type:ty) => {
        const _: () = {
            #[$crate::site::linkme::distributed_slice($crate::method_profilers::FACTORIES)]
            #[linkme(crate = $crate::site::linkme)]
            static STARTABLE: $crate::method_profilers::ProfilerFactory =
                $crate::method_profilers::ProfilerFactory::of::<$type>();
        };
    };
}

fn start<P: MethodProfiler + Default>() -> Result<&'static dyn Profile, InstallError> {
    observe(P::default()).map(|observing| observing as &'static dyn Profile)
}

impl<P: MethodProfiler> Profile for Observing<P> {
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

/// The profile of this name, if its profiler runs; of several, that of the one that was installed last.
pub fn profile(name: &str) -> Option<&'static dyn Profile> {
    find(name, |_| true)
}

fn find(name: &str, is_it: impl Fn(&Running) -> bool) -> Option<&'static dyn Profile> {
    let running = lock(&RUNNING);
    let mut named = running.iter().rev().filter(|running| running.profile.name() == name && is_it(running));
    named.next().map(|running| running.profile)
}

/// Starts the profiler of this name, for the rest of the process, and writes its profile down at the end. `None`: there
/// is none of this name, or, which is said on standard error, there are too many at once.
pub fn start_named(name: &str) -> Option<&'static dyn Profile> {
    if let Some(running) = find(name, |running| running.is_named) {
        return Some(running);
    }
    let startable = FACTORIES.iter().find(|startable| startable.name == name)?;
    let profile = match (startable.start)() {
        Ok(profile) => profile,
        Err(error) => {
            eprintln!("metaspy: the profiler `{name}` is not started: {error}");
            return None;
        }
    };
    let mut running = lock(&RUNNING);
    if running.iter().all(|running| !running.is_named) {
        STARTER.store(std::process::id(), Ordering::Relaxed);
        exit::at_exit(|_| write_all());
    }
    // A profile of somebody's own making is not there yet.
    running.retain(|running| !std::ptr::addr_eq(running.profile, profile));
    running.push(Running { profile, is_named: true });
    Some(profile)
}

/// Starts all profilers that are not metaspy's own: those that the program's author, or whoever built it, brought along.
pub(crate) fn start_own() {
    let is_own = |name: &str| !matches!(name, TestCoverage::NAME | Calls::NAME);
    for startable in FACTORIES.iter().filter(|startable| is_own(startable.name)) {
        start_named(startable.name);
    }
}

/// The process that started profilers: what its children counted before they were forked, it counts itself.
static STARTER: AtomicU32 = AtomicU32::new(0);

fn write_all() {
    // The environment, which says where, is that of a user who may not do what the program may.
    if STARTER.load(Ordering::Relaxed) != std::process::id() || process::is_privileged() {
        return;
    }
    let running = lock(&RUNNING);
    let named: Vec<_> = running.iter().filter(|running| running.is_named).map(|running| running.profile).collect();
    drop(running);
    for profile in named {
        let why = match hook::at_meta_level(|| write(profile)) {
            Some(Ok(())) => continue,
            Some(Err(error)) => error.to_string(),
            None => "the profiler panicked".to_owned(),
        };
        eprintln!("metaspy: the profile `{}` cannot be written: {why}", profile.name());
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

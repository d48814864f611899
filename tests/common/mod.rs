//! The one place where tests touch the reading side.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod spans;

use std::cell::Cell;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use metaspy::prelude::*;
use metaspy::store::{Filter, Position};
use metaspy::{Event, SiteDef};

/// The events at sites that match `selector`, in the order in which they began, with what they say
/// of themselves: `name outcome`, indented under their cause.
pub fn check(selector: &str, run: impl FnOnce(), expected: &str) {
    let seen = watch(methods(selector).details(), selector, run);
    assert_eq!(seen.text(), expected);
}

/// What was seen of a run.
pub struct Seen {
    pub profile: Profile,
    pub events: Vec<Event>,
}

/// Runs under an instrumenter. `selector` says which sites belong to this test.
pub fn watch(calls: CallInstrumenter, selector: &str, run: impl FnOnce()) -> Seen {
    let ((), profile) =
        Profiler::new(selector).observe(calls).profile(run).expect("the sites are observed");
    let filter: Filter = format!("site:{selector}").parse().expect("a selector is a filter");
    let mut events =
        profile.store().forward(Position::Start, &filter, usize::MAX, usize::MAX).events;
    // Other tests run at the same time, and may use the same sites.
    let root = profile.scope().under.expect("there is room for the block's event");
    events.retain(|event| profile.store().causes(event.id).any(|cause| cause.id == root));
    Seen { profile, events }
}

impl Seen {
    pub fn text(&self) -> String {
        self.events
            .iter()
            .map(|event| format!("{}{}\n", "  ".repeat(self.depth(event)), self.line(event)))
            .collect()
    }

    /// The details of the `n`th event: `name=value`.
    pub fn details(&self, n: usize) -> Vec<String> {
        let details = self.profile.store().details(self.events[n].id);
        details.iter().map(|detail| format!("{}={}", detail.name, detail.value)).collect()
    }

    fn line(&self, event: &Event) -> String {
        let name =
            self.profile.store().site_path(event.site).rsplit("::").next().unwrap_or_default();
        format!("{name} {}", event.outcome.name())
    }

    fn depth(&self, event: &Event) -> usize {
        let around =
            event.cause.and_then(|cause| self.events.iter().find(|other| other.id == cause));
        around.map_or(0, |around| self.depth(around) + 1)
    }
}

/// Everything known of the sites whose name is, or begins with, `name`.
pub fn sites(name: &str) -> Vec<SiteDef> {
    let mut defs: Vec<SiteDef> =
        metaspy::instrumenter::entries().iter().map(|entry| entry.site.def()).collect();
    defs.retain(|def| def.name == name || def.name.starts_with(&format!("{name}::")));
    defs.sort_by_key(|def| def.lines);
    defs
}

/// Runs what panics.
pub fn panics(run: impl FnOnce()) {
    let panicked = quietly(|| std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    assert!(panicked, "it must panic");
}

/// Runs without the noise that panics on this thread make.
pub fn quietly<R>(run: impl FnOnce() -> R) -> R {
    thread_local! {
        static QUIET: Cell<bool> = const { Cell::new(false) };
    }
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                loud(panic)
            }
        }));
    });
    QUIET.set(true);
    let value = run();
    QUIET.set(false);
    value
}

/// There is one log per process, so tests that start a recording take turns.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a test in a process of its own: this program, started again for the test `name` of `module`
/// alone.
pub fn alone(module: &str, name: &str, run: impl FnOnce()) {
    if std::env::var_os("METASPY_ALONE").is_some() {
        return run();
    }
    let mut again = Command::new(std::env::current_exe().expect("this is a program"));
    let module = module.split_once("::").map_or("", |(_, module)| module);
    let test = format!("{module}::{name}");
    let output = again
        .args(["--exact", &test, "--nocapture"])
        .env("METASPY_ALONE", "1")
        .output()
        .expect("it starts");
    let (errors, printed) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}\n{errors}\n{printed}", output.status);
    assert!(printed.contains("1 passed"), "there is a test of this name: {printed}");
}

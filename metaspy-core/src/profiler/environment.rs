//! Profilers that the environment starts, in a program that installs none itself.
//!
//! `METASPY_RECORD` is `live` or a path, and `METASPY_OBSERVE` has selectors, separated by commas.
//! If the latter is not set, every site is observed; if it is empty, only the program's own
//! profilers observe. `METASPY_MODE` is `full`, which is the default, or `tally`, which counts
//! calls and records no events. With `METASPY_DETAILS=1`, arguments and return values are recorded
//! where sites offer them.
//!
//! `METASPY_PROFILE` has the names of method profilers, separated by commas; `+` stands for all
//! that are not metaspy's own. Their tables are a part of the recording. Without `METASPY_RECORD`
//! it is a live one, and without `METASPY_OBSERVE` only the profilers observe then. See
//! [`crate::method_profilers`].

use std::sync::{Mutex, PoisonError};

use linkme::distributed_slice;

use crate::arm::{Arming, Mode};
use crate::instrumenter::{Installation, Instrumenter, Session};
use crate::platform::{process, switch, warn};
use crate::profiler::FACTORIES;
use crate::profiler::InstallError;
use crate::recording::{self, StartError};
use crate::select::{Selector, distance};
use crate::{Installed, Profiler, Recording};

/// Not empty in a program that is never recorded unless it says so itself, as the `metaspy`
/// command, which many run where the environment is meant for others.
#[distributed_slice]
pub static UNASKED: [&'static str];

/// Starts the recording and the profilers of the environment; called before `main`.
pub(crate) fn start() {
    if !UNASKED.is_empty() {
        return;
    }
    if process::is_privileged() {
        // The environment is that of a user who has fewer rights than the program.
        if ["METASPY_PROFILE", "METASPY_RECORD"].into_iter().any(is_set) {
            warn(&format!("nothing is recorded: {}", StartError::Privileged));
        }
        recording::leave_name();
        return;
    }
    let is_recorded = std::env::var_os("METASPY_RECORD")
        .is_some_and(|value| !value.is_empty() && value != "memory");
    let is_profiled = is_set("METASPY_PROFILE");
    report_without_effect(is_recorded || is_profiled);
    if !is_recorded && !is_profiled {
        recording::leave_name();
        return;
    }
    if let Err(error) = Recording::selected() {
        recording::refuse(&error);
        recording::leave_name();
        return;
    }
    start_profilers();
    let everything = if is_recorded { EVERYTHING } else { "" };
    let selectors = std::env::var("METASPY_OBSERVE").unwrap_or_else(|_| everything.to_owned());
    let mode = mode();
    let selectors: Vec<&str> =
        selectors.split(',').map(str::trim).filter(|selector| !selector.is_empty()).collect();
    for text in selectors {
        match Profiler::new(format!("METASPY_OBSERVE={text}"))
            .observe(Selected(text.to_owned(), mode))
            .controlled()
            .install()
        {
            Ok(installed) => keep(installed),
            Err(error) => warn(&format!("METASPY_OBSERVE: {error}")),
        }
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// The variables that programs read.
const READ: [&str; 13] = [
    "METASPY_RECORD",
    "METASPY_OBSERVE",
    "METASPY_MODE",
    "METASPY_DETAILS",
    "METASPY_BUDGET",
    "METASPY_ROTATE",
    "METASPY_KEEP",
    "METASPY_DIR",
    "METASPY_CONTROL",
    "METASPY_GUARD",
    "METASPY_RUN",
    "METASPY_PROFILE",
    "METASPY_SAMPLE",
];

/// Of those, the ones that have an effect only on a program that the environment records.
const OF_RECORDED: [&str; 7] = [
    "METASPY_OBSERVE",
    "METASPY_MODE",
    "METASPY_DETAILS",
    "METASPY_CONTROL",
    "METASPY_GUARD",
    "METASPY_ROTATE",
    "METASPY_KEEP",
];

/// Reports variables that are set and have no effect, and misspelt ones.
fn report_without_effect(is_recorded: bool) {
    let is_on =
        |name: &&str| is_set(name) && std::env::var_os(name).is_none_or(|value| value != "0");
    let unused: Vec<&str> =
        OF_RECORDED.into_iter().filter(|name| !is_recorded && is_on(name)).collect();
    if !unused.is_empty() {
        let names = unused.join(", ");
        let verb = if unused.len() == 1 { "has" } else { "have" };
        warn(&format!(
            "{names} {verb} no effect: set METASPY_RECORD to `live` or to a path as well"
        ));
    }
    if !cfg!(feature = "sampler") && is_set("METASPY_SAMPLE") {
        warn(
            "METASPY_SAMPLE has no effect: build the program with metaspy's feature `sample`, or run `metaspy sample`",
        );
    }
    for (name, _) in std::env::vars_os() {
        let Some(name) =
            name.to_str().filter(|name| name.starts_with("METASPY_") && !READ.contains(name))
        else {
            continue;
        };
        if let Some(known) = READ.into_iter().find(|read| distance(name, read) <= 2) {
            warn(&format!("{name} is no variable of metaspy: set {known}"));
        }
    }
}

/// Installs the method profilers that `METASPY_PROFILE` names, for the rest of the process.
fn start_profilers() {
    let value = std::env::var("METASPY_PROFILE").unwrap_or_default();
    let mut names: Vec<&str> = Vec::new();
    for name in value.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        match name {
            OWN => names.extend(
                FACTORIES
                    .iter()
                    .filter(|factory| !factory.is_built_in())
                    .map(|factory| factory.name),
            ),
            name => names.push(name),
        }
    }
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            continue;
        }
        let profiler = match Profiler::named(name) {
            Ok(profiler) => profiler,
            Err(error) => {
                warn(&format!("METASPY_PROFILE: {error}"));
                continue;
            }
        };
        match profiler.install() {
            Ok(installed) => keep(installed),
            Err(error) => warn(&format!("the profiler `{name}` is not installed: {error}")),
        }
    }
}

/// Keeps a profiler until the process ends. It stays reachable, so checkers of leaks do not report
/// it.
fn keep(installed: Installed) {
    static KEPT: Mutex<Vec<Installed>> = Mutex::new(Vec::new());
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(installed);
}

/// Stands for all profilers that are not metaspy's own.
const OWN: &str = "+";

/// The selector of everything.
const EVERYTHING: &str = "*";

/// The mode that `METASPY_MODE` selects.
fn mode() -> Mode {
    match std::env::var("METASPY_MODE").as_deref() {
        Err(_) | Ok("" | "full") => Mode::Full,
        Ok("tally") => Mode::Tally,
        Ok(other) => {
            warn(&format!("METASPY_MODE={other} is neither `full` nor `tally`; `full` is used"));
            Mode::Full
        }
    }
}

/// All objects, at the sites that a selector matches, in a mode.
struct Selected(String, Mode);

impl Instrumenter for Selected {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        let selector: Selector = self.0.parse()?;
        if let Err(error) = session.select(&selector)
            && self.0 != EVERYTHING
        {
            // Spans, and names that a parser gives, are known when the program first comes by.
            warn(&format!(
                "METASPY_OBSERVE: {error} (Sites that are registered later, such as spans, are still matched.)"
            ));
        }
        let details = switch("METASPY_DETAILS", "details are not recorded");
        session.arm_pending(&selector, None, &Arming { details, ..Arming::all(self.1) })?;
        Ok(Installation::none())
    }
}

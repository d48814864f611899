//! What the environment asks of a program: to be recorded from its start, though nothing in it installs a profiler.
//!
//! `METASPY_RECORD` is `live` or a path, and `METASPY_OBSERVE` says what: selectors, separated by commas. Without it,
//! everything that can be observed is; if it is empty, only what the program's own profilers ask for. `METASPY_MODE` says
//! how closely: `full`, as by default, or `tally`, which counts calls and records no events. `METASPY_DETAILS`, if it is
//! set and not `0`, has arguments and return values written down where sites offer them.
//!
//! `METASPY_PROFILE` names profilers on the mirror of the program, separated by commas; `+` names all that are not
//! metaspy's own. See [`crate::method_profilers`].

use linkme::distributed_slice;

use crate::arm::{Arming, Mode};
use crate::instrumenter::{InstallError, Installation, Instrumenter, Session};
use crate::platform::process;
use crate::recording::StartError;
use crate::select::Selector;
use crate::{Profiler, Recording, method_profilers};

/// Not empty in a program that is never recorded unless it says so itself, as the `metaspy` command, which many run
/// where the environment is meant for others.
#[distributed_slice]
pub static UNASKED: [&'static str];

/// Starts what the environment asks for; called before `main`.
pub(crate) fn start() {
    if !UNASKED.is_empty() {
        return;
    }
    if process::is_privileged() {
        // Its environment is that of a user who may not do what it may.
        if ["METASPY_PROFILE", "METASPY_RECORD"].into_iter().any(is_set) {
            eprintln!("metaspy: nothing is recorded: {}", StartError::Privileged);
        }
        return;
    }
    start_spies();
    let asked = std::env::var_os("METASPY_RECORD").is_some_and(|value| !value.is_empty() && value != "memory");
    if !asked {
        return;
    }
    if let Err(error) = Recording::current() {
        eprintln!("metaspy: nothing is recorded: {error}");
        return;
    }
    let selectors = std::env::var("METASPY_OBSERVE").unwrap_or_else(|_| EVERYTHING.to_owned());
    let mode = mode();
    let selectors: Vec<&str> = selectors.split(',').map(str::trim).filter(|selector| !selector.is_empty()).collect();
    for text in selectors {
        match Profiler::new(format!("METASPY_OBSERVE={text}")).observe(Selected(text.to_owned(), mode)).install() {
            // Until the process ends.
            Ok(installed) => std::mem::forget(installed),
            Err(error) => eprintln!("metaspy: METASPY_OBSERVE: {error}"),
        }
    }
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Starts the profilers on the mirror that `METASPY_PROFILE` names, separated by commas.
fn start_spies() {
    let names = std::env::var("METASPY_PROFILE").unwrap_or_default();
    for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        if name == OWN {
            method_profilers::start_own();
        } else if method_profilers::start_named(name).is_none()
            && method_profilers::FACTORIES.iter().all(|startable| startable.name != name)
        {
            let known: Vec<&str> = method_profilers::FACTORIES.iter().map(|startable| startable.name).collect();
            eprintln!("metaspy: METASPY_PROFILE: there is no profiler `{name}`; there are {}", known.join(", "));
        }
    }
}

/// Names all profilers that are not metaspy's own.
const OWN: &str = "+";

/// The selector of everything.
const EVERYTHING: &str = "*";

/// What `METASPY_MODE` asks for.
fn mode() -> Mode {
    match std::env::var("METASPY_MODE").as_deref() {
        Err(_) | Ok("" | "full") => Mode::Full,
        Ok("tally") => Mode::Tally,
        Ok(other) => {
            eprintln!("metaspy: METASPY_MODE={other} is neither `full` nor `tally`; `full` is taken");
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
            eprintln!("metaspy: METASPY_OBSERVE: {error} (What is made later, as spans are, will meet it.)");
        }
        let details = std::env::var_os("METASPY_DETAILS").is_some_and(|value| !value.is_empty() && value != "0");
        session.arm_pending(&selector, None, &Arming { details, ..Arming::all(self.1) })?;
        Ok(Installation::none())
    }
}

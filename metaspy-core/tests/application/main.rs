//! The application always wins: wherever it calls a hook, the hook neither hangs nor aborts it, and
//! no call is lost.
//!
//! Each case runs in a process of its own, this test program started again, because a fault would
//! end or hang all tests.
#![cfg(target_os = "linux")]

mod allocator;
mod forks;
mod residents;
mod signals;
mod stack;

use std::process::Command;

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::instrumenter::Installation;
use metaspy_core::{InstallError, Installed, Instrumenter, Profiler, Session};

#[global_allocator]
static ALLOCATOR: allocator::Observed = allocator::Observed;

/// Seconds after which a case hangs.
const PATIENCE: libc::c_uint = 120;

/// Runs a case in a process of its own: the test `name`, started again. The system ends it if it
/// hangs.
fn apart(name: &str, case: impl FnOnce()) {
    if std::env::var_os("METASPY_TEST_APART").is_some() {
        end_later();
        return case();
    }
    let mut again = Command::new(std::env::current_exe().expect("it is known"));
    let output = again
        .args(["--exact", name, "--nocapture"])
        .env("METASPY_TEST_APART", "1")
        .output()
        .expect("it runs");
    let (errors, printed) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}\n{errors}\n{printed}", output.status);
    assert!(printed.contains("1 passed"), "there is a test of this name: {printed}");
}

/// Lets the system end this process when it hangs.
fn end_later() {
    // SAFETY: no memory is passed. Unless the process handles the signal, it is ended.
    unsafe { libc::alarm(PATIENCE) };
}

/// Arms the sites that a selector matches.
struct Matching(&'static str, Arming);

impl Instrumenter for Matching {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&self.0.parse()?, &self.1)?;
        Ok(Installation::none())
    }
}

/// Observes the sites that a selector matches.
fn observe(selector: &'static str, mode: Mode) -> Installed {
    armed(selector, Arming::all(mode))
}

/// Observes these sites with arguments and returned values.
fn observe_in_detail(selector: &'static str) -> Installed {
    armed(selector, Arming { details: true, ..Arming::all(Mode::Full) })
}

fn armed(selector: &'static str, arming: Arming) -> Installed {
    Profiler::new(selector)
        .observe(Matching(selector, arming))
        .install()
        .expect("the sites are there")
}

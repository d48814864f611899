//! How a call is observed: decided once, when it begins.

use crate::arm::{Config, Mode, with_plan};
use crate::recorder;
use crate::site::Site;
use crate::subject::Subject;

/// The recorder's treatment of a call. Method profilers see the call independently of it.
#[derive(Clone, Copy)]
pub(super) enum Path {
    /// Nothing.
    Off,
    /// It counts the call.
    Count,
    /// It writes an event.
    Event { timed: bool },
    /// It writes an event, and details or handlers look into the call.
    Detailed,
}

impl Path {
    /// The path of a call on a subject that the filter of its site selects.
    #[inline(always)]
    pub fn of(site: &Site, subject: Subject, config: Config) -> Self {
        if config.has_plan() {
            Path::planned(site, subject, config)
        } else {
            Path::in_mode(config.mode(), config)
        }
    }

    #[inline(never)]
    fn planned(site: &Site, subject: Subject, config: Config) -> Self {
        let path = with_plan(site, |plan| {
            if config.looks_inside() && plan.looks_inside(subject) {
                Path::Detailed
            } else {
                Path::in_mode(plan.mode_of(subject), config)
            }
        });
        path.unwrap_or_else(|| Path::in_mode(config.mode(), config))
    }

    #[inline(always)]
    fn in_mode(mode: Mode, config: Config) -> Self {
        match mode {
            Mode::Off => Path::Off,
            Mode::Tally => Path::Count,
            Mode::Sampled => {
                Path::Event { timed: recorder::is_timed(recorder::own_lane(), config.sample()) }
            }
            Mode::Full => Path::Event { timed: true },
        }
    }
}

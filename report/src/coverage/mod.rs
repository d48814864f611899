//! Coverage: the part of a program that ran, how well, and the work that a cache could save.

mod by_test;
mod comparison;
mod constants;
pub mod gate;
mod patterns;
mod repeats;
pub mod text;

pub use by_test::{TestReach, by_test};
pub use comparison::{Baseline, Comparison};
pub use constants::{Constants, LEAST, TRUST, constants, is_cache, test_command};
pub use patterns::{Example, Pattern, PatternExamples, patterns};
pub use repeats::{Repeated, repeated};

use metaspy_reader::{Filter, Store};

use crate::program::Program;

/// The version of a run as JSON. It changes with a change that is more than an addition.
pub const FORMAT: u32 = 1;

/// One or more processes that ran a program, as reports print them.
#[derive(Debug, Default)]
pub struct Run {
    /// The program, with the numbers of all processes.
    pub program: Program,
    /// The processes that recorded; `None` if the program was built and not run.
    pub processes: Option<usize>,
    /// Reasons why numbers may be too low, as sentences.
    pub doubts: Vec<String>,
    /// Programs without a recording, and recordings that could not be read whole, as sentences.
    /// Methods of theirs may be absent.
    pub unread: Vec<String>,
}

impl Run {
    /// The calls of a recording that pass the filter.
    pub fn of_recording(store: &Store, filter: &Filter) -> Run {
        let mut program = Program::read(store, filter);
        let mut doubts = store.missing().to_vec();
        if let Some(absent) = store.absent_files() {
            program.exact = false;
            doubts.push(format!("{absent}: give all files of the process"));
        }
        if !program.exact {
            doubts.push("the counts may be too low: `metaspy report` states why".into());
        }
        doubts.extend(program.profiles.doubts());
        let unread = store.missing().to_vec();
        Run { program, processes: Some(store.processes().len().max(1)), doubts, unread }
    }

    /// True if every number is exact.
    pub fn is_exact(&self) -> bool {
        self.doubts.is_empty() && self.program.exact
    }
}

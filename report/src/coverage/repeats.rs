//! Methods that were called again with equal arguments on an unchanged receiver: candidates for a
//! cache (*Execution profiling blueprints*, section 7).

use std::cmp::Reverse;

use metaspy_format::profile::built_in::{NOT_COMPARED, REPEATED, REPEATS};

use crate::coverage::constants::LEAST;
use crate::program::{Element, Method, Program, Returned};

/// A method that repeated earlier computations.
#[derive(Debug)]
pub struct Repeated<'p> {
    /// The method.
    pub element: &'p Element,
    /// Its calls with equal arguments on an unchanged receiver.
    pub repeated: u64,
    /// Its calls whose arguments or receivers cannot be compared: some of them may be repeated as
    /// well.
    pub not_compared: u64,
}

/// The candidates of a program, the most repeated one first. `None` if the profiler `repeats` did
/// not run.
pub fn repeated(program: &Program) -> Option<Vec<Repeated<'_>>> {
    if !program.profiles.contains(REPEATS) {
        return None;
    }
    let methods =
        program.elements.iter().filter_map(|element| Some((element, element.method.as_deref()?)));
    let mut found: Vec<Repeated<'_>> = methods
        .filter(|(_, method)| method.is_counted() && method.profile.calls >= LEAST)
        .filter(|(_, method)| method.profile.returns != Some(Returned::Unit))
        .map(|(element, method)| Repeated {
            element,
            repeated: column(method, REPEATED),
            not_compared: column(method, NOT_COMPARED),
        })
        .filter(|method| method.repeated > 0)
        .collect();
    found.sort_by_key(|method| Reverse(method.repeated));
    Some(found)
}

fn column(method: &Method, name: &str) -> u64 {
    let columns = method.profile.columns.get(REPEATS);
    columns.and_then(|columns| columns.get(name)?.value.number()).unwrap_or(0)
}

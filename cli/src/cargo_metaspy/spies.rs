//! The profilers that programs are to start.

use crate::cargo_metaspy::arguments::Woven;

/// What tests cover.
pub const COVERAGE: &str = "coverage";
/// Times, callers and callees.
pub const CALLS: &str = "calls";
/// In what is asked: not even those that nobody named.
const NONE: &str = "none";
/// In the environment of programs: all that are not metaspy's.
const OWN: &str = "+";

/// The profilers that programs are to start.
#[derive(Debug, Default)]
pub struct Spies {
    names: Vec<String>,
    with_own: bool,
}

impl Spies {
    /// Those that are asked for, and those that what is asked needs.
    pub fn of(command: &str, asked: &Woven) -> Spies {
        let mut names: Vec<String> = asked.profile.iter().filter(|name| *name != NONE).cloned().collect();
        let with_defaults = names.len() == asked.profile.len();
        let mut needed = |name: &str, is_needed: bool| {
            if is_needed && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        };
        needed(COVERAGE, with_defaults && (command == "test" || asked.returns || asked.args));
        needed(CALLS, asked.timed || asked.callers.is_some());
        Spies { names, with_own: !asked.profiler.is_empty() }
    }

    /// Those that have a name.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.names.iter()
    }

    /// For the environment of programs; `None` if there are none.
    pub fn text(&self) -> Option<String> {
        let own = self.with_own.then_some(OWN);
        let names: Vec<&str> = self.names.iter().map(String::as_str).chain(own).collect();
        (!names.is_empty()).then(|| names.join(","))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cargo_metaspy::arguments::{Cli, Command, sorted};

    fn check(line: &str, expected: Option<&str>) {
        let cli = Cli::try_parse_from(sorted(line.split(' ').map(Into::into))).expect("it is understood");
        let (command, woven) = match cli.command {
            Command::Test(woven) => ("test", woven),
            Command::Run(woven) => ("run", woven),
            _ => panic!("it is another command"),
        };
        assert_eq!(Spies::of(command, &woven).text().as_deref(), expected, "{line}");
    }

    #[test]
    fn tests_are_covered_and_what_is_asked_for_starts() {
        check("run", None);
        check("test", Some("coverage"));
        check("test --profile none", None);
        check("test --profile none --profile mine --timed", Some("mine,calls"));
        check("run --timed", Some("calls"));
        check("run --returns --profile coverage", Some("coverage"));
        check("run --args --callers x", Some("coverage,calls"));
        check("run --profiler ../p --profile a", Some("a,+"));
    }
}

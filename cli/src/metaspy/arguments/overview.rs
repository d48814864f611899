//! The commands in groups, as `metaspy --help` shows them on one screen.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Subcommand, ValueEnum};
use clap_complete::Shell;

use super::Command;

/// The groups, each with its commands.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Look", &["demo", "open", "attach", "list", "clean"]),
    ("Record", &["sample", "grammar", "history", "instructions", "import", "stream"]),
    ("Compare,\ncheck", &["findings", "report", "diff", "export", "verify"]),
    ("Pictures,\neditor,\nscripts", &["blueprint", "lsp", "mcp", "schema", "completions"]),
];
/// The commands of `metaspy-scale`.
const FLEETS: &[&str] = &["query", "seal", "restore", "cluster", "ship", "serve", "otlp"];

/// What `metaspy --help` prints.
pub fn overview() -> String {
    let all = Command::augment_subcommands(clap::Command::new("metaspy"));
    let about = |name: &str| {
        let command = all.find_subcommand(name).expect("a command of a group exists");
        command.get_about().map(ToString::to_string).unwrap_or_default()
    };
    let mut text =
        "{about}\nUsage: metaspy COMMAND …    (`metaspy COMMAND --help` begins with an example)\n"
            .to_owned();
    for (group, names) in GROUPS {
        let mut words = group.split('\n');
        for name in names {
            text +=
                &format!("{:<10} {name:<12} {}\n", words.next().unwrap_or_default(), about(name));
        }
    }
    text += &format!("{:<10} {}: see docs/scale.md\n", "Fleets", FLEETS.join(", "));
    text + "Exit codes: 0 fine; 1 a condition failed, or a recording is damaged; 2 unusable"
}

/// Returns the commands in the order of the overview.
pub fn in_order(metaspy: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    let names = GROUPS.iter().flat_map(|(_, names)| *names).chain(FLEETS);
    names.filter_map(|name| metaspy.find_subcommand(name))
}

/// What `metaspy completions` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// Completions for this shell.
    For(Shell),
    /// The man page.
    Man,
}

impl Printed {
    /// Parses the name of a shell, or `man`.
    pub fn parser() -> impl TypedValueParser<Value = Printed> {
        let shells = Shell::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names = PossibleValuesParser::new(shells.chain([PossibleValue::new("man")]));
        names.map(|name| Shell::from_str(&name, false).map_or(Printed::Man, Printed::For))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::metaspy::arguments::Cli;

    #[test]
    fn the_help_is_one_screen() {
        let help = Cli::command().render_help().to_string();
        let wide = help.lines().find(|line| line.chars().count() > 80);
        assert_eq!((wide, help.lines().count().min(25)), (None, help.lines().count()), "{help}");
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut listed: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| *names).chain(FLEETS).copied().collect();
        listed.sort_unstable();
        let all = Cli::command();
        let mut known: Vec<&str> = all
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        known.sort_unstable();
        assert_eq!(listed, known);
    }
}

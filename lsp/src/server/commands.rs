//! Commands of the client, which select runs and a metric, or remove kept runs.

use serde_json::{Value, json};

use super::Server;
use crate::heat::Metric;
use crate::reader::Command;
use crate::settings::Selection;

/// Names of all commands, for the server's capabilities.
pub(crate) const COMMANDS: [&str; 3] = [PICK, METRIC, EMPTY];
/// Name of the command that shows the runs with these names, or `"newest"`, or `"all"`.
const PICK: &str = "metaspy.pick";
/// Name of the command that selects the metric.
const METRIC: &str = "metaspy.metric";
/// Name of the command that removes the runs that `cargo metaspy` has kept.
const EMPTY: &str = "metaspy.empty";

impl Server {
    /// Executes a command. An error describes the arguments that it needs.
    pub fn execute(&mut self, command: &str, arguments: Vec<Value>) -> Result<Value, String> {
        match command {
            PICK => {
                let selection = match &arguments[..] {
                    [Value::String(word)] if word == "newest" || word == "all" => {
                        arguments[0].clone()
                    }
                    _ => Value::Array(arguments),
                };
                let read = serde_json::from_value::<Selection>(selection).ok();
                self.settings.runs = read
                    .filter(|read| match read {
                        Selection::Newest | Selection::All => true,
                        Selection::Picked(ids) => {
                            !ids.is_empty() && self.snapshot.unknown(ids).next().is_none()
                        }
                    })
                    .ok_or_else(|| {
                        format!(
                            "{PICK} takes \"newest\", \"all\", or names of runs: {}",
                            self.snapshot.names()
                        )
                    })?;
                self.send_settings();
            }
            METRIC => {
                let metric = arguments.into_iter().next().unwrap_or_default();
                self.settings.metric = serde_json::from_value(metric).map_err(|_| {
                    format!("{METRIC} takes one of: {}", Metric::ALL.map(Metric::word).join(", "))
                })?;
                self.refresh();
            }
            EMPTY => {
                let _ = self.reader.send(Command::Empty);
            }
            _ => {
                return Err(format!(
                    "there is no command {command}; the commands are {}",
                    COMMANDS.join(", ")
                ));
            }
        }
        Ok(json!(null))
    }
}

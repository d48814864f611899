//! One line about findings, with which other commands end.

use std::path::Path;

use metaspy_reader::Store;

use super::{find, settings_of_project};
use crate::text::counted;

/// Maximum number of events for a search that nobody asked for. A search takes up to two
/// microseconds of processor time for each event, so this is half a second.
const EVENTS_MAX: u64 = 250_000;

/// Returns the line with which another command mentions the findings of its recordings:
/// `2 findings: metaspy findings run.spy`.
///
/// `command` lists the findings of these recordings, which are merged under their names. The
/// settings come from the project that `directory` belongs to. There is no line if nothing is
/// found, or if only counts were recorded. Recordings with many events are not searched, and the
/// line only names the command.
pub fn mention(
    recordings: Vec<(String, Store)>,
    directory: &Path,
    command: &str,
) -> Option<String> {
    let unsearched = || Some(format!("{command} looks for what is wrong"));
    let events: u64 = recordings.iter().map(|(_, store)| store.totals().stored).sum();
    if events == 0 {
        return None;
    }
    if events > EVENTS_MAX {
        return unsearched();
    }
    // The named command reports the error in the settings.
    let Ok(config) = settings_of_project(directory) else { return unsearched() };
    let store = Store::merged(recordings).ok()?;
    let found = find(&store, &config).listed().count();
    (found > 0).then(|| format!("{}: {command}", counted(found as u64, "finding")))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::{env, fs};

    use super::super::testing::Run;
    use super::*;

    /// Kind with a finding in recordings of more than a hundred layouts.
    const OFTEN: &str = r#"
        [[findings.own]]
        kind = "often"
        when = "count(site:page::Scene::layout) > 100"
        title = "{site} runs {count} times"
    "#;

    /// Records the layout of `count` nodes.
    fn layouts(count: u64) -> Store {
        let mut run = Run::new();
        (0..count).for_each(|node| _ = run.leaf("page::Scene::layout", node, 1_000));
        run.store()
    }

    /// Creates a directory with these settings.
    fn project(name: &str, settings: &str) -> PathBuf {
        let directory =
            env::temp_dir().join(format!("metaspy-mention-{}-{name}", std::process::id()));
        fs::create_dir_all(&directory).expect("it can be created");
        fs::write(directory.join("metaspy.toml"), settings).expect("it can be written");
        directory
    }

    fn check(name: &str, settings: &str, store: Store, expected: Option<&str>) {
        let directory = project(name, settings);
        let line =
            mention(vec![("run.spy".to_owned(), store)], &directory, "metaspy findings run.spy");
        fs::remove_dir_all(directory).expect("it can be removed");
        assert_eq!(line.as_deref(), expected);
    }

    #[test]
    fn findings_are_counted_and_their_absence_is_silent() {
        check("found", OFTEN, layouts(101), Some("1 finding: metaspy findings run.spy"));
        check("silent", OFTEN, layouts(100), None);
        check("empty", OFTEN, layouts(0), None);
    }

    #[test]
    fn settings_silence_a_mention_and_wrong_ones_name_the_command() {
        check("off", &format!("{OFTEN}[findings.kinds.often]\noff = true"), layouts(101), None);
        let expected = Some("metaspy findings run.spy looks for what is wrong");
        check("wrong", "[findings]\nleast = 1", layouts(1), expected);
    }

    #[test]
    fn a_recording_of_many_events_is_not_searched() {
        check("many", "", layouts(EVENTS_MAX), None);
        let expected = Some("metaspy findings run.spy looks for what is wrong");
        check("too-many", "", layouts(EVENTS_MAX + 1), expected);
    }
}

//! `untested` and `more-tests`: the gaps in the tests of a woven program.

use std::ffi::OsStr;
use std::path::Path;

use metaspy_format::profile::built_in;
use metaspy_reader::Store;

use super::map::HashSet;
use super::of_recording::OfRecording;
use super::{Certainty, Context, Evidence, Finding};
use crate::coverage::{Example, Pattern, patterns};
use crate::program::Element;
use crate::runs;
use crate::text::{counted, short_path};

/// Maximum number of methods that a sentence names.
const NAMED: usize = 5;

pub(super) const UNTESTED: OfRecording = OfRecording {
    kind: "untested",
    missing: missing_tests,
    find: |context| {
        let title = |count: &str, owner: &str| format!("no test runs {count} of {owner}");
        let wanted = [Pattern::Absent, Pattern::LongUntested];
        of_patterns(UNTESTED.kind, &wanted, title, "write a test that runs them", context)
    },
};

pub(super) const MORE_TESTS: OfRecording = OfRecording {
    kind: "more-tests",
    missing: missing_tests,
    find: |context| {
        let title = |count: &str, owner: &str| {
            format!("tests run {count} of {owner} once or on one object only")
        };
        let advice =
            "they have five branches or more: test them with other inputs and other objects";
        of_patterns(MORE_TESTS.kind, &[Pattern::MoreTests], title, advice, context)
    },
};

/// Returns true if tests and returned values were measured. Without them, nobody needs to read the
/// program.
pub(super) fn is_measured(context: &Context<'_>) -> bool {
    context.store.united_profiles().iter().any(|profile| profile.name == built_in::COVERAGE)
}

fn missing_tests(context: &Context<'_>) -> Option<String> {
    let is_tested = is_measured(context)
        && context
            .program()
            .methods()
            .filter_map(|it| it.method.as_deref())
            .any(|it| !it.profile.tests.is_empty());
    if !is_tested {
        return Some("it has no tests: record with `cargo metaspy test`".to_owned());
    }
    missing_of_run(context.store)
}

/// Returns a sentence if a run has several recordings and some of them are not read.
/// `cargo metaspy test` records each test program into a file in the directory of the run, and each
/// program may test methods that the others do not.
fn missing_of_run(store: &Store) -> Option<String> {
    let merged = store.processes().iter().map(|process| Path::new(&process.source));
    let read: Vec<&Path> = store.path().into_iter().chain(merged).collect();
    let directory = read.first()?.parent()?;
    let names: HashSet<&OsStr> = read.iter().filter_map(|path| path.file_name()).collect();
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    if !runs::is_run(directory) {
        return None;
    }
    let recordings = runs::recordings_in(directory);
    let others = recordings
        .iter()
        .filter(|path| path.file_name().is_some_and(|name| !names.contains(name)))
        .count();
    let text = counted(others as u64, "other recording");
    (others > 0).then(|| format!("{text} of its run may test more: name the directory of the run"))
}

/// States which types show one of these patterns, each type once.
fn of_patterns(
    kind: &str,
    wanted: &[Pattern],
    title: fn(&str, &str) -> String,
    advice: &str,
    context: &Context<'_>,
) -> Vec<Finding> {
    let found = patterns(context.program());
    let examples = found
        .iter()
        .filter(|found| wanted.contains(&found.pattern))
        .flat_map(|found| &found.examples);
    let examples = examples
        .filter(|example| !example.methods.iter().all(|method| is_of_integration_tests(method)));
    let mut stated: HashSet<&str> = HashSet::default();
    let new = examples.filter(|example| stated.insert(example.ty.path_text()));
    new.map(|example| Finding {
        advice: advice.to_owned(),
        ..of_pattern(kind, example, title, context)
    })
    .collect()
}

/// Returns true if integration tests define a method. Such a method is a helper of tests, and needs
/// no test itself.
fn is_of_integration_tests(method: &Element) -> bool {
    method.method.as_deref().is_some_and(|method| is_in_tests(&method.site.file))
}

/// Returns true for a file of integration tests, which are crates of their own: `tests/api.rs`. A
/// package may itself be in a directory of this name.
fn is_in_tests(file: &str) -> bool {
    let mut directories = Path::new(file).parent().into_iter().flatten();
    directories.rfind(|name| *name == "tests" || *name == "src").is_some_and(|name| name == "tests")
}

fn of_pattern(
    kind: &str,
    example: &Example<'_>,
    title: fn(&str, &str) -> String,
    context: &Context<'_>,
) -> Finding {
    let methods = &example.methods;
    let lines: u64 = methods.iter().map(|method| method.lines).sum();
    let mut names = methods
        .iter()
        .take(NAMED)
        .map(|method| method.name.as_str())
        .collect::<Vec<_>>()
        .join(", ");
    if methods.len() > NAMED {
        names.push_str(&format!(" and {} more", methods.len() - NAMED));
    }
    let owner = example.ty.path_text();
    let sites =
        methods.iter().filter_map(|method| method.site()).map(|site| context.site(site)).collect();
    let title = title(&counted(methods.len() as u64, "method"), short_path(owner));
    let mut finding = Finding::new(kind, title, sites);
    finding.evidence = Evidence {
        text: format!("{names}: {}.", counted(lines, "line")),
        numbers: vec![("methods", methods.len() as u64), ("lines", lines)],
        filter: format!("site:{owner}::*"),
        ..Evidence::default()
    };
    if !context.program().exact {
        finding.certainty = Certainty::Estimated("a part of the calls is not counted".to_owned());
    }
    finding
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use metaspy_format::superblock as sb;
    use metaspy_reader::testing::Writer;

    use super::*;

    #[test]
    fn what_integration_tests_define_is_not_to_be_tested() {
        assert!(is_in_tests("tests/api.rs") && is_in_tests("crates/page/tests/common/mod.rs"));
        assert!(!is_in_tests("src/tests.rs") && !is_in_tests("src/contests/page.rs"));
        assert!(!is_in_tests("/home/me/tests/page/src/lib.rs"));
    }

    #[test]
    fn one_of_several_recordings_of_a_run_does_not_tell_what_is_untested() {
        let run =
            env::temp_dir().join(format!("metaspy-untested-{}", process::id())).join("woven-7");
        fs::create_dir_all(&run).expect("it can be created");
        let record = |name: &str, process: u64| {
            let file = run.join(name);
            let mut writer = Writer::new(1);
            writer.turn(0, 0);
            writer.set(sb::PID, process);
            fs::write(&file, writer.bytes()).expect("it can be written");
            (file.display().to_string(), Store::open(&file).expect("it is a recording"))
        };
        let (_, unit) = record("unit.spy", 1);
        assert_eq!(missing_of_run(&unit), None);
        let sources = vec![record("unit.spy", 1), record("integration.spy", 2)];
        let missing = "1 other recording of its run may test more: name the directory of the run";
        assert_eq!(missing_of_run(&unit).as_deref(), Some(missing));
        let merged = Store::merged(sources).expect("they can be merged");
        assert_eq!(missing_of_run(&merged), None);
        fs::remove_dir_all(run.parent().expect("it has one")).expect("it can be removed");
    }
}

//! A program that installs no profiler is recorded all the same, if the environment asks for it.

use std::path::PathBuf;
use std::process::{Command, Output};

use metaspy::Store;
use metaspy::prelude::*;
use metaspy::store::{By, Scope};
use tracing_subscriber::layer::SubscriberExt;

struct Scene;

#[observe]
impl Scene {
    fn measure(&self) {}
    fn layout(&self) {
        self.measure();
        self.measure();
    }
}

/// What a child of these tests does; as a test of its own, next to nothing.
#[test]
fn works() {
    (0..5).for_each(|_| Scene.layout());
}

/// What another one does: it makes spans, whose sites exist from their first use.
#[test]
fn makes_spans() {
    let subscriber = tracing_subscriber::registry().with(metaspy_instrumenters::spans::layer());
    tracing::subscriber::with_default(subscriber, || {
        (0..3).for_each(|_| {
            tracing::info_span!("told").in_scope(|| tracing::info!(name: "said", "so"))
        });
    });
}

/// Runs `works` in a process of its own, recorded into a file of this name.
fn run(name: &str, observe: Option<&str>) -> (PathBuf, Output) {
    run_test("environment::works", name, observe)
}

fn run_test(test: &str, name: &str, observe: Option<&str>) -> (PathBuf, Output) {
    let path =
        std::env::temp_dir().join(format!("metaspy-environment-{}-{name}.spy", std::process::id()));
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command
        .args([test, "--exact", "--nocapture"])
        .env("METASPY_RECORD", &path)
        .env_remove("METASPY_OBSERVE");
    command.envs(observe.map(|observe| ("METASPY_OBSERVE", observe)));
    let output = command.output().expect("it can be run again");
    assert!(output.status.success());
    (path, output)
}

/// What it recorded, by the name of the method.
fn recorded(name: &str, observe: Option<&str>) -> Vec<(String, u64)> {
    let (path, _) = run(name, observe);
    counts(path)
}

fn counts(path: PathBuf) -> Vec<(String, u64)> {
    let store = Store::open(&path).expect("it was recorded");
    let rows = store.tally(By::Site, &Scope::default()).rows;
    let mut counts: Vec<(String, u64)> = (rows.iter())
        .map(|row| {
            let site = store.site(row.site.expect("rows by site have one")).expect("it is named");
            (site.path.rsplit("::").next().unwrap_or_default().to_owned(), row.measure.count)
        })
        .collect();
    counts.sort();
    std::fs::remove_file(path).expect("the file is ours");
    counts
}

#[test]
fn every_site_is_recorded_unless_metaspy_observe_selects_some() {
    assert_eq!(recorded("all", None), [("layout".into(), 5), ("measure".into(), 10)]);
    assert_eq!(recorded("one", Some("Scene::measure")), [("measure".into(), 10)]);
    assert_eq!(
        recorded("both", Some("Scene::measure, Scene::lay*")),
        [("layout".into(), 5), ("measure".into(), 10)]
    );
    assert_eq!(recorded("none", Some("")), []);
}

#[test]
fn metaspy_observe_also_selects_sites_that_are_registered_later() {
    let (path, output) = run_test("environment::makes_spans", "later", Some("environment::told"));
    assert_eq!(counts(path), [("told".into(), 3)]);
    // The site is not registered yet.
    assert!(String::from_utf8_lossy(&output.stderr).contains("no site matches"));
    let (path, output) = run_test("environment::makes_spans", "later-all", None);
    assert_eq!(counts(path), [("said".into(), 3), ("told".into(), 3)]);
    assert!(output.stderr.is_empty());
}

#[test]
fn a_selector_that_matches_nothing_is_reported_and_the_program_runs() {
    let (path, output) = run("wrong", Some("Scene::mesure"));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("METASPY_OBSERVE") && error.contains("Scene::measure"), "{error}");
    std::fs::remove_file(path).expect("it was recorded all the same");
    // A value of the environment does not drive the terminal.
    let (path, output) = run("evil", Some("\u{1b}[2Jevil"));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("evil") && !error.contains('\u{1b}'), "{error}");
    std::fs::remove_file(path).expect("it was recorded all the same");
}

#[test]
fn values_that_are_no_switches_are_reported_and_show_no_details() {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command.args(["environment::works", "--exact"]);
    let path =
        std::env::temp_dir().join(format!("metaspy-environment-{}-switch.spy", std::process::id()));
    command
        .env("METASPY_RECORD", &path)
        .env("METASPY_DETAILS", "false")
        .env("METASPY_CONTROL", "7");
    let output = command.output().expect("it can be run again");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && error.contains("METASPY_DETAILS=false"), "{error}");
    assert!(error.contains("METASPY_CONTROL=7"), "{error}");
    std::fs::remove_file(path).expect("it was recorded all the same");
}

#[test]
fn variables_without_effect_and_misspelt_ones_are_reported_in_one_line_each() {
    let run = |variables: &[(&str, &str)]| {
        let mut command =
            Command::new(std::env::current_exe().expect("a test knows its own program"));
        command.args(["environment::works", "--exact"]).envs(variables.iter().copied());
        let output = command.output().expect("it can be run again");
        assert!(output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let error =
        run(&[("METASPY_CONTROL", "7"), ("METASPY_OBSERVE", "Scene::*"), ("METASPY_DETAILS", "0")]);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(
        error.contains("METASPY_OBSERVE, METASPY_CONTROL have no effect: set METASPY_RECORD"),
        "{error}"
    );
    let error = run(&[("METASPY_RECORD", "memory"), ("METASPY_MODE", "tally")]);
    assert!(error.contains("METASPY_MODE has no effect"), "{error}");
    let error = run(&[("METASPY_RECROD", "run.spy")]);
    assert_eq!(error, "metaspy: METASPY_RECROD is no variable of metaspy: set METASPY_RECORD\n");
    // With the feature, the sampler reports values that it cannot read.
    let error = run(&[("METASPY_SAMPLE", "yes")]);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("METASPY_SAMPLE"), "{error}");
    let directory =
        std::env::temp_dir().join(format!("metaspy-environment-{}-words", std::process::id()));
    std::fs::create_dir(&directory).expect("the name is ours");
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command
        .args(["environment::works", "--exact"])
        .env("METASPY_RECORD", "Live")
        .current_dir(&directory);
    let error = String::from_utf8_lossy(&command.output().expect("it can be run again").stderr)
        .into_owned();
    assert!(
        error.contains("METASPY_RECORD=Live is a path") && error.lines().count() == 1,
        "{error}"
    );
    assert_eq!(counts(directory.join("Live")).len(), 2);
    std::fs::remove_dir(directory).expect("it is empty");
    assert_eq!(
        run(&[("METASPY_CONTROL", "0"), ("METASPY_OBSERVE", ""), ("METASPY_LONG", "1")]),
        ""
    );
}

#[test]
fn the_reason_of_an_error_is_in_its_message_once() {
    let error = metaspy::Recording::file("/nowhere/at/all.spy")
        .start()
        .expect_err("there is no such directory");
    let chain =
        std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let text: String = chain.map(ToString::to_string).collect();
    assert_eq!(text.matches("os error").count(), 1, "{text}");
}

#[test]
fn a_recording_that_cannot_be_made_is_reported_and_the_program_runs() {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    let output = command
        .args(["environment::works", "--exact"])
        .env("METASPY_RECORD", "/nowhere/at/all.spy")
        .output();
    let output = output.expect("it can be run again");
    assert!(output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        error.contains("nothing is recorded") && error.contains("/nowhere/at/all.spy"),
        "{error}"
    );
}

/// A program that observes itself. In a process of its own: another test of this process starts a
/// recording.
#[test]
fn observes_itself() {
    if std::env::var_os("METASPY_RECORD").is_none() {
        return;
    }
    let profiler = Profiler::new("own").observe(methods("Scene::measure"));
    let ((), profile) =
        profiler.profile(|| Scene.layout()).expect("a program observes itself, recorded or not");
    assert_eq!(profile.counts().total(), 2);
}

#[test]
fn a_recording_that_cannot_be_made_is_reported_once_and_the_program_observes_itself() {
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command.args(["environment::observes_itself", "--exact", "--nocapture"]);
    for (place, directory) in [("/nowhere/at/all.spy", ""), ("live", "/dev/null")] {
        let output = command
            .env("METASPY_RECORD", place)
            .env("METASPY_DIR", directory)
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(error.matches("metaspy:").count(), 1, "{error}");
    }
}

#[test]
fn a_file_that_is_no_recording_is_left_as_it_is_even_if_it_is_empty() {
    let path =
        std::env::temp_dir().join(format!("metaspy-environment-{}-empty.spy", std::process::id()));
    for content in ["", "a diary"] {
        std::fs::write(&path, content).expect("the file is ours");
        let mut command =
            Command::new(std::env::current_exe().expect("a test knows its own program"));
        command.args(["environment::works", "--exact"]).env("METASPY_RECORD", &path);
        let output = command.output().expect("it can be run again");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success() && error.contains("no recording exists at this path"),
            "{error}"
        );
        assert_eq!(std::fs::read_to_string(&path).expect("it is still there"), content);
    }
    std::fs::remove_file(path).expect("the file is ours");
}

/// A program that starts a recording of its own.
#[test]
fn records_by_itself() {
    Scene.layout();
    let recording = metaspy::Recording::memory().budget(4 << 20).start().expect("there is memory");
    Scene.layout();
    assert!(recording.store().totals().emitted <= 3);
}

#[test]
fn a_recording_that_the_program_replaces_is_kept_until_then_and_this_is_reported() {
    let (path, output) = run_test("environment::records_by_itself", "replaced", None);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        error.contains("starts a recording of its own") && error.contains("replaced.spy"),
        "{error}"
    );
    assert!(error.contains("What follows is in its memory only"), "{error}");
    let notes = Store::open(&path).expect("it was recorded").notes().join("\n");
    assert!(notes.contains("starts a recording of its own"), "{notes}");
    assert_eq!(counts(path), [("layout".into(), 1), ("measure".into(), 2)]);
}

/// A program that starts another one, which inherits its environment.
#[test]
fn starts_another() {
    Scene.layout();
    if std::env::var_os("METASPY_RECORD").is_some() {
        let mut again =
            Command::new(std::env::current_exe().expect("a test knows its own program"));
        let mut child = again.args(["environment::works", "--exact"]).spawn().expect("it starts");
        println!("child {}", child.id());
        assert!(child.wait().expect("it ends").success());
    }
    Scene.layout();
}

#[test]
fn a_process_that_inherits_the_path_records_into_a_file_of_its_own() {
    let path =
        std::env::temp_dir().join(format!("metaspy-environment-{}-family.spy", std::process::id()));
    let mut command = Command::new(std::env::current_exe().expect("a test knows its own program"));
    command
        .args(["environment::starts_another", "--exact", "--nocapture"])
        .env("METASPY_RECORD", &path);
    let output = command.output().expect("it can be run again");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}");
    let child = printed
        .split("child ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .expect("it is printed");
    let of_child = path
        .with_file_name(format!("metaspy-environment-{}-family.{child}.spy", std::process::id()));
    assert_eq!(counts(of_child), [("layout".into(), 5), ("measure".into(), 10)]);
    // The process that ended left a recording, which the next run replaces.
    assert_eq!(counts(path), [("layout".into(), 2), ("measure".into(), 4)]);
}

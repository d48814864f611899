//! Profilers have names, and there are only so many at once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use metaspy_core::method_profilers::{self, MethodProfiler, Mirror, Value};
use metaspy_core::profiler;

use crate::alone;

macro_rules! profilers {
    ($($type:ident: $name:literal, $report:expr;)*) => {$(
        #[derive(Default)]
        struct $type;

        impl MethodProfiler for $type {
            const NAME: &'static str = $name;
            type Package = ();
            type Type = ();
            type Method = ();
            type Around = ();

            fn report(&self, _: &Mirror<Self>) -> String {
                $report
            }
        }

        profiler!($type);
    )*};
}

profilers! {
    Fails: "fails", panic!("in a report");
    Asks: "asks", method_profilers::profile("last").map_or_else(String::new, |last| format!("{} says {}", last.name(), last.report()));
    Last: "last", "goodbye".to_owned();
}

#[test]
fn a_profile_is_found_by_its_name_while_its_profiler_runs() {
    let _alone = alone();
    assert!(method_profilers::profile("last").is_none());
    let last = method_profilers::install(Last).expect("there is room");
    assert_eq!(method_profilers::profile("last").map(|profile| profile.report()).as_deref(), Some("goodbye"));
    let mirror = last.uninstall();
    assert!(method_profilers::profile("last").is_none() && !mirror.methods().is_empty());
}

#[test]
fn a_profiler_that_there_is_no_room_for_says_so() {
    let _alone = alone();
    let mut installed: Vec<_> = (0..31).map(|_| method_profilers::install(Last).expect("there is room")).collect();
    let refused = method_profilers::install(Asks).map(drop).expect_err("there is no room");
    assert!(refused.to_string().starts_with("31 profilers are installed"), "{refused}");
    assert!(method_profilers::start_named("asks").is_none() && method_profilers::profile("asks").is_none());
    installed.pop();
    drop(method_profilers::install(Asks).expect("there is room"));
}

/// What the profilers of this program report when a process of it ends, by their names, and what it says.
fn reports(spies: &str) -> (BTreeMap<String, String>, String) {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("spies-at-the-end");
    let _ = std::fs::remove_dir_all(&dir);
    let mut command = Command::new(std::env::current_exe().expect("it runs"));
    command.arg("--list").env("METASPY_PROFILE", spies).env("METASPY_DIR", &dir).env_remove("METASPY_RUN");
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let begun = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().expect("it is ours");
            panic!("it does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let said = String::from_utf8(child.wait_with_output().expect("it has ended").stderr).expect("it is text");
    let files = std::fs::read_dir(dir).into_iter().flatten().map(|file| file.expect("it is there").path());
    let profiles = files.filter(|path| path.extension().is_some_and(|extension| extension == "profile"));
    let reports = profiles.map(|path| {
        let profile: Value = serde_json::from_slice(&std::fs::read(path).expect("it is whole")).expect("it is JSON");
        (
            profile["profile"].as_str().unwrap_or_default().to_owned(),
            profile["report"].as_str().unwrap_or_default().to_owned(),
        )
    });
    (reports.collect(), said)
}

#[test]
fn at_the_end_profilers_may_ask_each_other_and_one_that_panics_loses_only_its_own() {
    let (reports, said) = reports("fails,asks,last");
    let reports: Vec<(&str, &str)> = reports.iter().map(|(name, report)| (name.as_str(), report.as_str())).collect();
    assert_eq!(reports, [("asks", "last says goodbye"), ("last", "goodbye")]);
    assert!(said.contains("the profile `fails` cannot be written: the profiler panicked"), "{said}");
}

//! Runs that are ended, runs whose output is not read, and several at once.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};

use serde_json::json;

use crate::common::{Package, manifest, three};

/// Its main thread ends by itself, and its process with its last thread.
#[cfg(target_os = "linux")]
#[test]
fn a_program_ends_with_its_last_thread_when_it_is_recorded() {
    let source = "unsafe extern \"C\" {\n    fn syscall(number: i64, ...) -> i64;\n}\nfn work() {}\nfn main() {\n    \
                  std::thread::spawn(|| {\n        for _ in 0..1000 {\n            work();\n        }\n    });\n    \
                  let exit = if cfg!(target_arch = \"x86_64\") { 60 } else { 93 };\n    \
                  unsafe { syscall(exit, 0) };\n}\n";
    let package = Package::new(
        "last_thread",
        &[("Cargo.toml", &manifest("last_thread", "2024", "")), ("src/main.rs", source)],
    );
    let did = package.try_metaspy(&["run"]);
    assert_eq!((did.calls("last_thread::work"), did.code), (Some(1000), 0), "{}", did.stderr);
}

#[cfg(unix)]
#[test]
fn a_program_that_is_ended_with_ctrl_c_is_reported() {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    let package = Package::new(
        "interrupted",
        &[
            ("Cargo.toml", &manifest("interrupted", "2024", "")),
            (
                "src/main.rs",
                "fn one() {\n}\nfn main() {\n    one();\n    std::fs::write(\"begun\", \"\").unwrap();\n    \
                 std::thread::sleep(std::time::Duration::from_secs(600));\n}\n",
            ),
        ],
    );
    let start = || {
        let mut command = package.command(&["run", "--profile", "coverage"], "metaspy.json");
        let running =
            command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut running = running.expect("it was built for this test");
        while !package.dir.join("begun").exists() {
            assert!(
                running.try_wait().expect("it can be asked").is_none(),
                "it ended before it began"
            );
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        fs::remove_file(package.dir.join("begun")).expect("it is there");
        running
    };
    let send = |signal: &str, group: u32| {
        let kill = format!("kill -{signal} -{group}");
        assert!(
            Command::new("sh").args(["-c", &kill]).status().expect("there is a shell").success()
        );
    };
    let runs = package.runs();
    let running = start();
    send("KILL", running.id());
    running.wait_with_output().expect("it ended");
    let recordings = |run: &str| {
        let entries = fs::read_dir(runs.join(run)).into_iter().flatten().flatten();
        entries.filter(|entry| entry.path().extension() == Some(OsStr::new("spy"))).count()
    };
    assert_eq!(recordings("1"), 1, "the killed run is kept");

    let running = start();
    let group = running.id();
    send("INT", group);
    let did = package.did(running.wait_with_output().expect("it ended"), "metaspy.json");
    assert_eq!((did.code, did.calls("interrupted::one")), (130, Some(1)), "{}", did.stderr);
    assert!(
        did.stdout.contains("covered 2 of 2 methods") && did.json["exact"] == true,
        "{}",
        did.stdout
    );
    assert_eq!(
        (recordings("2"), runs.join("2.lock").exists()),
        (1, false),
        "the interrupted run is kept"
    );
    let note = fs::read_to_string(runs.join("2/run.json")).expect("it has a note");
    assert!(
        note.contains("cargo metaspy run --offline")
            && note.contains(&package.dir.display().to_string()),
        "{note}"
    );
}

#[test]
fn the_reader_of_the_output_may_stop() {
    let package = three("unread");
    let mut command = package.command(&["test", "--weave", "one", "--no-run"], "metaspy.json");
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    drop(reader);
    let output = command.stdout(writer).stderr(std::process::Stdio::piped()).output();
    let did = package.did(output.expect("it was built for this test"), "metaspy.json");
    assert!(
        !did.stderr.contains("metaspy: panicked") && did.json["woven"][0]["functions"] == 1,
        "{}",
        did.stderr
    );
}

/// A crate with a profiler that says no more than that it is there.
fn profiler(name: &str) -> Package {
    let source = format!(
        "use metaspy_core::method_profilers::{{Call, Count, MethodSpy, MethodProfiler}};\n#[derive(Default)]\nstruct Own;\n\
         impl MethodProfiler for Own {{\n    const NAME: &'static str = \"{name}\";\n    type Package = ();\n    type Type = ();\n    \
         type Method = Count;\n    type Around = ();\n    fn before(&self, _: &MethodSpy<Self>, _: &Call<'_>) {{}}\n}}\nmetaspy_core::profiler!(Own);\n"
    );
    let manifest = manifest(name, "2024", "[dependencies]\nmetaspy-core = \"0.1\"");
    Package::new(name, &[("Cargo.toml", &manifest), ("src/lib.rs", &source)])
}

#[test]
fn two_runs_at_once_have_the_profilers_that_each_names() {
    let waits = "fn main() {\n    std::fs::write(\"begun\", \"\").unwrap();\n    while !std::path::Path::new(\"go\").exists() {\n        \
                 std::thread::sleep(std::time::Duration::from_millis(10));\n    }\n}\n";
    let package = Package::new(
        "profiled",
        &[("Cargo.toml", &manifest("profiled", "2024", "")), ("src/main.rs", waits)],
    );
    let [first, second] =
        ["profiled_first", "profiled_second"].map(|name| (profiler(name), format!("{name}.json")));
    let start = |(profiler, json): &(Package, String)| {
        let dir = profiler.dir.to_str().expect("it is UTF-8");
        let mut command = package.command(&["run", "--profiler", dir], json);
        let (out, err) = (std::process::Stdio::piped(), std::process::Stdio::piped());
        command.stdout(out).stderr(err).spawn().expect("it was built for this test")
    };
    let mut one = start(&first);
    while !package.dir.join("begun").exists() {
        assert!(one.try_wait().expect("it can be asked").is_none(), "it ended before it began");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut other = start(&second);
    // Until it waits; or until its program runs, though that has the first one's profiler.
    let lines =
        BufReader::new(other.stderr.as_mut().expect("it is heard")).lines().map_while(Result::ok);
    let is_on =
        |line: &String| line.contains("waiting for another run") || line.contains("Running ");
    assert!(lines.into_iter().any(|line| is_on(&line)), "it waits or runs");
    fs::write(package.dir.join("go"), "").expect("it is written");
    for (child, (_, json)) in [(one, first), (other, second)] {
        let did = package.did(child.wait_with_output().expect("it ends"), &json);
        let values = did.json["profiles"][0]["name"].as_str().unwrap_or("none").to_owned();
        assert_eq!(values + ".json", json, "{}", did.stderr);
    }
}

#[test]
fn recordings_are_kept_in_a_chosen_directory() {
    let package = three("recorded");
    let dir = package.dir.join("recordings");
    let did = package.metaspy_in(&["run", "--weave", "one"], &[("METASPY_DIR", dir.as_os_str())]);
    assert_eq!((did.code, did.calls("recorded_a::one")), (0, Some(1)), "{}", did.stderr);
    let below = |dir: &std::path::Path| {
        fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
    };
    let runs: Vec<_> = below(&dir).collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    let files = below(&runs[0]).flat_map(|run| below(&run).chain([run]).collect::<Vec<_>>());
    assert_eq!(files.filter(|file| file.extension().is_some_and(|it| it == "spy")).count(), 1);
}

#[test]
fn calls_of_documentation_tests_are_counted() {
    let lib = "/// ```\n/// assert_eq!(documented::double(2), 4);\n/// ```\npub fn double(n: u32) -> u32 {\n    n * 2\n}\n\
               /// ```\n/// assert_eq!(documented::triple(2), 6);\n/// ```\npub fn triple(n: u32) -> u32 {\n    n * 3\n}\npub fn never() {}\n\
               #[cfg(test)]\nmod tests {\n    fn fixture() -> u32 {\n        1\n    }\n    #[test]\n    fn doubles() {\n        \
               assert_eq!(super::double(fixture()), 2);\n    }\n}\n";
    for edition in ["2021", "2024"] {
        let manifest = manifest("documented", edition, "");
        let package = Package::new("documented", &[("Cargo.toml", &manifest), ("src/lib.rs", lib)]);
        let did = package.metaspy(&["test"]);
        let calls = ["double", "triple", "never", "tests::fixture"]
            .map(|name| did.calls(&format!("documented::{name}")));
        assert_eq!(
            calls,
            [Some(2), Some(1), Some(0), Some(1)],
            "{edition}: {}{}",
            did.stdout,
            did.stderr
        );
        let ratio = &did.json["ratio"];
        assert_eq!(
            (&ratio["covered"], &ratio["methods"]),
            (&json!(2), &json!(3)),
            "the fixture is no method"
        );
        assert_eq!((&did.json["exact"], &did.json["doubts"]), (&json!(true), &json!([])));
        assert!(
            did.stdout.contains("2 of 3 methods ran; 2 functions of tests not counted"),
            "{}",
            did.stdout
        );
    }
}

#[cfg(unix)]
#[test]
fn documentation_tests_that_cannot_be_linked_with_the_core_run_and_no_count_is_exact() {
    use std::os::unix::fs::PermissionsExt;
    let lib = "/// ```\n/// assert_eq!(apart::double(2), 4);\n/// ```\npub fn double(n: u32) -> u32 {\n    n * 2\n}\n";
    let linker = "#!/bin/sh\ncase \"$*\" in *whole-archive*) exit 1;; esac\nexec cc \"$@\"\n";
    let manifest = manifest("apart", "2024", "");
    let files = [("Cargo.toml", manifest.as_str()), ("src/lib.rs", lib), ("linker.sh", linker)];
    let package = Package::new("apart", &files);
    let linker = package.dir.join("linker.sh");
    fs::set_permissions(&linker, fs::Permissions::from_mode(0o755))
        .expect("it is the test's own file");
    let flags = format!("-Clinker={}", linker.display());
    let did = package.metaspy_in(&["test"], &[("RUSTDOCFLAGS", flags.as_ref())]);
    assert!(
        did.code == 0 && did.stdout.contains("src/lib.rs - double"),
        "{}{}",
        did.stdout,
        did.stderr
    );
    assert_eq!((did.calls("apart::double"), &did.json["exact"]), (Some(0), &json!(false)));
    let doubts = did.json["doubts"].to_string();
    assert!(doubts.contains("the documentation tests of apart are not counted"), "{doubts}");
    assert!(
        did.stdout.contains("the documentation tests of apart are not counted"),
        "{}",
        did.stdout
    );
}

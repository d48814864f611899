//! What goes wrong: killed builds, directories that cannot be made, two runs at once, and mistakes.

use std::fs;
use std::path::PathBuf;

use crate::common::{Package, manifest, three};

#[test]
fn a_selector_that_matches_nothing_is_answered_with_names() {
    let package = three("mistaken");
    let did = package.try_metaspy(&["run", "--weave", "mistaken_a::onne"]);
    assert_eq!(did.code, 2);
    assert!(did.stderr.contains("mistaken_a::one"), "{}", did.stderr);
    let empty = package.try_metaspy(&["run", "--weave", "a::"]);
    assert!(empty.code == 2 && empty.stderr.contains("empty segment"), "{}", empty.stderr);
}

#[test]
fn a_build_that_was_killed_recovers() {
    let package = three("killed");
    package.metaspy(&["build", "--weave", "killed_*::one"]);
    // What a killed build leaves: half a copy, and cargo does not know of the crate.
    let mirror = mirror(&package, "killed_a-");
    fs::remove_dir_all(&mirror).expect("it is removed");
    fs::create_dir_all(mirror.join("half")).expect("half of it is there");
    package.write("a/src/lib.rs", "pub fn one() -> u32 {\n    5\n}\n");
    let did = package.metaspy(&["run", "--weave", "killed_*::one"]);
    assert_eq!((did.stdout.lines().next(), did.calls("killed_a::one")), (Some("6"), Some(1)));
}

#[cfg(unix)]
#[test]
fn a_build_that_is_killed_while_it_compiles_recovers() {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    let package = three("stopped");
    // It stands still in the midst of a crate.
    let stands_still = "case \"$*\" in *\"--crate-name stopped_a \"*) echo > \"$BEGUN\"; exec sleep 600;; esac\nexec \"$@\"\n";
    let (wrapper, begun) = (package.script("wrapper.sh", stands_still), package.dir.join("begun"));
    let mut command = package.command(&["run", "--weave", "one"], "metaspy.json");
    command.env("RUSTC_WRAPPER", wrapper).env("BEGUN", &begun).process_group(0);
    let mut running = command.stderr(Stdio::null()).spawn().expect("it was built for this test");
    while !begun.exists() {
        assert!(
            running.try_wait().expect("it can be asked").is_none(),
            "it ended before it was killed"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let group = format!("kill -9 -{}", running.id());
    assert!(Command::new("sh").args(["-c", &group]).status().expect("there is a shell").success());
    running.wait().expect("it ended");
    let did = package.metaspy(&["run", "--weave", "one"]);
    assert_eq!(
        (did.calls("stopped_a::one"), did.calls("stopped_b::one")),
        (Some(1), Some(1)),
        "{}",
        did.stderr
    );
}

#[test]
fn a_crate_that_cannot_be_copied_is_compiled_as_it_is_and_woven_when_it_can() {
    let package = Package::new(
        "uncopied",
        &[("Cargo.toml", &manifest("uncopied", "2024", "")), ("src/lib.rs", "pub fn one() {\n}\n")],
    );
    assert!(package.metaspy(&["build"]).wove("uncopied::one"));
    // As on a full disk: the directory cannot be made.
    let mirror = mirror(&package, "uncopied-");
    fs::remove_dir_all(&mirror).expect("it is removed");
    fs::write(&mirror, "in the way").expect("it is written");
    package.write("src/lib.rs", "pub fn one() {\n}\npub fn two() {\n}\n");
    let did = package.metaspy(&["build"]);
    assert!(
        did.stderr.contains("warning: metaspy: uncopied has no hooks in this build"),
        "{}",
        did.stderr
    );
    assert!(did.stderr.contains("wove nothing"), "{}", did.stderr);
    fs::remove_file(&mirror).expect("it is removed");
    assert!(package.metaspy(&["build"]).wove("uncopied::two"));
}

fn mirror(package: &Package, unit: &str) -> PathBuf {
    let mirrors = fs::read_dir(package.target_dir().join("metaspy/weave/overlays"))
        .expect("there are copies");
    let mut mirrors = mirrors.flatten().map(|entry| entry.path());
    mirrors.find(|path| path.to_string_lossy().contains(unit)).expect("it was woven")
}

#[test]
fn two_runs_at_once_end_well_whatever_each_selects() {
    let package = three("both");
    for (first, second) in [("both_a::one", "both_a::one"), ("both_b::one", "both_a::one")] {
        let start = |selector: &str, json: &str| {
            let mut command = package.command(&["run", "--weave", selector], json);
            let (out, err) = (std::process::Stdio::piped(), std::process::Stdio::piped());
            command.stdout(out).stderr(err).spawn().expect("it was built for this test")
        };
        let running = [(first, "first.json"), (second, "second.json")]
            .map(|(selector, json)| (selector, json, start(selector, json)));
        for (selector, json, child) in running {
            let did = package.did(child.wait_with_output().expect("it ends"), json);
            assert_eq!((did.code, did.calls(selector)), (0, Some(1)), "{selector}: {}", did.stderr);
            let other = if selector == "both_a::one" { "both_b::one" } else { "both_a::one" };
            assert!(!did.wove(other), "{selector}: {}", did.json);
        }
    }
}

#[test]
fn a_program_may_run_this_command_itself() {
    let package = Package::new(
        "nested",
        &[
            ("Cargo.toml", &manifest("nested", "2024", "")),
            ("src/lib.rs", "pub fn one() {\n}\n"),
            (
                "src/main.rs",
                "fn main() {\n    let mut command = std::process::Command::new(std::env::var(\"COMMAND\").unwrap());\n    \
                 let output = command.args([\"metaspy\", \"build\", \"--offline\", \"--lib\", \"--weave\", \"nested::one\"]).output().unwrap();\n    \
                 println!(\"{}\", String::from_utf8_lossy(&output.stderr));\n}\n",
            ),
        ],
    );
    let did =
        package.metaspy_in(&["run"], &[("COMMAND", env!("CARGO_BIN_EXE_cargo-metaspy").as_ref())]);
    assert!(
        did.code == 0 && did.stdout.contains("wove 1 function: 1 of nested 0.1.0"),
        "{}",
        did.stdout
    );
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_before_anything_runs() {
    let package = three("unwritten");
    let output = package
        .command(&["run"], "not there/metaspy.json")
        .output()
        .expect("it was built for this test");
    let did = package.did(output, "not there/metaspy.json");
    assert!(
        did.code == 2 && did.stderr.contains("cannot write") && did.compiled().is_empty(),
        "{}",
        did.stderr
    );
}

#[test]
fn what_the_core_depends_on_makes_nothing_ambiguous() {
    // With `serde_json` in sight an integer may be compared with a JSON value, too.
    let package = Package::new(
        "ambiguous",
        &[
            ("Cargo.toml", &manifest("ambiguous", "2021", "")),
            (
                "src/main.rs",
                "fn none(of: &[u32]) -> &[u32] {\n    &of[..0]\n}\nfn main() {\n    assert_eq!(none(&[1]), &[]);\n    println!(\"equal\");\n}\n",
            ),
        ],
    );
    for line in [&["run"][..], &["run", "--release"]] {
        let did = package.metaspy(line);
        assert!(did.stdout.starts_with("equal"), "{}", did.stdout);
        assert_eq!(
            (did.calls("ambiguous::none"), did.calls("ambiguous::main")),
            (Some(1), Some(1)),
            "{}",
            did.json
        );
    }
}

#[test]
fn what_hooks_hide_from_the_compiler_is_still_an_error() {
    let source = "#![deny(warnings)]\npub fn one(unused: u32) {\n}\n";
    let package = Package::new(
        "hiding",
        &[("Cargo.toml", &manifest("hiding", "2024", "")), ("src/lib.rs", source)],
    );
    let did = package.try_metaspy(&["build", "--args"]);
    assert!(did.code == 101 && did.stderr.contains("unused variable: `unused`"), "{}", did.stderr);
    package.write("src/lib.rs", &source.replace("unused", "_unused"));
    assert!(package.metaspy(&["build", "--args"]).wove("hiding::one"));
}

#[cfg(unix)]
#[test]
fn a_compiler_that_is_killed_refused_nothing() {
    let package = three("overwhelmed");
    // As where memory is short: once, and only what is woven.
    let dies = "case \"$*\" in *\"--crate-name overwhelmed_a \"*__metaspy*) [ -e \"$DIED\" ] || { echo > \"$DIED\"; kill -9 $$; };; esac\nexec \"$@\"\n";
    let (wrapper, died) = (package.script("wrapper.sh", dies), package.dir.join("died"));
    let environment = [("RUSTC_WRAPPER", wrapper.as_os_str()), ("DIED", died.as_os_str())];
    let did = package.metaspy_in(&["run", "--weave", "one"], &environment);
    assert_eq!(
        (did.code, did.calls("overwhelmed_a::one"), did.calls("overwhelmed_b::one")),
        (0, None, Some(1))
    );
    assert!(
        did.stderr.contains("overwhelmed_a has no hooks in this build, the next build adds them"),
        "{}",
        did.stderr
    );
    assert_eq!(did.json["skipped"].as_array().map(Vec::len), Some(0), "{}", did.json);
    let did = package.metaspy_in(&["run", "--weave", "one"], &environment);
    assert_eq!(
        (did.calls("overwhelmed_a::one"), did.calls("overwhelmed_b::one")),
        (Some(1), Some(1)),
        "{}",
        did.stderr
    );
}

#[test]
fn what_the_linker_misses_is_the_users_error() {
    let source = "unsafe extern \"C\" {\n    fn nowhere_to_be_found();\n}\nfn main() {\n    unsafe { nowhere_to_be_found() }\n}\n";
    let package = Package::new(
        "unlinked",
        &[("Cargo.toml", &manifest("unlinked", "2024", "")), ("src/main.rs", source)],
    );
    let did = package.try_metaspy(&["build"]);
    assert!(did.code == 101 && did.stderr.contains("nowhere_to_be_found"), "{}", did.stderr);
    assert!(!did.stderr.contains("metaspy: unlinked"), "{}", did.stderr);
}

#[test]
#[cfg(unix)]
fn a_program_whose_environment_was_cleared_is_reported_and_no_count_is_exact() {
    let test = "#[test]\nfn clears() {\n    let mut program = std::process::Command::new(env!(\"CARGO_BIN_EXE_cleared\"));\n    \
                if std::env::var_os(\"CLEAR\").is_some() {\n        program.env_clear();\n    }\n    \
                assert!(program.status().unwrap().success());\n}\n";
    let package = Package::new(
        "cleared",
        &[
            ("Cargo.toml", &manifest("cleared", "2024", "")),
            (
                "src/main.rs",
                "fn only_here() -> u32 {\n    42\n}\n\nfn main() {\n    assert_eq!(only_here(), 42);\n}\n",
            ),
            ("tests/it.rs", test),
        ],
    );
    let cleared = package.metaspy_in(&["test"], &[("CLEAR", "1".as_ref())]);
    assert_eq!(cleared.calls("cleared::only_here"), Some(0));
    assert_eq!(cleared.json["exact"], false, "{}", cleared.json);
    let doubt = cleared.json["doubts"][0].as_str().expect("it is a sentence");
    assert!(doubt.starts_with("`cleared` ran and its calls are not counted"), "{doubt}");

    // The name that is left over from the first run is no doubt about the second.
    let passed_on = package.metaspy(&["test"]);
    assert_eq!(passed_on.calls("cleared::only_here"), Some(1));
    assert_eq!(passed_on.json["exact"], true, "{}", passed_on.json);
}

#[test]
#[cfg(target_os = "linux")]
fn a_function_that_runs_before_main_is_counted() {
    let main = "fn begins() -> u32 {\n    1\n}\n\nextern \"C\" fn before() {\n    assert_eq!(begins(), 1);\n}\n\n\
                #[used]\n#[unsafe(link_section = \".init_array\")]\nstatic BEFORE: extern \"C\" fn() = before;\n\n\
                fn main() {}\n";
    let package = Package::new(
        "early",
        &[("Cargo.toml", &manifest("early", "2024", "")), ("src/main.rs", main)],
    );
    assert_eq!(package.metaspy(&["run"]).calls("early::begins"), Some(1));
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_program_that_forbids_itself_system_calls_keeps_its_counts() {
    // Allowed are what Rust's own end of a program needs: read, write, mmap, munmap, brk,
    // rt_sigreturn, madvise, exit, sigaltstack, futex and exit_group. A filter is a list of
    // instructions: load the number, compare, return.
    let main = r#"
        #[repr(C)]
        struct Step { code: u16, yes: u8, no: u8, value: u32 }
        #[repr(C)]
        struct Filter { steps: u16, first: *const Step }
        unsafe extern "C" { fn prctl(option: i32, a: u64, b: u64, c: u64, d: u64) -> i32; }
        fn forbid(otherwise: u32) {
            let mut steps = vec![Step { code: 0x20, yes: 0, no: 0, value: 0 }];
            for number in [0, 1, 9, 11, 12, 15, 28, 60, 131, 202, 231] {
                steps.push(Step { code: 0x15, yes: 0, no: 1, value: number });
                steps.push(Step { code: 0x06, yes: 0, no: 0, value: 0x7fff_0000 });
            }
            steps.push(Step { code: 0x06, yes: 0, no: 0, value: otherwise });
            let filter = Filter { steps: steps.len() as u16, first: steps.as_ptr() };
            unsafe {
                assert_eq!(prctl(38, 1, 0, 0, 0), 0, "no new privileges");
                assert_eq!(prctl(22, 2, &raw const filter as u64, 0, 0), 0, "the filter is set");
            }
        }
        fn work() {}
        fn main() {
            let kills = std::env::args().nth(1).as_deref() == Some("kills");
            work();
            forbid(if kills { 0x8000_0000 } else { 0x0005_0001 });
            (0..500).for_each(|_| work());
        }
    "#;
    let package = Package::new(
        "strict",
        &[("Cargo.toml", &manifest("strict", "2024", "")), ("src/main.rs", main)],
    );
    assert_eq!(
        package.cargo(&["run", "--offline", "--", "kills"]).code,
        0,
        "it needs no other call itself"
    );
    // Where forbidden calls fail, the program ends as it does alone.
    let fails = package.metaspy(&["run"]);
    assert_eq!(fails.calls("strict::work"), Some(501), "{}", fails.stdout);
    let killed = package.try_metaspy(&["run", "--", "kills"]);
    assert_eq!(killed.calls("strict::work"), Some(501), "{}", killed.stderr);
}

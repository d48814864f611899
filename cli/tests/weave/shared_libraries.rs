//! Libraries that programs load while they run, or that are linked into programs in other
//! languages.

use std::process::Command;

use serde_json::{Value, json};

use crate::common::{Package, manifest};

/// A program that loads the library of its package, if it is told to, and calls it.
const LOADS: &str = r#"
use std::ffi::{CString, c_char, c_int, c_void};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
}

fn load() {
    let path = std::env::current_exe().unwrap().with_file_name("libplugged.so");
    let path = CString::new(path.into_os_string().into_encoded_bytes()).unwrap();
    let library = unsafe { dlopen(path.as_ptr(), 2) };
    assert!(!library.is_null(), "{path:?} is a library");
    let run = unsafe { dlsym(library, c"run".as_ptr()) };
    let run: extern "C" fn(u64) -> u64 = unsafe { std::mem::transmute(run) };
    assert_eq!(run(3) + std::thread::spawn(move || run(2)).join().unwrap(), 5);
    unsafe { dlclose(library) };
}

fn main() {
    if std::env::args().nth(1).is_some() {
        load();
    }
}
"#;

const LIBRARY: &str = "fn inside() -> u64 {\n    1\n}\n#[unsafe(no_mangle)]\npub extern \"C\" fn run(calls: u64) -> u64 {\n    \
                       (0..calls).map(|_| inside()).sum()\n}\n";

#[test]
#[cfg(target_os = "linux")]
fn calls_in_a_library_are_counted_and_one_that_is_never_loaded_was_not_called() {
    for kinds in ["[\"cdylib\"]", "[\"cdylib\", \"rlib\"]"] {
        let manifest = manifest("plugged", "2024", &format!("[lib]\ncrate-type = {kinds}"));
        let files =
            [("Cargo.toml", manifest.as_str()), ("src/lib.rs", LIBRARY), ("src/main.rs", LOADS)];
        let package = Package::new("plugged", &files);
        for options in
            [&[][..], &["--release", "--contexts"], &["--profile", "coverage", "--timed"]]
        {
            for (calls, more) in [(0, &[][..]), (5, &["--", "load"])] {
                let did = package.metaspy(&[&["run"], options, more].concat());
                let of = [did.calls("plugged::inside"), did.calls("plugged::main")];
                assert_eq!(
                    of,
                    [Some(calls), Some(1)],
                    "{kinds} {options:?}: {}{}",
                    did.stdout,
                    did.stderr
                );
                let found = [&did.json["exact"], &did.json["doubts"], &did.json["processes"]];
                assert_eq!(found, [&json!(true), &json!([]), &json!(1)], "{kinds} {options:?}");
            }
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_without_a_core_is_named_and_no_count_is_exact() {
    let manifest = manifest("coreless", "2024", "[lib]\ncrate-type = [\"dylib\"]");
    let files = [
        ("Cargo.toml", manifest.as_str()),
        ("src/lib.rs", LIBRARY),
        ("src/main.rs", "fn main() {}\n"),
    ];
    let did = Package::new("coreless", &files).metaspy(&["run"]);
    assert_eq!(
        (did.calls("coreless::main"), &did.json["exact"]),
        (Some(1), &json!(false)),
        "{}",
        did.json
    );
    let doubt = "calls in the shared library of coreless 0.1.0 are not counted: it has no core";
    assert_eq!(did.json["doubts"], json!([doubt]));
    assert!(did.stdout.contains(doubt), "{}", did.stdout);
}

#[test]
#[cfg(target_os = "linux")]
fn calls_in_a_static_library_are_recorded_in_a_program_in_c() {
    let manifest = manifest("placed", "2024", "[lib]\ncrate-type = [\"staticlib\"]");
    let main = "#include <stdint.h>\nuint64_t run(uint64_t calls);\nint main(void) { return run(3) != 3; }\n";
    let package = Package::new(
        "placed",
        &[("Cargo.toml", &manifest), ("src/lib.rs", LIBRARY), ("src/main.c", main)],
    );
    let built = package.metaspy(&["build"]);
    assert!(
        built.stderr.contains("the static library placed has a core, which a linker takes"),
        "{}",
        built.stderr
    );
    let (library, program) =
        (package.target_dir().join("metaspy/debug/libplaced.a"), package.dir.join("placed"));
    let mut compiler = Command::new("cc");
    compiler
        .arg(package.dir.join("src/main.c"))
        .arg("-Wl,--whole-archive")
        .arg(library)
        .arg("-Wl,--no-whole-archive");
    let linked = compiler
        .args(["-lpthread", "-ldl", "-lm", "-o"])
        .arg(&program)
        .output()
        .expect("a linker needs it");
    assert!(linked.status.success(), "{}", String::from_utf8_lossy(&linked.stderr));
    let recording = package.dir.join("placed.spy");
    let ran = package
        .clean_command(&program)
        .env("METASPY_RECORD", &recording)
        .status()
        .expect("it runs");
    assert!(ran.success(), "{ran}");
    let mut report = Command::new(env!("CARGO_BIN_EXE_metaspy"));
    let report = report
        .arg("report")
        .arg(recording)
        .args(["--by", "site", "--json"])
        .output()
        .expect("it runs");
    let report: Value = serde_json::from_slice(&report.stdout).expect("it is JSON");
    assert_eq!(
        (&report["rows"][0]["key"], &report["rows"][0]["count"]),
        (&json!("placed::inside"), &json!(3))
    );
}

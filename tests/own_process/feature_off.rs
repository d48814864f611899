//! Off is nothing: a library leaves its hooks switched off, and an application switches them on.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs cargo on the packages in `tests/feature_off`, and hands back what it printed.
fn cargo(arguments: &[&str]) -> String {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/feature_off");
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(packages)
        .env("CARGO_TARGET_DIR", target())
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo runs, as it runs this test");
    let (said, printed) =
        (String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "cargo {arguments:?}:\n{said}\n{printed}");
    printed.into_owned()
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("feature_off")
}

#[test]
fn with_the_feature_off_only_the_macro_crate_is_compiled() {
    let tree = cargo(&[
        "tree",
        "--offline",
        "--package",
        "library",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
    ]);
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["library", "metaspy"]);
}

#[test]
fn with_the_feature_off_a_spied_value_is_the_value() {
    cargo(&["test", "--offline", "--package", "library"]);
}

#[test]
fn with_the_feature_off_a_named_grammar_parses_without_the_core() {
    cargo(&["test", "--offline", "--package", "grammar"]);
    let tree = cargo(&[
        "tree",
        "--offline",
        "--package",
        "grammar",
        "--edges",
        "normal",
        "--prefix",
        "none",
    ]);
    assert!(tree.contains("winnow v1") && !tree.contains("metaspy-core"), "{tree}");
}

#[test]
fn with_the_feature_on_the_same_library_is_observed() {
    let table = cargo(&["run", "--offline", "--package", "application"]);
    for site in
        ["library::Scene::measure", "library::Scene::later", "library::SpiedDraw::Draw::draw"]
    {
        assert!(table.contains(site), "{table}");
    }
}

#[test]
fn with_the_feature_off_the_machine_code_equals_plain_code() {
    cargo(&["build", "--offline", "--package", "library", "--release"]);
    let metaspy = newest_rlib(&target().join("release/deps"));
    let (observed, plain) = (assembly(&metaspy, "observed"), assembly(&metaspy, "plain"));
    assert!(observed.contains("measure"), "the functions are there");
    for (observed, plain) in observed.lines().zip(plain.lines()) {
        assert_eq!(observed, plain);
    }
    assert_eq!(observed.lines().count(), plain.lines().count());
}

/// The assembly of the library; `plain` takes the attributes away.
fn assembly(metaspy: &Path, cfg: &str) -> String {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/feature_off");
    let out = target().join(format!("{cfg}.s"));
    let deps = metaspy.parent().expect("it is in a directory");
    let status = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args([
            "--crate-name=library",
            "--crate-type=lib",
            "--edition=2021",
            "--emit=asm",
            "--cap-lints=allow",
        ])
        .args(["-Copt-level=3", "-Ccodegen-units=1", "--cfg", cfg])
        .arg(packages.join("library/src/lib.rs"))
        .arg(format!("--extern=metaspy={}", metaspy.display()))
        .arg(format!("-Ldependency={}", deps.display()))
        .arg("-o")
        .arg(&out)
        .status()
        .expect("rustc runs");
    assert!(status.success(), "the library compiles");
    without_hashes(&std::fs::read_to_string(out).expect("rustc wrote it"))
}

/// Symbols end in a hash of where their function was defined, `17h` and 16 digits, which an
/// attribute changes.
fn without_hashes(assembly: &str) -> String {
    let mut parts = assembly.split("17h");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "17h" + part.get(16..).unwrap_or(part))
}

fn newest_rlib(deps: &Path) -> PathBuf {
    let is_metaspy = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("libmetaspy-") && name.ends_with(".rlib")
    };
    let files = std::fs::read_dir(deps).expect("it was built").flatten().map(|entry| entry.path());
    let modified = |path: &PathBuf| path.metadata().and_then(|file| file.modified()).ok();
    files.filter(is_metaspy).max_by_key(modified).expect("metaspy was built")
}

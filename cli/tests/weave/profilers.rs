//! Profilers of the user's own, in other crates.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::common::{Package, QUICK_CORE, manifest, temporary};

/// What a stranger writes.
pub const HOT: &str =
    "use metaspy_core::method_profilers::{Call, Columns, Count, Data, MethodProfiler, MethodSpy};

#[derive(Default)]
struct Hot;

struct Heat(Count);

impl Data for Heat {
    fn new(columns: &mut Columns<'_>) -> Self {
        Heat(columns.sum(\"heat\"))
    }
}

impl MethodProfiler for Hot {
    const NAME: &'static str = \"hot\";
    type Package = ();
    type Type = ();
    type Method = Heat;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        spy.data.0.add(1);
    }
}

metaspy_core::profiler!(Hot);
";

pub fn profiler(dir: &str, source: &str) -> Package {
    let manifest = "[package]\nname = \"hot\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n\
                    metaspy-core = \"0.1\"\n\n[workspace]\n";
    Package::new(dir, &[("Cargo.toml", manifest), ("src/lib.rs", source)])
}

/// A program that uses a published crate.
fn shouting(name: &str) -> Package {
    let main = "use heck::ToSnakeCase;\nfn main() {\n    println!(\"{}\", \"TwoWords\".to_snake_case());\n}\n";
    let dependencies = "[dependencies]\nheck = \"0.5\"";
    Package::new(
        name,
        &[("Cargo.toml", &manifest(name, "2024", dependencies)), ("src/main.rs", main)],
    )
}

#[test]
fn thirty_lines_count_the_calls_of_a_published_crate() {
    assert!(HOT.lines().count() <= 30);
    let (hot, package) = (profiler("hot", HOT), shouting("shouting"));
    let line = ["run", "--weave", "heck::**", "--profiler", hot.dir.to_str().expect("it is UTF-8")];
    let did = package.metaspy(&line);
    assert!(
        did.stdout.starts_with("two_words\n") && did.stdout.contains("  heat  "),
        "{}",
        did.stdout
    );
    let methods = did.json["methods"].as_array().expect("there is a list");
    let ran: Vec<_> = methods.iter().filter(|method| method["executions"] != 0).collect();
    assert!(ran.iter().any(|method| method["path"] == "heck::transform"), "{}", did.json);
    for method in ran {
        assert_eq!(method["profiles"]["hot"]["heat"], method["executions"], "{method}");
    }
    assert_eq!(did.json["profiles"][0]["name"], "hot");

    assert_eq!(package.metaspy(&line).compiled(), [""; 0], "nothing changed");
    hot.write("src/lib.rs", &HOT.replace("heat", "warmth"));
    let did = package.metaspy(&line);
    assert_eq!(did.compiled(), ["shouting"], "a program is linked with what its profiler is now");
    assert!(did.json["methods"][0]["profiles"]["hot"]["warmth"].is_u64(), "{}", did.json);
    let without = package.metaspy(&line[..3]);
    // Without a profiler, lighter hooks are woven.
    assert_eq!(
        (without.compiled(), &without.json["methods"][0]["profiles"]),
        (vec!["heck", "shouting"], &json!({}))
    );
}

#[test]
fn two_profilers_see_the_same_run() {
    let (hot, package) = (profiler("hot_one", HOT), shouting("shouting_twice"));
    let cold = profiler("cold", &HOT.replace("\"hot\"", "\"cold\""));
    cold.write(
        "Cargo.toml",
        &fs::read_to_string(cold.dir.join("Cargo.toml"))
            .expect("it is there")
            .replace("hot", "cold"),
    );
    let dirs = [&hot, &cold].map(|package| package.dir.to_str().expect("it is UTF-8").to_owned());
    let did = package.metaspy(&[
        "run",
        "--weave",
        "heck::**",
        "--profiler",
        &dirs[0],
        "--profiler",
        &dirs[1],
        "--timed",
    ]);
    let first = &did.json["methods"][0];
    assert_eq!(first["profiles"]["hot"], first["profiles"]["cold"]);
    assert!(
        first["total_ns"].is_u64() && first["profiles"]["hot"]["heat"] == first["executions"],
        "{first}"
    );
}

/// Cargo keeps a core that it built with a profiler, and otherwise than alone, beside the other one.
#[test]
fn what_the_linker_adds_is_of_one_build() {
    let lib = "/// ```\n/// assert_eq!(both::double(2), 4);\n/// ```\npub fn double(n: u32) -> u32 {\n    n * 2\n}\n";
    let package =
        Package::new("both", &[("Cargo.toml", &manifest("both", "2024", "")), ("src/lib.rs", lib)]);
    let hot = profiler("hot_both", HOT);
    for more in [&[][..], &["--profiler", hot.dir.to_str().expect("it is UTF-8")], &[]] {
        let did = package.metaspy(&[&["test"], more].concat());
        // The first core is that of all tests.
        package.write(".cargo/config.toml", QUICK_CORE);
        assert_eq!(
            (did.calls("both::double"), &did.json["doubts"]),
            (Some(1), &json!([])),
            "{more:?}: {}",
            did.stderr
        );
    }
}

#[test]
fn what_is_made_anew_runs() {
    let package = shouting("made");
    let made = temporary().join("packages/made-anew");
    let _ = fs::remove_dir_all(&made);
    let path = made.to_str().expect("it is UTF-8");
    let new = package.plain_metaspy(&["new", path]);
    assert!(new.code == 0 && new.stdout.contains("made-anew"), "{}", new.stderr);
    let did = package.metaspy(&["run", "--weave", "heck::**", "--profiler", path]);
    assert!(did.json["methods"][0]["profiles"]["made-anew"]["calls"].is_u64(), "{}", did.json);
    assert!(
        did.stdout.contains("  calls  ") && did.stdout.contains("  objects  "),
        "{}",
        did.stdout
    );
    let again = package.plain_metaspy(&["new", path]);
    assert!(again.code == 2 && again.stderr.contains("exists already"), "{}", again.stderr);
    let odd = package.plain_metaspy(&["new", "a b"]);
    assert!(odd.code == 2 && odd.stderr.contains("is not a name for a crate"), "{}", odd.stderr);
}

#[test]
fn a_program_with_a_core_of_its_own_gets_a_hint() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../metaspy-core");
    let dependencies = format!("[dependencies]\nmetaspy-core = {{ path = {core:?} }}");
    let files = [
        ("Cargo.toml", manifest("cored", "2024", &dependencies)),
        ("src/main.rs", "fn main() {}\n".into()),
    ];
    let package = Package::new(
        "with_core/told",
        &files.each_ref().map(|(path, text)| (*path, text.as_str())),
    );
    let hot = profiler("hot_cored", HOT);
    let did = package.try_metaspy(&["run", "--profiler", hot.dir.to_str().expect("it is UTF-8")]);
    assert!(did.code == 2 && did.stderr.contains("`cored` depends on metaspy"), "{}", did.stderr);

    // What it is told to do.
    let own = fs::read_to_string(hot.dir.join("Cargo.toml")).expect("it is there");
    hot.write("Cargo.toml", &own.replace("\"0.1\"", &format!("{{ path = {core:?} }}")));
    let dependencies = format!("{dependencies}\nhot = {{ path = {:?} }}", hot.dir);
    package.write("Cargo.toml", &manifest("cored", "2024", &dependencies));
    package.write("src/main.rs", "use hot as _;\nfn main() {}\n");
    let did = package.metaspy(&["run", "--weave", "cored::**", "--profile", "hot"]);
    assert_eq!(did.json["methods"][0]["profiles"]["hot"], json!({ "heat": 1 }), "{}", did.json);
}

#[test]
fn a_crate_without_a_profiler_is_refused() {
    let package = shouting("mistaking");
    let missing = package.try_metaspy(&["run", "--profiler", "not/there"]);
    assert!(
        missing.code == 2 && missing.stderr.contains("cargo metaspy new NAME"),
        "{}",
        missing.stderr
    );
    let broken = profiler("broken", "compile_error!(\"not today\");");
    let did =
        package.try_metaspy(&["run", "--profiler", broken.dir.to_str().expect("it is UTF-8")]);
    assert!(did.code == 2 && did.stderr.contains("not today"), "{}", did.stderr);
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../metaspy-core");
    let own = fs::read_to_string(broken.dir.join("Cargo.toml")).expect("it is there");
    broken.write("Cargo.toml", &own.replace("\"0.1\"", &format!("{{ path = {core:?} }}")));
    let did =
        package.try_metaspy(&["run", "--profiler", broken.dir.to_str().expect("it is UTF-8")]);
    assert!(
        did.code == 2 && did.stderr.contains("must depend on `metaspy-core = \"0.1\"`"),
        "{}",
        did.stderr
    );
}

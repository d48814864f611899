//! Crates that this workspace depends on are woven, as text, and read again: every fourth of them,
//! and with `METASPY_LONG=1` in the environment all.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

use metaspy_weave::source::{
    self, Edit, Function, Hook, HookKind, Spawn, Values, insertions, parse, weave,
};

/// The roots of the libraries of all packages that cargo knows of here: most of them nobody here
/// wrote.
fn libraries() -> Vec<PathBuf> {
    // Packages of other platforms need not be here.
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--offline", "--filter-platform", &host()])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, as it runs this test");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    // Those of operating systems are huge, and all alike.
    let is_huge = |package: &&serde_json::Value| {
        let name = package["name"].as_str().unwrap_or_default();
        ["libc", "linux-raw-sys", "winapi", "windows", "wasm", "js-sys", "web-sys", "rustix"]
            .iter()
            .any(|huge| name.starts_with(huge))
    };
    let targets = packages
        .iter()
        .filter(|package| !is_huge(package))
        .flat_map(|package| package["targets"].as_array().expect("a package has targets"));
    let is_library = |target: &&serde_json::Value| {
        let mut kinds = target["kind"].as_array().into_iter().flatten();
        kinds.any(|kind| kind == "lib" || kind == "proc-macro")
    };
    targets
        .filter(is_library)
        .map(|target| target["src_path"].as_str().expect("it has a root").into())
        .collect()
}

/// What the compiler builds for.
fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("there is a compiler");
    let text = String::from_utf8(output.stdout).expect("it writes UTF-8");
    text.lines().find_map(|line| line.strip_prefix("host: ")).expect("it says so").to_owned()
}

fn check(file: &source::SourceFile, is_deep: bool) -> usize {
    let shown = file.path.display();
    let parsed = file.parsed.as_ref().unwrap_or_else(|error| panic!("{shown}: {error}"));
    let functions = &parsed.functions.all;
    let hook = |function| Hook {
        function,
        kind: HookKind::of(function, is_deep).0,
        subject: None,
        with_args: true,
        values: Values::default(),
        type_words: String::new(),
        is_trusted: false,
        is_alone: false,
    };
    let hooks: Vec<Hook<'_>> =
        functions.iter().filter(|function| function.skipped.is_none()).map(hook).collect();
    let spawns = &parsed.functions.spawns;
    let edits = spawns.iter().flat_map(Spawn::edits).chain(hooks.iter().cloned().map(Edit::from));
    let edits: Vec<Edit> = edits.collect();
    let woven = weave(&file.text, edits.clone());
    assert_eq!(woven.lines().count(), file.text.lines().count(), "{shown}");
    let again = parse(&woven).unwrap_or_else(|error| panic!("{shown}, woven: {error}"));
    // What stands in a body that a macro is given, only the compiler sees.
    let around: Vec<_> =
        hooks.iter().filter(|hook| hook.behind() == "})").map(|hook| &hook.function.body).collect();
    let is_visible = |function: &&Function| {
        let body = &function.body;
        let is_within = |outer: &Range<usize>| outer.start <= body.start && body.end <= outer.end;
        let is_spawned =
            spawns.iter().any(|spawn| spawn.is_given_to_a_macro() && is_within(&spawn.argument));
        !is_spawned && !around.iter().any(|outer| *outer != body && is_within(outer))
    };
    let mut closures = BTreeMap::new();
    let visible = functions.iter().filter(is_visible);
    let visible: Vec<_> = visible
        .map(|function| (renumbered(&function.name, &mut closures), function.lines))
        .collect();
    let name = |function: &Function| (function.name.clone(), function.lines);
    assert_eq!(again.functions.all.iter().map(name).collect::<Vec<_>>(), visible, "{shown}");
    assert!(taken_back(&woven, insertions(edits)) == file.text, "{shown}: it is another text");
    hooks.len()
}

/// The name with the numbers that closures have where only the visible ones are seen. `closures`
/// has the closures so far by the name of what they stand in.
fn renumbered(name: &str, closures: &mut BTreeMap<String, Vec<String>>) -> String {
    let mut renumbered = String::new();
    for part in name.split("::") {
        if !renumbered.is_empty() {
            renumbered += "::";
        }
        if !part.starts_with("{closure#") {
            renumbered += part;
            continue;
        }
        let known = closures.entry(renumbered.clone()).or_default();
        let number = known.iter().position(|closure| closure == part).unwrap_or_else(|| {
            known.push(part.to_owned());
            known.len() - 1
        });
        renumbered += &format!("{{closure#{}}}", number + 1);
    }
    renumbered
}

/// The text without what was inserted, which must stand where it is said to.
fn taken_back(woven: &str, inserted: Vec<(usize, String)>) -> String {
    let (mut back, mut rest) = (String::new(), woven);
    for (at, hook) in inserted {
        let (kept, behind) = rest.split_at(at - back.len());
        back.push_str(kept);
        rest = behind.strip_prefix(hook.as_str()).expect("the hook stands there");
    }
    back + rest
}

/// What was woven.
#[derive(Default)]
struct Woven {
    files: usize,
    functions: usize,
    /// Files that `syn` does not understand: bare trait objects, say, which editions before 2021
    /// allow.
    unread: Vec<PathBuf>,
}

fn weave_all(roots: &[PathBuf]) -> Woven {
    let mut woven = Woven::default();
    for root in roots {
        for file in source::read(root).expect("cargo has its root").files {
            if file.parsed.is_err() {
                woven.unread.push(file.path);
                continue;
            }
            woven.files += 1;
            woven.functions += check(&file, false);
            check(&file, true);
        }
    }
    woven
}

#[test]
fn published_crates_are_what_they_were_but_for_the_hooks() {
    let every = if std::env::var_os("METASPY_LONG").is_some() { 1 } else { 4 };
    if every > 1 {
        println!(
            "SKIPPED: corpus-in-full: one library of {every} is woven; METASPY_LONG=1 weaves all"
        );
    }
    let roots: Vec<PathBuf> = libraries().into_iter().step_by(every).collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<Woven> = std::thread::scope(|scope| {
        let part = |part: &'_ [PathBuf]| {
            let part = part.to_vec();
            scope.spawn(move || weave_all(&part))
        };
        let running: Vec<_> = roots.chunks(roots.len().div_ceil(threads)).map(part).collect();
        running.into_iter().map(|part| part.join().expect("all of it is woven")).collect()
    });
    let sum = |of: fn(&Woven) -> usize| parts.iter().map(of).sum::<usize>();
    let (files, functions, unread) =
        (sum(|part| part.files), sum(|part| part.functions), sum(|part| part.unread.len()));
    assert!(
        files > 1000 / every && functions > 10_000 / every,
        "{files} files, {functions} functions"
    );
    assert!(
        unread * 100 <= files,
        "{:?}",
        parts.iter().flat_map(|part| &part.unread).collect::<Vec<_>>()
    );
}

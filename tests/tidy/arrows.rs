//! Arrows between packages, and crates that the core may depend on.

use std::{collections::BTreeSet, fs};

use super::source::{files_below, repository};

/// What a package may depend on; ARCHITECTURE.md has the map. Packages that build others, examples
/// and tests may depend on all.
const ARROWS: &[(&str, &[&str])] = &[
    // The words of a recording name sites, subjects and outcomes.
    ("metaspy-format", &["metaspy-probe"]),
    ("metaspy-probe", &[]),
    ("metaspy-syntax", &["metaspy-format"]),
    ("metaspy-reader", &["metaspy-format", "metaspy-probe"]),
    ("metaspy-recorder", &["metaspy-reader", "metaspy-format", "metaspy-probe"]),
    ("metaspy-core", &["metaspy-recorder", "metaspy-reader", "metaspy-format", "metaspy-probe"]),
    ("metaspy-macros", &["metaspy-syntax"]),
    (
        "metaspy-instrumenters",
        &["metaspy-core", "metaspy-reader", "metaspy-format", "metaspy-probe"],
    ),
    (
        "metaspy-weave",
        &[
            "metaspy-syntax",
            "metaspy-core",
            "metaspy-recorder",
            "metaspy-reader",
            "metaspy-format",
            "metaspy-probe",
        ],
    ),
    ("metaspy-report", &["metaspy-syntax", "metaspy-reader", "metaspy-format", "metaspy-probe"]),
    // Editors read the same source as the weaver.
    (
        "metaspy-lsp",
        &[
            "metaspy-report",
            "metaspy-syntax",
            "metaspy-core",
            "metaspy-reader",
            "metaspy-format",
            "metaspy-probe",
        ],
    ),
    (
        "metaspy-mcp",
        &["metaspy-report", "metaspy-core", "metaspy-reader", "metaspy-format", "metaspy-probe"],
    ),
    (
        "metaspy-blueprints",
        &["metaspy-report", "metaspy-reader", "metaspy-format", "metaspy-probe"],
    ),
    ("metaspy-sampler", &["metaspy-report", "metaspy-reader", "metaspy-format", "metaspy-probe"]),
    // One of its screens is a blueprint.
    (
        "metaspy-tui",
        &[
            "metaspy-blueprints",
            "metaspy-report",
            "metaspy-reader",
            "metaspy-format",
            "metaspy-probe",
        ],
    ),
    ("metaspy-scale", &["metaspy-report", "metaspy-core", "metaspy-reader", "metaspy-probe"]),
    (
        "metaspy-cli",
        &[
            "metaspy-tui",
            "metaspy-lsp",
            "metaspy-mcp",
            "metaspy-blueprints",
            "metaspy-sampler",
            "metaspy-report",
            "metaspy-instrumenters",
            "metaspy-weave",
            "metaspy-core",
            "metaspy-reader",
        ],
    ),
    (
        "metaspy",
        &[
            "metaspy-sampler",
            "metaspy-instrumenters",
            "metaspy-macros",
            "metaspy-core",
            "metaspy-reader",
            "metaspy-probe",
        ],
    ),
];

/// Arrows that the table does not have, each with its reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[(
    "metaspy-cli",
    "metaspy-layout-story",
    "`metaspy demo`: the one front end that knows a domain",
)];

/// All that the packages below everything may depend on. A further crate in the core is argued for
/// here.
const CORE_DEPENDENCIES: &[(&str, &[&str])] = &[
    // The mapping that the words lie in; views, which travel as JSON.
    ("metaspy-format", &["memmap2", "serde"]),
    ("metaspy-probe", &[]),
    ("metaspy-reader", &["dashmap", "libc", "memmap2", "serde", "serde_json", "strsim"]),
    ("metaspy-recorder", &["libc", "linkme", "serde_json", "sketches-ddsketch"]),
    ("metaspy-core", &["dashmap", "linkme", "serde_json"]),
];

struct Arrow {
    from: String,
    to: String,
    file: String,
}

/// Arrows that neither the table nor the exceptions have.
pub fn faults() -> Vec<String> {
    let arrows = read();
    let ours: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    let known = |from: &str| ARROWS.iter().find(|(name, _)| *name == from).map(|(_, to)| *to);
    let mut faults = Vec::new();
    for Arrow { from, to, file } in &arrows {
        let Some(allowed) = known(from) else { continue };
        let excepted = EXCEPTIONS.iter().any(|(a, b, _)| (a, b) == (&from.as_str(), &to.as_str()));
        if to.starts_with("metaspy") && !allowed.contains(&to.as_str()) && !excepted {
            faults.push(format!("{file}: {from} -> {to}"));
        }
        let core = CORE_DEPENDENCIES.iter().find(|(name, _)| name == from);
        if core.is_some_and(|(_, allowed)| {
            !allowed.contains(&to.as_str()) && !ours.contains(to.as_str())
        }) {
            faults.push(format!("{file}: {from} -> {to} (a crate that the core has no need of)"));
        }
    }
    faults
}

/// Exceptions that no Cargo.toml makes use of.
pub fn needless() -> Vec<String> {
    let arrows = read();
    let used = |a: &str, b: &str| arrows.iter().any(|arrow| arrow.from == a && arrow.to == b);
    EXCEPTIONS
        .iter()
        .filter(|(a, b, _)| !used(a, b))
        .map(|(a, b, _)| format!("{a} -> {b}"))
        .collect()
}

/// The normal and build dependencies of every package of the repository.
fn read() -> Vec<Arrow> {
    let root = repository();
    let mut arrows = Vec::new();
    for file in files_below(&root, &|name| name == "Cargo.toml") {
        let text =
            fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let file =
            file.strip_prefix(&root).expect("the file lies below the root").display().to_string();
        arrows.extend(dependencies(&text).map(|(from, to)| Arrow { from, to, file: file.clone() }));
    }
    assert!(arrows.len() > 20, "the manifests were read: {} dependencies", arrows.len());
    arrows
}

/// Pairs of the package and a crate that it depends on outside tests.
fn dependencies(manifest: &str) -> impl Iterator<Item = (String, String)> {
    let (mut section, mut package, mut found) = (String::new(), String::new(), Vec::new());
    for line in manifest.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_end_matches(']').trim().to_string();
            // `[dependencies.name]`
            if let Some((head, name)) = section.rsplit_once("dependencies.")
                && !head.ends_with("dev-")
                && !head.starts_with("workspace.")
            {
                found.push(name.to_string());
            }
        } else if let Some((key, value)) = line.split_once('=') {
            // `name.workspace = true`
            let key =
                key.trim().split('.').next().expect("a split has a first part").trim_matches('"');
            if section == "package" && key == "name" {
                package = value.trim().trim_matches('"').to_string();
            }
            let normal = section == "dependencies" || section == "build-dependencies";
            let of_a_target = section.starts_with("target.")
                && (section.ends_with(".dependencies") || section.ends_with(".build-dependencies"));
            if normal || of_a_target {
                found.push(real_name(key, value));
            }
        }
    }
    found.into_iter().map(move |to| (package.clone(), to))
}

/// The package behind a dependency that is renamed: `{ package = "name" }`.
fn real_name(key: &str, value: &str) -> String {
    let renamed = value.split_once("package").and_then(|(_, rest)| rest.split('"').nth(1));
    renamed.unwrap_or(key).to_string()
}

#[test]
fn dependencies_are_found_in_every_notation() {
    let manifest = "[package]\nname = \"a\"\n[dependencies]\nb = \"1\"\nc.workspace = true\nd = { package = \"e\" }\n\
                    [target.'cfg(unix)'.dependencies]\nf = \"1\"\n[dev-dependencies]\ng = \"1\"\n[dependencies.h]\nversion = \"1\"\n";
    let found: Vec<String> =
        dependencies(manifest).map(|(from, to)| format!("{from} {to}")).collect();
    assert_eq!(found, ["a b", "a c", "a e", "a f", "a h"]);
}

//! Package metadata: what crates.io and docs.rs need of each package that is published.

use std::{fs, path::Path};

use super::source::{files_below, repository};

/// Keys that the manifest of a published package has, by itself or from the workspace.
const KEYS: &[&str] = &[
    "categories",
    "description",
    "edition",
    "homepage",
    "keywords",
    "license",
    "readme",
    "repository",
    "rust-version",
    "version",
];

/// Files beside such a manifest.
const FILES: &[&str] = &["LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Folders of all packages that have sources, each with a `/` at its end; the root is empty.
pub fn folders() -> Vec<String> {
    let root = repository();
    let manifests = files_below(&root, &|name| name == "Cargo.toml");
    let folders = manifests.iter().filter_map(|manifest| manifest.parent());
    let mut names: Vec<String> = folders
        .filter(|folder| folder.join("src").is_dir())
        .map(|folder| {
            folder
                .strip_prefix(&root)
                .expect("the folder lies below the root")
                .display()
                .to_string()
        })
        .map(|name| if name.is_empty() { name } else { format!("{name}/") })
        .collect();
    names.sort();
    assert!(names.len() > 20, "the packages were found: {names:?}");
    names
}

/// Missing keys, files and sections.
pub fn faults() -> Vec<String> {
    let root = repository();
    let mut faults = Vec::new();
    let mut published = 0;
    for manifest in files_below(&root, &|name| name == "Cargo.toml") {
        let text = fs::read_to_string(&manifest)
            .unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
        let Some(package) = section(&text, "package") else { continue };
        if package.lines().any(|line| line.trim() == "publish = false") {
            continue;
        }
        published += 1;
        let folder = manifest.parent().unwrap_or(Path::new("."));
        let name = manifest
            .strip_prefix(&root)
            .expect("the file lies below the root")
            .display()
            .to_string();
        let has = |key: &str| {
            let lines = package.lines().filter_map(|line| line.split(['=', '.']).next());
            lines.map(str::trim).any(|found| found == key)
        };
        faults.extend(
            KEYS.iter().filter(|key| !has(key)).map(|key| format!("{name}: `{key}` is missing")),
        );
        let missing = FILES.iter().filter(|file| !folder.join(file).is_file());
        faults.extend(missing.map(|file| format!("{name}: {file} is missing beside it")));
        if section(&text, "package.metadata.docs.rs").is_none() {
            faults.push(format!("{name}: [package.metadata.docs.rs] is missing"));
        }
    }
    assert!(published >= 12, "{published} packages are published");
    faults
}

fn section<'t>(manifest: &'t str, name: &str) -> Option<&'t str> {
    let from = manifest.find(&format!("[{name}]\n"))?;
    let body = &manifest[from..];
    Some(body.find("\n[").map_or(body, |end| &body[..end]))
}

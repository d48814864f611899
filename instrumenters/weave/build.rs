//! Packs the source of the core that this crate depends on, so that an installed `cargo-metaspy`
//! can build it anywhere.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The packages of the core: the name of their `links` key in the environment, and their directory
/// in a workspace.
const PACKAGES: [(&str, &str); 5] = [
    ("CORE", "metaspy-core"),
    ("PROBE", "metaspy-core/probe"),
    ("FORMAT", "metaspy-core/format"),
    ("READER", "metaspy-core/reader"),
    ("RECORDER", "metaspy-core/recorder"),
];

fn main() {
    let mut packed = String::from("&[\n");
    for (package, dir) in PACKAGES {
        let root = env::var_os(format!("DEP_METASPY_{package}_ROOT"));
        let root =
            PathBuf::from(root.expect("each package of the core reports where its source is"));
        pack(&root, dir, &mut packed);
        println!("cargo::rerun-if-changed={}", root.join("src").display());
    }
    packed.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("core.rs"), packed).expect("cargo's directory can be written");
    fs::write(out.join("Cargo.lock"), lock_file()).expect("cargo's directory can be written");
    println!("cargo::rerun-if-changed=build.rs");
}

/// Adds the files of a package, each with its path in the workspace.
fn pack(root: &Path, dir: &str, packed: &mut String) {
    let mut files: Vec<PathBuf> = ["Cargo.toml", "README.md", "build.rs"].map(PathBuf::from).into();
    files.retain(|file| root.join(file).is_file());
    collect(root, Path::new("src"), &mut files);
    files.sort();
    for file in &files {
        let name = file.to_str().expect("files of the core have plain names").replace('\\', "/");
        let path = root.join(file);
        writeln!(packed, "({:?}, include_str!({path:?})),", format!("{dir}/{name}"))
            .expect("memory takes it");
        println!("cargo::rerun-if-changed={}", path.display());
    }
}

/// The versions that this build uses: so they are where cargo keeps packages, also without a
/// network.
fn lock_file() -> String {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut above = package.ancestors().map(|dir| dir.join("Cargo.lock"));
    above.find_map(|lock| fs::read_to_string(lock).ok()).unwrap_or_default()
}

fn collect(root: &Path, dir: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(root.join(dir)).expect("the core has sources").flatten() {
        let path = dir.join(entry.file_name());
        match entry.path().is_dir() {
            true => collect(root, &path, files),
            false => files.push(path),
        }
    }
}

//! Packs the source of the core that this crate depends on, so that an installed `cargo-metaspy` can build it anywhere.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = PathBuf::from(env::var_os("DEP_METASPY_CORE_ROOT").expect("the core says where its source is"));
    let mut files = vec!["Cargo.toml".into(), "README.md".into(), "build.rs".into()];
    collect(&root, Path::new("src"), &mut files);
    files.sort();
    let mut packed = String::from("&[\n");
    for file in &files {
        let name = file.to_str().expect("files of the core have plain names").replace('\\', "/");
        let path = root.join(file);
        writeln!(packed, "({name:?}, include_str!({path:?})),").expect("memory takes it");
        println!("cargo::rerun-if-changed={}", path.display());
    }
    packed.push_str("]\n");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("core.rs"), packed).expect("cargo's directory can be written");
    fs::write(out.join("Cargo.lock"), lock_file()).expect("cargo's directory can be written");
    println!("cargo::rerun-if-changed={}", root.join("src").display());
    println!("cargo::rerun-if-changed=build.rs");
}

/// The versions that this build uses: so they are where cargo keeps packages, also without a network.
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

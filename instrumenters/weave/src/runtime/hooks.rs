//! The crate that woven code calls: one file of the core and two macros, compiled by `rustc` alone.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use metaspy_core::site::woven::RECORD;

use crate::plan::stamp;

/// Its name among crates; what woven code calls it is another one.
const NAME: &str = "metaspy_woven";

/// The crate, compiled.
#[derive(Clone, Debug)]
pub struct Hooks {
    /// The library.
    pub library: PathBuf,
    /// The directory that it is in.
    pub dir: PathBuf,
}

/// What the core does not need. What a macro of another crate makes is not judged by the lints of the woven one.
const MACROS: &str = r#"
#[doc(hidden)]
pub extern crate core as library;

/// Begins a call that ends where the enclosing block does.
#[macro_export]
macro_rules! hook {
    ($name:literal, $first:literal, $last:literal) => {
        let mut frame = $crate::Frame::vacant();
        let _guard = $crate::Guard::begin($crate::site!($name, $first, $last, Plain), &mut frame);
    };
}

/// Tells that a call began: of functions that are async, whose body may go on on another thread.
#[macro_export]
macro_rules! began {
    ($name:literal, $first:literal, $last:literal) => {
        $crate::Woven::tell($crate::site!($name, $first, $last, Async));
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! site {
    ($name:literal, $first:literal, $last:literal, $kind:ident) => {{
        #[used]
        #[cfg_attr(target_vendor = "apple", link_section = "__DATA,__metaspy_woven")]
        #[cfg_attr(not(target_vendor = "apple"), link_section = "metaspy_woven")]
        static SITE: $crate::Woven = $crate::Woven::new(
            $crate::library::module_path!(),
            $name,
            $crate::library::file!(),
            [$first, $last],
            $crate::Kind::$kind,
        );
        &SITE
    }};
}
"#;

/// The source of the crate.
pub fn source() -> String {
    format!("{RECORD}\n{MACROS}").replacen("\nuse core::", "\n#![no_std]\n#![allow(missing_docs)]\n\nuse core::", 1)
}

/// The crate for a compiler and a target, built if it is not there yet. Wrappers that build it at the same time do not
/// meet.
pub fn hooks(rustc: &[OsString], target: Option<&OsStr>, dir: &Path) -> Result<Hooks> {
    let source = source();
    let (program, before) = rustc.split_first().context("there is a compiler")?;
    let version = version_of(program, before)?;
    let target_text = target.map(|target| target.to_string_lossy().into_owned()).unwrap_or_default();
    let dir = dir.join("hooks").join(stamp([source.as_str(), &version, &target_text]));
    let library = dir.join(format!("lib{NAME}.rlib"));
    if library.is_file() {
        return Ok(Hooks { library, dir });
    }
    let part = dir.with_extension(std::process::id().to_string());
    fs::create_dir_all(&part)?;
    let file = part.join("hooks.rs");
    fs::write(&file, source)?;
    let mut command = Command::new(program);
    command.args(before).arg("--crate-name").arg(NAME);
    command.args(["--edition=2021", "--crate-type=rlib", "--cap-lints=allow", "-Copt-level=3", "-Cmetadata=metaspy"]);
    command.arg(&file).arg("--out-dir").arg(&part);
    if let Some(target) = target {
        command.arg("--target").arg(target);
    }
    let output = command.output().context("the compiler cannot be started")?;
    if !output.status.success() {
        bail!("the compiler refuses the hooks: {}", String::from_utf8_lossy(&output.stderr));
    }
    if fs::rename(&part, &dir).is_err() {
        // Another wrapper was first.
        let _ = fs::remove_dir_all(&part);
    }
    match library.is_file() {
        true => Ok(Hooks { library, dir }),
        false => bail!("the hooks cannot be kept in {}", dir.display()),
    }
}

fn version_of(rustc: &OsStr, before: &[OsString]) -> Result<String> {
    let output = Command::new(rustc).args(before).arg("-vV").output().context("the compiler cannot be started")?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

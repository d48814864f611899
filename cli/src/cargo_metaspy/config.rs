//! Cargo's configuration: the keys that `cargo metaspy` replaces.
//!
//! cargo-config2 is not used, because it does not read `--config`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use metaspy_weave::plan::{CHAIN, PLAN, read_whole_text};
use metaspy_weave::wrapper::doc_tests::RUSTDOC;
use toml::{Table, Value};

use crate::cargo_metaspy::cargo::Cargo;

/// The tables `build` and `target` of every source of the configuration, the strongest first.
pub struct Config(Vec<Part>);

/// A source of the configuration.
struct Part {
    /// The directory that its paths are relative to.
    dir: PathBuf,
    build: Table,
    target: Table,
}

impl Config {
    /// Reads the configuration as cargo does in this directory. Cargo itself reports errors in it.
    pub fn read(cargo: &Cargo) -> Config {
        let here = env::current_dir().unwrap_or_default();
        let mut parts: Vec<Part> =
            cargo.config().iter().rev().filter_map(|text| Part::given(text, &here)).collect();
        parts.push(Part::in_environment(&here));
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
        let above = here.ancestors().map(|dir| dir.join(".cargo"));
        parts.extend(above.chain(home).filter_map(|dir| Part::in_directory(&dir)));
        Config(parts)
    }

    /// The wrapper of the compiler that the configuration selects.
    pub fn wrapper(&self) -> Option<OsString> {
        // A program of a run may run this command. Then the wrapper is this command, and CHAIN is
        // the user's wrapper.
        let name = if env::var_os(PLAN).is_some() { CHAIN } else { "RUSTC_WRAPPER" };
        match env::var_os(name) {
            Some(wrapper) => Some(wrapper).filter(|wrapper| !wrapper.is_empty()),
            None => {
                let (part, wrapper) =
                    self.find("rustc-wrapper").filter(|(_, wrapper)| !wrapper.is_empty())?;
                Some(part.command(wrapper))
            }
        }
    }

    /// The rustdoc that the configuration selects.
    pub fn rustdoc(&self) -> OsString {
        let name = if env::var_os(PLAN).is_some() { RUSTDOC } else { "RUSTDOC" };
        env::var_os(name)
            .or_else(|| self.find("rustdoc").map(|(part, command)| part.command(command)))
            .unwrap_or_else(|| "rustdoc".into())
    }

    /// The target platform without `--target`. Of several, the first.
    pub fn target(&self) -> Option<String> {
        self.find("target").map(|(_, target)| target.to_owned())
    }

    /// The compiler's flags of the configuration. If it does not change, cargo passes the same
    /// flags. Profiles are not among them: the core has a profile of its own.
    pub fn flags(&self) -> String {
        let text = |part: &Part| format!("{:?} {:?}", part.build.get("rustflags"), part.target);
        // A file without flags needs no core of its own.
        let has_flags =
            |part: &&Part| part.build.contains_key("rustflags") || !part.target.is_empty();
        let mut flags: Vec<String> = self.0.iter().filter(has_flags).map(text).collect();
        let set = env::vars_os().filter(|(name, _)| {
            name.to_str().is_some_and(|name| {
                name == "RUSTFLAGS" || name.starts_with("CARGO_") && name.ends_with("RUSTFLAGS")
            })
        });
        let mut set: Vec<String> = set.map(|set| format!("{set:?}")).collect();
        set.sort_unstable();
        flags.extend(set);
        flags.join("\n")
    }

    fn find(&self, key: &str) -> Option<(&Part, &str)> {
        self.0.iter().find_map(|part| {
            let value = part.build.get(key)?;
            // `build.target` may be a list.
            let value = value.as_array().map_or(Some(value), |all| all.first())?;
            Some((part, value.as_str()?))
        })
    }
}

impl Part {
    /// A command by the shell's rule: a name without a slash is searched in PATH.
    fn command(&self, name: &str) -> OsString {
        if name.contains(['/', '\\']) { self.dir.join(name).into() } else { name.into() }
    }

    /// By `--config`: a key with its value, or a file.
    fn given(text: &str, here: &Path) -> Option<Part> {
        if let Some(part) = Part::parsed(text, here) {
            return Some(part);
        }
        let file = here.join(text);
        Part::parsed(&read_whole_text(&file).ok()?, file.parent()?)
    }

    fn in_environment(here: &Path) -> Part {
        let keys = [
            ("rustc-wrapper", "CARGO_BUILD_RUSTC_WRAPPER"),
            ("rustdoc", "CARGO_BUILD_RUSTDOC"),
            ("target", "CARGO_BUILD_TARGET"),
        ];
        let set = keys
            .into_iter()
            .filter_map(|(key, name)| Some((key.to_owned(), Value::String(env::var(name).ok()?))));
        Part { dir: here.to_owned(), build: set.collect(), target: Table::new() }
    }

    fn in_directory(dir: &Path) -> Option<Part> {
        let mut texts =
            ["config", "config.toml"].iter().map(|name| read_whole_text(&dir.join(name)));
        Part::parsed(&texts.find_map(Result::ok)?, dir.parent()?)
    }

    fn parsed(text: &str, dir: &Path) -> Option<Part> {
        let mut table: Table = text.parse().ok()?;
        let mut part = |key: &str| match table.remove(key) {
            Some(Value::Table(part)) => part,
            _ => Table::new(),
        };
        Some(Part { dir: dir.to_owned(), build: part("build"), target: part("target") })
    }
}

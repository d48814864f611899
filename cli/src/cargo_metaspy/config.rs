//! Cargo's configuration, as far as this command takes the place of something that it names.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs};

use metaspy_weave::plan::{CHAIN, PLAN};
use toml::{Table, Value};

use crate::cargo_metaspy::cargo::Cargo;

/// What is said of the keys `build` and `target`, the strongest first.
pub struct Config(Vec<Said>);

/// A part of the configuration.
struct Said {
    /// What paths in it are relative to.
    dir: PathBuf,
    build: Table,
    target: Table,
}

impl Config {
    /// Reads what cargo reads in this directory. What is wrong with it cargo says itself.
    pub fn read(cargo: &Cargo) -> Config {
        let here = env::current_dir().unwrap_or_default();
        let mut said: Vec<Said> = cargo.config().iter().rev().filter_map(|text| Said::given(text, &here)).collect();
        said.push(Said::in_environment(&here));
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
        let above = here.ancestors().map(|dir| dir.join(".cargo"));
        said.extend(above.chain(home).filter_map(|dir| Said::in_directory(&dir)));
        Config(said)
    }

    /// The wrapper of the compiler that is called where there is no weaving.
    pub fn wrapper(&self) -> Option<OsString> {
        // A program of a run may run this command itself. The wrapper is this command then, and the user's is another.
        let name = if env::var_os(PLAN).is_some() { CHAIN } else { "RUSTC_WRAPPER" };
        match env::var_os(name) {
            Some(wrapper) => Some(wrapper).filter(|wrapper| !wrapper.is_empty()),
            None => {
                let (said, wrapper) = self.find("rustc-wrapper").filter(|(_, wrapper)| !wrapper.is_empty())?;
                // A bare name is looked for as the shell does it.
                Some(if wrapper.contains(['/', '\\']) { said.dir.join(wrapper).into() } else { wrapper.into() })
            }
        }
    }

    /// What is built for, if nobody says `--target`.
    pub fn target(&self) -> Option<String> {
        self.find("target").map(|(_, target)| target.to_owned())
    }

    /// All that is said of the compiler's flags. What cargo makes of it, cargo alone knows; where nothing of it changes it
    /// makes the same of it.
    pub fn flags(&self) -> String {
        let said = |said: &Said| format!("{:?} {:?}", said.build.get("rustflags"), said.target);
        let mut flags: Vec<String> = self.0.iter().map(said).collect();
        let is_flags = |name: &str| name.starts_with("CARGO_") && name.ends_with("RUSTFLAGS") || name == "RUSTFLAGS";
        let set = env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_flags));
        let mut set: Vec<String> = set.map(|set| format!("{set:?}")).collect();
        set.sort_unstable();
        flags.extend(set);
        flags.join("\n")
    }

    fn find(&self, key: &str) -> Option<(&Said, &str)> {
        self.0.iter().find_map(|said| Some((said, said.build.get(key)?.as_str()?)))
    }
}

impl Said {
    /// By `--config`: a key with its value, or a file.
    fn given(text: &str, here: &Path) -> Option<Said> {
        if let Some(said) = Said::parsed(text, here) {
            return Some(said);
        }
        let file = here.join(text);
        Said::parsed(&fs::read_to_string(&file).ok()?, file.parent()?)
    }

    fn in_environment(here: &Path) -> Said {
        let keys = [("rustc-wrapper", "CARGO_BUILD_RUSTC_WRAPPER"), ("target", "CARGO_BUILD_TARGET")];
        let set =
            keys.into_iter().filter_map(|(key, name)| Some((key.to_owned(), Value::String(env::var(name).ok()?))));
        Said { dir: here.to_owned(), build: set.collect(), target: Table::new() }
    }

    fn in_directory(dir: &Path) -> Option<Said> {
        let mut texts = ["config", "config.toml"].iter().map(|name| fs::read_to_string(dir.join(name)));
        Said::parsed(&texts.find_map(Result::ok)?, dir.parent()?)
    }

    fn parsed(text: &str, dir: &Path) -> Option<Said> {
        let mut table: Table = text.parse().ok()?;
        let mut part = |key: &str| match table.remove(key) {
            Some(Value::Table(part)) => part,
            _ => Table::new(),
        };
        Some(Said { dir: dir.to_owned(), build: part("build"), target: part("target") })
    }
}

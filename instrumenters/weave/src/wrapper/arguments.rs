//! The command line of `rustc`, as far as weaving needs it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::plan::{read_whole_text, stamp};
use crate::source::Build;
use crate::wrapper::prefixed;

/// The arguments of the compiler.
pub struct Arguments {
    all: Vec<OsString>,
    root: Option<usize>,
}

impl Arguments {
    /// As cargo gives them.
    pub fn new(all: impl Iterator<Item = OsString>) -> Self {
        let all: Vec<OsString> = all.flat_map(written_out).collect();
        let crate_name = all.iter().any(|argument| argument == "--crate-name");
        let is_query = all.iter().any(|argument| argument.to_string_lossy().starts_with("--print"));
        let is_root = |at: &usize| {
            let follows_a_flag = *at > 0 && TAKING.iter().any(|flag| all[at - 1] == *flag);
            !follows_a_flag
                && !all[*at].to_string_lossy().starts_with('-')
                && Path::new(&all[*at]).extension() == Some(OsStr::new("rs"))
        };
        let root = if crate_name && !is_query { (0..all.len()).find(is_root) } else { None };
        Arguments { all, root }
    }

    /// All of them.
    pub fn all(&self) -> &[OsString] {
        &self.all
    }

    /// With these behind them, if anything is compiled.
    pub fn with(&self, more: &[&str]) -> Arguments {
        let more = more.iter().filter(|_| self.root.is_some()).map(OsString::from);
        Arguments { all: self.all.iter().cloned().chain(more).collect(), root: self.root }
    }

    /// The crate's root, as cargo names it; `None` if nothing is compiled.
    pub fn root(&self) -> Option<&Path> {
        self.root.map(|at| Path::new(&self.all[at]))
    }

    /// With another root.
    pub(crate) fn with_root(&self, root: &Path) -> Vec<OsString> {
        let mut all = self.all.clone();
        if let Some(at) = self.root {
            all[at] = root.into();
        }
        all
    }

    /// The arguments that only check the crate, with metadata in `out_dir` as the only result. If
    /// cargo compiles the crate incrementally, so does the check, with a state of its own in
    /// `incremental`.
    pub fn checking(&self, out_dir: &Path, incremental: &Path) -> Vec<OsString> {
        let mut all = Vec::new();
        let mut arguments = self.all.iter();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy();
            match &*text {
                "--out-dir" => {
                    arguments.next();
                    all.extend(["--out-dir".into(), out_dir.into()]);
                }
                "-C" => match arguments.next() {
                    Some(codegen) if codegen.to_string_lossy().starts_with("incremental=") => {
                        all.extend([argument.clone(), prefixed("incremental=", incremental)]);
                    }
                    Some(codegen) => all.extend([argument.clone(), codegen.clone()]),
                    None => {}
                },
                _ if text.starts_with("--emit=") => all.push("--emit=metadata".into()),
                _ => all.push(argument.clone()),
            }
        }
        all
    }

    /// `--crate-name`.
    pub(crate) fn crate_name(&self) -> Option<&str> {
        self.after("--crate-name")?.to_str()
    }

    /// The platform, and options of code generation such as the linker.
    pub(crate) fn code_generation(&self) -> Vec<&OsStr> {
        let mut chosen = Vec::new();
        let mut words = self.all.iter().map(OsString::as_os_str);
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            if ["-C", "--codegen", "--target"].contains(&&*text) {
                chosen.push(word);
                chosen.extend(words.next());
            } else if ["-C", "--codegen=", "--target="].iter().any(|flag| text.starts_with(flag)) {
                chosen.push(word);
            }
        }
        chosen
    }

    /// `--target`.
    pub fn target(&self) -> Option<&OsStr> {
        self.after("--target")
    }

    /// `--out-dir`.
    pub fn out_dir(&self) -> Option<PathBuf> {
        self.after("--out-dir").map(PathBuf::from)
    }

    /// A name for the crate's results, see [`unit`].
    pub fn unit(&self) -> String {
        unit(&self.results(), &self.out_dir().unwrap_or_default())
    }

    /// What cargo names results by: the crate's name and `-C extra-filename`.
    pub fn results(&self) -> String {
        let extra = self
            .all
            .iter()
            .filter_map(|argument| argument.to_str()?.strip_prefix("extra-filename="))
            .next();
        format!("{}{}", self.crate_name().unwrap_or_default(), extra.unwrap_or_default())
    }

    /// True if cargo hides the warnings of the crate.
    pub(crate) fn caps_lints(&self) -> bool {
        self.after("--cap-lints").is_some()
    }

    /// True for a build script, which is a program of its own.
    pub(crate) fn is_build_script(&self) -> bool {
        self.crate_name().is_some_and(|name| name.starts_with("build_script_"))
    }

    /// True if the result is a program: a binary or a test.
    pub fn is_program(&self) -> bool {
        // Tests and benchmarks with a `main` of their own have no crate type, and are binaries.
        let is_binary = self.after("--crate-type").is_none_or(|kind| kind == "bin");
        is_binary || self.is_test()
    }

    /// True if a result is a library that programs load while they run, or a static one that is
    /// linked into programs in other languages. Its hooks see no core but one of its own.
    pub fn is_system_library(&self) -> bool {
        let is_shared = self.crate_types().any(|kind| kind == "cdylib" || kind == "dylib");
        !self.is_test() && (is_shared || (self.is_static_library() && !self.is_dependency()))
    }

    /// True if a result is a static library for programs in other languages.
    pub(crate) fn is_static_library(&self) -> bool {
        !self.is_test() && self.crate_types().any(|kind| kind == "staticlib")
    }

    /// True if a core can be added to the result: to a program, and to a `cdylib` or a `staticlib`
    /// on systems where this is known to work. A program that is linked with a `dylib` would have
    /// two cores of one name.
    pub(crate) fn takes_core(&self) -> bool {
        let is_library = self.is_system_library() && self.crate_types().all(|kind| kind != "dylib");
        self.is_program() || (is_library && adds_core_to_libraries(self.target()))
    }

    /// True if other crates are compiled against a result.
    pub(crate) fn is_dependency(&self) -> bool {
        self.crate_types().any(|kind| kind == "lib" || kind == "rlib")
    }

    /// The values of `--crate-type`, which may have several each.
    fn crate_types(&self) -> impl Iterator<Item = &str> {
        let apart = self
            .all
            .windows(2)
            .filter(|pair| pair[0] == "--crate-type")
            .filter_map(|pair| pair[1].to_str());
        let joined =
            self.all.iter().filter_map(|argument| argument.to_str()?.strip_prefix("--crate-type="));
        apart.chain(joined).flat_map(|kinds| kinds.split(','))
    }

    /// True if the result runs the crate's tests.
    pub fn is_test(&self) -> bool {
        self.all.iter().any(|argument| argument == "--test")
    }

    /// What the build sets, as far as the command line states it.
    pub fn build(&self) -> Build {
        let text = |argument: &OsString| argument.to_str().map(str::to_owned);
        let joined = self
            .all
            .iter()
            .filter_map(|argument| Some(argument.to_str()?.strip_prefix("--cfg=")?.to_owned()));
        let apart =
            self.all.windows(2).filter(|pair| pair[0] == "--cfg").filter_map(|pair| text(&pair[1]));
        let edition = self.after("--edition").and_then(|edition| edition.to_str()?.parse().ok());
        let settings = apart.chain(joined).chain(self.is_test().then(|| "test".to_owned()));
        Build::new(settings).in_edition(edition.unwrap_or(2015))
    }

    /// True if it is optimised for speed: `-C opt-level=2` or `3`.
    pub(crate) fn is_optimized(&self) -> bool {
        let text =
            |argument: &OsString| argument.to_string_lossy().trim_start_matches("-C").to_owned();
        let mut levels =
            self.all.iter().map(text).filter(|text| text.starts_with("opt-level=") || text == "-O");
        levels
            .next_back()
            .is_some_and(|last| ["opt-level=2", "opt-level=3", "-O"].contains(&last.as_str()))
    }

    fn after(&self, flag: &str) -> Option<&OsStr> {
        let with = format!("{flag}=");
        for (at, argument) in self.all.iter().enumerate() {
            if argument == flag {
                return self.all.get(at + 1).map(OsString::as_os_str);
            }
            if let Some(value) = argument.to_str().and_then(|argument| argument.strip_prefix(&with))
            {
                return Some(OsStr::new(value));
            }
        }
        None
    }
}

/// A name for the results of a crate in a directory. Dynamic libraries have the same file name in
/// each profile.
pub(crate) fn unit(results: &str, out_dir: &Path) -> String {
    format!("{results}-{}", stamp([out_dir.to_string_lossy()]))
}

/// True for a target whose shared libraries get a core of their own.
pub fn adds_core_to_libraries(target: Option<&OsStr>) -> bool {
    const SYSTEMS: [&str; 3] = ["linux", "android", "freebsd"];
    match target {
        Some(target) => SYSTEMS.iter().any(|system| target.to_string_lossy().contains(system)),
        None => SYSTEMS.contains(&std::env::consts::OS),
    }
}

/// Flags whose value may look like a file of source.
const TAKING: [&str; 6] = ["--crate-name", "--out-dir", "--cfg", "--check-cfg", "-C", "-L"];

/// Cargo writes long command lines into a file.
fn written_out(argument: OsString) -> Vec<OsString> {
    let file = argument.to_str().and_then(|argument| argument.strip_prefix('@'));
    match file.and_then(|file| read_whole_text(Path::new(file)).ok()) {
        Some(text) => text.lines().map(OsString::from).collect(),
        None => vec![argument],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments::new(line.split(' ').map(OsString::from))
    }

    #[test]
    fn the_root_is_found_among_flags_and_replaced() {
        let of = arguments(
            "--crate-name a --edition=2021 src/lib.rs --crate-type lib -C extra-filename=-1 --cfg x.rs",
        );
        assert_eq!(of.root(), Some(Path::new("src/lib.rs")));
        assert_eq!(of.with_root(Path::new("/m/lib.rs"))[3], "/m/lib.rs");
        assert_eq!((of.results().as_str(), of.is_program()), ("a-1", false));
        assert!(!of.is_optimized());
        assert!(arguments("--crate-name a a.rs -C opt-level=3 -C debuginfo=1").is_optimized());
        assert!(!arguments("--crate-name a a.rs -Copt-level=3 -C opt-level=s").is_optimized());
    }

    #[test]
    fn what_has_the_same_name_elsewhere_is_another_unit() {
        let unit = |dir: &str| {
            arguments(&format!("--crate-name a a.rs --out-dir {dir} --crate-type dylib")).unit()
        };
        assert_eq!(unit("debug/deps"), unit("debug/deps"));
        assert_ne!(unit("debug/deps"), unit("release/deps"));
    }

    #[test]
    fn a_core_is_added_to_programs_and_to_libraries_that_are_loaded() {
        for (kinds, is_linux, is_apple) in [
            ("--crate-type bin", true, true),
            ("--test", true, true),
            ("--test --crate-type cdylib", true, true),
            ("--crate-type cdylib", true, false),
            ("--crate-type cdylib --crate-type rlib", true, false),
            ("--crate-type=rlib,cdylib", true, false),
            ("--crate-type staticlib", true, false),
            // Other crates are compiled against it, so only the linker could add the core, and no
            // linker makes it.
            ("--crate-type staticlib --crate-type rlib", false, false),
            ("--crate-type lib", false, false),
            ("--crate-type cdylib --crate-type dylib", false, false),
            ("--crate-type proc-macro", false, false),
        ] {
            let takes_core = |target: &str| {
                arguments(&format!("--crate-name a {kinds} --target {target}")).takes_core()
            };
            assert_eq!(takes_core("aarch64-linux-android"), is_linux, "{kinds}");
            assert_eq!(takes_core("aarch64-apple-darwin"), is_apple, "{kinds}");
        }
        let is_dependency =
            |kinds: &str| arguments(&format!("--crate-name a {kinds}")).is_dependency();
        assert!(
            is_dependency("--crate-type cdylib --crate-type rlib")
                && !is_dependency("--crate-type cdylib")
        );
    }

    #[test]
    fn questions_have_no_root() {
        assert_eq!(arguments("-vV").root(), None);
        assert_eq!(arguments("- --crate-name ___ --print=file-names").root(), None);
    }

    #[test]
    fn checking_writes_nothing_of_cargos() {
        let of = arguments(
            "--crate-name a a.rs --emit=dep-info,link --out-dir deps -C incremental=x -C opt-level=3 --test",
        );
        let check: Vec<String> = of
            .checking(Path::new("/c"), Path::new("/i"))
            .iter()
            .map(|it| it.to_string_lossy().into_owned())
            .collect();
        assert_eq!(
            check.join(" "),
            "--crate-name a a.rs --emit=metadata --out-dir /c -C incremental=/i -C opt-level=3 --test"
        );
    }
}

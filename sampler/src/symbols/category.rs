//! Owners of code, which are the sections of a report. In the paper they are generated and vanilla
//! code (*A detailed VM profiler for the Cog VM*, section 2.2); in a Rust program they are the
//! owners of the code.
//!
//! Hooks are metaspy's code, and not that of the woven function that they were inlined into. A
//! reader asks for the cost of the program and for that of the observation.

use serde::Serialize;

/// Owner of a function's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// The program itself.
    User,
    /// A crate or a library that the program uses.
    Dependency,
    /// Rust's standard library.
    Std,
    /// The C library and the loader.
    Libc,
    /// The kernel.
    Kernel,
    /// Code that the program made while it ran, with a map of it.
    Registered,
    /// metaspy, at work in the program.
    Metaspy,
    /// The owner is not known.
    Unknown,
}

impl Category {
    /// All categories, in the order of reports.
    pub const ALL: [Category; 8] = [
        Category::User,
        Category::Dependency,
        Category::Std,
        Category::Libc,
        Category::Kernel,
        Category::Registered,
        Category::Metaspy,
        Category::Unknown,
    ];

    /// Returns the name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Category::User => "user code",
            Category::Dependency => "dependencies",
            Category::Std => "std",
            Category::Libc => "libc",
            Category::Kernel => "kernel",
            Category::Registered => "registered code",
            Category::Metaspy => "metaspy",
            Category::Unknown => "unknown code",
        }
    }

    /// Returns the category of a function in a code file.
    ///
    /// `source` is its source file. `is_program` is true if a process was started from the code
    /// file.
    pub fn of(name: &str, source: Option<&str>, module: &str, is_program: bool) -> Category {
        if is_libc(module) {
            return Category::Libc;
        }
        let owner = owner(name);
        if owner.is_some_and(|owner| OURS.contains(&owner)) {
            return Category::Metaspy;
        }
        match source {
            Some(source) if HOOKS.iter().any(|part| source.contains(part)) => Category::Metaspy,
            Some(source) if STD_SOURCES.iter().any(|start| source.starts_with(start)) => {
                Category::Std
            }
            Some(source) if source.contains("/rustlib/src/rust/") => Category::Std,
            Some(source) if DEPENDENCIES.iter().any(|part| source.contains(part)) => {
                Category::Dependency
            }
            None if owner.is_some_and(|owner| STD.contains(&owner)) => Category::Std,
            _ if is_program => Category::User,
            // A library that the program's workspace builds is beside the program, and its sources
            // are in no package directory.
            Some(_) if !module.starts_with("/usr/") && !module.starts_with("/lib") => {
                Category::User
            }
            _ => Category::Dependency,
        }
    }
}

/// Crates of metaspy that record.
const OURS: [&str; 10] = [
    "metaspy",
    "metaspy_core",
    "metaspy_format",
    "metaspy_instrumenters",
    "metaspy_probe",
    "metaspy_reader",
    "metaspy_recorder",
    "metaspy_sampler",
    "metaspy_woven",
    "metaspy_woven_called",
];
/// Parts of the paths of metaspy's sources. They are needed where debug information has only the
/// last segment of a name, so that the crate is not known.
const HOOKS: [&str; 13] = [
    "/metaspy/core/",
    "/metaspy/hooks/",
    "/metaspy-core/src/",
    "/metaspy-core/format/src/",
    "/metaspy-core/probe/src/",
    "/metaspy-core/reader/src/",
    "/metaspy-core/recorder/src/",
    "/metaspy-probe/src/",
    "/metaspy-core-0.",
    "/metaspy-format-0.",
    "/metaspy-probe-0.",
    "/metaspy-reader-0.",
    "/metaspy-recorder-0.",
];
/// Crates of the standard library, and code that the compiler itself makes.
const STD: [&str; 7] = ["alloc", "core", "std", "panic_unwind", "proc_macro", "test", "__rustc"];
/// Prefixes of the standard library's source paths. The last belongs to the packages that it is
/// built with, such as hashbrown.
const STD_SOURCES: [&str; 2] = ["/rustc/", "/rust/deps/"];
/// Parts of the paths of packages that were downloaded or copied.
const DEPENDENCIES: [&str; 3] = ["/registry/src/", "/git/checkouts/", "/vendor/"];
/// Prefixes of the file names of the C library.
const LIBC: [&str; 9] = [
    "libc.so",
    "libc-",
    "ld-linux",
    "ld-musl",
    "libm.so",
    "libpthread",
    "libdl.so",
    "librt.so",
    "libgcc_s",
];

fn is_libc(module: &str) -> bool {
    let name = module.rsplit('/').next().unwrap_or(module);
    name == crate::vdso::NAME || LIBC.iter().any(|start| name.starts_with(start))
}

/// Returns the crate of a function: the first segment of its path; for `<T as Trait>::f`, that of
/// `T`.
fn owner(name: &str) -> Option<&str> {
    let path = name.trim_start_matches(['<', '&', '*', '[', '(']);
    let path = path.strip_prefix("dyn ").or(path.strip_prefix("mut ")).unwrap_or(path);
    let (owner, _) = path.split_once("::")?;
    let is_word = owner.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    is_word.then_some(owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_belongs_to_the_owner_of_its_source() {
        let of = |name: &str, source: Option<&str>| {
            Category::of(name, source, "/home/me/app/target/release/app", true)
        };
        let registry = "/home/me/.cargo/registry/src/index.crates.io-1/taffy-0.9/src/lib.rs";
        assert_eq!(of("app::main", Some("/home/me/app/src/main.rs")), Category::User);
        assert_eq!(of("taffy::compute", Some(registry)), Category::Dependency);
        assert_eq!(
            of("core::slice::sort::quicksort", Some("/rustc/59807616e/library/core/src/slice.rs")),
            Category::Std
        );
        assert_eq!(of("<alloc::vec::Vec<T> as core::ops::Drop>::drop", None), Category::Std);
        assert_eq!(
            of("metaspy_core::hook::enter", Some("/home/me/metaspy/metaspy-core/src/hook.rs")),
            Category::Metaspy
        );
        assert_eq!(of("app::std::f", None), Category::User);
        assert_eq!(
            of("hashbrown::map::HashMap::insert", Some("/rust/deps/hashbrown-0.16.1/src/map.rs")),
            Category::Std
        );
        assert_eq!(of("__rustc::__rust_dealloc", None), Category::Std);
        assert_eq!(
            of("metaspy_sampler::code_map::bytecode::Bytecode::at", None),
            Category::Metaspy
        );
        assert_eq!(of("metaspy_woven_called::guard::Guard::begin", None), Category::Metaspy);
        assert_eq!(
            of("<metaspy_woven::guard::Guard as core::ops::drop::Drop>::drop", None),
            Category::Metaspy
        );
        assert_eq!(of("of", Some("/home/me/app/metaspy-probe/src/value.rs")), Category::Metaspy);
        assert_eq!(
            of("begin", Some("/home/me/.cache/metaspy/hooks/0e11/src/guard.rs")),
            Category::Metaspy
        );
    }

    #[test]
    fn code_of_another_file_is_a_library_s() {
        let of = |module: &str, source| Category::of("f", source, module, false);
        assert_eq!(of("/usr/lib/x86_64-linux-gnu/libc.so.6", None), Category::Libc);
        assert_eq!(of("[vdso]", None), Category::Libc);
        assert_eq!(of("/usr/lib/libssl.so.3", None), Category::Dependency);
        assert_eq!(
            of("/home/me/app/target/debug/libplugin.so", Some("/home/me/app/plugin/src/lib.rs")),
            Category::User
        );
    }
}

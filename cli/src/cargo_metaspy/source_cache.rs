//! A cache of the functions of crates: reading the whole source of a graph takes longer than a
//! build without changes.
//!
//! The entry of a crate is valid as long as none of its files changed, by size and time, missing
//! files included. Published packages are not trusted, because vendored ones are edited, and a look
//! at a thousand files takes milliseconds. If an entry cannot be read, the source is.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{env, thread};

use metaspy_report::text::{counted, print_message};
use metaspy_weave::plan::{File, read_whole, stamp, write_whole};
use metaspy_weave::source::{self, Function};
use serde::{Deserialize, Serialize};

use crate::cargo_metaspy::graph::Crate;

/// A file that changed so recently may change again with the same time: the clocks of file systems
/// have steps of up to two seconds.
const SETTLED: Duration = Duration::from_secs(2);
/// A message is printed if reading takes longer.
const LONG: Duration = Duration::from_secs(1);

/// The functions of a crate.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CachedCrate {
    /// The command that read the source: another version may read it differently.
    reader: Option<File>,
    /// All files that were looked at, the root first.
    files: Vec<File>,
    /// The functions, with the places of their files and their paths. A file with a syntax error
    /// has one entry, `module::*`.
    functions: Vec<(usize, String, Function)>,
}

/// The functions of these crates, in the same order. The cache is in this directory.
pub(crate) fn of_all(crates: &[&Crate], dir: &Path) -> Vec<CachedCrate> {
    let reader = env::current_exe().ok().map(File::at);
    let (started, is_reported, next) =
        (Instant::now(), AtomicBool::new(false), AtomicUsize::new(0));
    let read = || {
        let mut read = Vec::new();
        while let Some((at, krate)) = take(&next, crates) {
            read.push((at, CachedCrate::of(krate, dir, reader.as_ref())));
            if started.elapsed() > LONG && !is_reported.swap(true, Ordering::Relaxed) {
                print_message(&format!(
                    "     Metaspy reading the source of {}",
                    counted(crates.len() as u64, "crate")
                ));
            }
        }
        read
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(crates.len());
    let mut all: Vec<(usize, CachedCrate)> = thread::scope(|scope| {
        let running: Vec<_> =
            (0..threads).map(|_| thread::Builder::new().spawn_scoped(scope, read)).collect();
        // Without further threads this one reads all of it.
        let mut all = if running.iter().all(Result::is_err) { read() } else { Vec::new() };
        for thread in running.into_iter().flatten() {
            all.extend(thread.join().expect("source is read without a panic"));
        }
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, known)| known).collect()
}

fn take<'c>(next: &AtomicUsize, crates: &[&'c Crate]) -> Option<(usize, &'c Crate)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    Some((at, *crates.get(at)?))
}

impl CachedCrate {
    /// The functions: the path, the file and the description of each.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &Path, &Function)> {
        self.functions.iter().filter_map(|(file, path, function)| {
            Some((path.as_str(), self.files.get(*file)?.path(), function))
        })
    }

    fn of(krate: &Crate, dir: &Path, reader: Option<&File>) -> CachedCrate {
        let place = dir
            .join(format!("{}.json", stamp([krate.name(), krate.src_path.display().to_string()])));
        let kept = read_whole(&place)
            .ok()
            .and_then(|text| serde_json::from_slice::<CachedCrate>(&text).ok());
        if let Some(known) = kept.filter(|known| known.holds(reader)) {
            return known;
        }
        let before = SystemTime::now();
        let known = CachedCrate::read(krate, reader);
        if known.is_settled(before)
            && let Ok(text) = serde_json::to_vec(&known)
        {
            // Without an entry the source is read again.
            let _ = write_whole(&place, &text);
        }
        known
    }

    fn read(krate: &Crate, reader: Option<&File>) -> CachedCrate {
        let Ok(source) = source::read(&krate.src_path) else { return CachedCrate::default() };
        let name = krate.name();
        let mut known = CachedCrate { reader: reader.cloned(), ..CachedCrate::default() };
        for (at, file) in source.files.into_iter().enumerate() {
            match &file.parsed {
                Ok(parsed) => {
                    for function in &parsed.functions.all {
                        let paths = file.paths_of(&name, function);
                        known.functions.extend(paths.map(|path| (at, path, function.clone())));
                    }
                }
                // A selector that matches it reports why nothing in it has a hook.
                Err(_) => {
                    let paths = file.module_paths(&name);
                    known
                        .functions
                        .extend(paths.map(|path| (at, path + "::*", Function::default())));
                }
            }
            known.files.push(File::at(file.path));
        }
        known.files.extend(source.missing.into_iter().map(File::at));
        known
    }

    fn holds(&self, reader: Option<&File>) -> bool {
        reader.is_some()
            && self.reader.as_ref() == reader
            && !self.files.is_empty()
            && self.files.iter().all(File::is_same)
    }

    fn is_settled(&self, before: SystemTime) -> bool {
        let is_old =
            |changed: SystemTime| before.duration_since(changed).is_ok_and(|age| age > SETTLED);
        !self.files.is_empty() && self.files.iter().filter_map(File::changed).all(is_old)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;

    /// A crate in a directory of its own, all of whose files are old.
    struct OldCrate(PathBuf);

    impl OldCrate {
        fn new(name: &str, files: &[(&str, &str)]) -> OldCrate {
            let dir = env::temp_dir().join(format!("metaspy-known-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&dir);
            let old = OldCrate(dir);
            files.iter().for_each(|(path, text)| old.write(path, text, 100));
            old
        }

        fn write(&self, path: &str, text: &str, age_s: u64) {
            let path = self.0.join(path);
            write_whole(&path, text.as_bytes()).expect("it is written");
            let file = fs::File::options().write(true).open(path).expect("it is there");
            file.set_modified(SystemTime::now() - Duration::from_secs(age_s))
                .expect("it has a time");
        }

        fn functions(&self) -> String {
            let root = self.0.join("lib.rs");
            let krate =
                serde_json::from_value(json!({ "name": "c", "kind": ["lib"], "src_path": root }));
            let known = of_all(&[&krate.expect("it is a crate")], &self.0.join("kept"));
            known[0].functions().map(|(path, ..)| path).collect::<Vec<_>>().join(" ")
        }

        /// The file of the cache.
        fn kept(&self) -> Option<PathBuf> {
            Some(fs::read_dir(self.0.join("kept")).ok()?.next()?.expect("it can be read").path())
        }

        /// Changes the name of a function in the cache, so that its use shows.
        fn mark(&self) {
            let kept = self.kept().expect("something is kept");
            let text = fs::read_to_string(&kept).expect("it is text").replace("c::one", "c::kept");
            fs::write(kept, text).expect("it is written");
        }
    }

    impl Drop for OldCrate {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn unchanged_source_is_not_read_again() {
        let old = OldCrate::new("same", &[("lib.rs", "fn one() {}")]);
        assert_eq!(old.functions(), "c::one");
        old.mark();
        assert_eq!(old.functions(), "c::kept");
    }

    #[test]
    fn changed_source_is_read_again() {
        let old = OldCrate::new(
            "changed",
            &[("lib.rs", "fn one() {} mod a; #[cfg(any())] mod b;"), ("a.rs", "fn f() {}")],
        );
        assert_eq!(old.functions(), "c::one c::a::f");
        old.mark();
        old.write("a.rs", "fn g() {}", 50);
        assert_eq!(old.functions(), "c::one c::a::g", "same size, another time");
        old.mark();
        old.write("b/mod.rs", "fn f() {}", 50);
        assert_eq!(old.functions(), "c::one c::a::g c::b::f", "a file that was missed is there");
        old.mark();
        fs::remove_file(old.0.join("a.rs")).expect("it is removed");
        assert_eq!(old.functions(), "c::one c::b::f");
    }

    #[test]
    fn source_that_was_just_written_is_not_cached() {
        let old = OldCrate::new("fresh", &[]);
        old.write("lib.rs", "fn one() {}", 0);
        assert_eq!((old.functions().as_str(), old.kept()), ("c::one", None));
    }

    #[test]
    fn a_damaged_entry_is_replaced() {
        let old = OldCrate::new("damaged", &[("lib.rs", "fn one() {}")]);
        old.functions();
        let kept = old.kept().expect("something is kept");
        let whole = fs::read(&kept).expect("it is there");
        for text in [&b""[..], b"{}", &whole[..whole.len() / 2], b"\xff\xff"] {
            fs::write(&kept, text).expect("it is written");
            assert_eq!(old.functions(), "c::one");
            assert_eq!(fs::read(&kept).expect("it is there"), whole);
        }
    }
}

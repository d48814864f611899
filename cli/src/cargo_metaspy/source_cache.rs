//! The functions of crates, kept between starts: to read all source of a graph takes longer than a build that has nothing
//! to do.
//!
//! What is kept of a crate holds as long as all files that were looked at are what they were. Whatever is wrong with it,
//! the source is read again.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, thread};

use metaspy_weave::plan::{stamp, write_whole};
use metaspy_weave::source::{self, Function};
use metaspy_weave::wrapper::File;
use serde::{Deserialize, Serialize};

use crate::cargo_metaspy::graph::Crate;

/// A file that changed so shortly before it was read may change again and have the same time: file systems count in
/// steps, of two seconds at most.
const SETTLED: Duration = Duration::from_secs(2);
/// From then on a person wonders what is going on.
const LONG: Duration = Duration::from_secs(1);
/// As the main thread has: source may be deeply nested.
const STACK: usize = 8 << 20;

/// The functions of a crate.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The command that read the source, as another one may read it otherwise.
    reader: Option<File>,
    /// All that were looked at, the root first.
    files: Vec<File>,
    /// The functions, their paths, and the places of their files among these. Of a file that was not understood one that
    /// stands for all, `module::*`.
    functions: Vec<(usize, String, Function)>,
}

/// The functions of these crates, in the same order. They are kept in this directory.
pub fn of_all(crates: &[&Crate], dir: &Path) -> Vec<Known> {
    let reader = env::current_exe().ok().map(File::at);
    let (started, is_told, next) = (Instant::now(), AtomicBool::new(false), AtomicUsize::new(0));
    let read = || {
        let mut read = Vec::new();
        while let Some((at, krate)) = take(&next, crates) {
            read.push((at, Known::of(krate, dir, reader.as_ref())));
            if started.elapsed() > LONG && !is_told.swap(true, Ordering::Relaxed) {
                eprintln!("     Metaspy reading the source of {} crates", crates.len());
            }
        }
        read
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(crates.len());
    let mut all: Vec<(usize, Known)> = thread::scope(|scope| {
        let start = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, read);
        let running: Vec<_> = (0..threads).map(start).collect();
        // Where no thread can be had this one does it all.
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

impl Known {
    /// The functions: their path, the file that each is in, and what is known of it.
    pub fn functions(&self) -> impl Iterator<Item = (&str, &Path, &Function)> {
        self.functions
            .iter()
            .filter_map(|(file, path, function)| Some((path.as_str(), self.files.get(*file)?.path(), function)))
    }

    fn of(krate: &Crate, dir: &Path, reader: Option<&File>) -> Known {
        let place = dir.join(format!("{}.json", stamp([krate.name(), krate.src_path.display().to_string()])));
        let kept = fs::read(&place).ok().and_then(|text| serde_json::from_slice::<Known>(&text).ok());
        if let Some(known) = kept.filter(|known| known.holds(reader)) {
            return known;
        }
        let before = SystemTime::now();
        let known = Known::read(krate, reader);
        if known.is_settled(before)
            && let Ok(text) = serde_json::to_vec(&known)
        {
            // What cannot be kept is read again.
            let _ = write_whole(&place, &text);
        }
        known
    }

    fn read(krate: &Crate, reader: Option<&File>) -> Known {
        let Ok(source) = source::read(&krate.src_path) else { return Known::default() };
        let name = krate.name();
        let mut known = Known { reader: reader.cloned(), ..Known::default() };
        for (at, file) in source.files.into_iter().enumerate() {
            match &file.parsed {
                Ok(parsed) => {
                    for function in &parsed.functions.all {
                        let paths = file.paths_of(&name, function);
                        known.functions.extend(paths.map(|path| (at, path, function.clone())));
                    }
                }
                // Whoever selects all of it is told why nothing in it has a hook.
                Err(_) => {
                    let paths = file.module_paths(&name);
                    known.functions.extend(paths.map(|path| (at, path + "::*", Function::default())));
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
        let is_old = |changed: SystemTime| before.duration_since(changed).is_ok_and(|age| age > SETTLED);
        !self.files.is_empty() && self.files.iter().filter_map(File::changed).all(is_old)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;

    /// A crate in a directory of its own, all of whose files are old.
    struct Old(PathBuf);

    impl Old {
        fn new(name: &str, files: &[(&str, &str)]) -> Old {
            let dir = env::temp_dir().join(format!("metaspy-known-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&dir);
            let old = Old(dir);
            files.iter().for_each(|(path, text)| old.write(path, text, 100));
            old
        }

        fn write(&self, path: &str, text: &str, age_s: u64) {
            let path = self.0.join(path);
            write_whole(&path, text.as_bytes()).expect("it is written");
            let file = fs::File::options().write(true).open(path).expect("it is there");
            file.set_modified(SystemTime::now() - Duration::from_secs(age_s)).expect("it has a time");
        }

        fn functions(&self) -> String {
            let root = self.0.join("lib.rs");
            let krate = serde_json::from_value(json!({ "name": "c", "kind": ["lib"], "src_path": root }));
            let known = of_all(&[&krate.expect("it is a crate")], &self.0.join("kept"));
            known[0].functions().map(|(path, ..)| path).collect::<Vec<_>>().join(" ")
        }

        /// What is kept, if anything is.
        fn kept(&self) -> Option<PathBuf> {
            Some(fs::read_dir(self.0.join("kept")).ok()?.next()?.expect("it can be read").path())
        }

        /// Makes what is kept tell of another function, so that it shows when it is used.
        fn mark(&self) {
            let kept = self.kept().expect("something is kept");
            let text = fs::read_to_string(&kept).expect("it is text").replace("c::one", "c::kept");
            fs::write(kept, text).expect("it is written");
        }
    }

    impl Drop for Old {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn what_did_not_change_is_not_read_again() {
        let old = Old::new("same", &[("lib.rs", "fn one() {}")]);
        assert_eq!(old.functions(), "c::one");
        old.mark();
        assert_eq!(old.functions(), "c::kept");
    }

    #[test]
    fn what_changed_is_read_again() {
        let old = Old::new("changed", &[("lib.rs", "fn one() {} mod a; #[cfg(any())] mod b;"), ("a.rs", "fn f() {}")]);
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
    fn what_was_just_written_is_not_kept() {
        let old = Old::new("fresh", &[]);
        old.write("lib.rs", "fn one() {}", 0);
        assert_eq!((old.functions().as_str(), old.kept()), ("c::one", None));
    }

    #[test]
    fn what_is_damaged_is_written_anew() {
        let old = Old::new("damaged", &[("lib.rs", "fn one() {}")]);
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

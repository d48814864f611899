//! The cache of libraries that are built once for a compiler. All projects of a user share it.
//!
//! An entry is a directory behind a lock. The list of its files is written last, so that a build
//! that was killed leaves no entry. A list whose files changed is no entry, so a damaged cache only
//! costs time. With a copy in each target directory, one machine built the core five times.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, io};

use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::plan::{Content, create_anew, open_lock, read_whole, write_whole};

/// The environment variable with the directory.
const DIRECTORY: &str = "METASPY_CACHE";
/// The list of an entry's files.
const LIST: &str = "entry.json";
/// An empty file that marks a directory as an entry. It is written first: a directory without it is
/// somebody else's, as `METASPY_CACHE` may name any directory.
const MARKER: &str = "metaspy-cache-entry";
/// The extension of an entry's lock.
const LOCK: &str = "lock";
/// An entry that was not used for longer is removed when another one is built.
const UNUSED: Duration = Duration::from_secs(30 * DAY_S);
const DAY_S: u64 = 24 * 60 * 60;

/// The content of an entry.
#[derive(Serialize, Deserialize)]
struct Entry<T> {
    built: T,
    files: Vec<Content>,
}

/// The directory: `METASPY_CACHE`, otherwise `metaspy` in the user's cache directory. Without a
/// usable one, `otherwise`.
pub fn directory(otherwise: &Path) -> Result<PathBuf> {
    let set = |name| env::var_os(name).filter(|dir| !dir.is_empty()).map(PathBuf::from);
    if let Some(chosen) = set(DIRECTORY) {
        let chosen = std::path::absolute(chosen)?;
        own(&chosen).with_context(|| format!("{DIRECTORY}: cannot use {}", chosen.display()))?;
        return Ok(chosen);
    }
    let default = set("XDG_CACHE_HOME").or_else(|| Some(env::home_dir()?.join(".cache")));
    let default = default.filter(|dir| dir.is_absolute()).map(|dir| dir.join("metaspy"));
    Ok(default.filter(|dir| own(dir).is_ok()).unwrap_or_else(|| otherwise.to_owned()))
}

/// Returns the result of `build` in this directory. `build` runs if there is no entry, or if a file
/// of the entry changed. Other processes wait meanwhile. It returns a description of the result,
/// and the files that must not change.
pub fn entry<T>(dir: &Path, build: impl FnOnce(&Path) -> Result<(T, Vec<PathBuf>)>) -> Result<T>
where
    T: Serialize + DeserializeOwned,
{
    if let Some(built) = read(dir) {
        return Ok(built);
    }
    let _lock = lock(dir)?;
    // Another process may have built it meanwhile.
    if let Some(built) = read(dir) {
        return Ok(built);
    }
    sweep(dir);
    if dir.join(LIST).exists() {
        // Damaged: nothing in it is reused.
        fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    }
    fs::create_dir_all(dir)?;
    create_anew(&dir.join(MARKER))?;
    let (built, files) = build(dir)?;
    let entry = Entry { built, files: files.into_iter().map(Content::at).collect() };
    write_whole(&dir.join(LIST), &serde_json::to_vec(&entry)?)?;
    Ok(entry.built)
}

fn read<T: DeserializeOwned>(dir: &Path) -> Option<T> {
    let list = dir.join(LIST);
    let entry: Entry<T> = serde_json::from_slice(&read_whole(&list).ok()?).ok()?;
    let is_whole = entry.files.iter().all(|file| file.exists() && file.is_same());
    if is_whole && age(&list) > Duration::from_secs(DAY_S) {
        // Without a new time the entry is removed earlier.
        let _ = File::options()
            .write(true)
            .open(list)
            .and_then(|list| list.set_modified(SystemTime::now()));
    }
    is_whole.then_some(entry.built)
}

/// The lock of an entry; `None` on a file system without locks.
fn lock(dir: &Path) -> Result<Option<File>> {
    let path = dir.with_extension(LOCK);
    let create = || -> io::Result<File> {
        fs::create_dir_all(dir.parent().unwrap_or(dir))?;
        open_lock(&path)
    };
    let file = create()
        .with_context(|| format!("cannot create {}: check its permissions", path.display()))?;
    Ok(file.lock().is_ok().then_some(file))
}

/// Removes the unused entries beside this one.
fn sweep(dir: &Path) {
    let beside = fs::read_dir(dir.parent().unwrap_or(dir))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    for other in beside.filter(|path| path != dir && path.join(MARKER).is_file()) {
        let list = other.join(LIST);
        let is_unused = age(if list.exists() { &list } else { &other }) > UNUSED;
        let lock = other.with_extension(LOCK);
        if is_unused && open_lock(&lock).is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(&other);
            let _ = fs::remove_file(lock);
        }
    }
}

/// The time since the last change; 0 if it is not known.
fn age(path: &Path) -> Duration {
    let changed = fs::metadata(path).and_then(|meta| meta.modified());
    changed
        .ok()
        .and_then(|changed| SystemTime::now().duration_since(changed).ok())
        .unwrap_or_default()
}

/// Creates the directory if it does not exist. Fails if another user can write to it, because
/// programs contain code from it.
fn own(dir: &Path) -> Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)?;
    let probe = dir.join(format!("probe-{}", std::process::id()));
    let ours = create_anew(&probe).and_then(|file| file.metadata());
    let _ = fs::remove_file(probe);
    #[cfg_attr(not(unix), expect(unused_variables, reason = "only the owner is compared"))]
    let ours = ours?;
    let theirs = fs::metadata(dir)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if ours.uid() != theirs.uid() || theirs.mode() & 0o022 != 0 {
            bail!("another user can write to it: name a directory of your own");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::*;

    /// A cache in a directory of its own, and the number of its builds.
    struct Cache(PathBuf, AtomicU32);

    impl Cache {
        fn new(name: &str) -> Cache {
            let dir = env::temp_dir().join(format!("metaspy-cache-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&dir);
            Cache(dir, AtomicU32::new(0))
        }

        fn get(&self, name: &str) -> Result<String> {
            entry(&self.0.join(name), |dir| {
                self.1.fetch_add(1, Ordering::Relaxed);
                fs::write(dir.join("lib"), "built")?;
                Ok((format!("the {name}"), vec![dir.join("lib")]))
            })
        }

        /// Checks an entry, and the number of builds until now.
        fn check(&self, name: &str, builds: u32) {
            assert_eq!(self.get(name).expect("it can be built"), format!("the {name}"));
            assert_eq!(self.1.load(Ordering::Relaxed), builds);
            assert_eq!(
                fs::read_to_string(self.0.join(name).join("lib")).expect("it is there"),
                "built"
            );
        }
    }

    impl Drop for Cache {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn make_old(path: &Path, age: Duration) {
        let file = File::options().write(true).open(path).expect("it is there");
        file.set_modified(SystemTime::now() - age).expect("it has a time");
    }

    #[test]
    fn an_entry_is_built_once_by_all_that_need_it() {
        let cache = Cache::new("once");
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| cache.get("core"));
            }
        });
        cache.check("core", 1);
        cache.check("hooks", 2);
    }

    #[test]
    fn a_damaged_entry_is_built_again() {
        let cache = Cache::new("damaged");
        cache.check("core", 1);
        let lib = cache.0.join("core/lib");
        let list = cache.0.join("core").join(LIST);
        fs::write(&lib, "buil").expect("it is written");
        cache.check("core", 2);
        fs::remove_file(&lib).expect("it is there");
        cache.check("core", 3);
        fs::write(list, "{").expect("it is written");
        cache.check("core", 4);
        fs::write(cache.0.join("core/stray"), "").expect("it is written");
        make_old(&lib, UNUSED);
        cache.check("core", 4);
    }

    #[test]
    fn a_build_that_fails_leaves_no_entry() {
        let cache = Cache::new("failing");
        let failed = entry::<String>(&cache.0.join("core"), |_| bail!("not today"));
        assert_eq!(failed.expect_err("it fails").to_string(), "not today");
        cache.check("core", 1);
    }

    #[test]
    fn unused_entries_are_removed() {
        let cache = Cache::new("unused");
        cache.check("old", 1);
        cache.check("used", 2);
        for name in ["old", "used"] {
            make_old(&cache.0.join(name).join(LIST), UNUSED + Duration::from_secs(DAY_S));
        }
        cache.check("used", 2);
        cache.check("new", 3);
        assert!(!cache.0.join("old").exists() && cache.0.join("used").exists());
    }

    #[test]
    fn what_is_no_entry_is_not_removed() {
        let cache = Cache::new("others");
        let thesis = cache.0.join("thesis");
        fs::create_dir_all(&thesis).expect("it is new");
        for file in [thesis.join("chapter.tex"), thesis.join(LIST), thesis.with_extension(LOCK)] {
            fs::write(&file, "precious").expect("it is written");
            make_old(&file, 2 * UNUSED);
        }
        // A build that was killed is removed, too.
        let killed = cache.0.join("killed");
        entry::<String>(&killed, |_| bail!("killed")).expect_err("it fails");
        for old in [&thesis, &killed] {
            File::open(old)
                .and_then(|dir| dir.set_modified(SystemTime::now() - 2 * UNUSED))
                .expect("it is ours");
        }
        cache.check("new", 1);
        assert_eq!(
            fs::read_to_string(thesis.join("chapter.tex")).expect("it is there"),
            "precious"
        );
        assert_eq!(
            fs::read_to_string(thesis.with_extension(LOCK)).expect("it is there"),
            "precious"
        );
        assert!(!killed.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_others_can_write_to_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let cache = Cache::new("shared");
        own(&cache.0).expect("it is new");
        fs::set_permissions(&cache.0, fs::Permissions::from_mode(0o777)).expect("it is ours");
        assert!(
            own(&cache.0)
                .expect_err("it is open")
                .to_string()
                .contains("another user can write to it")
        );
    }
}

//! The lock of a target directory. Runs with the same selection and profilers share it. A run with
//! another selection waits, because it cleans their results.
//!
//! The lock is held until the program has ended. Cargo's own lock is free while programs run, so
//! another run would clean their results beneath them.

use std::env;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use metaspy_report::text::print_message;
use metaspy_weave::plan::{
    File as Library, PLAN, Plan, Selection, open_lock, read_whole, write_whole,
};
use serde::{Deserialize, Serialize};

use crate::cargo_metaspy::clean::Stale;

/// The held lock: no other run cleans the results of this selection.
#[derive(Debug)]
pub struct BuildLock(#[expect(dead_code, reason = "it is held")] Option<File>);

/// The last holder of the exclusive lock.
#[derive(Serialize, Deserialize)]
struct Holder {
    selection: Selection,
    workspace: PathBuf,
    /// The profilers that programs are linked with.
    profilers: Vec<Library>,
}

impl Holder {
    /// True if a run may share the lock. In the same workspace only edits make crates stale, and
    /// cargo sees edits itself.
    fn may_join(&self, theirs: &Holder, stale: &Stale) -> bool {
        let is_edited = self.workspace == theirs.workspace && !stale.has_failed;
        self.selection == theirs.selection
            && self.profilers == theirs.profilers
            && (is_edited || stale.is_empty())
    }
}

/// Waits for runs that weave something else in the directory of this profile. The first holder of
/// the lock cleans crates woven with another selection; later holders need not.
pub fn acquire(
    plan: &Plan,
    profile: &str,
    workspace: &Path,
    stale: impl Fn() -> Stale,
    clean: impl Fn(Stale) -> Result<()>,
) -> Result<BuildLock> {
    let dir = plan.dir.join("locks");
    fs::create_dir_all(&dir)
        .with_context(|| format!("cannot create {}: check its permissions", dir.display()))?;
    let lock = dir.join(format!("{profile}.lock"));
    let holder = dir.join(format!("{profile}.json"));
    let profilers =
        plan.core.iter().flat_map(|core| &core.profilers).cloned().map(Library::at).collect();
    let ours =
        Holder { selection: plan.selection.clone(), workspace: workspace.to_owned(), profilers };
    let theirs =
        || read_whole(&holder).ok().and_then(|text| serde_json::from_slice::<Holder>(&text).ok());
    let may_join = || theirs().is_some_and(|theirs| ours.may_join(&theirs, &stale()));
    // A program of a run may run this command. It would wait for itself.
    let is_within = env::var_os(PLAN).is_some();
    let mut is_reported = false;
    loop {
        let file = open_lock(&lock).with_context(|| format!("cannot open {}", lock.display()))?;
        match file.try_lock() {
            Ok(()) => {
                write_whole(&holder, b"")?;
                clean(stale())?;
                write_whole(&holder, &serde_json::to_vec(&ours)?)?;
            }
            Err(TryLockError::WouldBlock) if may_join() => {}
            Err(TryLockError::WouldBlock) if !is_within => {
                if !is_reported {
                    print_message(
                        "     Metaspy waiting for another run in this directory, with another selection",
                    );
                    is_reported = true;
                }
                // The other runs have ended.
                file.lock()?;
                continue;
            }
            // The file system has no locks, or this is a run within a run: do not wait.
            Err(_) => return clean(stale()).map(|()| BuildLock(None)),
        }
        // Another run may have taken the lock between the two calls.
        file.lock_shared()?;
        if may_join() {
            return Ok(BuildLock(Some(file)));
        }
    }
}

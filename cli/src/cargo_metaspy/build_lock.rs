//! Runs at once in one target directory. Those with the same selection and profilers do not mind each other; another one
//! waits, as it takes back what they built.

use std::env;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use metaspy_weave::plan::{PLAN, Plan, Selection, write_whole};
use metaspy_weave::wrapper::File as Library;
use serde::{Deserialize, Serialize};

use crate::cargo_metaspy::clean::Stale;

/// As long as this is held, nobody takes back what is built with this selection.
#[derive(Debug)]
pub struct Turn(#[expect(dead_code, reason = "it is held")] Option<File>);

/// Who was the last to be there alone.
#[derive(Serialize, Deserialize)]
struct Whose {
    selection: Selection,
    workspace: PathBuf,
    /// Libraries of profilers that programs are linked with.
    profilers: Vec<Library>,
}

impl Whose {
    /// In the same workspace only edits make anything stale then, and cargo sees these itself.
    fn may_join(&self, theirs: &Whose, stale: &Stale) -> bool {
        let is_edited = self.workspace == theirs.workspace && !stale.is_to_be_tried;
        self.selection == theirs.selection && self.profilers == theirs.profilers && (is_edited || stale.is_empty())
    }
}

/// Waits until all that weave something else in the directory of this profile are done. Who finds nobody there takes back
/// what was woven otherwise; who joins others finds it done.
pub fn take(
    plan: &Plan,
    profile: &str,
    workspace: &Path,
    stale: impl Fn() -> Stale,
    take_back: impl Fn(Stale) -> Result<()>,
) -> Result<Turn> {
    let dir = plan.dir.join("turns");
    fs::create_dir_all(&dir).with_context(|| format!("{} cannot be made: can it be written?", dir.display()))?;
    let (lock, whose) = (dir.join(format!("{profile}.lock")), dir.join(format!("{profile}.json")));
    let profilers = plan.core.iter().flat_map(|core| &core.profilers).cloned().map(Library::at).collect();
    let ours = Whose { selection: plan.selection.clone(), workspace: workspace.to_owned(), profilers };
    let theirs = || fs::read(&whose).ok().and_then(|text| serde_json::from_slice::<Whose>(&text).ok());
    let may_join = || theirs().is_some_and(|theirs| ours.may_join(&theirs, &stale()));
    // A program of a run that runs this command itself would wait for itself.
    let is_within = env::var_os(PLAN).is_some();
    let mut is_told = false;
    loop {
        let file = File::options().create(true).truncate(false).write(true).open(&lock)?;
        match file.try_lock() {
            Ok(()) => {
                fs::write(&whose, "")?;
                take_back(stale())?;
                write_whole(&whose, &serde_json::to_vec(&ours)?)?;
            }
            Err(TryLockError::WouldBlock) if may_join() => {}
            Err(TryLockError::WouldBlock) if !is_within => {
                if !is_told {
                    eprintln!("     Metaspy waiting for another run here, which wove something else");
                    is_told = true;
                }
                // Then they are done, and it is tried again.
                file.lock()?;
                continue;
            }
            // Nobody can wait here, as where the file system knows no locks.
            Err(_) => return take_back(stale()).map(|()| Turn(None)),
        }
        // Somebody else may have been first between the two.
        file.lock_shared()?;
        if may_join() {
            return Ok(Turn(Some(file)));
        }
    }
}

//! The folders of a log. Those of a log that was let go are the next one's.

use std::sync::Mutex;

use crate::format::folder::RECORDS;
use crate::format::layout::Layout;
use crate::platform::lock::lock;
use crate::recorder::folder::Folder;

/// Folders that no log uses. A thread that still has them finds that its log was stopped.
static UNUSED: Mutex<Vec<&[Mutex<Folder>]>> = Mutex::new(Vec::new());

/// The folders of a log with this layout.
pub(super) fn take(layout: &Layout) -> &'static [Mutex<Folder>] {
    let unused = lock(&UNUSED).pop();
    let folders = unused.unwrap_or_else(|| {
        Box::leak((0..RECORDS).map(|number| Mutex::new(Folder::new(layout, number))).collect())
    });
    for (folder, number) in folders.iter().zip(0..) {
        *lock(folder) = Folder::new(layout, number);
    }
    folders
}

/// Keeps the folders of a log that was let go.
pub(super) fn give_back(folders: &'static [Mutex<Folder>]) {
    lock(&UNUSED).push(folders);
}

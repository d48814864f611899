//! Writes the names of sites and kinds.

use crate::format::arena::Entry;
use crate::platform::lock::lock;
use crate::recorder::arena::Draft;
use crate::recorder::log::{Log, current};
use crate::site::{self, SiteId};
use crate::subject::registered_since;

/// Writes the sites and kinds that were registered since the last call.
pub(crate) fn sync_names(log: &Log) {
    let mut written = lock(&log.names);
    for entry in site::entries_since(written.sites) {
        let def = entry.site.def();
        let draft = Draft::new(Entry::Site, entry.id.0)
            .word(def.kind as u64 | u64::from(def.lines.0) << 32)
            .word(u64::from(def.lines.1) | (def.module.len() as u64) << 32)
            .text(&entry.site.path())
            .text(def.file)
            .text(def.skipped.unwrap_or(""))
            .text(entry.site.facts());
        log.append(draft);
        written.sites += 1;
    }
    for (id, kind) in registered_since(written.kinds) {
        log.append(Draft::new(Entry::Kind, u32::from(id.0)).word(kind.nature as u64).text(&kind.name));
        written.kinds += 1;
    }
}

/// Writes an armed site's name into the recording.
pub(crate) fn describe_site(_site: SiteId) {
    if let Some(log) = current() {
        sync_names(log);
    }
}

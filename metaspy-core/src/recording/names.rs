//! Writes the names of sites and kinds into a recording.

use crate::format::arena::{self, Entry};
use crate::recorder::{Draft, Listener, Log, Module, Named, listen};
use crate::site;
use crate::subject::registered_since;

/// Knows the sites and kinds of this process.
struct Names;

/// Lets every recording receive the names.
pub(super) fn register() {
    listen(Module::Names, &Names);
}

impl Listener for Names {
    fn name(&self, log: &Log, written: &mut Named) {
        let linked = site::linked().as_ptr_range();
        for entry in site::entries_since(written.sites) {
            if written.leaves_out_linked && linked.contains(&std::ptr::from_ref(entry.site)) {
                written.sites += 1;
                continue;
            }
            let def = entry.site.def();
            let words = arena::site_words(def.kind, def.lines, def.module.len() as u32);
            let draft = Draft::new(Entry::Site, entry.id.0)
                .word(words[0])
                .word(words[1])
                .text(&entry.site.path())
                .text(def.file)
                .text(def.skipped.unwrap_or(""))
                .text(&entry.site.facts());
            log.append(draft);
            written.sites += 1;
        }
        for (id, kind) in registered_since(written.kinds) {
            log.append(Draft::new(Entry::Kind, u32::from(id.0)).word(kind.nature as u64).text(kind.name));
            written.kinds += 1;
        }
    }
}

//! Writes the names of sites and kinds into a recording.

use std::sync::OnceLock;

use crate::format::arena::{self, Entry};
use crate::recorder::{Draft, Listener, Log, Module, Named, listen};
use crate::site::{self, Site, SiteId};
use crate::subject::registered_since;

/// Knows the sites and kinds of this process.
struct Names;

/// Lets every recording receive the names.
pub(super) fn register() {
    listen(Module::Names, &Names);
}

/// Bytes of the names of all sites that the linker collected.
pub(super) fn linked_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES
        .get_or_init(|| site::linked_sites().map(|site| site_entry(SiteId(0), site).bytes()).sum())
}

/// The name of a site.
fn site_entry(id: SiteId, site: &Site) -> Draft {
    let def = site.def();
    let words = arena::site_words(def.kind, def.lines, site.module_path().len() as u32);
    let draft = Draft::new(Entry::Site, id.0).word(words[0]).word(words[1]);
    draft.text(&site.path()).text(def.file).text(def.skipped.unwrap_or("")).text(&site.facts())
}

impl Listener for Names {
    fn name(&self, log: &Log, written: &mut Named) {
        let linked = site::linked().as_ptr_range();
        for entry in site::entries_since(written.sites) {
            if written.leaves_out_linked && linked.contains(&std::ptr::from_ref(entry.site)) {
                written.sites += 1;
                continue;
            }
            log.append(site_entry(entry.id, entry.site));
            written.sites += 1;
        }
        for (id, kind) in registered_since(written.kinds) {
            log.append(
                Draft::new(Entry::Kind, u32::from(id.0)).word(kind.nature as u64).text(kind.name),
            );
            written.kinds += 1;
        }
    }
}

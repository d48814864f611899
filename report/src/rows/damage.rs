//! What a recording should hold and does not.

use metaspy_core::Store;

/// Sentences about what is damaged or missing: a report is no more exact than the recording it reads.
///
/// Of a recording that is being written only what is missing can be told; the rest moves while it is read.
pub fn of(store: &Store) -> Vec<String> {
    if store.is_live() {
        return store.missing().to_vec();
    }
    let found = store.verify();
    let mut damage = found.missing;
    damage.extend(found.damaged);
    if found.more_damaged > 0 {
        damage.push(format!("{} further places", found.more_damaged));
    }
    damage
}

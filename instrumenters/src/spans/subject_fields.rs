//! Fields of other crates that contain the subject.

use std::sync::{PoisonError, RwLock};

use metaspy_core::{Kind, KindId};
use tracing_core::Metadata;

/// Chosen targets with their fields.
static CHOSEN: RwLock<Vec<(&'static str, &'static str)>> = RwLock::new(Vec::new());

/// Makes a field the subject of the spans and events at a target, which another crate emits:
/// `subject_field("sqlx::query", "summary")`.
///
/// The kind of the subjects has the name of the field. Call it at the start of the program. A
/// callsite that has run before keeps its subject.
pub fn subject_field(target: &'static str, field: &'static str) {
    CHOSEN.write().unwrap_or_else(PoisonError::into_inner).push((target, field));
}

/// Returns the field that was chosen for a callsite, and the kind of its subjects.
pub(super) fn chosen(metadata: &'static Metadata<'static>) -> Option<(usize, KindId)> {
    let chosen = CHOSEN.read().unwrap_or_else(PoisonError::into_inner);
    let fields =
        chosen.iter().filter(|(target, _)| *target == metadata.target()).map(|(_, field)| *field);
    let field = fields.filter_map(|field| metadata.fields().field(field)).next()?;
    // A kind lives as long as its callsite, for the rest of the process.
    Some((field.index(), Box::leak(Box::new(Kind::new(field.name()))).id()))
}

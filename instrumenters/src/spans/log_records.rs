//! Records of `log` that come through `tracing-log`. Each place that writes records is a site.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::{PoisonError, RwLock};

use metaspy_core::site::register_dynamic;
use metaspy_core::{SiteDef, SiteKind};
use tracing_core::field::{Field, Visit};
use tracing_core::{Event, Level};

use crate::spans::callsite::{Callsite, EventRole, event_name};
use crate::text_key::{FNV_BASIS, fnv};

/// Maximum number of places, because targets may be made at run time.
const PLACES_MAX: usize = 1 << 14;

/// Returns the place that wrote a record, which is registered the first time.
///
/// `None` means that there are too many places, and the record belongs to the callsite of its
/// level.
pub(super) fn callsite(record: &Event<'_>) -> Option<&'static Callsite> {
    static ALL: RwLock<Option<HashMap<u64, &'static Callsite>>> = RwLock::new(None);
    let mut hashed = Hashed(FNV_BASIS);
    record.record(&mut hashed);
    let level = *record.metadata().level();
    let place = fnv(hashed.0, level.as_str().as_bytes());
    let known = ALL
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .map(|all| (all.get(&place).copied(), all.len()));
    match known {
        Some((Some(callsite), _)) => Some(callsite),
        Some((None, PLACES_MAX..)) => None,
        _ => {
            let mut written = Written::default();
            record.record(&mut written);
            let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
            Some(
                all.get_or_insert_default().entry(place).or_insert_with(|| written.callsite(level)),
            )
        }
    }
}

/// Fields of `tracing-log` with the place of a record.
const TARGET: &str = "log.target";
const FILE: &str = "log.file";
const LINE: &str = "log.line";

/// Hash of the place, with 64 bits: a collision is very unlikely.
struct Hashed(u64);

impl Visit for Hashed {
    fn record_str(&mut self, field: &Field, value: &str) {
        if [TARGET, FILE].contains(&field.name()) {
            // A separator keeps `a` and `bc` different from `ab` and `c`.
            self.0 = fnv(fnv(self.0, value.as_bytes()), &[0xFF]);
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == LINE {
            self.0 = fnv(self.0, &value.to_le_bytes());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

/// Place of a record.
#[derive(Default)]
struct Written {
    target: String,
    file: String,
    line: u32,
}

impl Visit for Written {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            TARGET => value.clone_into(&mut self.target),
            FILE => value.clone_into(&mut self.file),
            _ => {}
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == LINE {
            self.line = value as u32;
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}

impl Written {
    /// Registers the place, for the rest of the process.
    fn callsite(self, level: Level) -> &'static Callsite {
        let site = register_dynamic(SiteDef {
            kind: SiteKind::Span,
            module: self.target.leak(),
            name: event_name(level, self.line).leak(),
            file: self.file.leak(),
            lines: (self.line, self.line),
            skipped: None,
        });
        Box::leak(Box::new(Callsite { site, subject: None, role: EventRole::Plain }))
    }
}

//! Subjects for buses, identified by their names.

use metaspy_core::{Kind, Subject, label};

pub(super) static BUS: Kind = Kind::new("Bus");

/// Returns the subject of all buses with this name.
pub(super) fn named_bus(name: &str) -> Subject {
    let bus = Subject::new(BUS.id(), crate::interned::number(name));
    label(bus, name);
    bus
}

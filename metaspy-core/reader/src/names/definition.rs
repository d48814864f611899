//! Declaration of a table, as a recording states it.

use metaspy_format::profile::{COLUMNS_MAX, ColumnKind, TableDef};

use crate::names::sanitise::sanitised;

/// Parses the declaration of a table from its JSON; `None` if this version cannot read the table.
pub(crate) fn parse(json: &str) -> Option<TableDef> {
    let mut def: TableDef = serde_json::from_str(json).ok()?;
    def.columns.truncate(COLUMNS_MAX);
    // JSON can escape control characters, so the parsed texts are sanitised again.
    let texts = def.columns.iter_mut().flat_map(|column| [&mut column.name, &mut column.unit]);
    texts.chain([&mut def.profile, &mut def.name]).for_each(|text| *text = sanitised(text));
    for column in &mut def.columns {
        if let ColumnKind::Choice(names) | ColumnKind::Flags(names) = &mut column.kind {
            names.iter_mut().for_each(|name| *name = sanitised(name));
        }
    }
    def.is_readable().then_some(def)
}

//! Screen of types: types that arrived at each method, targets of calls, types that never arrived,
//! and declarations wider than needed. The numbers come from the profiler `types`, and the findings
//! match `metaspy report --types`.

mod rows;

use std::sync::Arc;

use metaspy_probe::SiteId;
use metaspy_reader::Store;
use metaspy_report::table::Top;
use metaspy_report::text::counted;
use metaspy_report::types::{self, Types};

use super::cursor::Cursor;
use super::filter_edit;
use super::table::{Cell, Column, Kind, Rows, TableList, Tone, Width};

/// Row of the tree: a title, a method, a value, a type, a call or a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeRow {
    /// Depth in the tree; 0 for titles.
    pub depth: usize,
    /// Text of the row.
    pub name: String,
    /// Number of values that arrived, or of calls.
    pub count: Option<u64>,
    /// Share, number of types, or declared type.
    pub finding: String,
    /// Site of the row's method, if the recording has it.
    pub site: Option<SiteId>,
}

/// Types of a recording.
#[derive(Clone, Debug, Default)]
pub struct TypesRead {
    /// Rows, depth first.
    pub rows: Vec<TypeRow>,
    /// Reasons why there are no rows, or why some types are not known.
    pub notes: Vec<String>,
}

/// Screen of types.
#[derive(Clone, Debug, Default)]
pub struct TypesView {
    /// Types; `None` before the first reading.
    pub read: Option<Arc<TypesRead>>,
    cursor: Cursor,
}

/// Reads the types of a recording. Their names need the symbols and the debug information of its
/// program.
pub fn read(store: &Store) -> TypesRead {
    let types = Types::read([store]);
    if !types.is_recorded {
        return TypesRead { rows: Vec::new(), notes: types::text(&types, Top::Default) };
    }
    let mut notes = types.notes.clone();
    if types.unresolved > 0 {
        notes.push(format!("{} have a type that is not known", counted(types.unresolved, "value")));
    }
    if types.lost > 0 {
        notes.push(format!(
            "{} found no room: set METASPY_BUDGET to a larger size",
            counted(types.lost, "value")
        ));
    }
    let site = |path: &str, line: u32| {
        let found = store.sites().iter().find(|site| site.path == path && site.lines.0 == line);
        found.map(|site| site.id)
    };
    TypesRead { rows: rows::rows(&types, site), notes }
}

impl TypesView {
    /// Shows the result of a reading. The cursor stays on its row.
    pub fn accept(&mut self, read: TypesRead) {
        let before = self.current().cloned();
        let found =
            before.and_then(|before| read.rows.iter().position(|row| row.name == before.name));
        self.cursor.follow(found, read.rows.len());
        self.read = Some(Arc::new(read));
    }

    fn listed(&self) -> &[TypeRow] {
        self.read.as_deref().map_or(&[], |read| &read.rows)
    }

    fn current(&self) -> Option<&TypeRow> {
        self.listed().get(self.cursor.row)
    }
}

impl TableList for TypesView {
    fn columns(&self, _: &Store) -> Vec<Column<Self>> {
        let name = |_: &Store, list: &Self, item: usize| {
            let row = &list.listed()[item];
            let tone = if row.depth == 0 { Tone::Strong } else { Tone::Plain };
            Cell::text(format!("{}{}", "  ".repeat(row.depth), row.name)).toned(tone)
        };
        let count = |_: &Store, list: &Self, item: usize| {
            list.listed()[item].count.map_or(Cell::blank(), Cell::amount)
        };
        let finding =
            |_: &Store, list: &Self, item: usize| Cell::text(list.listed()[item].finding.clone());
        vec![
            Column::name("method, value, type", name),
            Column::new("count", Kind::Number, Width::Cells(13), count),
            Column::new("finding", Kind::Text, Width::Part { of: (2, 5), min: 12 }, finding),
        ]
    }
}

impl Rows for TypesView {
    fn cursor(&self) -> &Cursor {
        &self.cursor
    }

    fn cursor_mut(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn row_count(&self) -> usize {
        self.listed().len()
    }

    /// Types are not filtered.
    fn discard(&mut self) {}

    fn resize(&mut self, lines: usize) {
        self.cursor.height = lines.saturating_sub(2);
    }

    fn row_name(&self, _: &Store, row: usize) -> String {
        self.listed()[row].name.clone()
    }

    fn site(&self) -> Option<SiteId> {
        self.current()?.site
    }

    fn filter_term(&self, store: &Store) -> Option<String> {
        self.site().map(|site| filter_edit::site_term(store, site))
    }
}

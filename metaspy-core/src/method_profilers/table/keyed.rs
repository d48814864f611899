//! Tables of a profiler whose rows are about more than a site.

use std::sync::Arc;

use crate::format::profile::{COLUMNS_MAX, Column, Key, KeyKind, Merge, TableDef, TypeKey};
use crate::method_profilers::table::{Instance, Table, TableRows};
use crate::recorder::Log;
use crate::site::SiteId;
use crate::subject::{KindId, Subject};

/// Makes the tables of a method profiler while it is installed.
pub struct Tables<'t> {
    pub(crate) log: &'static Log,
    pub(crate) profile: &'static str,
    pub(crate) installation: u32,
    pub(crate) made: &'t mut Vec<Arc<Table>>,
}

/// A table with rows for sites and subjects; it holds nothing until [`Tables::by_subject`] made it.
#[derive(Clone, Default)]
pub struct SubjectTable(Option<Arc<Table>>);

/// A table with rows for callees and callers; it holds nothing until [`Tables::by_caller`] made it.
#[derive(Clone, Default)]
pub struct CallerTable(Option<Arc<Table>>);

/// A table with rows for callees, callers and the types of values; it holds nothing until
/// [`Tables::by_type`] made it.
#[derive(Default)]
pub(crate) struct TypeTable(Option<Arc<Table>>);

/// A row of such a table. Without room for the row, its values are lost, and counted as lost.
#[derive(Clone, Copy)]
pub struct KeyedRow<'t>(Option<RecordedRow<'t>>);

/// A row that has room in the recording.
#[derive(Clone, Copy)]
struct RecordedRow<'t> {
    table: &'t Table,
    instance: &'t Instance,
    key: Key,
    /// Its first word.
    first: usize,
}

impl Tables<'_> {
    /// A table with a row for each site and subject.
    pub fn by_subject(
        &mut self,
        name: &str,
        columns: impl IntoIterator<Item = Column>,
    ) -> SubjectTable {
        SubjectTable(Some(self.install(name, KeyKind::Subject, columns, TableRows::Keys)))
    }

    /// As [`Tables::by_subject`], for rows of which most are written once.
    pub(crate) fn by_many_subjects(
        &mut self,
        name: &str,
        columns: impl IntoIterator<Item = Column>,
    ) -> SubjectTable {
        SubjectTable(Some(self.install(name, KeyKind::Subject, columns, TableRows::ManyKeys)))
    }

    /// A table with a row for each callee and caller.
    pub fn by_caller(
        &mut self,
        name: &str,
        columns: impl IntoIterator<Item = Column>,
    ) -> CallerTable {
        CallerTable(Some(self.install(name, KeyKind::Caller, columns, TableRows::Keys)))
    }

    /// A table with a row for each calling context. Its first column is the id of the context; the
    /// second one is the first of `columns`.
    pub(in super::super) fn by_context(
        &mut self,
        name: &str,
        columns: impl IntoIterator<Item = Column>,
    ) -> Arc<Table> {
        let mut all = vec![Column::new("context").merged_by(Merge::Max)];
        all.extend(columns);
        // Then a segment of a thread's words holds whole rows.
        all.resize(all.len().next_power_of_two(), Column::default());
        self.install(name, KeyKind::Context, all, TableRows::Keys)
    }

    /// A table with a row for each callee, caller, and type of a value.
    pub(crate) fn by_type(
        &mut self,
        name: &str,
        columns: impl IntoIterator<Item = Column>,
    ) -> TypeTable {
        TypeTable(Some(self.install(name, KeyKind::Type, columns, TableRows::Keys)))
    }

    pub(crate) fn install(
        &mut self,
        name: &str,
        key: KeyKind,
        columns: impl IntoIterator<Item = Column>,
        rows: TableRows,
    ) -> Arc<Table> {
        let columns = columns.into_iter().take(COLUMNS_MAX).collect();
        let profile = self.profile.to_owned();
        let installation = self.installation;
        let def = TableDef { profile, installation, name: name.to_owned(), key, columns };
        let table = Table::install(self.log, def, rows);
        self.made.push(Arc::clone(&table));
        table
    }
}

impl SubjectTable {
    /// The row of a subject at a site.
    #[inline]
    pub fn row(&self, site: SiteId, subject: Subject) -> KeyedRow<'_> {
        row_of(
            self.0.as_deref(),
            Key { site: site.0, second: subject.kind.0.into(), key: subject.key },
        )
    }
}

impl CallerTable {
    pub(super) fn table(&self) -> Option<&Table> {
        self.0.as_deref()
    }

    /// The row of a callee and its caller.
    #[inline]
    pub fn row(&self, callee: SiteId, caller: Option<SiteId>) -> KeyedRow<'_> {
        row_of(
            self.0.as_deref(),
            Key { site: callee.0, second: caller.map_or(0, |site| site.0), key: 0 },
        )
    }
}

impl TypeTable {
    /// The row of a type, which this kind stands for.
    #[inline]
    pub fn row(&self, callee: SiteId, kind: KindId, of: TypeKey) -> KeyedRow<'_> {
        row_of(self.0.as_deref(), Key { site: callee.0, second: kind.0.into(), key: of.pack() })
    }
}

#[inline]
fn row_of(table: Option<&Table>, key: Key) -> KeyedRow<'_> {
    KeyedRow(table.and_then(|table| {
        let (instance, row) = table.row(key)?;
        Some(RecordedRow { table, instance, key, first: row as usize * table.def.columns.len() })
    }))
}

impl KeyedRow<'_> {
    /// Merges a value into a column by the column's rule. For flags it is the bits; for a choice,
    /// the place of the name + 1.
    #[inline]
    pub fn put(&self, column: usize, value: u64) {
        let Some(RecordedRow { table, instance, key, first }) = self.0 else { return };
        if let Some(Column { merge, .. }) = table.def.columns.get(column) {
            let word = if *merge == Merge::Min { merge.value(value) } else { value };
            if !table.put_in(instance, first + column, word, *merge) {
                table.put_later(instance, key, column, word, *merge);
            }
        }
    }
}

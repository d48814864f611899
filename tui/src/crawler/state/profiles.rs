//! Tables of method profilers as columns. Any declared column is shown, without code for that
//! profiler.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use metaspy_reader::{
    Column as Declared, ColumnKind, KeyKind, ProfileTable, RowKey, Store, Value as ProfileValue,
};
use metaspy_report::cpu;
use metaspy_report::program::{is_additive, with_bound};

use super::table::{Cell, Column, Kind, Width};

/// Maximum width of a column, in cells.
const WIDEST: usize = 24;

/// Profiles of a recording, with their values by item: by site, by subject, or by element of the
/// program.
#[derive(Clone, Debug)]
pub struct Profiles<K> {
    all: Arc<Vec<Profile<K>>>,
    /// Name of the profile whose columns are shown.
    shown: Option<String>,
    /// True if the user chose the profile.
    is_chosen: bool,
}

/// Profile of one method profiler.
#[derive(Clone, Debug)]
struct Profile<K> {
    name: String,
    columns: Vec<ProfileColumn<K>>,
}

/// Column of a profile.
#[derive(Clone, Debug)]
struct ProfileColumn<K> {
    name: String,
    kind: Kind,
    width: Width,
    /// True if some values found no room in the recording.
    is_least: bool,
    values: Arc<HashMap<K, ProfileValue>>,
}

impl<K> Default for Profiles<K> {
    fn default() -> Self {
        Profiles { all: Arc::default(), shown: None, is_chosen: false }
    }
}

impl<K: Clone + Eq + Hash + Send + Sync + 'static> Profiles<K> {
    /// Reads the latest profile of each method profiler. `items` returns the items to which a row
    /// belongs, its own item first. A value that belongs to several rows is merged by the rule of
    /// its column. If it cannot be merged, only the row's own item gets it.
    pub fn read(&self, store: &Store, items: impl Fn(RowKey) -> Vec<K>) -> Self {
        let mut all: Vec<Profile<K>> = Vec::new();
        for profile in store.united_profiles() {
            // Tables by type or by sample have several values for a call or a function, whose sum
            // is no number of an item.
            let tables = profile
                .tables
                .iter()
                .filter(|table| !matches!(table.key, KeyKind::Type | KeyKind::Sampled))
                .filter(|table| !profile.is_divided(table));
            let mut columns = tables
                .flat_map(|table| columns(store, &profile.name, table, &items))
                .collect::<Vec<_>>();
            if profile.name == cpu::PROFILE {
                columns.extend(share(&columns, samples(&profile.tables)));
            }
            all.retain(|other| other.name != profile.name);
            if !columns.is_empty() {
                all.push(Profile { name: profile.name, columns });
            }
        }
        // A profile of calls that were only counted is shown if it has their times.
        let shown = if self.is_chosen || store.totals().stored > 0 {
            self.shown.clone()
        } else {
            all.iter()
                .find(|profile| profile.columns.iter().any(|column| column.kind == Kind::Time))
                .map(|profile| profile.name.clone())
        };
        Profiles { all: Arc::new(all), shown, is_chosen: self.is_chosen }
    }

    /// Replaces the values by the values of a reading.
    pub fn accept(&mut self, read: Profiles<K>) {
        self.all = read.all;
        if !self.is_chosen {
            self.shown = read.shown;
        }
    }

    /// Returns the name of the profile whose columns are shown.
    pub fn shown(&self) -> Option<&str> {
        self.shown.as_deref()
    }

    /// Returns the name of the profile after the shown profile.
    pub fn next(&self) -> Option<&str> {
        let place = self.all.iter().position(|profile| Some(&profile.name) == self.shown.as_ref());
        self.all.get(place.map_or(0, |at| at + 1)).map(|profile| profile.name.as_str())
    }

    /// Shows the columns of the next profile; after the last profile, the columns of the screen.
    pub(crate) fn show_next(&mut self) {
        (self.shown, self.is_chosen) = (self.next().map(str::to_owned), true);
    }

    /// Iterates over the items that have a value in the shown profile.
    pub fn items(&self) -> impl Iterator<Item = &K> {
        let shown = self.all.iter().filter(|profile| Some(&profile.name) == self.shown.as_ref());
        shown.flat_map(|profile| &profile.columns).flat_map(|column| column.values.keys())
    }

    /// Returns the columns of the shown profile. `key` returns the key of an item; without a key,
    /// its cells are blank.
    pub fn columns<L: 'static>(
        &self,
        key: fn(&Store, &L, usize) -> Option<K>,
    ) -> Option<Vec<Column<L>>> {
        let profile = self.all.iter().find(|profile| Some(&profile.name) == self.shown.as_ref())?;
        Some(profile.columns.iter().map(|column| column.column(key)).collect())
    }
}

impl<K: Clone + Eq + Hash + Send + Sync + 'static> ProfileColumn<K> {
    fn column<L: 'static>(&self, key: fn(&Store, &L, usize) -> Option<K>) -> Column<L> {
        let values = Arc::clone(&self.values);
        let is_least = self.is_least;
        let cell = move |store: &Store, list: &L, item| match key(store, list, item) {
            Some(key) => cell(values.get(&key).unwrap_or(&ProfileValue::Empty), is_least),
            None => Cell::blank(),
        };
        Column::new(self.name.clone(), self.kind, self.width, cell).shown_from(50)
    }
}

/// Builds the columns of a table with the values of each item.
fn columns<K: Clone + Eq + Hash>(
    store: &Store,
    profiler: &str,
    table: &ProfileTable,
    items: impl Fn(RowKey) -> Vec<K>,
) -> Vec<ProfileColumn<K>> {
    let mut values: Vec<HashMap<K, ProfileValue>> =
        table.columns.iter().map(|_| HashMap::new()).collect();
    for row in &table.rows {
        let items = items(row.key);
        for ((at, column), values) in table.columns.iter().enumerate().zip(&mut values) {
            let value =
                with_bound(store, profiler, &column.name, row.key.site(), row.value(table, at));
            let count =
                if is_additive(profiler, &column.name) { items.len() } else { items.len().min(1) };
            for item in items[..count].iter().filter(|_| value != ProfileValue::Empty) {
                let known = values.entry(item.clone()).or_insert(ProfileValue::Empty);
                *known =
                    std::mem::replace(known, ProfileValue::Empty).merged(value.clone(), column);
            }
        }
    }
    let column = |(column, values): (&Declared, HashMap<K, ProfileValue>)| {
        let words = [table.name.as_str(), &column.name, &column.unit];
        let name: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let name = name.join(" ");
        let title = name.chars().count();
        let (kind, cells) = match &column.kind {
            ColumnKind::Number => (Kind::Number, title),
            // The unit follows the title.
            ColumnKind::Ticks => (Kind::Time, title + 3),
            ColumnKind::Choice(names) => {
                (Kind::Text, names.iter().map(String::len).max().unwrap_or(0).max(title))
            }
            ColumnKind::Flags(names) => {
                (Kind::Text, names.iter().map(|name| name.len() + 1).sum::<usize>().max(title))
            }
        };
        let width = Width::Cells((cells + 1).clamp(9, WIDEST) as u16);
        ProfileColumn { name, kind, width, is_least: table.lost > 0, values: Arc::new(values) }
    };
    table.columns.iter().zip(values).filter(|(_, values)| !values.is_empty()).map(column).collect()
}

/// Counts all samples of the sampler, including those outside events.
fn samples(tables: &[ProfileTable]) -> u64 {
    let rows = tables
        .iter()
        .flat_map(|table| table.rows.iter().map(|row| table.value(row.key, cpu::SAMPLES)));
    rows.filter_map(|value| value.number()).sum()
}

/// Computes the share of each item in all samples, with the error of sampling.
fn share<K: Clone + Eq + Hash>(columns: &[ProfileColumn<K>], all: u64) -> Option<ProfileColumn<K>> {
    let samples = columns.iter().find(|column| column.name == cpu::SAMPLES)?;
    let text = |part: u64| {
        format!("{:>5.1} ± {:.1}", 100.0 * part as f64 / all as f64, cpu::error_percent(part, all))
    };
    let values =
        samples.values.iter().filter_map(|(item, value)| Some((item.clone(), value.number()?)));
    let values = values.map(|(item, part)| (item, ProfileValue::Choice(text(part)))).collect();
    let is_least = samples.is_least;
    let name = String::from("cpu % ±");
    let width = Width::Cells(14);
    Some(ProfileColumn { name, kind: Kind::Text, width, is_least, values: Arc::new(values) })
}

fn cell(value: &ProfileValue, is_least: bool) -> Cell {
    let sign = if is_least { "≥" } else { "" };
    match value {
        ProfileValue::Empty => Cell::optional(None, ""),
        ProfileValue::Number(number) | ProfileValue::Ns(number) => {
            Cell::optional(Some(*number), sign)
        }
        ProfileValue::AtLeast(number) | ProfileValue::AtLeastNs(number) => {
            Cell::optional(Some(*number), "≥")
        }
        ProfileValue::Choice(name) => Cell::text(name),
        ProfileValue::Flags(names) => Cell::text(names.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_samples_has_the_error_of_sampling() {
        let values =
            HashMap::from([('a', ProfileValue::Number(500)), ('b', ProfileValue::Number(20))]);
        let name = cpu::SAMPLES.to_owned();
        let width = Width::Cells(9);
        let kind = Kind::Number;
        let samples =
            ProfileColumn { name, kind, width, is_least: false, values: Arc::new(values) };
        let share = share(&[samples], 1_000).expect("there are samples");
        let text = |item| share.values.get(&item).map(ToString::to_string);
        assert_eq!(
            (text('a'), text('b')),
            (Some(" 50.0 ± 3.1".into()), Some("  2.0 ± 0.9".into()))
        );
    }
}

//! The columns that method profilers declared, by site, by subject and by part of the program.
//!
//! They are shown without any code for the profiler. A value that belongs to several rows is merged
//! by the rule of its column.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use metaspy_format::profile::built_in;
use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{Column, KeyKind, ProfileTable, RowKey, Store, Value};

use crate::program::{ColumnValue, PLACES, is_additive, lost_values, with_bound};

/// The values of a row, by the names of profiler and column.
pub type Values = BTreeMap<String, BTreeMap<String, ColumnValue>>;

/// The values of all profiles of a recording.
#[derive(Default)]
pub struct Profiles {
    by_site: HashMap<SiteId, Values>,
    by_subject: HashMap<Subject, Values>,
    by_both: HashMap<(SiteId, Subject), Values>,
    /// Tests in which methods ran.
    tests: HashSet<Subject>,
    /// By the name of the profiler, the values that found no room.
    pub(crate) lost: BTreeMap<String, u64>,
}

impl Profiles {
    /// Reads the profiles of a recording.
    pub fn read(store: &Store) -> Profiles {
        let mut profiles = Profiles::default();
        let united = store.united_profiles();
        profiles.lost = lost_values(&united);
        for profile in united {
            // Values of contexts and of samples belong to no site alone, and several values of a
            // call have types.
            let is_of_sites = |table: &&ProfileTable| {
                !matches!(table.key, KeyKind::Context | KeyKind::Type | KeyKind::Sampled)
            };
            let is_of_tests =
                |table: &ProfileTable| profile.name == built_in::COVERAGE && table.name == "tests";
            let tables = profile
                .tables
                .iter()
                .filter(is_of_sites)
                .filter(|table| !profile.is_divided(table));
            let rows_of_tests = profile
                .tables
                .iter()
                .filter(|table| is_of_tests(table))
                .flat_map(|table| &table.rows);
            profiles.tests.extend(rows_of_tests.filter_map(|row| match row.key {
                RowKey::Subject(_, test) => Some(test),
                _ => None,
            }));
            // That a method ran in a test says nothing beside its calls.
            for table in tables.filter(|table| !is_of_tests(table)) {
                for row in &table.rows {
                    let values = values(store, &profile.name, table, row.key);
                    if let RowKey::Subject(_, subject) = row.key {
                        add(&mut profiles.by_subject, subject, &values);
                        add(&mut profiles.by_both, (row.key.site(), subject), &values);
                    }
                    add(&mut profiles.by_site, row.key.site(), &values);
                }
            }
        }
        profiles.by_site.values_mut().for_each(name_places);
        profiles
    }

    /// The values of a site.
    pub fn of_site(&self, site: SiteId) -> Values {
        self.by_site.get(&site).cloned().unwrap_or_default()
    }

    /// The values of a subject.
    pub fn of_subject(&self, subject: Subject) -> Values {
        self.by_subject.get(&subject).cloned().unwrap_or_default()
    }

    /// True for a test in which methods ran. Their calls are about other subjects.
    pub(crate) fn is_test(&self, subject: Subject) -> bool {
        self.tests.contains(&subject)
    }

    /// True if a profiler has observed a subject, in calls that may be about none.
    pub(crate) fn has_observed(&self, subject: Subject) -> bool {
        self.is_test(subject) || self.by_subject.contains_key(&subject)
    }

    /// The values of a subject at a site.
    pub(crate) fn of_both(&self, site: SiteId, subject: Subject) -> Values {
        self.by_both.get(&(site, subject)).cloned().unwrap_or_default()
    }

    /// The merged values of several sites, without the columns that cannot be merged.
    pub fn of_sites(&self, sites: impl IntoIterator<Item = SiteId>) -> Values {
        let mut merged = Values::new();
        for values in sites.into_iter().filter_map(|site| self.by_site.get(&site)) {
            merge(&mut merged, values);
        }
        for (profile, columns) in &mut merged {
            columns.retain(|column, _| is_additive(profile, column));
        }
        merged
    }
}

/// The values of a row of a table.
fn values(store: &Store, profile: &str, table: &ProfileTable, key: RowKey) -> Values {
    let columns = table.columns.iter().filter_map(|column| {
        let value =
            with_bound(store, profile, &column.name, key.site(), table.value(key, &column.name));
        let name = if table.name.is_empty() {
            column.name.clone()
        } else {
            format!("{} {}", table.name, column.name)
        };
        (value != Value::Empty).then(|| (name, ColumnValue { column: column.clone(), value }))
    });
    Values::from([(profile.to_owned(), columns.collect())])
}

/// Names receivers that only an address identifies as places.
fn name_places(values: &mut Values) {
    let Some(columns) = values.get_mut(built_in::COVERAGE) else { return };
    if columns
        .get("identity")
        .is_some_and(|it| matches!(&it.value, Value::Choice(word) if word == built_in::ADDRESS))
        && let Some(ColumnValue { column, value }) = columns.remove("receivers")
    {
        let column = Column { name: PLACES.to_owned(), ..column };
        columns.insert(column.name.clone(), ColumnValue { column, value });
    }
}

fn add<K: Eq + Hash>(all: &mut HashMap<K, Values>, key: K, values: &Values) {
    merge(all.entry(key).or_default(), values);
}

fn merge(into: &mut Values, more: &Values) {
    for (profile, columns) in more {
        let known = into.entry(profile.clone()).or_default();
        for (name, ColumnValue { column, value }) in columns {
            let known = known
                .entry(name.clone())
                .or_insert_with(|| ColumnValue { column: column.clone(), value: Value::Empty });
            known.value =
                std::mem::replace(&mut known.value, Value::Empty).merged(value.clone(), column);
        }
    }
}

#[cfg(test)]
mod tests {
    use metaspy_format::arena::Entry;
    use metaspy_reader::testing::Writer;

    use super::*;

    #[test]
    fn addresses_of_receivers_are_places() {
        for (identity, expected) in [("key", "receivers"), (built_in::ADDRESS, "places")] {
            let value = |name: &str, value| {
                (name.to_owned(), ColumnValue { column: Column::new(name), value })
            };
            let identity = value("identity", Value::Choice(identity.to_owned()));
            let columns = BTreeMap::from([value("receivers", Value::AtLeast(21)), identity]);
            let mut values = Values::from([(built_in::COVERAGE.to_owned(), columns)]);
            name_places(&mut values);
            let columns = &values[built_in::COVERAGE];
            assert_eq!(
                columns.keys().map(String::as_str).collect::<Vec<_>>(),
                ["identity", expected]
            );
            assert_eq!(
                (&columns[expected].value, columns[expected].column.name.as_str()),
                (&Value::AtLeast(21), expected)
            );
        }
    }

    #[test]
    fn calls_made_are_exact_with_deep_weaving_alone() {
        let writer = Writer::new(1);
        for (id, facts) in [(1, "c=1 type=Scene deep"), (2, "c=1 type=Scene"), (3, "")] {
            writer.entry(
                Entry::Site,
                id,
                &[1, 4 << 32],
                &["both::Scene::measure", "src/both.rs", "", facts],
            );
        }
        let store = writer.store();
        for (profiler, column, site, expected) in [
            (built_in::COVERAGE, "calls made", 1, Value::Number(7)),
            (built_in::COVERAGE, "calls made", 2, Value::AtLeast(7)),
            (built_in::COVERAGE, "calls made", 3, Value::AtLeast(7)),
            (built_in::COVERAGE, "calls", 2, Value::AtLeast(7)),
            (built_in::COVERAGE, "receivers", 2, Value::Number(7)),
            ("mine", "calls made", 2, Value::Number(7)),
        ] {
            let found = with_bound(&store, profiler, column, SiteId(site), Value::Number(7));
            assert_eq!(found, expected, "{profiler} {column} {site}");
        }
    }

    #[test]
    fn objects_of_several_methods_are_no_sum() {
        let value = |name: &str, number| {
            (
                name.to_owned(),
                ColumnValue { column: Column::new(name), value: Value::Number(number) },
            )
        };
        let of_method = |receivers| {
            let columns = BTreeMap::from([value("receivers", receivers), value("calls", 4)]);
            Values::from([("coverage".to_owned(), columns)])
        };
        for identity in ["key", built_in::ADDRESS] {
            let of_method = |receivers| {
                let mut values = of_method(receivers);
                let (name, value) = value("identity", 0);
                let value = ColumnValue { value: Value::Choice(identity.to_owned()), ..value };
                values.get_mut("coverage").expect("it is there").insert(name, value);
                name_places(&mut values);
                values
            };
            let by_site = HashMap::from([(SiteId(1), of_method(3)), (SiteId(2), of_method(7))]);
            let profiles = Profiles { by_site, ..Profiles::default() };
            let columns = profiles.of_sites([1, 2].map(SiteId)).into_values().flatten();
            let columns: Vec<_> =
                columns.map(|(name, value)| (name, value.value.number())).collect();
            assert_eq!(columns, [("calls".to_owned(), Some(8))], "{identity}");
        }
    }
}

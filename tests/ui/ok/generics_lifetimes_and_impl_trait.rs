#![deny(warnings)]

use std::collections::HashMap;
use std::fmt::{Debug, Display};
use std::hash::Hash;

use metaspy::observe;

pub struct Table<'a, K, V, const N: usize>
where
    K: Hash,
{
    rows: HashMap<K, Vec<V>>,
    name: &'a str,
}

#[observe]
impl<'a, K: Hash + Eq + Clone, V, const N: usize> Table<'a, K, V, N>
where
    V: Debug,
{
    pub fn new(name: &'a str) -> Self {
        Self { rows: HashMap::new(), name }
    }

    pub fn insert(&mut self, key: impl Into<K>, value: V) -> Option<&V>
    where
        V: Clone,
    {
        self.rows.entry(key.into()).or_default().push(value);
        self.rows.values().next()?.first()
    }

    pub fn name(&self) -> &'a str {
        self.name
    }

    pub fn get<'s, Q>(&'s self, key: &Q) -> Option<&'s [V]>
    where
        K: std::borrow::Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        Some(self.rows.get(key)?.as_slice())
    }

    pub fn values(&self) -> impl Iterator<Item = &V> + '_ {
        self.rows.values().flatten()
    }

    pub fn tried(&self) -> Result<impl Iterator<Item = &K>, String> {
        if self.rows.is_empty() {
            return Err("empty".into());
        }
        Ok(self.rows.keys())
    }

    pub fn adder() -> impl Fn(u32) -> u32 {
        |x| x.wrapping_add(N as u32)
    }

    pub fn boxed(&self, deep: bool) -> Box<dyn Display + '_> {
        if deep {
            return Box::new(1);
        }
        Box::new(self.name)
    }

    pub fn tried_boxed(&self, deep: bool) -> Result<Box<dyn Display + '_>, Box<dyn std::error::Error>> {
        if deep {
            return Ok(Box::new("7".parse::<u32>()?));
        }
        Ok(Box::new(self.name))
    }
}

#[observe]
pub fn longest<'a>(a: &'a str, b: &'a str) -> &'a str {
    if a.len() > b.len() { a } else { b }
}

#[observe]
pub fn pick<T, F: FnOnce() -> T>(make: F) -> T {
    make()
}

#[observe]
pub fn slice_of(it: &mut [u8]) -> &mut [u8] {
    &mut it[1..]
}

fn main() {
    let mut table: Table<'_, String, u32, 3> = Table::new("t");
    assert_eq!(table.insert("a", 1), Some(&1));
    assert_eq!(table.get("a"), Some(&[1][..]));
    assert_eq!(table.get("b"), None);
    assert_eq!(table.values().count(), 1);
    assert_eq!(table.tried().map(Iterator::count), Ok(1));
    assert_eq!(Table::<'_, u8, u8, 3>::adder()(1), 4);
    assert_eq!(table.boxed(true).to_string(), "1");
    assert_eq!(table.tried_boxed(true).ok().map(|it| it.to_string()).as_deref(), Some("7"));
    assert_eq!(table.tried_boxed(false).ok().map(|it| it.to_string()).as_deref(), Some("t"));
    assert_eq!(longest(table.name(), "bb"), "bb");
    assert_eq!(pick(|| 3), 3);
    assert_eq!(slice_of(&mut [1, 2]).len(), 1);
}

//! The dictionary of a column in a row group: its values in order, each once.

use std::collections::{HashMap, HashSet};

use datafusion::parquet::data_type::ByteArray;
use datafusion::parquet::file::statistics::Statistics;

use super::hybrid;
use crate::tables::events::NameTable;

/// Longer names have no statistics: each page would repeat them.
const NAME_MAX: usize = 256;
/// Numbers up to this one are looked up in a table.
const DENSE_MAX: u32 = 1 << 20;

/// What the numbers of a column stand for.
#[derive(Clone, Copy)]
pub enum Meaning<'a> {
    /// Entries of a table.
    Names(&'a NameTable),
    /// Themselves.
    Numbers,
}

/// The values that a column uses.
pub struct Dictionary<'a> {
    meaning: Meaning<'a>,
    /// A number of each value.
    values: Vec<u32>,
    places: Places,
}

/// The places of the values, by number.
enum Places {
    Table(Vec<u32>),
    /// For the numbers of a damaged recording, which can be large.
    Map(HashMap<u32, u32>),
}

impl<'a> Dictionary<'a> {
    /// The dictionary of some numbers.
    pub fn of<'n>(meaning: Meaning<'a>, numbers: impl Iterator<Item = &'n u32> + Clone) -> Self {
        let most = numbers.clone().copied().max().unwrap_or(0);
        let is_dense = most <= DENSE_MAX;
        let mut used = if is_dense {
            used_of(most, numbers)
        } else {
            numbers.copied().collect::<HashSet<_>>().into_iter().collect()
        };
        match meaning {
            Meaning::Names(table) => {
                used.sort_unstable_by_key(|number| table.name(*number as usize))
            }
            Meaning::Numbers => used.sort_unstable_by_key(|number| *number as i32),
        }
        let mut of = Dictionary { meaning, values: Vec::new(), places: Places::Table(Vec::new()) };
        let mut places = Vec::new();
        for number in used {
            // Several numbers can have the same name.
            if of.values.last().is_none_or(|last| of.bytes_of(*last) != of.bytes_of(number)) {
                of.values.push(number);
            }
            places.push((number, of.values.len() as u32 - 1));
        }
        of.places = if is_dense {
            let mut table = vec![0; most as usize + 1];
            places.into_iter().for_each(|(number, place)| table[number as usize] = place);
            Places::Table(table)
        } else {
            Places::Map(places.into_iter().collect())
        };
        of
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The bits of a place.
    pub fn width(&self) -> u32 {
        hybrid::width(self.len().saturating_sub(1) as u32)
    }

    /// Replaces numbers by the places of their values.
    pub fn replace(&self, numbers: &mut [u32]) {
        match &self.places {
            Places::Table(table) => {
                numbers.iter_mut().for_each(|number| *number = table[*number as usize])
            }
            Places::Map(map) => numbers.iter_mut().for_each(|number| *number = map[number]),
        }
    }

    /// The value at a place, as statistics have it; nothing for no place.
    pub fn value(&self, place: Option<u32>) -> Vec<u8> {
        place.map_or(Vec::new(), |place| self.bytes_of(self.values[place as usize]))
    }

    /// All values, as a page has them.
    pub fn page(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in &self.values {
            let value = self.bytes_of(*number);
            if let Meaning::Names(_) = self.meaning {
                bytes.extend_from_slice(&(value.len() as u32).to_le_bytes());
            }
            bytes.extend_from_slice(&value);
        }
        bytes
    }

    /// True if the first and the last value are short enough for statistics.
    fn has_statistics(&self) -> bool {
        self.values.iter().all(|number| self.bytes_of(*number).len() <= NAME_MAX)
    }

    /// The first and the last value, and the number of rows without one.
    pub fn statistics(&self, nulls: u64) -> Statistics {
        let edges = [self.values.first(), self.values.last()]
            .map(|edge| edge.filter(|_| self.has_statistics()));
        match self.meaning {
            Meaning::Names(_) => {
                let [first, last] = edges.map(|edge| Some(ByteArray::from(self.bytes_of(*edge?))));
                Statistics::byte_array(first, last, None, Some(nulls), false)
            }
            Meaning::Numbers => {
                let [first, last] = edges.map(|edge| Some(*edge? as i32));
                Statistics::int32(first, last, None, Some(nulls), false)
            }
        }
    }

    fn bytes_of(&self, number: u32) -> Vec<u8> {
        match self.meaning {
            Meaning::Names(table) => table.name(number as usize).as_bytes().to_vec(),
            Meaning::Numbers => number.to_le_bytes().to_vec(),
        }
    }
}

/// The numbers up to `most` that occur.
fn used_of<'n>(most: u32, numbers: impl Iterator<Item = &'n u32>) -> Vec<u32> {
    let mut is_used = vec![false; most as usize + 1];
    numbers.for_each(|number| is_used[*number as usize] = true);
    (0..).zip(is_used).filter(|(_, is_used)| *is_used).map(|(number, _)| number).collect()
}

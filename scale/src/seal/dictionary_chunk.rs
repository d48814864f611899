//! The column of a row group whose rows are numbers, of names or of themselves.
//!
//! The engine's encoder hashes and compares the value of each row to build a dictionary. A
//! recording has its dictionaries already, so no value is hashed or compared here, and the seal
//! writes twice as many events a second.

use anyhow::Result;
use datafusion::arrow::array::{Array, UInt32Array};
use datafusion::parquet::basic::Encoding;
use datafusion::parquet::schema::types::ColumnDescPtr;

use super::dictionary::{Dictionary, Meaning};
use super::hybrid;
use super::levels::Levels;
use super::pages::{self, Chunk};

/// The rows of a page.
pub struct PageRows {
    /// The numbers of the rows that have one; a single number if all of them are equal.
    numbers: Vec<u32>,
    levels: Levels,
}

impl PageRows {
    /// The rows of an array.
    pub fn of(rows: &UInt32Array) -> Self {
        let mut numbers: Vec<u32> = match rows.null_count() {
            0 => rows.values().to_vec(),
            _ => rows.iter().flatten().collect(),
        };
        // In many columns, all rows of a subject are equal.
        if numbers.iter().all(|number| *number == numbers[0]) {
            numbers.truncate(1);
        }
        PageRows { numbers, levels: Levels::of(rows) }
    }

    /// The bytes of the numbers.
    fn bytes(&self, width: u32) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.levels.values() * width as usize / 8 + 64);
        out.push(width as u8);
        match self.numbers[..] {
            [number] => hybrid::encode_run(number, self.levels.values(), width, &mut out),
            _ => hybrid::encode(&self.numbers, width, &mut out),
        }
        out
    }
}

/// Encodes the pages of a column.
pub fn encode(column: &ColumnDescPtr, meaning: Meaning, rows: Vec<PageRows>) -> Result<Chunk> {
    let dictionary = Dictionary::of(meaning, rows.iter().flat_map(|page| &page.numbers));
    pages::chunk(column, Encoding::RLE_DICTIONARY, |pages| {
        pages.write_dictionary(&dictionary.page(), dictionary.len())?;
        for mut page in rows {
            dictionary.replace(&mut page.numbers);
            let edges = [page.numbers.iter().min(), page.numbers.iter().max()];
            let edges = edges.map(|place| dictionary.value(place.copied()));
            pages.write_rows(&page.levels, &page.bytes(dictionary.width()), edges)?;
        }
        Ok(dictionary.statistics(pages.nulls()))
    })
}

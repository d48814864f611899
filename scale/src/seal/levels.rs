//! Which rows of a page have a value.

use datafusion::arrow::array::Array;

use super::hybrid;

/// The rows of a page, as far as they have a value.
pub struct Levels {
    /// 1 for each row that has a value, and 0 for the others; empty if all have one.
    levels: Vec<u32>,
    rows: usize,
    nulls: usize,
}

impl Levels {
    /// Those of an array.
    pub fn of(array: &dyn Array) -> Self {
        let rows = array.len();
        let nulls = array.null_count();
        let valid = array.nulls().filter(|_| nulls > 0);
        Levels {
            levels: valid.map_or(Vec::new(), |valid| valid.iter().map(u32::from).collect()),
            rows,
            nulls,
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The number of rows without a value.
    pub fn nulls(&self) -> usize {
        self.nulls
    }

    /// The number of rows with a value.
    pub fn values(&self) -> usize {
        self.rows - self.nulls
    }

    /// Appends them as a page has them, with their length in front.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        match self.nulls {
            0 => hybrid::encode_run(1, self.rows, 1, out),
            _ => hybrid::encode(&self.levels, 1, out),
        }
        let length = (out.len() - start) as u32 - 4;
        out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    }
}

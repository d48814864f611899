//! The column of a row group whose rows are numbers, of names or of themselves.
//!
//! The engine's encoder looks each value up to build its dictionary. Here the dictionary is the numbers in use, so no
//! value is hashed or compared.

use anyhow::Result;
use datafusion::arrow::array::{Array, UInt32Array};
use datafusion::parquet::basic::{Encoding, PageType};
use datafusion::parquet::column::page::{CompressedPage, Page, PageWriter};
use datafusion::parquet::column::writer::ColumnCloseResult;
use datafusion::parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use datafusion::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use datafusion::parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

use super::dictionary::{Dictionary, Meaning};
use super::{LEVEL, compression, hybrid};

/// The bytes of a column, and what the file says of it.
pub type Chunk = (Vec<u8>, ColumnCloseResult);

/// The rows of a page.
pub struct PageRows {
    /// The numbers of the rows that have one.
    numbers: Vec<u32>,
    /// 1 for each row that has a number, and 0 for the others; empty if all have one.
    levels: Vec<u32>,
    nulls: usize,
}

impl PageRows {
    /// The rows of an array.
    pub fn of(rows: &UInt32Array) -> Self {
        let nulls = rows.null_count();
        if nulls == 0 {
            return PageRows { numbers: rows.values().to_vec(), levels: Vec::new(), nulls };
        }
        let levels = (0..rows.len()).map(|row| u32::from(rows.is_valid(row))).collect();
        PageRows { numbers: rows.iter().flatten().collect(), levels, nulls }
    }

    fn len(&self) -> usize {
        self.numbers.len() + self.nulls
    }

    /// The bytes of a page: which rows have a value, if they can have none; then the places of the values.
    fn bytes(&self, width: u32, can_be_null: bool) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len() * width as usize / 8 + 64);
        if can_be_null {
            out.extend_from_slice(&[0; 4]);
            match self.nulls {
                0 => hybrid::encode_run(1, self.len(), 1, &mut out),
                _ => hybrid::encode(&self.levels, 1, &mut out),
            }
            let length = out.len() as u32 - 4;
            out[..4].copy_from_slice(&length.to_le_bytes());
        }
        out.push(width as u8);
        hybrid::encode(&self.numbers, width, &mut out);
        out
    }
}

/// Encodes the pages of a column.
pub fn encode(column: &ColumnDescPtr, meaning: Meaning, mut pages: Vec<PageRows>) -> Result<Chunk> {
    let dictionary = Dictionary::of(meaning, pages.iter().flat_map(|page| &page.numbers));
    let mut sink = TrackedWrite::new(Vec::new());
    let mut out = Pages { out: SerializedPageWriter::new(&mut sink), compressor: Compressor::new(LEVEL)?, bytes: 0 };
    let num_values = dictionary.len() as u32;
    let (_, first_page) = out.write(&dictionary.page(), |buf| Page::DictionaryPage {
        buf: buf.into(),
        num_values,
        encoding: Encoding::PLAIN,
        is_sorted: true,
    })?;
    let mut index = ColumnIndexBuilder::new(dictionary.value_type());
    let mut offsets = OffsetIndexBuilder::new();
    for page in &mut pages {
        dictionary.replace(&mut page.numbers);
        let value = |place: Option<&u32>| dictionary.value(place.copied());
        let (first, last) = (value(page.numbers.iter().min()), value(page.numbers.iter().max()));
        index.append(page.numbers.is_empty(), first, last, page.nulls as i64);
        let (from, to) =
            out.write(&page.bytes(dictionary.width(), column.max_def_level() > 0), |buf| Page::DataPage {
                buf: buf.into(),
                num_values: page.len() as u32,
                encoding: Encoding::RLE_DICTIONARY,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            })?;
        offsets.append_row_count(page.len() as i64);
        offsets.append_offset_and_size(from as i64, (to - from) as i32);
    }
    let uncompressed = out.bytes;
    let bytes = sink.into_inner()?;
    let sum = |of: fn(&PageRows) -> usize| pages.iter().map(of).sum::<usize>() as u64;
    let count = |page_type, encoding, count: usize| PageEncodingStats { page_type, encoding, count: count as i32 };
    let metadata = ColumnChunkMetaData::builder(column.clone())
        .set_compression(compression())
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_page_encoding_stats(vec![
            count(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1),
            count(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY, pages.len()),
        ])
        .set_total_compressed_size(bytes.len() as i64)
        .set_total_uncompressed_size(uncompressed as i64)
        .set_num_values(sum(PageRows::len) as i64)
        .set_dictionary_page_offset(Some(0))
        .set_data_page_offset(first_page as i64)
        .set_statistics(dictionary.statistics(sum(|page| page.nulls)))
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: sum(PageRows::len),
        metadata,
        bloom_filter: None,
        column_index: dictionary.has_statistics().then(|| index.build()).transpose()?,
        offset_index: Some(offsets.build()),
    };
    Ok((bytes, close))
}

/// The pages of a column.
struct Pages<'a> {
    out: SerializedPageWriter<'a, Vec<u8>>,
    compressor: Compressor<'static>,
    /// Bytes of all pages with their headers, before they were compressed.
    bytes: usize,
}

impl Pages<'_> {
    /// Writes a page. Returns the bytes of the column before and after it.
    fn write(&mut self, bytes: &[u8], page: impl FnOnce(Vec<u8>) -> Page) -> Result<(u64, u64)> {
        let page = CompressedPage::new(page(self.compressor.compress(bytes)?), bytes.len());
        let written = self.out.write_page(page)?;
        self.bytes += written.uncompressed_size;
        Ok((written.offset, written.offset + written.bytes_written))
    }
}

//! The column of a row group whose texts are names from a table.
//!
//! The engine's encoder looks every text up to build its dictionary. Here the rows are numbers of names already, so the
//! dictionary is the names in use, and no text is compared.

use anyhow::Result;
use datafusion::arrow::array::{Array, UInt32Array};
use datafusion::parquet::basic::{Encoding, PageType, Type};
use datafusion::parquet::column::page::{CompressedPage, Page, PageWriter};
use datafusion::parquet::column::writer::ColumnCloseResult;
use datafusion::parquet::data_type::ByteArray;
use datafusion::parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use datafusion::parquet::file::statistics::Statistics;
use datafusion::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use datafusion::parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

use super::{LEVEL, compression, hybrid};
use crate::tables::events::NameTable;

/// The bytes of a column, and what the file says of it.
pub type Chunk = (Vec<u8>, ColumnCloseResult);

/// Longer names have no statistics: each page would repeat them.
const NAME_MAX: usize = 256;

/// The names that a column uses, in order.
struct Dictionary<'a> {
    names: Vec<&'a str>,
    /// The places of the names, by number in their table.
    places: Vec<u32>,
}

impl<'a> Dictionary<'a> {
    fn of(table: &'a NameTable, pages: &[UInt32Array]) -> Self {
        let mut is_used = vec![false; table.len() + 1];
        pages.iter().flat_map(|page| page.iter().flatten()).for_each(|number| is_used[number as usize] = true);
        let used = || is_used.iter().enumerate().filter(|(_, is_used)| **is_used).map(|(number, _)| number);
        let mut names: Vec<&str> = used().map(|number| table.name(number)).collect();
        names.sort_unstable();
        names.dedup();
        let mut places = vec![0; is_used.len()];
        used().for_each(|number| places[number] = names.partition_point(|name| *name < table.name(number)) as u32);
        Dictionary { names, places }
    }

    /// The dictionary as a page has it.
    fn bytes(&self) -> Vec<u8> {
        let each = |name: &&str| [&(name.len() as u32).to_le_bytes(), name.as_bytes()].concat();
        self.names.iter().flat_map(each).collect()
    }

    fn width(&self) -> u32 {
        hybrid::width(self.names.len().saturating_sub(1) as u32)
    }
}

/// Encodes a column. Each array is a page: the numbers of names in a table.
pub fn encode(column: &ColumnDescPtr, table: &NameTable, pages: &[UInt32Array]) -> Result<Chunk> {
    let dictionary = Dictionary::of(table, pages);
    let mut sink = TrackedWrite::new(Vec::new());
    let mut out = Pages { out: SerializedPageWriter::new(&mut sink), compressor: Compressor::new(LEVEL)?, bytes: 0 };
    let buf = dictionary.bytes();
    let num_values = dictionary.names.len() as u32;
    let page = |buf: Vec<u8>| Page::DictionaryPage { buf: buf.into(), num_values, encoding: Encoding::PLAIN, is_sorted: true };
    let (_, data_at) = out.write(&buf, page)?;
    let mut index = ColumnIndexBuilder::new(Type::BYTE_ARRAY);
    let mut offsets = OffsetIndexBuilder::new();
    let (mut rows, mut nulls) = (0, 0);
    for page in pages {
        let places: Vec<u32> = page.iter().flatten().map(|number| dictionary.places[number as usize]).collect();
        let name = |place: Option<&u32>| place.map_or(&[][..], |place| dictionary.names[*place as usize].as_bytes());
        let (first, last) = (name(places.iter().min()), name(places.iter().max()));
        index.append(places.is_empty(), first.to_vec(), last.to_vec(), page.null_count() as i64);
        let num_values = page.len() as u32;
        let (from, to) = out.write(&data(page, &places, dictionary.width(), column.max_def_level() > 0), |buf| {
            let (encoding, levels) = (Encoding::RLE_DICTIONARY, Encoding::RLE);
            let (def_level_encoding, rep_level_encoding) = (levels, levels);
            Page::DataPage { buf: buf.into(), num_values, encoding, def_level_encoding, rep_level_encoding, statistics: None }
        })?;
        offsets.append_row_count(page.len() as i64);
        offsets.append_offset_and_size(from as i64, (to - from) as i32);
        rows += page.len();
        nulls += page.null_count();
    }
    let uncompressed = out.bytes;
    let bytes = sink.into_inner()?;
    let stats = |page_type, encoding, count: usize| PageEncodingStats { page_type, encoding, count: count as i32 };
    let has_short_names = dictionary.names.iter().all(|name| name.len() <= NAME_MAX);
    let edge = |name: Option<&&str>| name.filter(|_| has_short_names).map(|name| ByteArray::from(*name));
    let edges = (edge(dictionary.names.first()), edge(dictionary.names.last()));
    let metadata = ColumnChunkMetaData::builder(column.clone())
        .set_compression(compression())
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
        .set_page_encoding_stats(vec![
            stats(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1),
            stats(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY, pages.len()),
        ])
        .set_total_compressed_size(bytes.len() as i64)
        .set_total_uncompressed_size(uncompressed as i64)
        .set_num_values(rows as i64)
        .set_dictionary_page_offset(Some(0))
        .set_data_page_offset(data_at as i64)
        .set_statistics(Statistics::byte_array(edges.0, edges.1, None, Some(nulls as u64), false))
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: rows as u64,
        metadata,
        bloom_filter: None,
        column_index: has_short_names.then(|| index.build()).transpose()?,
        offset_index: Some(offsets.build()),
    };
    Ok((bytes, close))
}

/// The bytes of a page: which rows have a name, if they can have none; then the places of their names.
fn data(page: &UInt32Array, places: &[u32], width: u32, can_be_null: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(places.len() * width as usize / 8 + 64);
    if can_be_null {
        out.extend_from_slice(&[0; 4]);
        let levels: Vec<u32> = (0..page.len()).map(|row| u32::from(page.is_valid(row))).collect();
        hybrid::encode(&levels, 1, &mut out);
        let length = out.len() as u32 - 4;
        out[..4].copy_from_slice(&length.to_le_bytes());
    }
    out.push(width as u8);
    hybrid::encode(places, width, &mut out);
    out
}

/// The pages of a column.
struct Pages<'a> {
    out: SerializedPageWriter<'a, Vec<u8>>,
    compressor: Compressor<'static>,
    /// Bytes of all pages before they were compressed, and of their headers.
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

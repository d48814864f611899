//! A column of a row group, page by page, and what the file says of it.

use anyhow::Result;
use datafusion::parquet::basic::{Encoding, PageType};
use datafusion::parquet::column::page::{CompressedPage, Page, PageWriter};
use datafusion::parquet::column::writer::ColumnCloseResult;
use datafusion::parquet::file::metadata::{
    ColumnChunkMetaData, ColumnIndexBuilder, OffsetIndexBuilder, PageEncodingStats,
};
use datafusion::parquet::file::statistics::Statistics;
use datafusion::parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use datafusion::parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;

use super::levels::Levels;
use super::{LEVEL, compression};

/// The bytes of a column, and what the file says of it.
pub type Chunk = (Vec<u8>, ColumnCloseResult);

/// The first and the last value of a page, as statistics have them.
pub type Edges = [Vec<u8>; 2];

/// The pages of a column.
pub struct Pages<'a> {
    out: SerializedPageWriter<'a, Vec<u8>>,
    compressor: Compressor<'static>,
    can_be_null: bool,
    encoding: Encoding,
    index: ColumnIndexBuilder,
    offsets: OffsetIndexBuilder,
    /// Bytes of all pages with their headers, before they were compressed.
    bytes: usize,
    rows: usize,
    nulls: usize,
    data_pages: usize,
    /// True after a dictionary.
    has_dictionary: bool,
    /// Where the first page of rows is.
    first: Option<u64>,
}

/// Writes the pages of a column. `write` returns the statistics of the column; without edges, its
/// pages have none either.
pub fn chunk(
    column: &ColumnDescPtr,
    encoding: Encoding,
    write: impl FnOnce(&mut Pages) -> Result<Statistics>,
) -> Result<Chunk> {
    let mut sink = TrackedWrite::new(Vec::new());
    let mut compressor = Compressor::new(LEVEL)?;
    // So every reader finds a damaged page. The pages themselves have no checksums.
    compressor.include_checksum(true)?;
    let mut pages = Pages {
        out: SerializedPageWriter::new(&mut sink),
        compressor,
        can_be_null: column.max_def_level() > 0,
        encoding,
        index: ColumnIndexBuilder::new(column.physical_type()),
        offsets: OffsetIndexBuilder::new(),
        bytes: 0,
        rows: 0,
        nulls: 0,
        data_pages: 0,
        has_dictionary: false,
        first: None,
    };
    let statistics = write(&mut pages)?;
    let has_edges = statistics.min_bytes_opt().is_some() || pages.rows == pages.nulls;
    let Pages {
        index, offsets, rows, data_pages, has_dictionary, first, bytes: uncompressed, ..
    } = pages;
    let bytes = sink.into_inner()?;
    let count = |page_type, encoding, count: usize| PageEncodingStats {
        page_type,
        encoding,
        count: count as i32,
    };
    let mut encodings = vec![Encoding::RLE, encoding];
    let mut counts = vec![count(PageType::DATA_PAGE, encoding, data_pages)];
    if has_dictionary {
        encodings.insert(0, Encoding::PLAIN);
        counts.insert(0, count(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1));
    }
    let metadata = ColumnChunkMetaData::builder(column.clone())
        .set_compression(compression())
        .set_encodings(encodings)
        .set_page_encoding_stats(counts)
        .set_total_compressed_size(bytes.len() as i64)
        .set_total_uncompressed_size(uncompressed as i64)
        .set_num_values(rows as i64)
        .set_dictionary_page_offset(has_dictionary.then_some(0))
        .set_data_page_offset(first.unwrap_or(0) as i64)
        .set_statistics(statistics)
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: bytes.len() as u64,
        rows_written: rows as u64,
        metadata,
        bloom_filter: None,
        column_index: has_edges.then(|| index.build()).transpose()?,
        offset_index: Some(offsets.build()),
    };
    Ok((bytes, close))
}

impl Pages<'_> {
    /// Writes the dictionary, which comes first.
    pub fn write_dictionary(&mut self, bytes: &[u8], values: usize) -> Result<()> {
        self.has_dictionary = true;
        self.write(bytes, |buf| Page::DictionaryPage {
            buf: buf.into(),
            num_values: values as u32,
            encoding: Encoding::PLAIN,
            is_sorted: true,
        })?;
        Ok(())
    }

    /// Writes a page of rows: which of them have a value, and the encoded values.
    pub fn write_rows(
        &mut self,
        levels: &Levels,
        values: &[u8],
        [first, last]: Edges,
    ) -> Result<()> {
        let mut bytes = Vec::with_capacity(values.len() + 64);
        if self.can_be_null {
            levels.encode(&mut bytes);
        }
        bytes.extend_from_slice(values);
        let encoding = self.encoding;
        let (from, to) = self.write(&bytes, |buf| Page::DataPage {
            buf: buf.into(),
            num_values: levels.rows() as u32,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })?;
        self.first.get_or_insert(from);
        self.index.append(levels.values() == 0, first, last, levels.nulls() as i64);
        self.offsets.append_row_count(levels.rows() as i64);
        self.offsets.append_offset_and_size(from as i64, (to - from) as i32);
        self.rows += levels.rows();
        self.nulls += levels.nulls();
        self.data_pages += 1;
        Ok(())
    }

    /// The rows without a value, so far.
    pub fn nulls(&self) -> u64 {
        self.nulls as u64
    }

    /// Writes a page. Returns the bytes of the column before and after it.
    fn write(&mut self, bytes: &[u8], page: impl FnOnce(Vec<u8>) -> Page) -> Result<(u64, u64)> {
        let page = CompressedPage::new(page(self.compressor.compress(bytes)?), bytes.len());
        let written = self.out.write_page(page)?;
        self.bytes += written.uncompressed_size;
        Ok((written.offset, written.offset + written.bytes_written))
    }
}

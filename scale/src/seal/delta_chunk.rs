//! The column of a row group whose rows are numbers of 64 bits, as differences.

use anyhow::Result;
use datafusion::arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use datafusion::arrow::datatypes::{ArrowPrimitiveType, DataType, Int64Type, UInt64Type};
use datafusion::parquet::basic::Encoding;
use datafusion::parquet::file::statistics::Statistics;
use datafusion::parquet::schema::types::ColumnDescPtr;

use super::delta;
use super::levels::Levels;
use super::pages::{self, Chunk};

/// A page: its values, encoded.
pub struct DeltaPage {
    bytes: Vec<u8>,
    levels: Levels,
    /// The least and the greatest value.
    edges: Option<(i64, i64)>,
}

impl DeltaPage {
    /// The page of an array; `None` if these are no numbers of 64 bits.
    pub fn of(array: &ArrayRef) -> Option<Self> {
        let (values, edges) = match array.data_type() {
            DataType::Int64 => {
                let values = values_of(array.as_primitive::<Int64Type>(), |value| value);
                let edges = values.iter().copied().min().zip(values.iter().copied().max());
                (values, edges)
            }
            DataType::UInt64 => {
                let values = values_of(array.as_primitive::<UInt64Type>(), |value| value as i64);
                let unsigned = || values.iter().map(|value| *value as u64);
                let edges = unsigned()
                    .min()
                    .zip(unsigned().max())
                    .map(|(least, most)| (least as i64, most as i64));
                (values, edges)
            }
            _ => return None,
        };
        let mut bytes = Vec::with_capacity(values.len() * 4);
        delta::encode(&values, &mut bytes);
        Some(DeltaPage { bytes, levels: Levels::of(array), edges })
    }
}

/// The values of the rows that have one.
fn values_of<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    number: impl Fn(T::Native) -> i64,
) -> Vec<i64> {
    match array.null_count() {
        0 => array.values().iter().map(|value| number(*value)).collect(),
        _ => array.iter().flatten().map(number).collect(),
    }
}

/// Encodes the pages of a column, whose numbers are signed or not.
pub fn encode(column: &ColumnDescPtr, of_type: &DataType, rows: Vec<DeltaPage>) -> Result<Chunk> {
    let order = |value: &i64| if *of_type == DataType::UInt64 { *value ^ i64::MIN } else { *value };
    let edges = || rows.iter().filter_map(|page| page.edges);
    let least = edges().map(|(least, _)| least).min_by_key(order);
    let most = edges().map(|(_, most)| most).max_by_key(order);
    pages::chunk(column, Encoding::DELTA_BINARY_PACKED, |pages| {
        for page in &rows {
            let bytes =
                |edge: Option<i64>| edge.map_or(Vec::new(), |edge| edge.to_le_bytes().to_vec());
            let (least, most) = page.edges.unzip();
            pages.write_rows(&page.levels, &page.bytes, [bytes(least), bytes(most)])?;
        }
        Ok(Statistics::int64(least, most, None, Some(pages.nulls()), false))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::array::{Int64Array, UInt64Array};
    use datafusion::arrow::datatypes::{Field, Schema};
    use datafusion::parquet::arrow::ArrowSchemaConverter;
    use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    use datafusion::parquet::file::writer::SerializedFileWriter;

    use super::*;

    #[test]
    fn a_reader_reads_the_numbers_that_were_written() {
        let keys = |number: u64| {
            UInt64Array::from_iter((0..number).map(|at| (at % 7 != 3).then(|| u64::MAX - at * at)))
        };
        let random = |at: i64| at.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64);
        check(&[
            Arc::new(keys(700)),
            Arc::new(keys(1)),
            Arc::new(UInt64Array::from_iter([None, None])),
        ]);
        check(&[Arc::new(Int64Array::from_iter([i64::MIN, i64::MAX, 0, -1].map(Some)))]);
        check(&[Arc::new(Int64Array::from_iter((0..8_192).map(|at| Some(random(at)))))]);
        check(&[
            Arc::new(Int64Array::from_iter((0..257).map(Some))),
            Arc::new(Int64Array::from_iter([Some(7); 65])),
        ]);
    }

    fn check(pages: &[ArrayRef]) {
        let of_type = pages[0].data_type();
        let schema = Schema::new(vec![Field::new("number", of_type.clone(), true)]);
        let parquet = ArrowSchemaConverter::new().convert(&schema).expect("the type exists");
        let mut file = Vec::new();
        let mut writer =
            SerializedFileWriter::new(&mut file, parquet.root_schema_ptr(), Arc::default())
                .expect("there is room");
        let rows =
            pages.iter().map(|page| DeltaPage::of(page).expect("these are numbers")).collect();
        let (bytes, close) = encode(&parquet.column(0), of_type, rows).expect("there is room");
        let mut group = writer.next_row_group().expect("there is room");
        group.append_column(&bytes::Bytes::from(bytes), close).expect("there is room");
        group.close().expect("there is room");
        writer.close().expect("there is room");
        let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file))
            .expect("it is Parquet");
        let batches =
            reader.build().expect("it is Parquet").map(|batch| batch.expect("it has rows"));
        let read: Vec<ArrayRef> = batches.map(|batch| batch.column(0).clone()).collect();
        let one = |arrays: &[ArrayRef]| {
            let arrays: Vec<&dyn Array> = arrays.iter().map(AsRef::as_ref).collect();
            datafusion::arrow::compute::concat(&arrays).expect("they have one type")
        };
        assert_eq!(&one(&read), &one(pages));
    }
}

//! A wide sheet: 100 rows of 500 columns with numbers, and nothing else.

use std::io::Cursor;

use umya_spreadsheet::{new_file, writer};

/// Rows.
const ROWS: u32 = 100;
/// Columns.
const COLUMNS: u32 = 500;

fn main() {
    let mut book = new_file();
    let sheet = book.sheet_by_name_mut("Sheet1").expect("a new book has it");
    for row in 1..=ROWS {
        for column in 1..=COLUMNS {
            sheet.cell_mut((column, row)).set_value_number(f64::from(row * column));
        }
    }
    let mut file = Cursor::new(Vec::new());
    writer::xlsx::write_writer(&book, &mut file).expect("there is memory");
    println!("{} cells, {} bytes", ROWS * COLUMNS, file.get_ref().len());
}

//! csv: rows are read and written.

use ::csv::{ReaderBuilder, Writer};

pub fn main() {
    let rows = (0..200).map(|at| format!("{at},\"name, {at}\",{at}.5,plain\n"));
    let text = format!("id,name,share,note\n{}", rows.collect::<String>());
    crate::measure::measure(|_| {
        let mut writer = Writer::from_writer(Vec::new());
        for record in ReaderBuilder::new().from_reader(text.as_bytes()).records() {
            writer.write_record(&record.unwrap()).unwrap();
        }
        writer.into_inner().unwrap().len() as u64
    });
}

//! comrak: a document becomes HTML.

use ::comrak::{Options, markdown_to_html};

pub fn main() {
    let text = crate::measure::markdown();
    let options = Options::default();
    crate::measure::measure(|_| markdown_to_html(&text, &options).len() as u64);
}

//! pulldown-cmark: a document becomes HTML.

use ::pulldown_cmark::{Options, Parser, html};

pub fn main() {
    let text = crate::measure::markdown();
    crate::measure::measure(|_| {
        let mut page = String::new();
        html::push_html(&mut page, Parser::new_ext(&text, Options::all()));
        page.len() as u64
    });
}

//! Parses and prints patterns with regex-syntax 0.6.

#[path = "../patterns.rs"]
mod patterns;

use regex_syntax_old::Parser;

fn main() {
    let mut letters = 0;
    for _ in 0..patterns::ROUNDS {
        for pattern in patterns::PATTERNS {
            let hir = Parser::new().parse(pattern).expect("it is a pattern");
            letters += hir.to_string().len();
        }
    }
    println!("{letters} letters");
}

//! A document of 200 chapters with all extensions, as HTML.

fn main() {
    let mut s = String::new();
    for i in 0..200 {
        s += &format!(
            "# Heading {i}\n\nSome *emphasis*, **strong _nested_** and `code` with a [link](http://x/{i} \"t\") and <http://auto>.\n\n- a\n- b\n  1. c\n  2. d\n\n> quote\n> more\n\n```rust\nfn f() {{}}\n```\n\n| a | b |\n|---|:-:|\n| {i} | 2 |\n\n"
        );
    }
    let p = pulldown_cmark::Parser::new_ext(&s, pulldown_cmark::Options::all());
    let mut out = String::new();
    pulldown_cmark::html::push_html(&mut out, p);
    println!("{}", out.len());
}

//! A paragraph, filled at twenty widths.

fn main() {
    let t =
        "Memory safety without garbage collection. Concurrency without data races. Zero-cost abstractions. ".repeat(30);
    let mut n = 0;
    for w in 20..40 {
        n += textwrap::fill(&t, w).len();
        n += textwrap::indent(&textwrap::dedent("  a\n    b\n"), "> ").len();
    }
    println!("{n}");
}

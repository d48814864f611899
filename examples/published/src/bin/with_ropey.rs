//! Edits at random places of a text of 300 lines.

use ropey::Rope;

fn main() {
    let mut r = Rope::from_str(&"The quick brown fox jumps over the lazy dog.\n".repeat(300));
    let mut x = 1u32;
    for i in 0..400 {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        let at = x as usize % r.len_chars();
        if i % 3 == 0 {
            let e = (at + 5).min(r.len_chars());
            r.remove(at..e);
        } else {
            r.insert(at, "hello\n");
        }
        let l = r.char_to_line(at.min(r.len_chars()));
        std::hint::black_box(r.line(l).len_chars());
    }
    println!("{} {}", r.len_lines(), r.chars().filter(|c| *c == 'o').count());
}

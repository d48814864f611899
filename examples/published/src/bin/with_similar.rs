//! Two texts of 400 lines, compared by lines and within them.

use similar::{ChangeTag, TextDiff};

fn main() {
    let a: String = (0..400).map(|i| format!("line {} of the text\n", i)).collect();
    let b: String = (0..400)
        .filter(|i| i % 17 != 0)
        .map(|i| if i % 13 == 0 { format!("line {} of a text\n", i) } else { format!("line {} of the text\n", i) })
        .collect();
    let d = TextDiff::from_lines(&a, &b);
    let mut n = 0;
    for op in d.ops() {
        for c in d.iter_inline_changes(op) {
            if c.tag() != ChangeTag::Equal {
                n += c.values().len()
            }
        }
    }
    println!("{n} {}", d.unified_diff().to_string().len());
}

//! Words counted in a map, and two sets compared.

use indexmap::{IndexMap, IndexSet};

fn main() {
    let mut m = IndexMap::new();
    let text = "the quick brown fox jumps over the lazy dog and the cat sat on the mat ".repeat(200);
    for w in text.split_whitespace() {
        *m.entry(w).or_insert(0) += 1;
    }
    m.sort_by(|_, a, _, b| b.cmp(a));
    m.swap_remove("fox");
    m.shift_remove("dog");
    let s: IndexSet<u32> = (0..2000).map(|i| i * i % 997).collect();
    let t: IndexSet<u32> = (0..500).collect();
    println!("{:?} {} {}", m.get_index(0), s.intersection(&t).count(), s.union(&t).count());
}

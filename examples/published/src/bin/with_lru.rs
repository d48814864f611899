//! A cache of 200 entries and 20,000 lookups, most of which hit.

use lru::LruCache;
use std::num::NonZeroUsize;

fn main() {
    let mut c = LruCache::new(NonZeroUsize::new(200).unwrap());
    let mut x = 1u32;
    let mut hit = 0;
    for _ in 0..20000 {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        let k = ((x >> 8) % 20) * ((x >> 16) % 40);
        if c.get(&k).is_some() {
            hit += 1
        } else {
            c.put(k, k.to_string());
        }
    }
    println!("{hit}");
}

//! A tree of 750 points: inserted, and asked for neighbours.

use rstar::RTree;

fn main() {
    let mut x = 1u32;
    let mut next = || {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        (x >> 8) as f64 / 1e5
    };
    let pts: Vec<[f64; 2]> = (0..600).map(|_| [next(), next()]).collect();
    let mut t = RTree::bulk_load(pts);
    for _ in 0..150 {
        t.insert([next(), next()]);
    }
    let mut n = 0;
    for _ in 0..150 {
        let p = [next(), next()];
        n += t.nearest_neighbor(p).is_some() as usize;
        n += t.locate_within_distance(p, 20.0).count();
    }
    println!("{n}");
}

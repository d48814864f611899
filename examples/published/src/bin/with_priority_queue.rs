//! 2,000 items whose priorities change, until the queue is empty.

use priority_queue::PriorityQueue;

fn main() {
    let mut q = PriorityQueue::new();
    let mut x = 1u32;
    for i in 0..2000u32 {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        q.push(i, x >> 10);
    }
    for i in 0..2000u32 {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        q.change_priority(&i, x >> 10);
    }
    let mut n = 0u64;
    while let Some((i, p)) = q.pop() {
        n = n.wrapping_mul(31).wrapping_add((i ^ p) as u64);
    }
    println!("{n}");
}

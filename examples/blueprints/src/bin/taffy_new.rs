//! Lays out a deep tree with taffy 0.12.

#[path = "../deep_tree.rs"]
mod deep_tree;

use taffy_new as taffy;

fn main() {
    println!("{} wide", deep_tree::layout());
}

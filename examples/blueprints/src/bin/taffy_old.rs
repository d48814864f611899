//! Lays out a deep tree with taffy 0.11.

#[path = "../deep_tree.rs"]
mod deep_tree;

use taffy_old as taffy;

fn main() {
    println!("{} wide", deep_tree::layout());
}

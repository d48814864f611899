//! Where boxes go. Each layout takes sizes and returns places, independent of what a box stands for.

pub mod columns;
pub mod containment;
pub mod nested;
pub mod skyline;
pub mod spanning_tree;
pub mod tidy_tree;
pub mod tour;

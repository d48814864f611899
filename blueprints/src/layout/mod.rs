//! Where boxes go. Each layout takes sizes and returns places, so that none of them knows what a box means.

pub mod columns;
pub mod nested;
pub mod skyline;
pub mod spanning_tree;
pub mod tidy_tree;
pub mod tour;

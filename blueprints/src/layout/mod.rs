//! Layouts, which take sizes and return places, independent of the meaning of a box.

pub mod columns;
pub mod containment;
pub mod nested;
pub mod skyline;
pub mod spanning_tree;
pub mod tidy_tree;
pub mod tour;

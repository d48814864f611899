//! The commands of `metaspy-scale` on recordings of a small domain.

mod fixture;
mod query;
mod seal;
mod ship;

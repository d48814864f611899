//! The commands of `metaspy-scale` on recordings of a small domain.

mod fixture;
mod live;
mod otlp;
mod query;
mod restore;
mod seal;
mod serve;
mod ship;

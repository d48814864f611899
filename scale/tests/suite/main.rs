//! The commands of `metaspy-scale` on recordings of a small domain.

#[cfg(feature = "cluster")]
mod cluster;
mod fixture;
mod live;
mod otlp;
mod query;
mod refusals;
mod restore;
mod seal;
mod serve;
mod services;
mod ship;
mod unreliable;

//! The crawler: its screens, the journeys over them, and the sources of a recording.

#[path = "../fixture/mod.rs"]
mod fixture;
mod trends;
mod user;

mod browsers;
mod causes;
mod documents;
mod export;
mod filters;
mod find;
mod findings;
mod journeys;
mod lanes;
mod names;
mod objects;
mod palette;
mod panels;
mod random;
mod screens;
mod sources;
mod views;
mod window;

//! The crawler: its screens, the journeys over them, and the sources of a recording.

#[path = "../fixture/mod.rs"]
mod fixture;
mod user;

mod filters;
mod journeys;
mod names;
mod screens;
mod sources;
mod views;
mod window;

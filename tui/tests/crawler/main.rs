//! The crawler: its screens, the walks over them, and that it shows the same of a recording wherever that lies.

#[path = "../fixture/mod.rs"]
mod fixture;
mod user;

mod filters;
mod journeys;
mod names;
mod screens;
mod sources;
mod window;

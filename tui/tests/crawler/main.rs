//! The crawler: its screens, the walks over them, and that it shows the same of a recording wherever that lies.

#[path = "../fixture/mod.rs"]
mod fixture;
mod reader;

mod journeys;
mod screens;
mod sources;

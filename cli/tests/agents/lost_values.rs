//! Values of method profilers that found no room.

use metaspy_core::method_profilers::{
    Call, Column, Count, MethodProfiler, MethodSpy, SubjectTable, Tables,
};
use metaspy_core::{Kind, Profiler, Recording, Subject};
use serde_json::json;

use crate::client::{Client, workspace};
use crate::fixture;
use crate::market::{SELL, call};

/// Counts visits of many places.
#[derive(Default)]
struct Visits(SubjectTable);

static PLACE: Kind = Kind::new("place");
const PLACES: u64 = 50_000;

impl MethodProfiler for Visits {
    const NAME: &'static str = "visits";
    type Package = ();
    type Type = ();
    type Method = Count;
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.0 = tables.by_subject("places", [Column::new("visits")]);
    }

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        (0..PLACES)
            .for_each(|place| self.0.row(spy.site, Subject::new(PLACE.id(), place)).put(0, 1));
    }
}

#[test]
fn an_agent_is_told_of_values_that_found_no_room() {
    let directory = workspace("lost-values");
    let turn = fixture::turn();
    let recording =
        Recording::file(directory.join("run.spy")).budget(1 << 20).start().expect("it starts");
    let installed =
        Profiler::new("visits").method_profiler(Visits::default()).install().expect("it installs");
    call(&SELL, Subject::NONE, || ());
    drop(installed);
    recording.close();
    drop(turn);
    let mut client = Client::start(&directory, &["run.spy"]);
    let notes = client.ask("rows", json!({ "by": "site" }))["notes"].to_string();
    assert!(
        notes.contains("of `visits` found no room") && notes.contains("METASPY_BUDGET"),
        "{notes}"
    );
}

//! The columns of method profilers: the report prints them without any code for the profiler.

use metaspy_core::hook::{self, Frame, Guard};
use metaspy_core::method_profilers::{
    Call, Column, Columns, Count, Data, MethodProfiler, MethodSpy, SubjectTable, Tables,
    TestCoverage,
};
use metaspy_core::{Kind, Profiler, Recording, Site, SiteDef, SiteKind, Subject};
use serde_json::Value;

use crate::market::{self, PACK, SELL};
use crate::{ended, fixture, text};

metaspy_core::site::register! {
    static WEIGH: Site = Site::new(SiteDef {
        kind: SiteKind::Method,
        module: "market",
        name: "Scale::weigh",
        file: "market/src/lib.rs",
        lines: (1, 9),
        skipped: None,
    });
}

static FRUIT: Kind = Kind::new("Fruit");

/// Weights, by method and by fruit.
#[derive(Default)]
struct Weights(SubjectTable);

struct Weighed(Count);

impl Data for Weighed {
    fn new(columns: &mut Columns<'_>) -> Self {
        Weighed(columns.sum(Column::new("weight").unit("g").at_most(2_000)))
    }
}

impl MethodProfiler for Weights {
    const NAME: &'static str = "weights";
    type Package = ();
    type Type = ();
    type Method = Weighed;
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.0 = tables.by_subject("fruit", [Column::new("pieces")]);
    }

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        let fruit = call.receiver().unwrap_or_default();
        spy.data.0.add(500);
        self.0.row(spy.site, Subject::new(FRUIT.id(), fruit)).put(0, 1);
    }
}

#[test]
fn a_report_has_the_columns_that_a_profiler_declares() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("weights.spy");
    let recording =
        Recording::file(&path).budget(4 << 20).collector(false).start().expect("a small recording");
    let profiler = Profiler::new("weights")
        .method_profiler(Weights::default())
        .install()
        .expect("there is room");
    for fruit in [7, 7, 8] {
        let mut frame = Frame::vacant();
        let entered = hook::enter_in(&mut frame, &WEIGH, Subject::new(FRUIT.id(), fruit));
        Guard::of(&WEIGH, entered).done(metaspy_core::Outcome::Returned);
    }
    drop(profiler);
    recording.close();

    let rows = |by: &str| -> Vec<Value> {
        let (code, out, error) = ended(&["report", text(&path), "--by", by, "--json"]);
        assert_eq!(code, 0, "{error}");
        let report: Value = serde_json::from_str(&out).expect("it is JSON");
        report["rows"].as_array().expect("there is a list").clone()
    };
    for (by, key) in
        [("site", "market::Scale::weigh"), ("type", "market::Scale"), ("package", "market")]
    {
        let rows = rows(by);
        let row = rows
            .iter()
            .find(|row| row["key"] == key)
            .unwrap_or_else(|| panic!("{key} in {rows:?}"));
        let weights = serde_json::json!({ "weight": 1_500, "fruit pieces": 3 });
        assert_eq!(row["profiles"]["weights"], weights, "{by}");
    }
    let rows = rows("subject");
    let fruit = rows.iter().find(|row| row["key"] == 7).expect("it was weighed");
    assert_eq!(fruit["profiles"]["weights"]["fruit pieces"], 2);
    let (_, out, _) = ended(&["report", text(&path), "--by", "site"]);
    assert!(out.contains("weight g") && out.contains("1,500"), "{out}");
    let (code, selected, error) =
        ended(&["report", text(&path), "--by", "site", "--profile", "weights"]);
    assert_eq!((code, selected, error.as_str()), (0, out, ""));
    let (code, _, error) = ended(&["report", text(&path), "--profile", "weight"]);
    assert!(
        code == 2 && error.contains("there is no such profiler in the recording; it has weights"),
        "{error}"
    );
}

/// Without deep weaving, nobody looks at further calls on a known object: these made calls that no
/// profiler counted.
#[test]
fn calls_made_are_a_lower_bound_where_not_every_call_is_looked_at() {
    let _turn = fixture::turn();
    let path = fixture::directory().join("made.spy");
    let recording =
        Recording::file(&path).budget(4 << 20).collector(false).start().expect("a small recording");
    let profiler = Profiler::new("made")
        .method_profiler(TestCoverage::default())
        .install()
        .expect("there is room");
    let stall = Subject::new(FRUIT.id(), 1);
    for fruit in 0..300 {
        let pack = || market::call(&PACK, Subject::new(FRUIT.id(), fruit), || {});
        market::call(&SELL, stall, pack);
    }
    drop(profiler);
    recording.close();
    for (by, key) in
        [("site", "market::Stall::sell"), ("type", "market::Stall"), ("package", "market")]
    {
        let (_, out, error) = ended(&["report", text(&path), "--by", by, "--json"]);
        let report: Value =
            serde_json::from_str(&out).unwrap_or_else(|_| panic!("no JSON: {error}"));
        let rows = report["rows"].as_array().expect("there is a list");
        let row = rows
            .iter()
            .find(|row| row["key"] == key)
            .unwrap_or_else(|| panic!("{key} in {rows:?}"));
        let coverage = &row["profiles"]["coverage"];
        let made = coverage["calls made"].as_u64().expect("some were seen");
        assert!(made <= 300 && coverage["calls made_exact"] == false, "{by}: {row}");
        let (_, out, _) = ended(&["report", text(&path), "--by", by]);
        assert!(out.contains(&format!("≥{made}")), "{by}: {out}");
    }
}

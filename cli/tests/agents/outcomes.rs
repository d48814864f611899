//! Rows of calls whose hooks see that they return, and not what.

use metaspy::{Profiler, methods};
use metaspy_core::hook::{self, Frame, Guard};
use metaspy_core::{Kind, Outcome, Recording, Site, Subject};
use serde_json::{Value, json};

use crate::client::{Client, metaspy, workspace};
use crate::fixture;
use crate::market::{PACK, SELL, call};

metaspy_core::site::register! {
    static OPEN: Site = Site::woven("market", "Box::open", "market/src/lib.rs", (1, 9), "c=1 self=ref type=Box vis=pub result unseen");
}

static PARCEL: Kind = Kind::new("parcel");

fn parcel(key: u64) -> Subject {
    Subject::new(PARCEL.id(), key)
}

fn fails(site: &'static Site, subject: Subject) {
    let mut frame = Frame::vacant();
    Guard::of(site, hook::enter_in(&mut frame, site, subject)).done(Outcome::Failed);
}

#[test]
fn failures_that_no_hook_saw_are_unknown_to_agents_where_the_report_has_null() {
    let directory = workspace("unseen");
    let turn = fixture::turn();
    let recording = Recording::file(directory.join("run.spy"))
        .budget(4 << 20)
        .collector(false)
        .start()
        .unwrap();
    let profiler = Profiler::new("market").observe(methods("market::**")).install().unwrap();
    call(&OPEN, parcel(1), || call(&SELL, parcel(1), || ()));
    call(&PACK, parcel(2), || ());
    fails(&PACK, parcel(2));
    drop(profiler);
    recording.close();
    drop(turn);
    let mut client = Client::start(&directory, &["run.spy"]);
    for by in ["site", "subject", "site,subject", "type"] {
        let report =
            metaspy(&directory, &["report", "run.spy", "--json", "--by", by]).output().unwrap();
        let report: Value = serde_json::from_slice(&report.stdout).expect("it is JSON");
        let failed: Vec<&Value> =
            report["rows"].as_array().unwrap().iter().map(|row| &row["failed"]).collect();
        let answer = client.call("rows", json!({ "by": by }));
        let rows = answer.content["rows"].as_array().unwrap();
        let of_agent = |row: &Value| {
            if row["failed_unknown"] == true {
                Value::Null
            } else {
                json!(row["failed"].as_u64().unwrap_or(0))
            }
        };
        assert_eq!(
            rows.iter().map(of_agent).collect::<Vec<_>>(),
            failed.into_iter().cloned().collect::<Vec<_>>(),
            "{by}"
        );
        assert!(
            answer.text.contains("failures not known") && answer.text.contains(", 1 failed"),
            "{}",
            answer.text
        );
        assert!(rows.iter().all(|row| row["outcomes_unknown"].is_null()), "{rows:?}");
    }
    let rows = client.ask("rows", json!({ "by": "site" }))["rows"].clone();
    let of = |name: &str| {
        rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone()
    };
    assert_eq!(of("market::Box::open")["failed_unknown"], true);
    assert!(
        of("market::Stall::sell")["failed_unknown"].is_null()
            && of("market::Stall::sell")["failed"].is_null()
    );
    assert_eq!(of("market::Box::pack")["failed"], 1);
}

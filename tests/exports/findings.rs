//! SARIF: findings at the lines of their sites.

use metaspy_core::Store;
use metaspy_report::findings::{Baseline, Config, Findings, find, json, sarif};
use serde_json::Value;
use serde_sarif::sarif::{ResultLevel, Sarif};

use crate::recorded;

const OWN: &str = r#"
    [[findings.own]]
    kind = "measures"
    when = "count(site:measure) > 1"
    title = "{site} runs {count} times, also for \"{subject}\""
    advice = "measure once"
"#;

fn found(store: &Store, settings: &str, baseline: Option<Baseline>) -> Findings {
    let config = Config::parse(&format!("{OWN}{settings}"), &[]).expect("the settings are right");
    find(store, &Config { baseline, ..config })
}

fn document(findings: &Findings) -> Vec<u8> {
    let mut out = Vec::new();
    sarif::write(&mut out, findings).expect("memory can be written");
    out
}

#[test]
fn the_schema_of_sarif_accepts_the_document() {
    let store = recorded::store("sarif-schema.spy");
    let schema = include_str!("schemas/sarif-2.1.0.json");
    let schema: Value = serde_json::from_str(schema).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let open = found(&store, "", None);
    assert!(open.listed().any(|finding| finding.kind == "measures"));
    let mut baseline = Vec::new();
    json::write(&mut baseline, &open, &[]).expect("memory can be written");
    let baseline = Baseline::parse(&baseline).expect("it is a baseline");
    let accepted = format!(
        "[[findings.accepted]]\nfingerprint = \"{}\"\nreason = \"by design\"",
        open.found[0].fingerprint
    );
    let mut document_of_last = Value::Null;
    for findings in [open, found(&store, "", Some(baseline)), found(&store, &accepted, None)] {
        let document: Value = serde_json::from_slice(&document(&findings)).expect("it is JSON");
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        document_of_last = document;
    }
    // A document that lacks a key is refused, so the schema decides something.
    document_of_last["runs"][0]["tool"].as_object_mut().expect("an object").remove("driver");
    assert!(!validator.is_valid(&document_of_last));
}

#[test]
fn another_reader_finds_the_lines_and_states() {
    let store = recorded::store("sarif-lines.spy");
    let open = found(&store, "", None);
    let finding =
        open.found.iter().find(|finding| finding.kind == "measures").expect("it is found");
    let read = |findings: &Findings| -> Sarif {
        serde_json::from_slice(&document(findings)).expect("it is SARIF")
    };
    let result = |sarif: &Sarif| {
        let results = sarif.runs[0].results.as_ref().expect("there are results");
        results
            .iter()
            .find(|result| result.rule_id.as_deref() == Some("measures"))
            .expect("it is there")
            .clone()
    };
    let sarif = read(&open);
    let rules = sarif.runs[0].tool.driver.rules.as_ref().expect("there are rules");
    assert!(rules.iter().any(|rule| rule.id == "repeated" && rule.help.is_some()));
    let it = result(&sarif);
    assert_eq!(it.level, Some(ResultLevel::Warning));
    assert!(it.message.text.as_ref().is_some_and(|text| text.contains("Advice: measure once.")));
    let at = it.locations.as_ref().and_then(|all| all.first()).expect("it has a place");
    let physical = at.physical_location.as_ref().expect("it is in a file");
    let site = &finding.sites[0];
    let file = physical.artifact_location.as_ref().expect("it has a name");
    assert_eq!(
        (file.uri.as_deref(), file.uri_base_id.as_deref()),
        (Some(site.file.as_str()), Some("%SRCROOT%"))
    );
    let line = physical.region.as_ref().and_then(|region| region.start_line);
    assert_eq!(line, Some(i64::from(site.line)));
    assert_eq!(it.partial_fingerprints.expect("it has one")["metaspy/v1"], finding.fingerprint);
    assert_eq!((it.baseline_state, it.suppressions), (None, None));
}

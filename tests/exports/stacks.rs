//! Collapsed stacks and speedscope: chains of causes as stacks.

use metaspy_reader::{By, Scope};
use metaspy_report::export::Format;
use serde_json::Value;

use crate::{export, json, recorded, text};

#[test]
fn inferno_draws_the_collapsed_stacks() {
    let store = recorded::store("collapsed.spy");
    for format in [Format::Collapsed, Format::CollapsedTime] {
        let stacks = text(&store, format, "");
        let mut options = inferno::flamegraph::Options::default();
        let mut svg = Vec::new();
        inferno::flamegraph::from_lines(&mut options, stacks.lines(), &mut svg)
            .expect("inferno reads the stacks");
        let svg = String::from_utf8(svg).expect("a picture is UTF-8");
        let allow = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let picture =
            roxmltree::Document::parse_with_options(&svg, allow).expect("a picture is XML");
        let titles: Vec<&str> = picture
            .descendants()
            .filter(|it| it.has_tag_name("title"))
            .filter_map(|it| it.text())
            .collect();
        assert!(
            titles.iter().any(|title| title.starts_with("page::Scene::measure (")),
            "{titles:?}"
        );
    }
}

#[test]
fn the_weights_are_the_calls_and_the_self_time_of_the_report() {
    let store = recorded::store("weights.spy");
    let sum = |format| -> u64 {
        let weight = |line: &str| {
            line.rsplit_once(' ').expect("a weight").1.parse::<u64>().expect("a number")
        };
        text(&store, format, "").lines().map(weight).sum()
    };
    let tally = store.tally(By::Site, &Scope::default());
    assert_eq!(sum(Format::Collapsed), store.totals().stored);
    let own: u64 = tally
        .rows
        .iter()
        .filter_map(|row| row.measure.self_ticks)
        .map(|ticks| store.span_ns(ticks))
        .sum();
    assert_eq!(sum(Format::CollapsedTime), own);
}

#[test]
fn a_stack_is_a_chain_of_causes_also_across_threads() {
    let store = recorded::store("chains.spy");
    let stacks = text(&store, Format::Collapsed, "");
    assert!(
        stacks
            .contains("page::frame;page::Scene::layout;page::Scene::layout;page::Scene::measure;page::cache::hit 24\n")
    );
    // The measures of the other thread, below what the first thread did last.
    assert!(
        stacks.lines().any(|line| line == "page::frame;page::Scene::paint;page::Scene::measure 6"),
        "{stacks}"
    );
    // A filter selects calls; their causes are still their stacks.
    let hits = text(&store, Format::Collapsed, "site:hit");
    assert_eq!(
        hits,
        "page::frame;page::Scene::layout;page::Scene::layout;page::Scene::measure;page::cache::hit 24\n"
    );
}

#[test]
fn speedscope_accepts_its_document() {
    let store = recorded::store("speedscope.spy");
    let schema: Value =
        serde_json::from_str(include_str!("schemas/speedscope.json")).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    for filter in ["", "site:hit", "site:never"] {
        let document = json(&store, Format::Speedscope, filter);
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{filter}: {errors:?}");
        let frames = document["shared"]["frames"].as_array().expect("frames").len() as u64;
        for profile in document["profiles"].as_array().expect("profiles") {
            let samples = profile["samples"].as_array().expect("samples");
            let weights = profile["weights"].as_array().expect("weights");
            assert_eq!(samples.len(), weights.len());
            let sum: u64 = weights.iter().filter_map(Value::as_u64).sum();
            assert_eq!(profile["endValue"], sum);
            let mut numbers = samples.iter().flat_map(|stack| stack.as_array().expect("a stack"));
            assert!(numbers.all(|frame| frame.as_u64().is_some_and(|frame| frame < frames)));
        }
    }
    // A document that lacks a key is refused, so the schema decides something.
    let mut document = json(&store, Format::Speedscope, "");
    document["profiles"][0].as_object_mut().expect("a profile").remove("weights");
    assert!(!validator.is_valid(&document));
}

#[test]
fn stacks_of_selected_calls_have_their_number() {
    let store = recorded::store("stack-counts.spy");
    let (_, written) = export(&store, Format::Speedscope, "site:measure");
    assert_eq!(written.events, 24 + 1 + 6);
}

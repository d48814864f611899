//! Productions in a profiler: a parse is walked event by event.

use metaspy_core::store::{Filter, Position};
use metaspy_core::{Event, Outcome, Profiler, Recording, SiteKind, Store, Subject};
use metaspy_instrumenters::productions::pest::{Grammar, Source, Suite};
use metaspy_instrumenters::productions::productions;

const TEXT: &str = r#"all = { SOI ~ value ~ EOI }
value = { float | integer }
float = @{ integer ~ "." ~ integer }
integer = @{ '0'..'9'+ }
"#;

#[test]
fn activations_are_events_with_their_causes_places_and_inputs() {
    let source = Source { name: "grammars/number.pest".into(), text: TEXT.into() };
    let grammar = Grammar::new(&[source], "all").expect("it is a grammar");
    // What refers to what is written in order, also into a recording that begins after the grammar
    // was read.
    assert_eq!(grammar.sites().len(), 4);
    let recording = Recording::memory().budget(4 << 20).start().expect("there are 4 MiB");
    let installed = Profiler::new("grammar")
        .observe(productions(&grammar))
        .install()
        .expect("they are observed");
    let mut suite = Suite::new(&grammar);
    suite.parse("first".into(), "42");
    suite.parse("second".into(), "4.2");
    let profile = installed.uninstall();
    suite.parse("third".into(), "7");

    let store = recording.store();
    let sites = store.sites().iter().filter(|site| site.kind == SiteKind::Production);
    let sites: Vec<(&str, &str, u32)> =
        sites.map(|site| (&*site.path, &*site.file, site.lines.0)).collect();
    let file = "grammars/number.pest";
    let expected =
        [("number::all", 1), ("number::value", 2), ("number::float", 3), ("number::integer", 4)];
    assert_eq!(sites, expected.map(|(path, line)| (path, file, line)));

    // What refers to what is in the recording as well: the grammar, number 0, to the rule it starts
    // with.
    let kind =
        store.kinds().find(|kind| kind.name == "Production").expect("productions are related").id;
    let ids: Vec<u64> = store
        .sites()
        .iter()
        .filter(|site| site.kind == SiteKind::Production)
        .map(|site| site.id.0.into())
        .collect();
    let refers = |from: u64| -> Vec<u64> {
        let relations = store.relations_of(Subject::new(kind, from));
        relations
            .iter()
            .filter(|relation| relation.from.key == from)
            .map(|relation| relation.to.key)
            .collect()
    };
    assert_eq!(
        [refers(0), refers(ids[0]), refers(ids[1]), refers(ids[2])],
        [vec![ids[0]], vec![ids[1]], vec![ids[2], ids[3]], vec![ids[3]]]
    );

    let events = store.forward(Position::Start, &Filter::all(), 100, usize::MAX).events;
    let walked: Vec<String> = events.iter().map(|event| described(&store, event)).collect();
    let walk = [
        "first: all at 0 = 0..2",
        "first: value at 0 = 0..2 < all",
        "first: float at 0 failed < value",
        "first: integer at 0 = 0..2 < float",
        "first: integer at 0 = 0..2 < value",
        "second: all at 0 = 0..3",
        "second: value at 0 = 0..3 < all",
        "second: float at 0 = 0..3 < value",
        "second: integer at 0 = 0..1 < float",
        "second: integer at 2 = 2..3 < float",
    ];
    assert_eq!(walked, walk);
    // The suite counts what the events tell, and the input after the profiler as well.
    assert_eq!(profile.counts().total(), 10);
    assert_eq!(suite.coverage().productions[3].all().matched, 4 + 2);
}

/// An event in a line: input, production, where it was tried, what it matched, its cause.
fn described(store: &Store, event: &Event) -> String {
    let name =
        |event: &Event| store.site_path(event.site).trim_start_matches("number::").to_owned();
    let details = store.details(event.id);
    let detail = |name: &str| {
        details.iter().find(|detail| detail.name == name).map(|detail| detail.value.clone())
    };
    let input = event.subject.map(|input| store.subject_text(input)).unwrap_or_default();
    let ended = match event.outcome {
        Outcome::Succeeded => {
            format!("= {}", details.last().map(|detail| detail.value.clone()).unwrap_or_default())
        }
        _ => "failed".to_owned(),
    };
    let cause = event
        .cause
        .and_then(|cause| store.event(cause))
        .map(|cause| format!(" < {}", name(&cause)));
    format!(
        "{input}: {} at {} {ended}{}",
        name(event),
        detail("at").unwrap_or_default(),
        cause.unwrap_or_default()
    )
}

//! `--fail-under` over recordings that know less than the parser did: a gate never passes because
//! calls are missing.

use std::fs;
use std::path::PathBuf;

use metaspy_core::arm::Mode;
use metaspy_core::recording::Policy;
use metaspy_core::{Profiler, Recording, Store};
use metaspy_instrumenters::productions::pest::{Grammar, Source, Suite};
use metaspy_instrumenters::productions::productions;

use crate::TestDirectory;

/// Of inputs of it the first one alone has a `mark`, the last one alone a `date`, and none a `hex`.
const LIST: &str = r#"
    list  =  { SOI ~ value ~ ("," ~ value)* ~ EOI }
    value =  { word | date | hex }
    word  = @{ 'a'..'z'+ ~ mark? }
    mark  =  { "!" }
    date  = @{ "@" ~ '0'..'9'+ }
    hex   = @{ "0x" ~ '0'..'9'+ }
"#;
/// Inputs without anything rare: more than a small recording has room for.
const COMMON: usize = 6_000;
/// Of six productions, five match.
const MATCHED: f64 = 100.0 * 5.0 / 6.0;

const ENOUGH: u64 = 64 << 20;
const LITTLE: u64 = 1 << 20;

/// A directory of recordings.
struct Recorded {
    directory: &'static str,
    /// Nothing is missing, so that each gate is decided.
    is_whole: bool,
    /// The part of the productions that matched, in percent.
    matched: f64,
}

/// Records these inputs into a further file of a directory.
fn parse(
    place: &TestDirectory,
    directory: &str,
    policy: Policy,
    mode: Mode,
    budget: u64,
    inputs: &[&str],
) -> PathBuf {
    let directory = place.path(directory);
    fs::create_dir_all(&directory).expect("the test's directory can be written");
    let file =
        directory.join(format!("{}.spy", fs::read_dir(&directory).expect("it is there").count()));
    let grammar = Grammar::new(&[Source { name: "list.pest".into(), text: LIST.into() }], "list");
    let grammar = grammar.expect("the grammar is sound");
    let builder = Recording::file(&file).policy(policy).budget(budget).linked_sites(false);
    let recording = builder.start().expect("a small recording can be made");
    let observed = productions(&grammar).mode(mode);
    let installed =
        Profiler::new("grammar").observe(observed).install().expect("the sites are there");
    let mut suite = Suite::new(&grammar);
    inputs.iter().for_each(|input| suite.parse((*input).to_owned(), input));
    drop(installed);
    recording.close();
    file
}

/// Records what is whole, folded, lost, sampled, counted, of two processes, cut and empty.
fn record(place: &TestDirectory) -> Vec<Recorded> {
    let mut inputs = vec!["a,b"; COMMON];
    (inputs[0], inputs[COMMON - 1]) = ("a!", "@7");
    let all = |directory: &'static str, policy, mode, budget| {
        let file = parse(place, directory, policy, mode, budget, &inputs);
        (
            Recorded { directory, is_whole: true, matched: MATCHED },
            Store::open(&file).expect("it is a recording"),
        )
    };
    let (whole, store) = all("whole", Policy::KeepNewest, Mode::Full, ENOUGH);
    let cut = place.path("cut/0.spy");
    fs::create_dir_all(place.path("cut")).expect("the test's directory can be written");
    fs::copy(place.path("whole/0.spy"), &cut).expect("it can be copied");
    let header = store.header();
    let file = fs::File::options().write(true).open(&cut).expect("it was just written");
    let before_blocks = header.total_bytes - header.blocks * 4096;
    file.set_len(before_blocks + header.fresh / 2 * 4096).expect("a file can be truncated");
    let (folded, store) = all("folded", Policy::KeepNewest, Mode::Full, LITTLE);
    assert!(store.totals().folded > 0, "it has too much room");
    let (lost, store) = all("lost", Policy::KeepOldest, Mode::Full, LITTLE);
    assert!(store.totals().lost > 0, "it has too much room");
    let (sampled, _) = all("sampled", Policy::KeepNewest, Mode::Sampled, ENOUGH);
    let (counted, _) = all("counted", Policy::KeepNewest, Mode::Tally, ENOUGH);
    // Each of two processes has a part of what matched.
    for half in inputs.chunks(COMMON / 2) {
        parse(place, "merged", Policy::KeepNewest, Mode::Full, ENOUGH, half);
    }
    parse(place, "empty", Policy::KeepNewest, Mode::Full, ENOUGH, &[]);
    let merged = Recorded { directory: "merged", is_whole: true, matched: MATCHED };
    let cut = Recorded { directory: "cut", is_whole: false, matched: MATCHED };
    let empty = Recorded { directory: "empty", is_whole: true, matched: 0.0 };
    vec![whole, folded, lost, sampled, counted, merged, cut, empty]
}

#[test]
fn every_gate_decides_what_is_true_or_states_what_is_missing() {
    let place = TestDirectory::new("gates");
    for Recorded { directory, is_whole, matched } in record(&place) {
        let mut undecided = 0;
        for least in [1.0, 50.0, MATCHED.floor(), MATCHED.ceil(), 100.0] {
            let (code, out, error) =
                place.run(&["report", directory, "--fail-under", &least.to_string()]);
            let truth = i32::from(matched < least);
            let is_stated = code == 2 && error.contains("cannot be decided");
            assert!(code == truth || is_stated && !is_whole, "{directory} {least}: {out}{error}");
            undecided += u32::from(is_stated);
        }
        assert_eq!(undecided == 0, is_whole, "{directory}");
    }
}

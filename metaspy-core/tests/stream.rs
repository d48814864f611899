//! A recording that folds while it is sent: whatever the receiver has when a round is settled
//! counts as the sender does.

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::format::superblock::STATEMENTS_TURN;
use metaspy_core::instrumenter::Installation;
use metaspy_core::store::{By, Scope};
use metaspy_core::stream::{Receiver, Sender};
use metaspy_core::{
    InstallError, Instrumenter, Kind, Outcome, Profiler, Recording, Session, Site, SiteDef,
    SiteKind, Store, Subject, clock, hook, model,
};

metaspy_core::site::register! {
    static STEP: Site = Site::new(SiteDef {
        kind: SiteKind::Method,
        module: "streamed",
        name: "step",
        file: file!(),
        lines: (line!(), line!()),
        skipped: None,
    });
}

static NODE: Kind = Kind::new("node");

struct Steps;

impl Instrumenter for Steps {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&"streamed::step".parse()?, &Arming::all(Mode::Full))?;
        Ok(Installation::none())
    }
}

/// Rows by subject, in the order of the subjects.
fn rows(store: &Store) -> Vec<(Option<Subject>, u64, u64)> {
    let tally = store.tally(By::Subject, &Scope::default());
    let mut rows: Vec<_> = tally
        .rows
        .iter()
        .map(|row| (row.subject, row.measure.count, row.measure.total_ticks))
        .collect();
    rows.sort_by_key(|(subject, ..)| subject.map(|subject| subject.key));
    rows
}

#[test]
fn what_is_folded_between_rounds_counts_once() {
    clock::set_manual(1_000_000);
    let path = std::env::temp_dir().join(format!("metaspy-streamed-{}.spy", std::process::id()));
    let recording = Recording::file(&path)
        .budget(1 << 20)
        .collector(false)
        .start()
        .expect("there is room for it");
    let installed = Profiler::new("steps").observe(Steps).install().expect("the site is there");
    let mut bytes = Vec::new();
    let mut sender = Sender::new(Store::open(&path).expect("it is there"), &mut bytes)
        .expect("a vector takes all");
    let mut outer = Vec::new();
    let subject = |key| Subject::new(NODE.id(), key);
    model::label(subject(1), "it stays");
    for round in 0..40_u64 {
        for step in 0..1_500 {
            clock::advance(3);
            if step % 50 == 0 {
                // Statements about nodes that come and go move to the other half now and then.
                let node = subject(1_000 + round * 100 + step);
                model::label(node, "it goes");
                model::forget(node);
            }
            let call = hook::enter(&STEP, Subject::new(NODE.id(), (round + step) % 17));
            clock::advance(5);
            match step % 500 {
                // Some go on while the window goes past them.
                0 => outer.push(call),
                _ => call.done(Outcome::Returned),
            }
        }
        while outer.len() > 8 {
            outer.remove(0).done(Outcome::Failed);
        }
        while recording.collect() {}
        sender.round().expect("a vector takes all");
    }
    outer.into_iter().for_each(|call| call.done(Outcome::Returned));
    drop(installed);
    recording.close();
    sender.run(std::time::Duration::ZERO).expect("a vector takes all");
    let there = Store::open(&path).expect("it is there");
    assert!(there.totals().folded > 0, "{:?}", there.totals());
    let (receiver, mut arrived) = Receiver::start(&bytes[..]).expect("it is a stream");
    receiver.run();
    arrived.refresh().expect("it is mapped");
    assert_eq!(arrived.totals(), there.totals());
    assert!(arrived.totals().exact && arrived.verify().is_sound(), "{:?}", arrived.verify());
    assert_eq!(rows(&arrived), rows(&there));
    let labels = |store: &Store| {
        store
            .labelled()
            .map(|(node, label)| (node.key, label.to_owned()))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    assert_eq!((labels(&arrived), arrived.label(subject(1))), (labels(&there), Some("it stays")));
    assert!(arrived.ring().words.get(STATEMENTS_TURN) > 3 && arrived.header().statements_lost == 0);
    assert_eq!((arrived.end_state(), arrived.missing()), (there.end_state(), there.missing()));
    std::fs::remove_file(path).expect("it was there");
}

//! A `Debug` or `Hash` that metaspy calls is no execution of the program, and runs on request only.

use std::fmt::{self, Debug};
use std::sync::atomic::{AtomicUsize, Ordering};

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::hook::Detail;
use metaspy_core::instrumenter::{Installation, Instrumenter, Session};
use metaspy_core::method_profilers::TestCoverage;
use metaspy_core::store::{Filter, Position};
use metaspy_core::{InstallError, Profiler, Recording, Store};

use crate::{Pause, alone, block_on, executions};

/// A value with an endless `Debug`, which counts its calls.
struct Answer;

static SHOWN: AtomicUsize = AtomicUsize::new(0);

impl Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        metaspy_probe::hook!(
            "Answer::Debug::fmt",
            1,
            1,
            "c=1 self=ref type=Answer trait=Debug",
            [],
            []
        );
        SHOWN.fetch_add(1, Ordering::Relaxed);
        (0..1_000_000).try_for_each(|_| f.write_str("on and on, "))
    }
}

async fn ask() -> Answer {
    metaspy_probe::polled_whole!("ask", 2, 2, "c=1 self=none async deep", [], [], [own any Answer], {
        Pause(false).await;
        Answer
    })
}

/// Arms a function, and has its details written down.
struct Details(&'static str);

impl Instrumenter for Details {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        for entry in session.select(&self.0.parse()?)? {
            session.arm(entry.site, Arming { details: true, ..Arming::all(Mode::Full) })?;
        }
        Ok(Installation::none())
    }
}

fn details(store: &Store, path: &str) -> Vec<Detail> {
    let page = store.forward(Position::Start, &Filter::default(), usize::MAX, usize::MAX);
    let of =
        |event: &&metaspy_core::Event| store.site(event.site).is_some_and(|site| site.path == path);
    page.events.iter().filter(of).flat_map(|event| store.details(event.id)).collect()
}

#[test]
fn an_async_call_shows_its_value_only_on_request_and_in_bounded_length() {
    let _alone = alone();
    let before = SHOWN.load(Ordering::Relaxed);
    let recording = Recording::memory().start().expect("it starts");
    let spying = crate::install(TestCoverage::default());
    block_on(ask());
    assert_eq!(SHOWN.load(Ordering::Relaxed), before, "nobody wants to know");

    let profiler = Profiler::new("details")
        .observe(Details("spies::on_request::ask"))
        .install()
        .expect("it installs");
    block_on(ask());
    drop(profiler);
    while recording.collect() {}
    assert_eq!(SHOWN.load(Ordering::Relaxed), before + 1);
    let details = details(&recording.store(), "spies::on_request::ask");
    assert!(
        matches!(&details[..], [one] if one.cut && one.value.starts_with("on and on")),
        "{details:?}"
    );

    let (profile, _) = spying.uninstall();
    assert_eq!(executions(&profile, "on_request::ask"), 2);
    assert_eq!(executions(&profile, "Answer::Debug::fmt"), 0, "the program did not show it");
}

#[test]
fn what_the_program_shows_is_counted() {
    let _alone = alone();
    let spying = crate::install(TestCoverage::default());
    assert!(format!("{Answer:?}").starts_with("on"));
    assert_eq!(executions(&spying.uninstall().0, "Answer::Debug::fmt"), 1);
}

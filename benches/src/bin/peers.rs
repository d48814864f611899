//! The peers' spans around the same method, each in the fastest configuration that its
//! documentation offers.
//!
//! None of them records the object or the cause of a call. A full event of metaspy has both.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use metaspy_benches::child::{self, CaseResult, Size, time};
use metaspy_benches::clock::{self, Ns};
use metaspy_benches::things::Thing;
use metaspy_benches::workload::{BATCH, Workload, nothing};

const SIZE: Size = Size::of(500_000, 500_000);

/// Spans that arrived wherever the peer puts them: none of them may be switched off by mistake.
static ARRIVED: AtomicU64 = AtomicU64::new(0);

fn main() {
    let mut workload = Workload::new(1_000, 1, Thing::new);
    let case = child::case().expect("the bench `hooks` starts this program");
    let ns = match case.as_str() {
        "tracing_off" => time(SIZE, &mut workload, nothing, with_tracing),
        "tracing" => {
            recording::install();
            time(SIZE, &mut workload, nothing, with_tracing)
        }
        "fastrace" => fastrace_spans(&mut workload),
        "puffin" => puffin_scopes(&mut workload),
        "hotpath" => hotpath_measure(&mut workload, 1.0),
        "hotpath_sampled" => hotpath_measure(&mut workload, 1.0 / 16.0),
        other => panic!("`{other}` is no case"),
    };
    let expected = match case.as_str() {
        "tracing" | "fastrace" | "puffin" => workload.done(),
        _ => 0,
    };
    assert_eq!(ARRIVED.load(Ordering::Relaxed), expected, "spans that arrived");
    child::report(&CaseResult::of(ns));
}

/// A span without fields, as a macro that keeps its metadata in a static.
#[inline(never)]
fn with_tracing(thing: &mut Thing, by: u64) -> u64 {
    let _span = tracing::info_span!("span").entered();
    thing.work(by)
}

/// The least that a recording layer can do on top of the registry: when each span began and ended,
/// in a ring.
mod recording {
    use super::{ARRIVED, Ordering, RefCell, clock};
    use tracing::span::{Attributes, Id};
    use tracing::{Subscriber, subscriber};
    use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
    use tracing_subscriber::registry::{LookupSpan, Registry};

    const RING: usize = 1 << 21;

    thread_local! {
        static LOG: RefCell<(Vec<[u64; 3]>, usize)> = RefCell::new((vec![[1; 3]; RING], 0));
    }

    /// The tick of each span's beginning would need the registry's extensions; a stack does, as
    /// spans nest here.
    struct Recorder;

    impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Recorder {
        fn on_new_span(&self, _: &Attributes<'_>, _: &Id, _: Context<'_, S>) {}

        fn on_enter(&self, id: &Id, _: Context<'_, S>) {
            let now = clock::ticks();
            LOG.with_borrow_mut(|(log, next)| log[*next % RING] = [id.into_u64(), now, 0]);
        }

        fn on_exit(&self, _: &Id, _: Context<'_, S>) {
            let now = clock::ticks();
            LOG.with_borrow_mut(|(log, next)| {
                log[*next % RING][2] = now;
                *next += 1;
            });
        }

        fn on_close(&self, _: Id, _: Context<'_, S>) {
            ARRIVED.store(ARRIVED.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    pub fn install() {
        LOG.with_borrow(|(log, _)| assert_eq!(log.len(), RING));
        subscriber::set_global_default(Registry::default().with(Recorder))
            .expect("there is no other subscriber");
    }
}

/// Local spans under a root span for each batch; the reporter takes them and drops them.
fn fastrace_spans(workload: &mut Workload<Thing>) -> Ns {
    use fastrace::collector::{Config, Reporter, SpanRecord};
    use fastrace::prelude::{LocalSpan, Span, SpanContext};

    struct Drops;
    impl Reporter for Drops {
        fn report(&mut self, spans: Vec<SpanRecord>) {
            ARRIVED.fetch_add(
                spans.iter().filter(|span| span.name == "span").count() as u64,
                Ordering::Relaxed,
            );
        }
    }

    #[inline(never)]
    fn with_span(thing: &mut Thing, by: u64) -> u64 {
        let _span = LocalSpan::enter_with_local_parent("span");
        thing.work(by)
    }

    fastrace::set_reporter(Drops, Config::default());
    let around = |run: &mut dyn FnMut()| {
        let root = Span::root("root", SpanContext::random());
        let _parent = root.set_local_parent();
        run();
    };
    let ns = time(SIZE, workload, around, with_span);
    fastrace::flush();
    ns
}

/// Function scopes within a scope that stays open for a batch, as puffin's own bench does, then a
/// new frame.
fn puffin_scopes(workload: &mut Workload<Thing>) -> Ns {
    #[inline(never)]
    fn with_scope(thing: &mut Thing, by: u64) -> u64 {
        puffin::profile_function!();
        thing.work(by)
    }

    puffin::set_scopes_on(true);
    puffin::GlobalProfiler::lock().add_sink(Box::new(|frame| {
        ARRIVED.fetch_add(frame.meta().num_scopes as u64, Ordering::Relaxed);
    }));
    let around = |run: &mut dyn FnMut()| {
        {
            puffin::profile_scope!("batch");
            run();
        }
        puffin::GlobalProfiler::lock().new_frame();
    };
    let ns = time(SIZE, workload, around, with_scope);
    puffin::GlobalProfiler::lock().new_frame();
    // The scopes of the batches themselves.
    ARRIVED.fetch_sub(workload.done() / BATCH, Ordering::Relaxed);
    ns
}

/// Functions only, no report, no server; a rate below 1 times that share of the calls.
fn hotpath_measure(workload: &mut Workload<Thing>, rate: f64) -> Ns {
    use hotpath::{Format, HotpathGuardBuilder, Section};

    #[hotpath::measure]
    #[inline(never)]
    fn measured(thing: &mut Thing, by: u64) -> u64 {
        thing.work(by)
    }

    let guard = HotpathGuardBuilder::new("peers")
        .format(Format::None)
        .sections(vec![Section::FunctionsTiming])
        .functions_time_sampling_rate(rate)
        .build();
    let ns = time(SIZE, workload, nothing, measured);
    drop(guard);
    ns
}

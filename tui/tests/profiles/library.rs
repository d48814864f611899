//! A library with two method profilers of its own.

use metaspy_core::arm::{Arming, Mode};
use metaspy_core::instrumenter::Installation;
use metaspy_core::method_profilers::{
    Call, Calls, Column, Columns, Count, Data, Flags, Max, MethodProfiler, MethodSpy, Min,
    SubjectTable, Tables,
};
use metaspy_core::recording::Builder;
use metaspy_core::{
    InstallError, Installed, Instrumenter, Kind, Profiler, Recording, Session, Store, Subject,
    clock,
};
use metaspy_probe::hook;

thread_local! {
    static PAGES: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

static READER: Kind = Kind::new("Reader");

/// A shelf of books.
pub struct Shelf;

impl Shelf {
    /// Lends a book with this many pages.
    pub fn lend(&self, pages: u64) {
        PAGES.set(pages);
        lend();
    }
}

fn lend() {
    hook!("Shelf::lend", 10, 20, "c=2 self=ref type=Shelf vis=pub", [], []);
}

fn take_back() {
    hook!("Shelf::take_back", 22, 30, "c=1 self=ref type=Shelf vis=pub", [], []);
    clock::advance(1_000);
}

#[allow(dead_code, reason = "it never runs")]
fn burn() {
    hook!("Shelf::burn", 32, 33, "c=1 self=ref type=Shelf vis=pub", [], []);
}

/// Pages of the books, by method and by reader.
#[derive(Default)]
struct Pages {
    readers: SubjectTable,
}

struct Sizes {
    pages: Count,
    largest: Max,
    smallest: Min,
    sorts: Flags,
}

impl Data for Sizes {
    fn new(columns: &mut Columns<'_>) -> Self {
        Sizes {
            pages: columns.sum(Column::new("pages").unit("p")),
            largest: columns.max("largest"),
            smallest: columns.min("smallest"),
            sorts: columns.flags("sorts", &["thin", "thick"]),
        }
    }
}

impl MethodProfiler for Pages {
    const NAME: &'static str = "pages";
    type Package = ();
    type Type = ();
    type Method = Sizes;
    type Around = ();

    fn install(&mut self, tables: &mut Tables<'_>) {
        self.readers = tables.by_subject("readers", [Column::new("books")]);
    }

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        let pages = PAGES.get();
        spy.data.pages.add(pages);
        spy.data.largest.see(pages);
        spy.data.smallest.see(pages);
        spy.data.sorts.set(usize::from(pages > 15));
        self.readers.row(spy.site, Subject::new(READER.id(), pages / 10)).put(0, 1);
    }
}

/// Days for which books are lent.
struct Days;

struct Lent {
    days: Count,
}

impl Data for Lent {
    fn new(columns: &mut Columns<'_>) -> Self {
        Lent { days: columns.sum(Column::new("days").at_most(3)) }
    }
}

impl MethodProfiler for Days {
    const NAME: &'static str = "days";
    type Package = ();
    type Type = ();
    type Method = Lent;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, _: &Call<'_>) {
        spy.data.days.add(2);
    }
}

struct Everything;

impl Instrumenter for Everything {
    fn install(&mut self, session: &mut Session) -> Result<Installation, InstallError> {
        session.arm_matching(&"profiles::**".parse()?, &Arming::all(Mode::Tally))?;
        Ok(Installation::none())
    }
}

/// A recording of the library, until it is dropped.
pub struct Open {
    recording: Recording,
    profilers: Installed,
}

impl Open {
    /// What was recorded so far.
    pub fn store(&self) -> Store {
        self.recording.store()
    }

    /// Uninstalls the profilers, and closes the recording.
    pub fn close(self) {
        drop(self.profilers);
        self.recording.close();
    }
}

/// Begins a recording with both method profilers.
pub fn begin(builder: Builder) -> Open {
    let profiler = Profiler::new("page").observe(Everything);
    begin_with(builder, profiler.method_profiler(Pages::default()).method_profiler(Days))
}

/// Begins a recording of times, without events.
pub fn begin_timed(builder: Builder) -> Open {
    begin_with(
        builder,
        Profiler::new("page")
            .observe(Everything)
            .method_profiler(Days)
            .method_profiler(Calls::default()),
    )
}

/// Begins a recording without method profilers.
pub fn begin_without_profiles(builder: Builder) -> Open {
    begin_with(builder, Profiler::new("page").observe(Everything))
}

fn begin_with(builder: Builder, profiler: Profiler) -> Open {
    clock::set_manual(1_000_000);
    let recording =
        builder.budget(4 << 20).collector(false).start().expect("a small recording can be made");
    Open { recording, profilers: profiler.install().expect("there is room") }
}

/// Lends three books and takes one back.
pub fn open_for_a_day() {
    [10, 20, 30].into_iter().for_each(|pages| Shelf.lend(pages));
    PAGES.set(5);
    take_back();
}

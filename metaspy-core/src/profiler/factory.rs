//! Method profilers that can be installed by their name.

use linkme::distributed_slice;

use crate::method_profilers::{
    Allocations, Calls, Contexts, MethodProfiler, Repeats, TestCoverage, Types,
};
use crate::profiler::Profiler;

/// The method profilers of this program that have a factory: those of metaspy, and those of
/// [`profiler!`](crate::profiler!).
#[distributed_slice]
pub static FACTORIES: [ProfilerFactory];

/// Makes a method profiler by its name.
pub struct ProfilerFactory {
    /// The name of the method profiler.
    pub name: &'static str,
    add: fn(Profiler) -> Profiler,
}

#[distributed_slice(FACTORIES)]
static COVERAGE: ProfilerFactory = ProfilerFactory::new::<TestCoverage>();
#[distributed_slice(FACTORIES)]
static CALLS: ProfilerFactory = ProfilerFactory::new::<Calls>();
#[distributed_slice(FACTORIES)]
static CONTEXTS: ProfilerFactory = ProfilerFactory::new::<Contexts>();
#[distributed_slice(FACTORIES)]
static ALLOCATIONS: ProfilerFactory = ProfilerFactory::new::<Allocations>();
#[distributed_slice(FACTORIES)]
static TYPES: ProfilerFactory = ProfilerFactory::new::<Types>();
#[distributed_slice(FACTORIES)]
static REPEATS: ProfilerFactory = ProfilerFactory::new::<Repeats>();

impl ProfilerFactory {
    /// A factory for a method profiler with a default value.
    pub const fn new<P: MethodProfiler + Default>() -> Self {
        ProfilerFactory { name: P::NAME, add: |profiler| profiler.method_profiler(P::default()) }
    }

    /// The factory with this name.
    pub fn find(name: &str) -> Option<&'static ProfilerFactory> {
        FACTORIES.iter().find(|factory| factory.name == name)
    }

    /// True for the method profilers of metaspy itself.
    pub fn is_built_in(&self) -> bool {
        let names = [
            TestCoverage::NAME,
            Calls::NAME,
            Contexts::NAME,
            Allocations::NAME,
            Types::NAME,
            Repeats::NAME,
        ];
        names.contains(&self.name)
    }

    /// Adds the method profiler to a profiler.
    pub fn add_to(&self, profiler: Profiler) -> Profiler {
        (self.add)(profiler)
    }
}

/// Makes a method profiler available by its name: to `METASPY_PROFILE` and to
/// `cargo metaspy run --profile`.
#[macro_export]
macro_rules! profiler {
    ($type:ty) => {
        const _: () = {
            #[$crate::site::linkme::distributed_slice($crate::profiler::FACTORIES)]
            #[linkme(crate = $crate::site::linkme)]
            static FACTORY: $crate::profiler::ProfilerFactory =
                $crate::profiler::ProfilerFactory::new::<$type>();
        };
    };
}

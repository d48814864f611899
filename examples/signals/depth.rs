//! A method profiler: how deep the calls of each method are nested.

use metaspy::method_profilers::{Call, Columns, Data, Max, MethodProfiler, MethodSpy};

/// Finds the deepest call of each method.
#[derive(Default)]
pub struct Depth;

/// The column of a method.
pub struct Deepest(Max);

impl Data for Deepest {
    fn new(columns: &mut Columns<'_>) -> Self {
        Deepest(columns.max("deepest"))
    }
}

impl MethodProfiler for Depth {
    const NAME: &'static str = "depth";
    type Package = ();
    type Type = ();
    type Method = Deepest;
    type Around = ();

    fn before(&self, spy: &MethodSpy<Self>, call: &Call<'_>) {
        spy.data.0.see(call.level() as u64);
    }
}

metaspy::profiler!(Depth);

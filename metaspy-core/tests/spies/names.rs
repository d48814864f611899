//! Profilers have names, and there are only so many at once.

use metaspy_core::method_profilers::{Count, MethodProfiler};
use metaspy_core::{InstallError, Profiler, profiler};

use crate::alone;

/// Does nothing.
#[derive(Default)]
struct Last;

impl MethodProfiler for Last {
    const NAME: &'static str = "last";
    type Package = ();
    type Type = ();
    type Method = Count;
    type Around = ();
}

profiler!(Last);

#[test]
fn an_installed_profiler_and_a_factory_are_found_by_their_name() {
    let _alone = alone();
    assert!(metaspy_core::profiler::profile("last").is_none());
    let last = Profiler::named("last").expect("it has a factory").install().expect("there is room");
    let profile = metaspy_core::profiler::profile("last").expect("it is installed");
    let [tables] = &profile.tables()[..] else { panic!("it has one method profiler") };
    assert_eq!(
        (tables.name.as_str(), tables.tables[0].columns[0].name.as_str()),
        ("last", "count")
    );
    assert!(profile.mirror::<Last>().is_some_and(|mirror| !mirror.methods().is_empty()));
    drop(last);
    assert!(metaspy_core::profiler::profile("last").is_none());
    let unknown = Profiler::named("first").map(drop).expect_err("it has none").to_string();
    assert!(
        unknown.contains("`first`") && unknown.contains("last") && unknown.contains("coverage"),
        "{unknown}"
    );
}

#[test]
fn one_profiler_too_many_is_an_error() {
    let _alone = alone();
    let mut installed: Vec<_> = (0..31).map(|_| crate::install(Last)).collect();
    let refused = Profiler::new("more")
        .method_profiler(Last)
        .install()
        .map(drop)
        .expect_err("there is no room");
    assert!(matches!(refused, InstallError::TooManyProfilers(_)), "{refused}");
    assert!(refused.to_string().starts_with("31 method profilers are installed"), "{refused}");
    assert!(metaspy_core::profiler::profile("more").is_none());
    installed.pop();
    crate::install(Last);
}

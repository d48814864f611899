//! Returned values are compared, and the program does not notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use metaspy_core::method_profilers::TestCoverage;

use crate::{alone, method};

#[derive(Clone, PartialEq)]
struct Config {
    scale: f32,
}

static CLONED: AtomicUsize = AtomicUsize::new(0);

/// Its copies are counted.
#[derive(PartialEq)]
struct Ticket(f32);

impl Clone for Ticket {
    fn clone(&self) -> Self {
        CLONED.fetch_add(1, Ordering::Relaxed);
        Ticket(self.0)
    }
}

/// It is copied as bytes, though its `Clone` does more than that.
#[derive(PartialEq)]
struct Point(f32);

impl Copy for Point {}

#[expect(clippy::non_canonical_clone_impl, reason = "it is to be seen")]
impl Clone for Point {
    fn clone(&self) -> Self {
        CLONED.fetch_add(1, Ordering::Relaxed);
        *self
    }
}

struct Plot {
    config: Option<Arc<Config>>,
    points: usize,
}

impl Plot {
    fn config(&self) -> Arc<Config> {
        metaspy_probe::whole!("Plot::config", 1, 1, "c=1 self=ref type=Plot deep", [place self], [], [own any Arc<Config>], {
            self.config.clone().unwrap_or_else(|| Arc::new(Config { scale: 1.0 }))
        })
    }

    fn ticket(&self) -> Ticket {
        metaspy_probe::whole!("Plot::ticket", 2, 2, "c=1 self=ref type=Plot deep", [place self], [], [own any Ticket], { Ticket(1.0) })
    }

    fn points(&self) -> Vec<Point> {
        metaspy_probe::whole!("Plot::points", 3, 3, "c=1 self=ref type=Plot deep", [place self], [], [own any Vec<Point>], {
            (0..self.points).map(|_| Point(0.0)).collect()
        })
    }

    fn some(&self) -> Option<Vec<f32>> {
        metaspy_probe::whole!("Plot::some", 4, 4, "c=1 self=ref type=Plot deep", [place self], [], [own any Option<Vec<f32>>], {
            Some(vec![self.points as f32])
        })
    }

    fn label(&self) -> String {
        metaspy_probe::whole!("Plot::label", 5, 5, "c=1 self=ref type=Plot deep", [place self], [], [own any String], { ".".repeat(self.points) })
    }
}

/// The verdict on a method after calls on one plot with so many points.
fn verdict(name: &str, points: &[usize], call: impl Fn(&Plot)) -> Option<&'static str> {
    let spying = crate::install(TestCoverage::default());
    let mut plot = Plot { config: Some(Arc::new(Config { scale: 2.0 })), points: 0 };
    for points in points {
        plot.points = *points;
        call(&plot);
    }
    let (_, mirror) = spying.uninstall();
    let method = method(&mirror, name);
    method.data.returns.verdict(method.facts)
}

#[test]
fn what_shares_something_with_the_program_is_not_kept() {
    let _alone = alone();
    let spying = crate::install(TestCoverage::default());
    let plot = Plot { config: Some(Arc::new(Config { scale: 2.0 })), points: 0 };
    assert!(plot.config() == plot.config());
    let (_, mirror) = spying.uninstall();
    let config = plot.config.expect("it has one");
    assert_eq!(
        (Arc::strong_count(&config), Arc::try_unwrap(config).map(|config| config.scale).ok()),
        (1, Some(2.0))
    );
    let method = method(&mirror, "config");
    assert_eq!(method.data.returns.verdict(method.facts), Some("not-comparable"));
}

#[test]
fn no_clone_of_the_program_is_called() {
    let _alone = alone();
    let before = CLONED.load(Ordering::Relaxed);
    assert_eq!(verdict("ticket", &[1, 1], |plot| _ = plot.ticket()), Some("not-comparable"));
    assert_eq!(verdict("points", &[3, 3], |plot| drop(plot.points())), Some("constant"));
    assert_eq!(CLONED.load(Ordering::Relaxed), before);
}

#[test]
fn texts_and_lists_are_compared_and_large_ones_by_their_hash_or_not_at_all() {
    let _alone = alone();
    let points = |sizes: &[usize]| verdict("points", sizes, |plot| drop(plot.points()));
    assert_eq!((points(&[3, 4]), points(&[3, 5000])), (Some("varies"), Some("varies")));
    assert_eq!(points(&[5000, 5000]), Some("not-comparable"));
    let some = |sizes: &[usize]| verdict("some", sizes, |plot| drop(plot.some()));
    assert_eq!((some(&[3, 3]), some(&[3, 4])), (Some("constant"), Some("varies")));
    let label = |sizes: &[usize]| verdict("label", sizes, |plot| drop(plot.label()));
    assert_eq!((label(&[3, 3]), label(&[3, 4])), (Some("constant"), Some("varies")));
    assert_eq!((label(&[5000, 5000]), label(&[5000, 5001])), (Some("constant"), Some("varies")));
}

#[test]
fn of_many_objects_on_many_threads_each_is_compared_with_itself() {
    let _alone = alone();
    for last in [0, 1] {
        let spying = crate::install(TestCoverage::default());
        let plots: Vec<Plot> = (0..90).map(|points| Plot { config: None, points }).collect();
        let ask = || plots.iter().for_each(|plot| assert_eq!(plot.label().len(), plot.points));
        std::thread::scope(|scope| (0..3).for_each(|_| _ = scope.spawn(ask)));
        let mut plots = plots;
        plots[89].points += last;
        plots[89].label();
        let (_, mirror) = spying.uninstall();
        let label = method(&mirror, "label");
        let expected = if last == 0 { "constant" } else { "varies" };
        assert_eq!(label.data.returns.verdict(label.facts), Some(expected));
    }
}

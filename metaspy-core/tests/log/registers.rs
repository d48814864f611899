//! Hooks keep the registers of the functions that they observe, and are frames that an unwinder
//! passes through.

use std::backtrace::Backtrace;
use std::hint::black_box;
use std::sync::Arc;

use metaspy_core::arm::Handler;
use metaspy_probe::{Frame, Guard, Object};

use super::lean::within;
use super::*;

/// Calls of a test: some begin in a new block, and in [`Mode::Sampled`] some are timed.
const CALLS: u64 = 1_000;

/// A call with the hook that the weaver inserts.
#[inline(always)]
fn within_woven(site: &'static Site, work: impl FnOnce()) {
    let mut frame = Frame::vacant();
    let _guard = Guard::begin(site, &mut frame, Object::of(site));
    work();
}

/// Values that are in use over a call: more than there are registers, of each size.
#[inline(never)]
fn work_on_values<const IS_WOVEN: bool>(mode: Mode, site: &'static Site) {
    let whole: [u64; 14] = std::array::from_fn(|at| black_box(at as u64 + 1));
    let real: [f64; 14] = std::array::from_fn(|at| black_box(at as f64 + 0.5));
    let wide: [u128; 4] = std::array::from_fn(|at| black_box(u128::MAX / (at as u128 + 3)));
    let (mut wholes, mut reals, mut wides) = (whole, real, wide);
    for call in 0..CALLS {
        let mut work = || {
            for (value, first) in wholes.iter_mut().zip(whole) {
                *value = value.wrapping_mul(first) ^ call;
            }
            for (value, first) in reals.iter_mut().zip(real) {
                *value = (*value + first) * 0.5;
            }
            for (value, first) in wides.iter_mut().zip(wide) {
                *value = value.wrapping_add(first);
            }
        };
        if IS_WOVEN { within_woven(site, work) } else { within(site, call % 3, |_| work()) }
    }
    let (mut whole_after, mut real_after, mut wide_after) = (whole, real, wide);
    for call in 0..CALLS {
        for at in 0..whole.len() {
            whole_after[at] = whole_after[at].wrapping_mul(whole[at]) ^ call;
            real_after[at] = (real_after[at] + real[at]) * 0.5;
        }
        for at in 0..wide.len() {
            wide_after[at] = wide_after[at].wrapping_add(wide[at]);
        }
    }
    assert_eq!((wholes, reals, wides), (whole_after, real_after, wide_after), "{mode:?}");
}

#[test]
fn values_of_all_sizes_survive_a_call_in_each_mode() {
    let _turn = turn();
    for mode in [Mode::Off, Mode::Tally, Mode::Sampled, Mode::Full] {
        let _recording = Recording::memory().budget(4 << 20).start().unwrap();
        let installed =
            (mode != Mode::Off).then(|| arm([&OUTER], Arming::all(mode)).install().unwrap());
        work_on_values::<false>(mode, &OUTER);
        work_on_values::<true>(mode, &OUTER);
        drop(installed);
    }
}

#[test]
fn values_of_all_sizes_survive_a_handler_that_computes() {
    let _turn = turn();
    let _recording = Recording::memory().budget(4 << 20).start().unwrap();
    let computes = |_: &metaspy_core::arm::CallView<'_>| {
        let sum: f64 = (0..32).map(|at| black_box(at as f64).sqrt()).sum();
        assert!(black_box(sum) > 100.0);
    };
    let handlers = vec![Handler::before(computes), Handler::after(computes)];
    let _installed =
        arm([&OUTER], Arming { handlers, ..Arming::all(Mode::Full) }).install().unwrap();
    work_on_values::<false>(Mode::Full, &OUTER);
    work_on_values::<true>(Mode::Full, &OUTER);
}

#[inline(never)]
fn calls_with_a_handler() -> u64 {
    within_woven(&OUTER, || _ = black_box(1));
    black_box(within(&OUTER, 1, |_| black_box(1))) + black_box(1)
}

#[test]
fn a_backtrace_in_a_handler_shows_who_called_the_observed_function() {
    let _turn = turn();
    let _recording = Recording::memory().budget(1 << 20).start().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let trace = |seen: &Arc<Mutex<Vec<String>>>| {
        let seen = Arc::clone(seen);
        move |_: &metaspy_core::arm::CallView<'_>| {
            seen.lock().unwrap().push(Backtrace::force_capture().to_string());
        }
    };
    let handlers = vec![Handler::before(trace(&seen)), Handler::after(trace(&seen))];
    let installed =
        arm([&OUTER], Arming { handlers, ..Arming::all(Mode::Full) }).install().unwrap();
    assert_eq!(calls_with_a_handler(), 2);
    drop(installed);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 4);
    for trace in seen.iter() {
        assert!(trace.contains("calls_with_a_handler"), "{trace}");
        assert!(
            trace.contains("a_backtrace_in_a_handler_shows"),
            "the frames above are found too: {trace}"
        );
    }
}

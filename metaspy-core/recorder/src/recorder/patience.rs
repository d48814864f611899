//! Bounds the time that code of the program takes when metaspy runs it: `Debug`, `Hash` and
//! `PartialEq` of values.
//!
//! A text of a megabyte is read whole by its `Debug` before the first 256 bytes are written, and a
//! parser passes it to each of its functions. Whatever such code does, it takes no more than a
//! twentieth of its thread's time once this is known.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::level::at_meta_level;

/// Average time that a run of such code may take.
const ALLOWED: Duration = Duration::from_micros(50);
/// The most that counts of one run, because its thread may have been interrupted.
const MOST: Duration = Duration::from_micros(500);
/// Time beyond the allowance after which such code rests.
const LIMIT: Duration = Duration::from_millis(2);
/// Rest of all such code after a run, as a multiple of the time that it took.
const REST: u32 = 19;
/// Part of the runs of a thread that are timed, as long as no code is slow.
const SAMPLED: u32 = 16;
/// Accounts of a thread. Code shares one with some other code, so there is no code without.
const ACCOUNTS: usize = 32;

struct Patience {
    /// State of a sequence of numbers without a period in which a program may happen to be.
    chance: Cell<u32>,
    /// Time beyond the allowance, per account.
    owed: [Cell<Duration>; ACCOUNTS],
    /// Number of accounts that owe, so that each run is timed.
    owing: Cell<usize>,
    /// End of the rest of the code that owes the most.
    until: Cell<Option<Instant>>,
}

thread_local! {
    static PATIENCE: Patience = const { Patience::new() };
}

/// The result of running code of the program.
pub enum Ran<R> {
    /// It returned.
    Done(R),
    /// It panicked, which is caught and counted.
    Panicked,
    /// It was too slow before, and did not run.
    Rested,
}

impl<R> Ran<R> {
    /// Returns the result of the code; `None` if it panicked or did not run.
    pub fn done(self) -> Option<R> {
        match self {
            Ran::Done(result) => Some(result),
            Ran::Panicked | Ran::Rested => None,
        }
    }
}

/// Runs code of the program at meta level, unless it has to rest. `code` tells it apart from most
/// other code.
pub fn with_patience<R>(code: usize, run: impl FnOnce() -> R) -> Ran<R> {
    let run = || at_meta_level(run).map_or(Ran::Panicked, Ran::Done);
    PATIENCE.with(|patience| {
        if !patience.times_next() {
            return run();
        }
        let began = Instant::now();
        if patience.rests(code, began) {
            return Ran::Rested;
        }
        let result = run();
        patience.took(code, began.elapsed());
        result
    })
}

impl Patience {
    const fn new() -> Self {
        let owed = [const { Cell::new(Duration::ZERO) }; ACCOUNTS];
        Patience { chance: Cell::new(0), owed, owing: Cell::new(0), until: Cell::new(None) }
    }

    fn times_next(&self) -> bool {
        // The constants of the generator of *Numerical Recipes*.
        let chance = self.chance.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        self.chance.set(chance);
        self.owing.get() > 0 || chance < u32::MAX / SAMPLED
    }

    fn owed(&self, code: usize) -> &Cell<Duration> {
        &self.owed[(code ^ (code / 16) ^ (code / 1024)) % ACCOUNTS]
    }

    fn rests(&self, code: usize, now: Instant) -> bool {
        self.owed(code).get() == LIMIT && self.until.get().is_some_and(|until| now < until)
    }

    fn took(&self, code: usize, time: Duration) {
        let owed = self.owed(code);
        let before = owed.get();
        let owes = (before + time.min(MOST)).saturating_sub(ALLOWED).min(LIMIT);
        owed.set(owes);
        self.owing
            .set(self.owing.get() + usize::from(!owes.is_zero()) - usize::from(!before.is_zero()));
        if owes == LIMIT {
            self.until.set(Instant::now().checked_add(time.saturating_mul(REST)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn slow_code_rests_and_other_code_does_not() {
        let patience = Patience::new();
        let now = Instant::now();
        (0..4).for_each(|_| patience.took(1, 10 * MS));
        assert!(!patience.rests(1, now), "four may be chance");
        patience.took(1, 10 * MS);
        assert!(patience.rests(1, now + 150 * MS) && !patience.rests(2, now));
        // After its rest it runs once, and rests again, the longer the slower it was.
        patience.took(1, 1_000 * MS);
        assert!(patience.rests(1, now + 15_000 * MS));
    }

    #[test]
    fn an_interruption_is_forgiven() {
        let patience = Patience::new();
        for _ in 0..1_000 {
            patience.took(1, 100 * MS);
            (0..20).for_each(|_| patience.took(1, MS / 50));
            assert!(!patience.rests(1, Instant::now()));
        }
        assert_eq!(patience.owing.get(), 0);
    }

    #[test]
    fn slow_code_takes_a_twentieth_of_the_time_however_much_of_it_there_is() {
        let began = Instant::now();
        let mut slow = Duration::ZERO;
        let mut rested = 0;
        while began.elapsed() < 1_000 * MS {
            for code in (0..200).map(|code| code * 48) {
                let run = with_patience(code, || {
                    let began = Instant::now();
                    while began.elapsed() < MS / 2 {}
                    began.elapsed()
                });
                match run {
                    Ran::Done(time) => slow += time,
                    _ => rested += 1,
                }
            }
        }
        assert!(rested > 1_000 && slow < began.elapsed() / 2, "{rested} {slow:?}");
    }
}

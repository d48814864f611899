//! Rules that profilers and readers add while the program runs. They hold until they are withdrawn,
//! in each recording that begins meanwhile.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::platform::lock::{lock, lock_for_long};
use crate::recorder::keep::keeper::Keeper;
use crate::recorder::keep::rules::{KeepError, Rules};
use crate::recorder::log::{Log, current};

/// The rules, by the number of their addition.
static ADDED: Mutex<Vec<(u64, Rules)>> = Mutex::new(Vec::new());

/// Rules that were added to the current recording, and to those after it. Dropping the value
/// withdraws them; events that are kept by then stay.
#[derive(Debug)]
#[must_use = "dropping it withdraws the rules"]
pub struct AddedRules(u64);

impl AddedRules {
    /// Adds the rules in a text. Events that meet them are kept from now on, those in the window
    /// included.
    pub fn add(text: &str) -> Result<Self, KeepError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let rules: Rules = text.parse()?;
        let mut added = lock(&ADDED);
        if let Some(log) = current() {
            log.keep(&rules)?;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        added.push((number, rules));
        Ok(AddedRules(number))
    }
}

impl Drop for AddedRules {
    fn drop(&mut self) {
        let mut added = lock(&ADDED);
        let Some(at) = added.iter().position(|(number, _)| *number == self.0) else { return };
        let (_, rules) = added.swap_remove(at);
        if let Some(log) = current() {
            log.keep_no_more(&rules);
        }
    }
}

/// Begins a recording with its own rules and those that were added. No rule is added before
/// `is_current` has returned.
pub fn begin<T>(log: &Log, own: &Rules, is_current: impl FnOnce() -> T) -> T {
    let added = lock(&ADDED);
    for rules in std::iter::once(own).chain(added.iter().map(|(_, rules)| rules)) {
        if let Err(error) = log.keep(rules) {
            log.note(&format!("Events that meet further rules are not kept: {error}."));
        }
    }
    is_current()
}

impl Log {
    /// Keeps events by these rules, too.
    fn keep(&self, rules: &Rules) -> Result<(), KeepError> {
        if rules.rules.is_empty() {
            return Ok(());
        }
        let mut collecting = lock_for_long(&self.collecting);
        if self.is_stopped() {
            return Ok(());
        }
        // Lanes ask for the places from now on.
        self.kept_places.ask();
        collecting.keeper = collecting.keeper.take().or_else(|| Keeper::new(self).map(Box::new));
        collecting.keeper.as_mut().map_or(Ok(()), |keeper| keeper.add_rules(self, rules))
    }

    /// Keeps no more events by these rules.
    fn keep_no_more(&self, rules: &Rules) {
        if let Some(keeper) = &mut lock_for_long(&self.collecting).keeper {
            keeper.withdraw(self, rules);
        }
    }
}

//! Activations, for parsers whose actions share a reference.

use std::cell::RefCell;

use metaspy::Site;
use metaspy::productions::{ActivationEnd, ActivationStack};

/// The open activations of one parse.
#[derive(Debug, Default)]
pub struct Spy(RefCell<ActivationStack>);

impl Spy {
    /// A production is tried.
    pub fn begin(&self, production: &'static Site, at: usize) {
        self.0.borrow_mut().begin(production, at);
    }

    /// It has a value, or did not match.
    pub fn end<T>(&self, production: &'static Site, value: Option<T>, end: usize) -> Option<T> {
        let ended =
            if value.is_some() { ActivationEnd::Matched } else { ActivationEnd::Backtracked };
        self.0.borrow_mut().end(production, ended, end);
        value
    }

    /// A parser that works from its input up has matched a production; it never tries one in vain.
    pub fn reduced<T>(&self, production: &'static Site, at: usize, value: T, end: usize) -> T {
        self.0.borrow_mut().leaf(production, at, ActivationEnd::Matched, end);
        value
    }
}

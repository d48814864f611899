//! Interned names, which are kept for the rest of the process.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use metaspy_core::hook::Unforked;

/// Returns the number of a name, from 1 on. Equal names have equal numbers.
pub(crate) fn number(name: &str) -> u64 {
    intern(name).0
}

/// Returns the name as a `&'static str`. Equal names have the same address.
pub(crate) fn name(name: &str) -> &'static str {
    intern(name).1
}

fn intern(name: &str) -> (u64, &'static str) {
    static NAMES: Mutex<Option<HashMap<&'static str, u64>>> = Mutex::new(None);
    let _unforked = Unforked::begin();
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = names.get_or_insert_default();
    if let Some((kept, number)) = names.get_key_value(name) {
        return (*number, kept);
    }
    let (kept, number): (&'static str, u64) = (name.to_owned().leak(), names.len() as u64 + 1);
    names.insert(kept, number);
    (number, kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_kept_once() {
        let name = String::from("a name of a test");
        assert!(std::ptr::eq(super::name(&name), super::name("a name of a test")));
        assert_eq!(number(&name), number("a name of a test"));
        assert_ne!(number(&name), number("another name of a test"));
    }
}

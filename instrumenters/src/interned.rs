//! Names that are known for the rest of the process.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The number of a name, from 1 on: what has the same name has the same number.
pub(crate) fn number(name: &str) -> u64 {
    known(name).0
}

/// A name for ever. Each is kept once, however often it is asked for.
pub(crate) fn kept(name: &str) -> &'static str {
    known(name).1
}

fn known(name: &str) -> (u64, &'static str) {
    static NAMES: Mutex<Option<HashMap<&'static str, u64>>> = Mutex::new(None);
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
        assert!(std::ptr::eq(kept(&name), kept("a name of a test")));
        assert_eq!(number(&name), number("a name of a test"));
        assert_ne!(number(&name), number("another name of a test"));
    }
}

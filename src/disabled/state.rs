//! Transitions that nobody records.

/// Says that a subject goes from one state to another.
#[macro_export]
macro_rules! state {
    ($subject:expr, $from:expr, $to:expr $(,)?) => {
        if false {
            let _ = (&$subject, &$from, &$to);
        }
    };
}

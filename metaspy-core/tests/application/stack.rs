//! The stack that the hook of a woven function takes beside the function's own.

use std::fmt::Debug;

/// Bytes of stack that a call of this function takes, from one that it makes to the next.
fn descends(depth: usize, value: &dyn Debug, above: usize) -> usize {
    metaspy_probe::whole!(
        "descends", 1, 1, "c=1 self=none params=depth|;value|*&dyn~Debug;above|",
        [], [types depth, types value, types above], [own types usize], {
            let here = std::ptr::from_ref(&depth).addr();
            match depth {
                0 => above.abs_diff(here),
                _ => descends(depth - 1, value, here),
            }
        }
    )
}

#[test]
fn a_hook_that_records_types_leaves_the_stack_to_the_function() {
    let taken = descends(10, &"a value", 0);
    // 2,500 if the values are described in the frame of the function; this build is not optimised.
    assert!(taken < 700, "{taken} bytes a call");
}

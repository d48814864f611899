//! What the macros and the weaver share.

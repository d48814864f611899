//! What instrumented code holds. Programs depend on the facade, `metaspy`.
#![no_std]

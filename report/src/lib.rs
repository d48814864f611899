//! What every front end prints.

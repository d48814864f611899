//! Real editors with the plugins, and a client in another language.

//! Tests through the public interfaces.

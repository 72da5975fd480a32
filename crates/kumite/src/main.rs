//! The kumite command.
fn main() {}

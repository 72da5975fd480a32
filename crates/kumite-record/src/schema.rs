//! The version of the documents' form.

/// The version of [`Export`](crate::Export) and of every other document. It grows when a reader of the old form would
/// misread the new one.
pub const SCHEMA: u32 = 5;

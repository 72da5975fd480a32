//! The versioned results format: SQLite store and JSON export.

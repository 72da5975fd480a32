//! Keys for runs.

/// A key for a run, which differs from those of all other runs: 32 hexadecimal digits, made of this process's id and
/// the time in nanoseconds.
pub fn fresh_key() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:08x}{:024x}", std::process::id(), now.as_nanos())
}

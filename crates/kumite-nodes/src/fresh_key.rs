//! Keys for runs.

/// A new key for a run: 32 hexadecimal digits, made of this process's id and the time in nanoseconds. Two calls give
/// the same key only with the same id in the same nanosecond.
pub fn fresh_key() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:08x}{:024x}", std::process::id(), now.as_nanos())
}

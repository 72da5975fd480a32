//! Keys for runs.

/// A key that no other run has: 32 hexadecimal digits, from this process's id and the time in ns.
pub fn fresh_key() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:08x}{:024x}", std::process::id(), now.as_nanos())
}

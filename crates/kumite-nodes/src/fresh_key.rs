//! A name that no other run has.

/// By the id of this process, and now.
pub fn fresh_key() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{:08x}{:024x}", std::process::id(), now.as_nanos())
}

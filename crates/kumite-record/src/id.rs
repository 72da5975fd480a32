//! The id of a run in a document. It becomes part of file names, so only letters, digits, `-` and `_` are accepted.

use serde::{Deserialize, Deserializer};

/// Reads the id of a run. An error if it is empty, has 100 characters or more, or could not be part of a file name.
pub(crate) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    match (1..100).contains(&id.len()) && id.chars().all(fits) {
        true => Ok(id),
        false => Err(serde::de::Error::custom(format!("{id:?} is no id of a run"))),
    }
}

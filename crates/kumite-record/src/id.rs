//! The id of a run, as a document has it: it is part of the names of files, so it is nothing else than a name.

use serde::{Deserialize, Deserializer};

/// Files are named after it.
pub(crate) fn id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let id = String::deserialize(deserializer)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    match (1..100).contains(&id.len()) && id.chars().all(fits) {
        true => Ok(id),
        false => Err(serde::de::Error::custom(format!("{id:?} is no id of a run"))),
    }
}

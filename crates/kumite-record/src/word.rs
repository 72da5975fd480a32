//! A word that a later kumite wrote and this one does not know. It is shown as it was read, and decides nothing.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// A word that a later kumite wrote. This kumite shows it without knowing its meaning. A word that is read from a
/// document has 1 to 60 letters, digits and dashes; anything else is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Word(&'static str);

const MOST_LETTERS: usize = 60;

/// All unknown words so far. Each is kept for the life of the process, so that a `Word` can be copied; a record has
/// few.
static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl Word {
    /// Makes a word of any text, which is not checked. Each different text is kept for the life of the process.
    pub fn new(word: &str) -> Word {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(word) {
            return Word(known);
        }
        let kept: &'static str = Box::leak(word.into());
        known.insert(kept);
        Word(kept)
    }

    /// The word as it was read.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
        let word = String::deserialize(deserializer)?;
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
        match (1..=MOST_LETTERS).contains(&word.len()) && word.chars().all(fits) {
            true => Ok(Word::new(&word)),
            false => Err(D::Error::custom(format!("{word:?} is no word"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_word_is_not_taken_for_one() {
        for (text, is_word) in
            [("\"sat-2\"", true), ("\"\"", false), ("\"\u{1b}[2J\"", false), ("\"a b\"", false)]
        {
            assert_eq!(serde_json::from_str::<Word>(text).is_ok(), is_word, "{text}");
        }
        assert!(serde_json::from_str::<Word>(&format!("{:?}", "a".repeat(61))).is_err());
    }

    #[test]
    fn a_word_is_kept_once() {
        let words = [Word::new("sat-down"), Word::new("sat-down"), Word::new("sat-up")];
        assert!(std::ptr::eq(words[0].as_str(), words[1].as_str()));
        assert_ne!(words[0], words[2]);
    }
}

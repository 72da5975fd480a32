//! A frame: a line of JSON, of at most 1 MiB.
//!
//! A reader trusts nobody. A line that is too long, is not JSON or has an unknown field is an error, which shows its
//! beginning without control characters; it is never a panic. A login shell may print before the first frame, since a
//! banner is no line of JSON with a `tell` in it. Binary content is in base64, so that any way for text passes frames
//! on.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The most bytes of a frame, its line feed included.
pub const LONGEST: usize = 1 << 20;
/// The most bytes of a wrong line that an error shows.
const SHOWN: usize = 120;

/// A line that is not a frame.
#[derive(Debug, thiserror::Error)]
#[error("'{beginning}' is no frame of ours: {source}")]
pub struct NotAFrame {
    beginning: String,
    source: serde_json::Error,
}

/// The frame of a message, its line feed included. The length is not checked: the caller keeps to [`LONGEST`].
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("messages are plain values");
    line.push(b'\n');
    line
}

/// Reads the message of a frame, which is given without its line feed. An error, with the beginning of the line, if the
/// line is not a message of this type.
pub fn decode<T: DeserializeOwned>(line: &[u8]) -> Result<T, NotAFrame> {
    serde_json::from_slice(line).map_err(|source| NotAFrame { beginning: shown(line), source })
}

/// The beginning of a line that somebody else wrote, without control characters.
pub(crate) fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Ask, Tell};

    #[test]
    fn a_message_is_one_line_and_comes_back() {
        let asked =
            Ask::File { path: "a\nb".to_owned(), executable: true, first: true, data: "AAAA".to_owned() };
        let line = encode(&asked);
        assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1);
        assert_eq!(decode::<Ask>(&line[..line.len() - 1]).unwrap(), asked);
    }

    #[test]
    fn what_is_no_frame_is_shown_harmlessly() {
        let error = decode::<Tell>(b"Welcome\x1b[2J to node 7").unwrap_err().to_string();
        assert_eq!(
            error,
            "'Welcome\u{fffd}[2J to node 7' is no frame of ours: expected value at line 1 column 1"
        );
        let unknown = decode::<Ask>(br#"{"ask":"begin","key":"00","also":1}"#).unwrap_err().to_string();
        assert!(unknown.contains("unknown field"), "{unknown}");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(line in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode::<Ask>(&line);
            let _ = decode::<Tell>(&line);
        }

        #[test]
        fn no_json_makes_it_panic(text in r#"\{"(ask|tell)":"(begin|file|run|role|work|relayed|store|note|done|data|hello|worked|relay)"(,"[a-z]{1,8}":("x"|[0-9]{1,20}|null|\[\]|\{\})){0,4}\}"#) {
            let _ = decode::<Ask>(text.as_bytes());
            let _ = decode::<Tell>(text.as_bytes());
        }
    }
}

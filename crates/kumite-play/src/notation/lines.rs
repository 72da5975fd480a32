//! The splitting of text into lines, and of lines into words with their places.

use super::NotationError;

/// The most characters that an error shows of the text that was found.
const SHOWN: usize = 40;

/// The lines of a text, which end with LF, CRLF or CR. What follows the last end is a line, too.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = text.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            rest = None;
            return Some(text);
        };
        let ends_with = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = Some(&text[end + ends_with..]);
        Some(&text[..end])
    })
}

/// A line and a column, as errors have them.
#[derive(Clone, Copy)]
pub(super) struct TextPosition {
    pub line: usize,
    pub column: usize,
}

impl TextPosition {
    /// An error at this position.
    pub fn error(self, what: impl Into<String>) -> NotationError {
        NotationError { line: self.line, column: self.column, what: what.into() }
    }
}

/// A reader of one line, from left to right.
pub(super) struct Cursor<'a> {
    number: usize,
    /// The line without its comment.
    text: &'a str,
    /// The number of bytes that were read.
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A reader at the first word of line `number`. An error if the line is not UTF-8 or has a NUL.
    pub fn new(number: usize, line: &'a [u8]) -> Result<Cursor<'a>, NotationError> {
        let text = std::str::from_utf8(line).map_err(|error| {
            let valid = std::str::from_utf8(&line[..error.valid_up_to()]).unwrap_or_default();
            let what = format!("expected UTF-8, found the byte 0x{:02x}", line[error.valid_up_to()]);
            Cursor { number, text: valid, at: valid.len() }.error(what)
        })?;
        if let Some(at) = text.find('\0') {
            return Err(Cursor { number, text, at }.error("expected text, found a NUL".to_owned()));
        }
        let mut cursor = Cursor { number, text: text.split('#').next().unwrap_or_default(), at: 0 };
        cursor.skip_blanks();
        Ok(cursor)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub fn is_at(&self, start: char) -> bool {
        self.rest().starts_with(start)
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    /// The next word, up to a blank, a comma or `>`; it is not read yet.
    pub fn word(&self) -> &'a str {
        let rest = self.rest();
        &rest[..rest.find([' ', '\t', ',', '>']).unwrap_or(rest.len())]
    }

    /// Reads `word`, which comes next, and blanks after it.
    pub fn pass(&mut self, word: &str) {
        self.at += word.len();
        self.skip_blanks();
    }

    /// Reads `wanted` if it comes next, and blanks after it. True if it came.
    pub fn read(&mut self, wanted: &str) -> bool {
        let comes = self.rest().starts_with(wanted);
        if comes {
            self.pass(wanted);
        }
        comes
    }

    /// Reads a number from 1 to `most` if it is the next word, and blanks after it; none for any other word.
    pub fn number(&mut self, most: u32) -> Option<u32> {
        let word = self.word();
        // Not `+1`, which Rust reads as a number too.
        let number = word.parse().ok().filter(|_| word.bytes().all(|byte| byte.is_ascii_digit()))?;
        (1..=most).contains(&number).then(|| {
            self.pass(word);
            number
        })
    }

    /// The error that `what` was expected here, and something else was found.
    pub fn expected(&self, what: &str) -> NotationError {
        self.error(format!("expected {what}, found {}", self.found()))
    }

    fn found(&self) -> String {
        let Some(first) = self.rest().chars().next() else { return "the end of the line".to_owned() };
        let word = match self.word() {
            "" => &self.rest()[..first.len_utf8()],
            word => word,
        };
        match word.char_indices().nth(SHOWN) {
            Some((cut, _)) => format!("'{}…'", word[..cut].escape_debug()),
            None => format!("'{}'", word.escape_debug()),
        }
    }

    /// An error at this place.
    pub fn error(&self, what: String) -> NotationError {
        self.position().error(what)
    }

    /// The position of what comes next.
    pub fn position(&self) -> TextPosition {
        TextPosition { line: self.number, column: self.text[..self.at].chars().count() + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_lf_crlf_or_cr() {
        let of = |text: &'static str| lines(text.as_bytes()).map(<[u8]>::to_vec).collect::<Vec<_>>();
        assert_eq!(of(""), [b""]);
        assert_eq!(of("a\nb\r\nc\rd"), [b"a", b"b", b"c", b"d"]);
        assert_eq!(of("\n\r\r\n"), [b"", b"", b"", b""]);
    }
}

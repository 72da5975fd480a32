//! The parsing of text into lines, with every error at its place.

use super::keys::Key;
use super::lines::{Cursor, TextPosition, lines};
use super::{Line, Macro, NotationError, keys};
use crate::{Control, Held, PadState};

/// The most frames for which one line holds its keys.
const MOST_FRAMES: u32 = 65_535;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

pub(super) fn parse(text: &[u8]) -> Result<Macro, NotationError> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let mut parser = Parser::default();
    let mut end = TextPosition { line: 1, column: 1 };
    for (nth, line) in lines(text).enumerate() {
        let mut cursor = Cursor::new(nth + 1, line)?;
        parser.line(&mut cursor)?;
        end = cursor.position();
    }
    if let Some(open) = parser.open.last() {
        return Err(open.position.error("this loop is not closed: expected </loop> on a line below"));
    }
    if parser.size.states == 0 {
        return Err(end.error("expected a line to play, such as 2,mk 8, found the end"));
    }
    Ok(Macro { lines: parser.lines })
}

/// What was read so far.
#[derive(Default)]
struct Parser {
    /// The lines, in order.
    lines: Vec<Line>,
    /// The loops that are not closed yet, the innermost last.
    open: Vec<Open>,
    /// The size of the lines since the innermost loop was opened.
    size: Size,
}

struct Open {
    position: TextPosition,
    times: u32,
    /// The size of the lines before this loop, in the loop around it.
    before: Size,
}

impl Parser {
    fn line(&mut self, cursor: &mut Cursor) -> Result<(), NotationError> {
        if cursor.is_at_end() {
            return Ok(());
        }
        if cursor.is_at('<') {
            self.tag(cursor)?
        } else {
            self.hold(cursor)?
        }
        if cursor.is_at_end() { Ok(()) } else { Err(cursor.expected("the end of the line")) }
    }

    fn tag(&mut self, cursor: &mut Cursor) -> Result<(), NotationError> {
        let position = cursor.position();
        match cursor.word() {
            tag @ "<loop" => {
                cursor.pass(tag);
                let times = cursor.number(Macro::MOST_STATES).ok_or_else(|| {
                    cursor.expected(&format!("how often, from 1 to {}", Macro::MOST_STATES))
                })?;
                self.open.push(Open { position, times, before: std::mem::take(&mut self.size) });
                self.lines.push(Line::Loop(times));
            }
            tag @ "</loop" => {
                cursor.pass(tag);
                let open = self.open.pop();
                let open = open.ok_or_else(|| position.error("found </loop>, but no loop is open here"))?;
                let size = self.size.times(open.times).and_then(|size| size.and(open.before));
                self.size =
                    size.ok_or_else(|| open.position.error(format!("with this loop {}", too_long())))?;
                self.lines.push(Line::End);
            }
            _ => return Err(cursor.expected("<loop N> or </loop>")),
        }
        if cursor.read(">") { Ok(()) } else { Err(cursor.expected("'>'")) }
    }

    fn hold(&mut self, cursor: &mut Cursor) -> Result<(), NotationError> {
        let position = cursor.position();
        if is_almost_a_loop(cursor.word()) {
            return Err(position.error("a loop begins with a line <loop N> and ends with a line </loop>"));
        }
        let state = state(cursor)?;
        let frames = cursor.number(MOST_FRAMES).ok_or_else(|| {
            let what = format!("a number of frames from 1 to {MOST_FRAMES}, or a comma and another key");
            cursor.expected(&what)
        })?;
        let size = self.size.and(Size { states: 1, frames });
        self.size = size.ok_or_else(|| position.error(format!("with this line {}", too_long())))?;
        self.lines.push(Line::Hold(Held { frames, state }));
        Ok(())
    }
}

/// True if the word begins or ends a loop in other notations.
fn is_almost_a_loop(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphabetic()).to_ascii_lowercase();
    bare.contains("loop") || ["repeat", "end", "for", "times"].contains(&&*bare)
}

fn too_long() -> String {
    let (states, frames) = (Macro::MOST_STATES, Macro::MOST_FRAMES);
    format!("the macro goes past {states} states or {frames} frames, the most that is played")
}

/// Reads keys with commas between them, as one state.
fn state(cursor: &mut Cursor) -> Result<PadState, NotationError> {
    let mut state = PadState::RELEASED;
    // By axis: the digit that pressed a direction, and the direction.
    let mut directions: [Option<(usize, Control)>; 2] = [None; 2];
    loop {
        let word = cursor.word();
        match Key::named(word) {
            None if Key::named(&word.to_ascii_lowercase()).is_some() => {
                let small = word.to_ascii_lowercase();
                return Err(cursor.error(format!("keys have small letters: write {small}")));
            }
            None => return Err(cursor.expected(&format!("a key ({})", keys::all()))),
            Some(Key::Button(control)) => state = state.with(control),
            Some(Key::Direction(digit, axes)) => {
                for (pressed, control) in directions.iter_mut().zip(axes) {
                    let Some(control) = control else { continue };
                    if let Some((other, _)) = pressed.filter(|(_, before)| *before != control) {
                        let what = format!("{other} and {digit} are opposite directions");
                        return Err(cursor.position().error(what));
                    }
                    *pressed = Some((digit, control));
                    state = state.with(control);
                }
            }
        }
        cursor.pass(word);
        if !cursor.read(",") {
            return Ok(state);
        }
    }
}

/// The size of a part of a macro with its loops expanded: never more than the limits.
#[derive(Clone, Copy, Default)]
struct Size {
    states: u32,
    frames: u32,
}

impl Size {
    fn and(self, other: Size) -> Option<Size> {
        let states = self.states.checked_add(other.states)?;
        let frames = self.frames.checked_add(other.frames)?;
        Size { states, frames }.within_limits()
    }

    fn times(self, times: u32) -> Option<Size> {
        let (states, frames) = (self.states.checked_mul(times)?, self.frames.checked_mul(times)?);
        Size { states, frames }.within_limits()
    }

    fn within_limits(self) -> Option<Size> {
        (self.states <= Macro::MOST_STATES && self.frames <= Macro::MOST_FRAMES).then_some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn error(text: impl AsRef<[u8]>) -> String {
        Macro::parse(text.as_ref()).unwrap_err().to_string()
    }

    #[test]
    fn every_error_has_its_place_and_says_what_was_expected() {
        let frames = "expected a number of frames from 1 to 65535, or a comma and another key, found";
        let key = "expected a key (a direction 1 to 9, lp, mp, hp, lk, mk, hk, start, pause, options, select, share, \
                   reload, save), found";
        let often = "expected how often, from 1 to 1000000, found";
        let nothing = "expected a line to play, such as 2,mk 8, found the end";
        let not_closed = "this loop is not closed: expected </loop> on a line below";
        let a_loop = "a loop begins with a line <loop N> and ends with a line </loop>";
        let long = "the macro goes past 1000000 states or 10000000 frames, the most that is played";
        for (text, position, what) in [
            // Keys.
            ("xx 8", "1:1", format!("{key} 'xx'")),
            ("2,mk 8\n\n# 1\n  3,LP 1", "4:5", "keys have small letters: write lp".to_owned()),
            ("0 8", "1:1", format!("{key} '0'")),
            ("236 8", "1:1", format!("{key} '236'")),
            ("2, ,mk 8", "1:4", format!("{key} ','")),
            (",mk 8", "1:1", format!("{key} ','")),
            ("2,mk,", "1:6", format!("{key} the end of the line")),
            ("2,#mk 8", "1:3", format!("{key} the end of the line")),
            ("é\u{3000}'\t 8", "1:1", format!("{key} 'é\\u{{3000}}\\''")),
            ("2,é\u{301},x 8", "1:3", format!("{key} 'é\u{301}'")),
            ("2\u{3000}8", "1:1", format!("{key} '2\\u{{3000}}8'")),
            ("2 1\n\u{feff}2 1", "2:1", format!("{key} '\\u{{feff}}2'")),
            ("2,<loop 3>", "1:3", format!("{key} '<loop'")),
            ("\u{1b}[2J 1", "1:1", format!("{key} '\\u{{1b}}[2J'")),
            // Frames.
            ("2,mk", "1:5", format!("{frames} the end of the line")),
            ("2,mk  # 8", "1:7", format!("{frames} the end of the line")),
            ("8", "1:2", format!("{frames} the end of the line")),
            ("2 mk 8", "1:3", format!("{frames} 'mk'")),
            ("2,mk 0", "1:6", format!("{frames} '0'")),
            ("2,mk 65536", "1:6", format!("{frames} '65536'")),
            ("2,mk 99999999999999999999", "1:6", format!("{frames} '99999999999999999999'")),
            ("2,mk -1", "1:6", format!("{frames} '-1'")),
            ("2,mk +1", "1:6", format!("{frames} '+1'")),
            ("2,mk 1.5", "1:6", format!("{frames} '1.5'")),
            ("2,mk ８", "1:6", format!("{frames} '８'")),
            ("2 8,mk", "1:4", "expected the end of the line, found ','".to_owned()),
            ("2 8 9", "1:5", "expected the end of the line, found '9'".to_owned()),
            ("2 8\u{c}", "1:3", format!("{frames} '8\\u{{c}}'")),
            // Directions.
            ("4,6 1", "1:3", "4 and 6 are opposite directions".to_owned()),
            ("2,lp, 8 1", "1:7", "2 and 8 are opposite directions".to_owned()),
            ("1,9 1", "1:3", "1 and 9 are opposite directions".to_owned()),
            ("7,6 1", "1:3", "7 and 6 are opposite directions".to_owned()),
            ("8,3 1", "1:3", "8 and 3 are opposite directions".to_owned()),
            ("2,4,5,6 1", "1:7", "4 and 6 are opposite directions".to_owned()),
            ("1,3 1", "1:3", "1 and 3 are opposite directions".to_owned()),
            // Loops.
            ("loop 2\nlp 1\nendloop", "1:1", a_loop.to_owned()),
            ("2 1\nLoop(3)", "2:1", a_loop.to_owned()),
            ("[loop 3]\n", "1:1", a_loop.to_owned()),
            ("<loop 2>\nlp 1\nendloop", "3:1", a_loop.to_owned()),
            ("<loop 2>\nlp 1\n/loop", "3:1", a_loop.to_owned()),
            ("repeat 3\n", "1:1", a_loop.to_owned()),
            ("2 1\r<loop 3>\r2 1", "2:1", not_closed.to_owned()),
            ("<loop 3>\n  <loop 2>\n2 1\n</loop>", "1:1", not_closed.to_owned()),
            ("<loop 3>\n  <loop 2>\n2 1", "2:3", not_closed.to_owned()),
            ("2 1\r\n\t</loop>", "2:2", "found </loop>, but no loop is open here".to_owned()),
            ("<loop>", "1:6", format!("{often} '>'")),
            ("<loop 0>", "1:7", format!("{often} '0'")),
            ("<loop -2>", "1:7", format!("{often} '-2'")),
            ("<loop many >", "1:7", format!("{often} 'many'")),
            ("<loop 1000001>", "1:7", format!("{often} '1000001'")),
            ("<loop 18446744073709551616>", "1:7", format!("{often} '18446744073709551616'")),
            ("<loop 3", "1:8", "expected '>', found the end of the line".to_owned()),
            ("<loop 3 4>", "1:9", "expected '>', found '4'".to_owned()),
            ("<loop 3> 2 1", "1:10", "expected the end of the line, found '2'".to_owned()),
            ("<loop 3>\n2 1\n</loop>>", "3:8", "expected the end of the line, found '>'".to_owned()),
            ("<loop 3>\n2 1\n</loop", "3:7", "expected '>', found the end of the line".to_owned()),
            ("<Loop 3>", "1:1", "expected <loop N> or </loop>, found '<Loop'".to_owned()),
            ("<loop3>", "1:1", "expected <loop N> or </loop>, found '<loop3'".to_owned()),
            ("2 1\n< /loop>", "2:1", "expected <loop N> or </loop>, found '<'".to_owned()),
            // The whole.
            ("", "1:1", nothing.to_owned()),
            ("\u{feff}", "1:1", nothing.to_owned()),
            ("# 2 1\n\n", "3:1", nothing.to_owned()),
            ("<loop 5>\n  </loop>", "2:10", nothing.to_owned()),
            ("2\0 1", "1:2", "expected text, found a NUL".to_owned()),
            ("2 1\r\n2 1 # é\0", "2:8", "expected text, found a NUL".to_owned()),
            // Limits.
            (
                "<loop 1000>\n <loop 1001>\n  <loop 1000>\n2 1\n</loop>\n</loop>\n</loop>",
                "2:2",
                format!("with this loop {long}"),
            ),
            ("<loop 999999>\n2 1\n</loop>\n2 1\n2 1", "5:1", format!("with this line {long}")),
            ("2 1\n<loop 1000000>\n2 1\n</loop>", "2:1", format!("with this loop {long}")),
            (
                "<loop 152>\n2 65535\n</loop>\n<loop 4>\n2 9670\n</loop>\n2 1",
                "7:1",
                format!("with this line {long}"),
            ),
            ("<loop 153>\n2 65535\n</loop>", "1:1", format!("with this loop {long}")),
        ] {
            assert_eq!(error(text), format!("{position}: {what}"), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_utf_8_is_named() {
        assert_eq!(error(b"2 1\r\n2,\xc3\xa9\xff 1"), "2:4: expected UTF-8, found the byte 0xff");
        assert_eq!(error(b"2 1 # \xe3\x81"), "1:7: expected UTF-8, found the byte 0xe3");
        assert_eq!(error(b"xx 1\n\xff"), error(b"xx 1"), "the first error is said");
        assert_eq!(error(b"\xff\xfe2\0"), "1:1: expected UTF-8, found the byte 0xff");
    }

    #[test]
    fn much_is_an_error_as_short_as_others() {
        let long = "é".repeat(500_000);
        assert!(error(&long).ends_with(&format!(", found '{}…'", "é".repeat(40))));
        assert!(error(format!("2 {}", "9".repeat(1_000_000))).len() < 150);
        assert!(error("\0".repeat(1_000_000)).starts_with("1:1: "));
        assert_eq!(error("2,".repeat(100_000)).split(": ").next(), Some("1:200001"));
        let loops = error("<loop 1>\n".repeat(100_000));
        assert_eq!(loops, "100000:1: this loop is not closed: expected </loop> on a line below");
        let nested = "<loop 10>\n".repeat(9) + "2 1\n" + &"</loop>\n".repeat(9);
        assert!(error(nested).starts_with("3:1: with this loop the macro goes past"));
        let cut = error("<loop 1000000>\n".repeat(1000) + "2 1\n2 1\n" + &"</loop>\n".repeat(1000));
        assert!(cut.starts_with("1000:1: with this loop the macro goes past"));
    }

    #[test]
    fn a_line_of_a_million_characters_can_be_right() {
        let text = format!("2{} 1", ",mk".repeat(333_333));
        assert_eq!(Macro::parse(text.as_bytes()).map(|parsed| parsed.to_string()), Ok("2,mk 1\n".to_owned()));
    }

    #[test]
    fn a_byte_order_mark_and_all_line_ends_are_taken() {
        let all = "2,mk 8\n3 1\n6,lp 1\n";
        for text in [
            "\u{feff}2,mk 8\n3 1\n6,lp 1".to_owned(),
            all.replace('\n', "\r"),
            all.replace('\n', "\r\n"),
            all.replace('\n', " # a fireball\r\r\n\n"),
            "\t 2 ,\tmk\t \t8 \n3 1\r6 ,lp 0001\t".to_owned(),
        ] {
            assert_eq!(Macro::parse(text.as_bytes()).unwrap().to_string(), all, "{text:?}");
        }
    }
}

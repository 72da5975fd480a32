//! The notation of macros: text that players write, and what it says.
//!
//! ```text
//! # A jump-in combo, three times.
//! <loop 3>
//! 9 34
//! hp 20
//! 2,mk 8
//! 6 1
//! 2 1
//! 3,hp 1
//! </loop>
//! ```
//!
//! A line has keys with commas between them, and the number of frames for which they are held (1 to 65535).
//! Directions are digits, as they lie on a numeric keypad; 5 is neutral. Several directions of a line are united (2,6
//! is 3), and opposite ones are an error. Loops nest. Blank lines and what follows a `#` are skipped. A line ends
//! with LF, CRLF or CR.

mod excerpt;
mod keys;
mod lines;
mod parse;
mod print;

use crate::{Held, Schedule};

/// A macro that was parsed. Its `Display` is canonical text, which parses to an equal macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Macro {
    lines: Vec<Line>,
}

/// A line of a macro; blank lines are left out. A macro is a list of lines and no tree: loops may be nested to any
/// depth, and walking them must not use stack for it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Hold(Held),
    /// The beginning of a loop: the lines up to its `End` are played this many times.
    Loop(u32),
    End,
}

/// The first fault of a macro, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {what}")]
pub struct NotationError {
    /// The number of the line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1; one behind the last if something is missing at the end of the line.
    pub column: usize,
    /// The fault: what was found, and what was expected.
    pub what: String,
}

impl NotationError {
    /// The line with the fault, or the part of it around the column, and a caret below it.
    pub fn excerpt(&self, text: &[u8]) -> String {
        excerpt::excerpt(text, self.line, self.column)
    }
}

impl Macro {
    /// The most states of a macro with its loops expanded.
    pub const MOST_STATES: u32 = 1_000_000;
    /// The most frames of a macro with its loops expanded: about two days.
    pub const MOST_FRAMES: u32 = 10_000_000;

    /// Parses a macro. The error is its first fault, with line and column. A byte order mark at the beginning is
    /// skipped.
    pub fn parse(text: &[u8]) -> Result<Macro, NotationError> {
        parse::parse(text)
    }

    /// The states of the macro with its loops expanded.
    pub fn schedule(&self) -> Schedule {
        let mut states = Vec::new();
        let mut open = Vec::new();
        for line in &self.lines {
            match line {
                Line::Hold(held) => states.push(*held),
                Line::Loop(times) => open.push((states.len(), *times)),
                Line::End => {
                    let (start, times) = open.pop().unwrap_or((states.len(), 1));
                    let end = states.len();
                    // Nothing, a million times within a million times, is nothing at once.
                    if start < end {
                        (1..times).for_each(|_| states.extend_from_within(start..end));
                    }
                }
            }
        }
        Schedule(states)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Control, PadState};
    use Control::*;

    fn schedule(text: &str) -> Vec<(Vec<Control>, u32)> {
        let all = [Share, Options, R1, R2, R3, Up, Down, Left, Right, Triangle, Circle, Cross, Square];
        let pressed = |state: PadState| all.into_iter().filter(|control| state.has(*control)).collect();
        let schedule = Macro::parse(text.as_bytes()).unwrap().schedule();
        schedule.0.into_iter().map(|held| (pressed(held.state), held.frames)).collect()
    }

    #[test]
    fn a_crouching_kick_into_a_fireball_is_three_states() {
        assert_eq!(
            schedule("2,mk 8\n3 1\n6,lp 1"),
            [(vec![Down, Circle], 8), (vec![Down, Right], 1), (vec![Right, Square], 1)]
        );
    }

    #[test]
    fn a_jump_in_combo_is_six_states() {
        assert_eq!(
            schedule("9 34\nhp 20\n2,mk 8\n6 1\n2 1\n3,hp 1\n"),
            [
                (vec![Up, Right], 34),
                (vec![R1], 20),
                (vec![Down, Circle], 8),
                (vec![Right], 1),
                (vec![Down], 1),
                (vec![R1, Down, Right], 1),
            ]
        );
    }

    #[test]
    fn every_key_is_the_control_of_the_default_layout() {
        for (keys, controls) in [
            ("1", vec![Down, Left]),
            ("2", vec![Down]),
            ("3", vec![Down, Right]),
            ("4", vec![Left]),
            ("5", vec![]),
            ("6", vec![Right]),
            ("7", vec![Up, Left]),
            ("8", vec![Up]),
            ("9", vec![Up, Right]),
            ("lp", vec![Square]),
            ("mp", vec![Triangle]),
            ("hp", vec![R1]),
            ("lk", vec![Cross]),
            ("mk", vec![Circle]),
            ("hk", vec![R2]),
            ("start", vec![Options]),
            ("pause", vec![Options]),
            ("options", vec![Options]),
            ("select", vec![Share]),
            ("share", vec![Share]),
            ("reload", vec![Share]),
            ("save", vec![R3]),
            ("2,6", vec![Down, Right]),
            ("4,5,8,7,4", vec![Up, Left]),
            ("lp,lk,lp", vec![Cross, Square]),
        ] {
            assert_eq!(schedule(&format!("{keys} 7")), [(controls, 7)], "{keys}");
        }
    }

    #[test]
    fn loops_nest_and_equal_neighbours_stay_apart() {
        let (a, b, c) = ((vec![Square], 1), (vec![Cross], 2), (vec![Circle], 3));
        assert_eq!(
            schedule("lp 1\n<loop 2>\nlk 2\n<loop 3>\nmk 3\n</loop>\n</loop>\nlp 1\nlp 1"),
            [&a, &b, &c, &c, &c, &b, &c, &c, &c, &a, &a].map(Clone::clone)
        );
        assert_eq!(schedule("<loop 1>\nlp 1\n</loop>"), [(vec![Square], 1)]);
    }

    #[test]
    fn very_many_loops_hold_what_one_would() {
        let deep = "<loop 1>\n".repeat(100_000) + "lp 1\n" + &"</loop>\n".repeat(100_000);
        let parsed = Macro::parse(deep.as_bytes()).unwrap();
        assert_eq!(parsed.schedule().0.len(), 1);
        assert_eq!(parsed.to_string(), deep);
        let empty = "<loop 1000000>\n".repeat(1000) + &"</loop>\n".repeat(1000) + "lp 1\n";
        assert_eq!(schedule(&empty), [(vec![Square], 1)]);
        let most = Macro::parse(b"<loop 1000>\n<loop 1000>\nlp 1\n</loop>\n</loop>").unwrap().schedule();
        assert_eq!((most.0.len(), most.frames()), (1_000_000, 1_000_000));
    }

    fn hold() -> impl Strategy<Value = Vec<Line>> {
        let buttons = prop::collection::vec(
            prop::sample::select(vec![Share, Options, R1, R2, R3, Triangle, Circle, Cross, Square]),
            0..9,
        );
        let across = prop::sample::select(vec![None, Some(Left), Some(Right)]);
        let along = prop::sample::select(vec![None, Some(Down), Some(Up)]);
        (buttons, across, along, 1..=65_535_u32).prop_map(|(buttons, across, along, frames)| {
            let state = buttons.into_iter().chain(across).chain(along).collect();
            vec![Line::Hold(Held { frames, state })]
        })
    }

    fn lines() -> impl Strategy<Value = Vec<Line>> {
        hold().prop_recursive(5, 40, 4, |inner| {
            (1..=4_u32, prop::collection::vec(inner, 1..4), any::<bool>()).prop_map(
                |(times, parts, empty)| {
                    let body = parts.concat();
                    let empty = if empty { vec![Line::Loop(times), Line::End] } else { Vec::new() };
                    [vec![Line::Loop(times)], body.clone(), empty, vec![Line::End], body].concat()
                },
            )
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_parses_to_the_same(lines in lines()) {
            let text = Macro { lines: lines.clone() }.to_string();
            let frames: u64 = Macro { lines: lines.clone() }.schedule().frames();
            match Macro::parse(text.as_bytes()) {
                Ok(parsed) => prop_assert_eq!(parsed, Macro { lines }),
                Err(error) => prop_assert!(frames > u64::from(Macro::MOST_FRAMES), "{error}\n{text}"),
            }
        }

        #[test]
        fn bytes_are_a_macro_or_an_error_at_a_place_that_exists(bytes: Vec<u8>) {
            place_exists(&bytes)?;
        }

        #[test]
        fn words_of_macros_are_a_macro_or_an_error_at_a_place_that_exists(words in prop::collection::vec(prop::sample::select(vec![
            "2", "6", "4", ",", " ", "lp", "start", " 1", " 65535", " 65536", "0", "<loop 2>", "<loop", "</loop>", ">",
            "\n", "\n2 1\n", "\r", "\r\n", "\t", "#", "é", "\u{3000}", "\0", "\u{feff}",
        ]), 0..40)) {
            place_exists(words.concat().as_bytes())?;
        }
    }

    fn place_exists(text: &[u8]) -> Result<(), TestCaseError> {
        let error = match Macro::parse(text) {
            Ok(parsed) => {
                prop_assert_eq!(Macro::parse(parsed.to_string().as_bytes()), Ok(parsed));
                return Ok(());
            }
            Err(error) => error,
        };
        // The place is looked up otherwise than by the parser.
        let text = String::from_utf8_lossy(text).replace("\r\n", "\n").replace('\r', "\n");
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let line = text.split('\n').nth(error.line.wrapping_sub(1));
        prop_assert!(line.is_some(), "{error}");
        let characters = line.unwrap_or_default().chars().count();
        prop_assert!((1..=characters + 1).contains(&error.column), "{error}");
        prop_assert!(!error.what.is_empty() && error.what.chars().all(|c| !c.is_control()), "{error}");
        Ok(())
    }
}

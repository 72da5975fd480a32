//! The printing of states and macros in the notation.

use std::fmt;

use super::{Line, Macro, keys};
use crate::PadState;

/// The keys of the state in the notation, such as `2,mk`; `5` if nothing is pressed.
impl fmt::Display for PadState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&keys::key_names(*self).join(","))
    }
}

impl fmt::Display for Macro {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Lines are not indented: of a million nested loops that would be a terabyte.
        self.lines.iter().try_for_each(|line| match line {
            Line::Hold(held) => writeln!(f, "{} {}", held.state, held.frames),
            Line::Loop(times) => writeln!(f, "<loop {times}>"),
            Line::End => writeln!(f, "</loop>"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_text_has_one_way_to_say_each_thing() {
        let text =
            "# a comment\r\n\r\n 6 , hp,2\t1#\r<loop  02 >\rpause,mk,lp 010\r\r5,save 1\r5 1\r</loop >\n";
        let parsed = Macro::parse(text.as_bytes()).unwrap();
        assert_eq!(parsed.to_string(), "3,hp 1\n<loop 2>\nlp,mk,start 10\nsave 1\n5 1\n</loop>\n");
    }
}

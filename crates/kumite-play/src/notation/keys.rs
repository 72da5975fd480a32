//! The names of keys.

use crate::{Control, PadState};

/// The buttons with their names; the first name is the one that is printed.
const BUTTONS: [(&[&str], Control); 9] = [
    (&["lp"], Control::Square),
    (&["mp"], Control::Triangle),
    (&["hp"], Control::R1),
    (&["lk"], Control::Cross),
    (&["mk"], Control::Circle),
    (&["hk"], Control::R2),
    (&["start", "pause", "options"], Control::Options),
    (&["select", "share", "reload"], Control::Share),
    (&["save"], Control::R3),
];

/// The direction of each column of the keypad, from the left.
const ACROSS: [Option<Control>; 3] = [Some(Control::Left), None, Some(Control::Right)];
/// The direction of each row of the keypad, from below.
const ALONG: [Option<Control>; 3] = [Some(Control::Down), None, Some(Control::Up)];

/// The meaning of a key.
pub(super) enum Key {
    Button(Control),
    /// A digit, and the controls that it presses, across and along.
    Direction(usize, [Option<Control>; 2]),
}

impl Key {
    pub(super) fn named(name: &str) -> Option<Key> {
        if let [digit @ b'1'..=b'9'] = name.as_bytes() {
            let nth = usize::from(digit - b'1');
            return Some(Key::Direction(nth + 1, [ACROSS[nth % 3], ALONG[nth / 3]]));
        }
        let button = BUTTONS.iter().find(|(names, _)| names.contains(&name));
        button.map(|(_, control)| Key::Button(*control))
    }
}

/// The list of all names, for an error.
pub(super) fn all() -> String {
    let names: Vec<&str> = BUTTONS.iter().flat_map(|(names, _)| names.iter().copied()).collect();
    format!("a direction 1 to 9, {}", names.join(", "))
}

/// The names of a state's keys: its direction, if it has one or no button, and its buttons.
pub(super) fn key_names(state: PadState) -> Vec<String> {
    let nth = |axis: [Option<Control>; 3]| {
        axis.iter().position(|control| control.is_some_and(|control| state.has(control))).unwrap_or(1)
    };
    let digit = nth(ALONG) * 3 + nth(ACROSS) + 1;
    let mut names: Vec<String> = BUTTONS
        .iter()
        .filter(|(_, control)| state.has(*control))
        .map(|(names, _)| names[0].to_owned())
        .collect();
    if digit != 5 || names.is_empty() {
        names.insert(0, digit.to_string());
    }
    names
}

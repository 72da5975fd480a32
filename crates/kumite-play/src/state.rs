//! The controls of a controller, and states of them.

/// A control that a macro can press. Its number is its position among the 36 values of a state, in the Titan One's
/// PlayStation order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// The button SHARE, or SELECT.
    Share = 1,
    /// The button OPTIONS, or START.
    Options = 2,
    /// The trigger R1.
    R1 = 3,
    /// The trigger R2.
    R2 = 4,
    /// The button R3, in the right stick.
    R3 = 5,
    /// Up on the direction pad.
    Up = 13,
    /// Down on the direction pad.
    Down = 14,
    /// Left on the direction pad.
    Left = 15,
    /// Right on the direction pad.
    Right = 16,
    /// The button △.
    Triangle = 17,
    /// The button ○.
    Circle = 18,
    /// The button ✕.
    Cross = 19,
    /// The button □.
    Square = 20,
}

/// The state of a controller: the controls that are pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PadState(u64);

impl PadState {
    /// The number of values of a state.
    pub const LENGTH: usize = 36;
    /// The state in which nothing is pressed.
    pub const RELEASED: PadState = PadState(0);

    /// This state, with `control` pressed as well.
    #[must_use]
    pub fn with(self, control: Control) -> PadState {
        PadState(self.0 | 1 << control as u32)
    }

    /// True if `control` is pressed.
    pub fn has(self, control: Control) -> bool {
        self.0 & (1 << control as u32) != 0
    }

    /// The values of all controls: 100 if pressed, 0 if not.
    pub fn values(self) -> [i8; PadState::LENGTH] {
        std::array::from_fn(|index| if self.0 >> index & 1 == 1 { 100 } else { 0 })
    }
}

impl FromIterator<Control> for PadState {
    fn from_iter<T: IntoIterator<Item = Control>>(controls: T) -> PadState {
        controls.into_iter().fold(PadState::RELEASED, PadState::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pressed_control_is_100_at_its_position() {
        let state = PadState::from_iter([Control::Down, Control::Circle]);
        let pressed: Vec<usize> = (0..36).filter(|at| state.values()[*at] == 100).collect();
        assert_eq!(pressed, [14, 18]);
        assert_eq!(state.values().iter().filter(|value| **value == 0).count(), 34);
        assert!(state.has(Control::Down) && !state.has(Control::Up));
        assert_eq!(PadState::RELEASED.values(), [0; 36]);
    }
}

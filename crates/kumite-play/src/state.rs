//! Controls of a controller, and which of them are pressed.

/// A control that a macro can press: its position among the 36 values of a state, in the Titan One's PlayStation order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// SHARE, or SELECT.
    Share = 1,
    /// OPTIONS, or START.
    Options = 2,
    /// R1.
    R1 = 3,
    /// R2.
    R2 = 4,
    /// R3.
    R3 = 5,
    /// Up on the direction pad.
    Up = 13,
    /// Down.
    Down = 14,
    /// Left.
    Left = 15,
    /// Right.
    Right = 16,
    /// △.
    Triangle = 17,
    /// ○.
    Circle = 18,
    /// ✕.
    Cross = 19,
    /// □.
    Square = 20,
}

/// The controls that are pressed, all at once; the others are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PadState(u64);

impl PadState {
    /// Values of a state.
    pub const LENGTH: usize = 36;
    /// Nothing is pressed.
    pub const RELEASED: PadState = PadState(0);

    /// This state, with the control pressed as well.
    #[must_use]
    pub fn with(self, control: Control) -> PadState {
        PadState(self.0 | 1 << control as u32)
    }

    /// Returns `true` if the control is pressed.
    pub fn has(self, control: Control) -> bool {
        self.0 & (1 << control as u32) != 0
    }

    /// All values: 100 for what is pressed, 0 for what is not.
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

//! What is played on the library.

use kumite_play::{Control, Held, Schedule, State};

/// Faster than a game looks, so that a play is short.
pub const FPS: f64 = 240.0;

/// 20 lines of 3 frames, each with other buttons.
pub fn schedule() -> Schedule {
    let buttons =
        [Control::Share, Control::R3, Control::Triangle, Control::Circle, Control::Cross, Control::Square];
    let directions = [Control::Up, Control::Down, Control::Left, Control::Right];
    let state = |nth: usize| State::from_iter([buttons[nth % 6], directions[nth % 4]]);
    Schedule((0..20).map(|nth| Held { frames: 3, state: state(nth) }).collect())
}

//! The line that says what `--gate` made of a run or a comparison: the last one on a terminal, in one piece, so that
//! programs find it.

use anstyle::AnsiColor;
use kumite_record::{GateBar, GateState};

use crate::style::Style;

pub(crate) fn painted(line: &str, state: GateState, style: Style) -> String {
    let color = match state {
        GateState::Open => AnsiColor::Green,
        GateState::Shut => AnsiColor::Red,
        GateState::Undecided => AnsiColor::Yellow,
    };
    style.paint(color.on_default().bold(), line) + "\n"
}

/// What a gate does with what is undecided.
pub(crate) fn passing(bar: GateBar) -> &'static str {
    match bar {
        GateBar::Fails => "--gate lets that pass",
        GateBar::Holds => "--gate=holds lets no such pass",
    }
}

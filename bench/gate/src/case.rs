//! What a gate is asked about: one that is slower than the reference by a known amount.

use clap::ValueEnum;

/// The case that a gate is tried on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Case {
    /// It is the reference once more.
    Equal,
    /// It takes exactly as much longer as the margin allows.
    Border,
    /// It takes 3 % longer.
    Slower,
    /// It is the reference once more, which is fast by 3 % in the first of its two places.
    Lucky,
    /// It takes 10 % longer than that.
    FarSlower,
}

/// The part that a lucky reference takes of its time.
const LUCKY: f64 = 0.97;

impl Case {
    /// Its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Case::Equal => "equal",
            Case::Border => "+1 %",
            Case::Slower => "+3 %",
            Case::Lucky => "equal, the reference lucky by 3 %",
            Case::FarSlower => "+10 %, the reference lucky by 3 %",
        }
    }

    /// The time of the one that is judged, as a multiple of the reference's.
    pub fn other(self) -> f64 {
        match self {
            Case::Equal | Case::Lucky => 1.0,
            Case::Border => 1.01,
            Case::Slower => 1.03,
            Case::FarSlower => 1.1,
        }
    }

    /// The time of the reference in its first place, as a multiple of that in its second.
    pub fn luck(self) -> f64 {
        match self {
            Case::Equal | Case::Border | Case::Slower => 1.0,
            Case::Lucky | Case::FarSlower => LUCKY,
        }
    }
}

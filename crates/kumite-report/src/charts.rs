//! Charts as plain geometry, which templates below `page/` draw. Lengths are in a chart's own units.

mod budget;
pub mod forest;
pub mod frame;
pub mod lanes;
mod lines;
mod probes;
pub mod rates;
pub mod rows;
pub mod scale;
pub mod strip;
pub mod timeline;

pub use budget::Budget;
pub use lines::{LineChart, Theirs, line_chart, line_charts};
pub use probes::probe_charts;
pub use rows::{Figure, RowChart, row_chart};
pub use timeline::{Timeline, Timelines};

use kumite_record::Export;
use serde::Serialize;

/// The look of a contender in every chart of a page. Among up to 18 contenders, any two of colour, marker and dashes
/// are enough to tell a contender from all others.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Look {
    pub color: usize,
    /// The marker's outline as an SVG path, with the origin at its middle.
    pub marker: &'static str,
    pub dash: usize,
}

/// The number of colours in the style sheet. `MARKERS` has one more, so that colour and marker together tell 42
/// contenders apart.
const COLORS: usize = 6;
pub const MARKERS: [&str; COLORS + 1] = [
    "M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z",
    "M-3.6,-3.6h7.2v7.2h-7.2z",
    "M0,-4.8L4.6,3.4H-4.6z",
    "M0,-5L5,0L0,5L-5,0z",
    "M0,4.8L4.6,-3.4H-4.6z",
    "M-1.6,-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z",
    "M0,-4.8L4.6,-1.5L2.8,3.9H-2.8L-4.6,-1.5z",
];
/// The number of line styles in the style sheet, the solid line included.
const DASHES: usize = 3;

impl Look {
    /// The look of a contender, by its place in the record: the same in all charts of a page. A contender that the
    /// record lacks gets the look that follows on that of the last one.
    pub fn of_contender(export: &Export, contender: &str) -> Look {
        let place = export.contenders.iter().position(|known| known.name == contender);
        let nth = place.unwrap_or(export.contenders.len());
        Look { color: nth % COLORS, marker: MARKERS[nth % MARKERS.len()], dash: nth / COLORS % DASHES }
    }
}

/// `name` if it has at most `room` characters; else its beginning and `…`, `room` characters together. `room` is at
/// least 1.
pub fn shortened(name: &str, room: usize) -> String {
    if name.chars().count() <= room {
        return name.to_owned();
    }
    name.chars().take(room - 1).chain(['…']).collect()
}

/// Rounds a length to a tenth of a unit, which is finer than a screen shows.
pub fn tenth(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

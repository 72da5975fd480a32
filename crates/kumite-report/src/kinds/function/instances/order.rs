//! The picture of calls in their order, without regard to time.

use serde::Serialize;

use super::words::call_text;
use super::{Glyph, Life, MOST_COLUMNS, PLOT, cross, lane};
use crate::charts::frame::{Frame, Plot, Tick};
use crate::charts::lanes::{Drawn, Lane, Marks, by_look};
use crate::charts::tenth;
use crate::words::number::count;

const ORDER_LANE: f64 = 17.0;
const COLUMN: f64 = 24.0;

/// The picture of calls in their order, without regard to time.
#[derive(Debug, Serialize)]
pub struct CallOrder {
    pub title: String,
    pub frame: Frame,
    pub lanes: Vec<Lane>,
    pub looks: Vec<Marks>,
}

impl CallOrder {
    /// A mark for each call, at most `MOST_COLUMNS`, in the row of its instance; a call that failed has a cross.
    /// `top` is the upper end of the rows.
    pub(super) fn new(life: &Life, top: f64) -> CallOrder {
        let shown = &life.calls[..life.calls.len().min(MOST_COLUMNS)];
        let mut names = life.lanes.clone();
        if shown.iter().any(|call| call.instance.is_none()) {
            names.push("no instance".to_owned());
        }
        let row = |(nth, label)| lane(label, top + nth as f64 * ORDER_LANE, ORDER_LANE);
        let lanes: Vec<Lane> = names.into_iter().enumerate().map(row).collect();
        let width = ((PLOT.right - PLOT.left) / shown.len().max(1) as f64).min(COLUMN);
        let mut marks: Vec<Drawn<Glyph>> = Vec::new();
        let mark = |look, path, text| Drawn { look, several: false, path, text };
        for (nth, call) in shown.iter().enumerate() {
            let row = call.instance.and_then(|instance| life.lane_of.get(&instance).copied());
            let middle = top + (row.unwrap_or(lanes.len() - 1) as f64 + 0.5) * ORDER_LANE;
            let (x, to) = (
                tenth(PLOT.left + nth as f64 * width + 1.0),
                tenth(PLOT.left + (nth + 1) as f64 * width - 1.0),
            );
            let look = if call.cold { Glyph::Init } else { Glyph::Invoke };
            if row.is_some() {
                marks.push(mark(look, look.outline(x, to, middle), call_text(nth, call)));
            }
            if call.error.is_some() || row.is_none() {
                marks.push(mark(Glyph::Failed, cross(tenth((x + to) / 2.0), middle), call_text(nth, call)));
            }
        }
        let each = if width >= 20.0 { 1 } else { 5 };
        let tick = |number: usize| Tick {
            at: tenth(PLOT.left + (number as f64 - 0.5) * width),
            label: count(number as f64),
        };
        let ticks = (1..=shown.len()).filter(|number| *number == 1 || number.is_multiple_of(each));
        CallOrder {
            title: match life.calls.len() {
                all if all > shown.len() => {
                    format!("the first {} of {} calls in their order", shown.len(), count(all as f64))
                }
                _ => "calls in their order, without regard to time".to_owned(),
            },
            frame: Plot { top, bottom: top + lanes.len() as f64 * ORDER_LANE, ..PLOT }
                .upright(ticks.map(tick).collect(), Vec::new()),
            lanes,
            looks: by_look(marks.into_iter(), Glyph::class, true),
        }
    }
}

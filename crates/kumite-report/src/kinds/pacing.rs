//! The report's part on players, whose states are due at set times.

mod distribution;
mod errors;
mod states;

use kumite_record::{Cell, Point};

use super::KindReport;
use crate::kinds::chapter::{Chapter, PageChapter};
use crate::record::Record;
use crate::tables::cells::Filled;
use crate::tables::group::Groups;

pub(super) struct Pacing;

impl KindReport for Pacing {
    fn name(&self) -> &'static str {
        "pacing"
    }

    fn reading(&self) -> Option<&'static str> {
        Some(
            "A trial is a fresh process that plays a warm-up and then the schedule. The error of a state is when it came less when it was due, by kumite’s clock; percentiles and the greatest are of its size, early or late. The zero of the schedule is the instant by which the earliest state of the first 60 frames was exactly in time, so a delay that is always the same is in no error. A missed frame is a state that was off by a frame or more. “Error at end” is the size of the mean error of the states that were due in the last 60 frames, and “off at end” says it in frames: what drifts is off there. CPU cores are CPU seconds per second of play.",
        )
    }

    fn needs(&self) -> &'static str {
        "five states"
    }

    fn limits(&self) -> Option<&'static str> {
        Some(
            "the delays of an adapter, a console and a display; what a program does beside waiting and writing",
        )
    }

    fn column(&self, record: &Record, cells: &[&Cell], point: &Point) -> Option<Filled> {
        states::end_column(record, cells, point)
    }

    fn chapters(&self, record: &Record, groups: &Groups) -> Vec<Chapter> {
        distribution::chapter(record, groups).into_iter().collect()
    }

    fn page(&self, record: &Record, groups: &Groups) -> Vec<PageChapter> {
        distribution::page(record, groups).into_iter().collect()
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        &[("states.html", include_str!("pacing/states.html"))]
    }
}

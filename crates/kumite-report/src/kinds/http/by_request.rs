//! The chapter on the requests of a mix and of sessions.

use super::steps::{PartsAt, REQUEST, parts, tables};
use crate::kinds::chapter::{Chapter, ChapterPoint, PageChapter};
use crate::record::Record;
use crate::tables::group::Groups;

/// The roles of the metrics that are shown by request, as far as they were measured.
const SHOWN: [&str; 3] = ["throughput", "response-p50", "response-p99"];

const TITLE: &str = "Request by request";

const ABOUT: &str = "A request’s figures are of the whole window. The response time of a later request of a session counts from the answer before and the pause.";

/// The chapter as text; none if trials have no figures by request.
pub fn chapter(record: &Record, groups: &Groups) -> Option<Chapter> {
    let points = points(record, groups);
    (!points.is_empty()).then_some(Chapter { title: TITLE, about: Some(ABOUT), points })
}

/// The chapter for a page; none if trials have no figures by request.
pub fn page(record: &Record, groups: &Groups) -> Option<PageChapter> {
    PageChapter::new("by-request", TITLE, "by-request.html", &points(record, groups))
}

fn points(record: &Record, groups: &Groups) -> Vec<ChapterPoint> {
    let of_requests = parts(record, groups).filter(|(axis, _)| *axis == REQUEST);
    let Some((axis, points)) = of_requests else { return Vec::new() };
    let of_point = |at: &PartsAt| tables(record, axis, at, &SHOWN, "All figures of each request");
    points.iter().map(of_point).collect()
}

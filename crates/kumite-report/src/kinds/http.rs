//! The report's part on servers under load.

mod by_request;
mod explorer;
mod overload;
mod percentiles;
mod recovery;
mod requests;
mod steps;
mod time;

use kumite_record::{Cell, Metric};

use super::{KindReport, has_role};
use crate::kinds::chapter::{Chapter, DisturbedPictures, PageChapter};
use crate::record::Record;
use crate::tables::failure::{Disturbed, Failed};
use crate::tables::group::Groups;
use crate::words::number::plural;
use crate::words::text::one_line;

pub(super) struct Http;

/// The role of the metric of recovery: how long it took until answers were steady again after a disturbance or a drop
/// of the load.
const RECOVERY: &str = "recovery";

/// Columns of time series: response times of the answers in each interval. `CPU_CORES` is the CPU use in it.
const P50_US: &str = "response_p50_us";
const P99_US: &str = "response_p99_us";
const MAX_US: &str = "response_max_us";
const CPU_CORES: &str = "cpu_cores";

impl KindReport for Http {
    fn name(&self) -> &'static str {
        "http"
    }

    fn engine(&self) -> &'static str {
        "load engine"
    }

    fn steady(&self) -> &'static str {
        "Throughput, response times and CPU are of the part of each window that was steady, or of all of it where no part was."
    }

    fn limits(&self) -> Option<&'static str> {
        Some(
            "networks (everything is on loopback), versions of HTTP that were not spoken; what a user would see at a given rate (a closed loop sends less to a server that stalls)",
        )
    }

    /// `NAME: r: RECEIVED w: FINISHED e: FAILURES t: MEANms (N blocks)` for each cell, as medians over blocks. Empty
    /// if loads have steps.
    fn source_lines(&self, record: &Record, cells: &[&Cell]) -> Vec<String> {
        let cells = if record.export.run.within.is_none() { cells } else { &[] };
        cells.iter().filter_map(|cell| source_line(record, cell)).collect()
    }

    fn is_drawn(&self, metric: &Metric) -> bool {
        has_role(metric, &["throughput", "response-mean", "response-p99", "cpu", "engine-cpu"])
    }

    fn chapters(&self, record: &Record, groups: &Groups) -> Vec<Chapter> {
        let chapters = [
            steps::chapter(record, groups),
            by_request::chapter(record, groups),
            percentiles::chapter(record, groups),
        ];
        chapters.into_iter().flatten().collect()
    }

    fn page(&self, record: &Record, groups: &Groups) -> Vec<PageChapter> {
        let chapters = [
            steps::page(record, groups),
            by_request::page(record, groups),
            percentiles::page(record, groups),
            time::page(record, groups),
        ];
        chapters.into_iter().flatten().collect()
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("steps.html", include_str!("http/steps.html")),
            ("by-request.html", include_str!("http/by-request.html")),
            ("overload.html", include_str!("http/overload.html")),
            ("percentiles.html", include_str!("http/percentiles.html")),
            ("time.html", include_str!("http/time.html")),
        ]
    }

    fn failures(&self) -> &'static str {
        "Failures and recovery"
    }

    fn failed(&self, record: &Record, groups: &Groups) -> Option<Failed> {
        Some(requests::failed(record, groups))
    }

    fn disturbances(&self, record: &Record, groups: &Groups) -> Vec<Disturbed> {
        recovery::disturbances(record, groups)
    }

    fn disturbance_pictures(&self, record: &Record, groups: &Groups) -> Vec<DisturbedPictures> {
        recovery::pictures(record, groups)
    }
}

fn source_line(record: &Record, cell: &Cell) -> Option<String> {
    let of = |role: &str| cell.metrics.get(&record.metric(role)?.name);
    let value = |role: &str| of(role).map(|of| of.estimate);
    let mean_ms = value("response-mean").map_or("–".to_owned(), |us| format!("{:.3}", us / 1e3));
    Some(format!(
        "{}: r: {:.0} w: {:.0} e: {:.0} t: {mean_ms}ms ({})",
        one_line(&cell.contender),
        value("received")?,
        value("finished")?,
        value("failures")?,
        plural(of("received")?.n, "block"),
    ))
}

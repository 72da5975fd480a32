//! The report's part on functions that are called on the function host.

mod billing;
mod calls;
mod failed;
mod instances;

use super::KindReport;
use crate::kinds::chapter::{Chapter, PageChapter};
use crate::record::Record;
use crate::tables::failure::Failed;
use crate::tables::group::Groups;

pub(super) struct Function;

impl KindReport for Function {
    fn name(&self) -> &'static str {
        "function"
    }

    fn reading(&self) -> Option<&'static str> {
        Some(
            "A trial begins without an instance and offers its calls in their order. Wall is from the offer of a call to its answer, init and duration are its init and its invoke phase. Billed 2016 is the invoke phase, in steps of 100 ms; billed 2025 is the init and the invoke phase, in steps of 1 ms: both by the rule alone, and nobody’s invoice. A cold call is one that an instance was started for; “warm” figures are medians of the others. CPU share is the CPU time of an instance over the time of its invoke phases.",
        )
    }

    fn limits(&self) -> Option<&'static str> {
        Some("AWS itself: its hardware, what it does between a call and an instance, its network, its prices")
    }

    fn chapters(&self, record: &Record, groups: &Groups) -> Vec<Chapter> {
        calls::chapter(record, groups).into_iter().collect()
    }

    fn page(&self, record: &Record, groups: &Groups) -> Vec<PageChapter> {
        calls::page(record, groups).into_iter().collect()
    }

    fn templates(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("calls.html", include_str!("function/calls.html")),
            ("billing.html", include_str!("function/billing.html")),
            ("instances.html", include_str!("function/instances.html")),
        ]
    }

    fn failed(&self, record: &Record, groups: &Groups) -> Option<Failed> {
        failed::failed(record, groups)
    }
}

//! Warnings about the sittings of a run, from the values that the run has of them.

use kumite_record::{Machine, Run, Warning};

use super::together::differ_in_machines;

/// Warnings about sittings of a run that were cut short, and about those on another machine than the run's, `here`.
pub(super) fn sitting_warnings(run: &Run, here: &Machine) -> Vec<Warning> {
    let warning = |nth: u32, what: String| Warning { place: format!("sitting {nth}"), what };
    let all = || (1..).zip(&run.sittings);
    let short = all().filter_map(|(nth, of)| Some(warning(nth, of.cut_short.clone()?)));
    let elsewhere = all().filter_map(|(nth, of)| {
        let [there, here] = differ_in_machines(here, of.elsewhere.as_ref()?)?.values?;
        Some(warning(nth, format!("it was measured on another machine than the first: {here}, not {there}")))
    });
    short.chain(elsewhere).collect()
}

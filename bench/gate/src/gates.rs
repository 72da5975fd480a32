//! The gate as `kumite compare --gate` has it, on times that are not waited for.

use std::time::Duration;

use kumite_compare::{GATE_ALPHA, GATE_MARGIN, GateRules, RecordedGate, Rules, gate_recorded};
use kumite_record::GateBar;

/// The gate on one that is judged, in blocks of which `next` gives the times.
pub fn gate(
    budget: Duration,
    most: Option<usize>,
    seed: u64,
    next: &mut dyn FnMut(&[usize]) -> [f64; 3],
) -> RecordedGate {
    let rules = Rules {
        alpha: 2.0 * GATE_ALPHA,
        margin: GATE_MARGIN,
        min_blocks: 0,
        max_blocks: most,
        budget,
        ends_blocks: false,
        seed,
        reference: 0,
        control: None,
        gate: None,
        metrics: Vec::new(),
    };
    gate_recorded(
        &rules,
        GateRules { passes: GateBar::Fails, alpha: GATE_ALPHA, on: None, by_failures: false },
        next,
    )
}

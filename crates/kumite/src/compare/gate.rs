//! `--gate` of a comparison: its flags, what they ask for, and the outcome as an exit status.

use std::time::Duration;

use kumite_compare::{GATE_ALPHA, GateOn, GateRules, Rules};
use kumite_record::{Comparison, GateBar, GateState, NoCommandMetric};

use crate::exit::Failure;
use crate::gate::Bar;
use crate::output;

use super::Args;

#[derive(clap::Args)]
#[command(next_help_heading = "How much, and when it is enough")]
pub struct GateArgs {
    /// Exit with status 1 if a command is slower than the reference by more than the margin, or uses more of a metric of
    /// --metrics; go on until that is decided. The reference runs twice in each block, and it has to be shown against each.
    /// `fails` passes what is not shown to be slower, `holds` only what is shown not to be
    #[arg(long, value_name = "WHICH", num_args = 0..=1, default_missing_value = "fails", require_equals = true)]
    gate: Option<Bar>,
    /// What alone shuts the gate: wall, cpu, user, system or memory; or counts, of the instructions that --counts counts,
    /// with the reference once in each block, and times as without a gate [default: wall time, or each of --metrics]
    #[arg(long, value_name = "METRIC", requires = "gate", value_parser = gate_on)]
    gate_on: Option<GateOn>,
}

fn gate_on(text: &str) -> Result<GateOn, NoCommandMetric> {
    match text {
        "counts" => Ok(GateOn::Counts),
        metric => metric.parse().map(GateOn::Metric),
    }
}

impl GateArgs {
    /// True if there is a gate, and timed runs decide it; false without a gate, or if counts of instructions decide it.
    pub fn is_on_runs(&self) -> bool {
        self.rules(false).is_some_and(GateRules::is_on_runs)
    }

    pub fn is_on_counts(&self) -> bool {
        self.gate_on == Some(GateOn::Counts)
    }

    pub fn is_set(&self) -> bool {
        self.gate.is_some()
    }

    pub fn is_on_one(&self) -> bool {
        self.gate_on.is_some()
    }

    /// The rules of the gate; `None` without a gate. If `by_failures` is true, a command that fails more often than the
    /// reference shuts the gate, too.
    pub fn rules(&self, by_failures: bool) -> Option<GateRules> {
        let passes = GateBar::from(self.gate?);
        Some(GateRules { passes, alpha: GATE_ALPHA, on: self.gate_on, by_failures })
    }

    /// Judges the comparison by the gate: [`Failure::Shut`] if the gate does not let it pass. Notes the gate's line,
    /// unless `is_said` is true because the report on the terminal has ended with it. Does nothing without a gate.
    pub fn conclude(&self, comparison: &Comparison, is_said: bool) -> Result<(), Failure> {
        let Some(bar) = self.gate else { return Ok(()) };
        if let Some(line) = kumite_report::compare_gate(comparison).filter(|_| !is_said) {
            output::note(&line);
        }
        let state = comparison.gate.map_or(GateState::Undecided, |gate| gate.state);
        if GateBar::from(bar).passes(state) { Ok(()) } else { Err(Failure::Shut) }
    }
}

/// Refuses a gate that needs more blocks than the limits allow, and a budget of servers that is too short for one
/// block. `of` is the number of positions in a block; `block` is the least time of a block, `None` if it is not known.
pub fn refuse_undecidable(
    args: &Args,
    rules: &Rules,
    of: usize,
    block: Option<Duration>,
) -> Result<(), Failure> {
    let gate = rules.gate.filter(|gate| gate.is_on_runs());
    let fewest = if gate.is_some() { rules.fewest(of) } else { 1 };
    if let (Some(budget), Some(block)) = (args.amount.budget, block)
        && rules.min_blocks < fewest
        && budget < block * fewest as u32
    {
        let why = match gate {
            Some(_) => format!("a gate cannot be decided by fewer than {fewest} blocks, which take"),
            None => "a load on each server takes".to_owned(),
        };
        return Err(Failure::Usage(format!(
            "--budget {budget:?} is too short: {why} {:?}",
            block * fewest as u32
        )));
    }
    let (Some(_), Some(most)) = (gate, rules.max_blocks) else { return Ok(()) };
    let flag = if args.amount.runs.is_some() { "--runs" } else { "--max-runs" };
    match rules.fewest(of) {
        fewest if most < fewest => Err(Failure::Usage(format!(
            "{flag} {most}: a gate cannot be decided by fewer than {fewest} runs of each command: give {flag} {fewest}, or \
             more"
        ))),
        _ => Ok(()),
    }
}

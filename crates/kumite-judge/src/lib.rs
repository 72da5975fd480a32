//! The judge of kumite: from trials to estimates and verdicts.
//!
//! It reads no clock, no file, no process and no environment, so the same trials give the same verdicts anywhere.

mod claim;
mod control;
mod derived;
mod estimate;
mod inner_axis;
mod verdict;

use std::collections::BTreeSet;

use kumite_record::{
    AxisValue, Cell, Check, Contender, Control, NearTie, Prospects, Reason, Rule, Run, Trial,
};

pub use claim::{Claim, ClaimError, ClaimSpec, Dimension, EACH_CONTENDER, Names};
pub use control::fewest_control_blocks;
pub use derived::{Declared, Derived, ExpressionError, MetricError, of_parameters};
pub use estimate::steadiness;
use inner_axis::Grid;
use verdict::Evidence;
pub use verdict::{CheckSpec, Reference};

/// The rules by which this crate can judge: the usual one, and the strict one.
pub const RULES: [Rule; 2] = [Rule::FalseDiscoveryRate, Rule::Strict];

/// Judges all claims together, and then all checks. Both lists are in the order of `claims` and `checks`. Claims are
/// about whole trials and, if an axis is swept within them, about their parts. A red check adds a doubt to each claim
/// that rests on the check's red cells.
pub fn judge(
    run: &Run,
    trials: &[&Trial],
    contenders: &[Contender],
    claims: &[ClaimSpec],
    checks: &[CheckSpec],
) -> (Vec<kumite_record::Claim>, Vec<Check>) {
    let evidence = Evidence::new(run, trials, contenders);
    let mut judged: Vec<_> = claims.iter().zip(evidence.judge_all(claims)).collect();
    let checks = evidence.check_all(checks, &mut judged);
    (judged.into_iter().map(|(_, claim)| claim).collect(), checks)
}

/// The cells that these claims need: contenders with positions in `run.points`. A comparison counts only if the plan
/// has all of its cells.
pub fn needed(run: &Run, contenders: &[Contender], claims: &[ClaimSpec]) -> BTreeSet<(String, usize)> {
    let evidence = Evidence::new(run, &[], contenders);
    claims.iter().flat_map(|claim| evidence.cells(claim)).collect()
}

/// The metrics of whole trials that a claim compares, each at its cell. A cell whose wrong answers are counted is
/// there, too, with an empty metric. A comparison counts only if the plan has all of its cells.
pub fn references(run: &Run, contenders: &[Contender], claim: &ClaimSpec) -> Vec<Reference> {
    Evidence::new(run, &[], contenders).references_of_trials(claim)
}

/// The metrics of parts of trials that a claim compares, such as those of one request. Each reference has the position
/// of its point in `run.points`, and comes with the value of the axis within trials. Its metric is empty if wrong
/// answers are counted. Empty if no axis is swept within trials.
pub fn part_references(
    run: &Run,
    contenders: &[Contender],
    claim: &ClaimSpec,
) -> Vec<(Reference, AxisValue)> {
    Evidence::new(run, &[], contenders).references_of_parts(claim)
}

/// The run's control, measured by its trials. Its ratio to itself is in the first metric of whole trials that a claim
/// compares, or else in the run's first metric; the ratio is absent if there are too few blocks. None if the run has no
/// control.
pub fn control(
    run: &Run,
    trials: &[&Trial],
    contenders: &[Contender],
    claims: &[ClaimSpec],
) -> Option<Control> {
    let compared = claims.iter().flat_map(|claim| references(run, contenders, claim));
    let headline = compared.map(|of| of.metric).find(|metric| !metric.is_empty());
    control::of_run(run, trials, headline)
}

/// The cells of the claims that more blocks might decide: contenders with positions in `run.points`. If the run is
/// judged at its end, cells of decided claims are among them as long as another claim is open. All contenders at all
/// points if there are no claims; empty if more blocks can decide no claim.
pub fn undecided(
    run: &Run,
    trials: &[&Trial],
    contenders: &[Contender],
    claims: &[ClaimSpec],
) -> BTreeSet<(String, usize)> {
    Evidence::new(run, trials, contenders).undecided_cells(claims)
}

/// The ids of the claims that no number of blocks can decide, because trials have too few values for a percentile. Each
/// has the reason for its cell that lacks the most values.
pub fn too_few_values(
    run: &Run,
    trials: &[&Trial],
    contenders: &[Contender],
    claims: &[ClaimSpec],
) -> Vec<(String, Reason)> {
    Evidence::new(run, trials, contenders).lacking_values(claims)
}

/// The error for the first expression of a claim that can have no value, whatever is measured: a division by 0, for
/// example. None if every expression can have a value.
pub fn without_value(run: &Run, contenders: &[Contender], claim: &ClaimSpec) -> Option<ClaimError> {
    Evidence::new(run, &[], contenders).without_value(claim)
}

/// The number of blocks that decides each claim of a plan, if nine of ten rounds lie on one side of its border. Claims
/// that leave nothing to chance are left out. No trial is needed.
pub fn prospects(run: &Run, contenders: &[Contender], claims: &[ClaimSpec]) -> Prospects {
    Evidence::new(run, &[], contenders).prospects(claims)
}

/// The near-ties among the claims, in the order of the claims: those whose border lies where the effect of a further
/// sitting may be. Each has the effort that would decide it.
pub fn near_ties(
    run: &Run,
    trials: &[&Trial],
    contenders: &[Contender],
    claims: &[ClaimSpec],
) -> Vec<NearTie> {
    Evidence::new(run, trials, contenders).near_ties(claims)
}

/// The cells of these contenders with their estimates: first those of whole trials, then those of parts of trials. The
/// second list is empty if no axis is swept within trials.
pub fn cells(run: &Run, trials: &[&Trial], contenders: &[String]) -> (Vec<Cell>, Vec<Cell>) {
    let grid = Grid::new(run);
    let seen = grid.observations(trials);
    let planned = run.points.len();
    let cells = |points| estimate::cells(&grid, &seen, contenders, points);
    (cells(0..planned), cells(planned..grid.points.len()))
}

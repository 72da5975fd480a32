//! From what was measured to what it says: claims, estimates, verdicts.
//!
//! It reads no clock, no file, no process and no environment: the same trials give the same verdicts, anywhere.

mod claim;
mod derived;
mod estimate;
mod inner_axis;
mod verdict;

use std::collections::BTreeSet;

use kumite_record::{Cell, Contender, Run, Trial};

pub use claim::{Claim, ClaimError, ClaimSpec, EACH_CONTENDER, Names};
pub use derived::{Declared, Derived, of_parameters};
pub use estimate::steadiness;
use inner_axis::{folded, unfolded};
use verdict::Evidence;

/// The verdicts of all claims, judged together: of whole trials and, where an axis is within them, of their parts.
pub fn judge(
    run: &Run,
    trials: &[&Trial],
    contenders: &[Contender],
    claims: &[ClaimSpec],
) -> Vec<kumite_record::Claim> {
    with_evidence(run, trials, contenders, |evidence| evidence.judge_all(claims))
}

/// The cells that more blocks might decide a claim about: contender and position of the point.
pub fn undecided(
    run: &Run,
    trials: &[&Trial],
    contenders: &[Contender],
    claims: &[ClaimSpec],
) -> BTreeSet<(String, usize)> {
    let cells = with_evidence(run, trials, contenders, |evidence| evidence.undecided_cells(claims));
    cells.into_iter().map(|(contender, point)| (contender, folded(run, point))).collect()
}

/// The estimates of the cells of these contenders.
pub fn cells(run: &Run, trials: &[&Trial], contenders: &[String]) -> Vec<Cell> {
    estimate::cells(run, trials, contenders)
}

/// The estimates of their parts, where an axis is within trials; none where none is.
pub fn part_cells(run: &Run, trials: &[&Trial], contenders: &[String]) -> Vec<Cell> {
    let Some((wide, trials)) = unfolded(run, trials) else { return Vec::new() };
    let mut parts = estimate::cells(&wide, &trials.iter().collect::<Vec<_>>(), contenders);
    parts.retain(|cell| run.points.iter().all(|point| *point != cell.point));
    parts
}

fn with_evidence<T>(
    run: &Run,
    trials: &[&Trial],
    contenders: &[Contender],
    judge: impl FnOnce(&Evidence) -> T,
) -> T {
    match unfolded(run, trials) {
        Some((run, trials)) => judge(&Evidence { run: &run, trials: trials.iter().collect(), contenders }),
        None => judge(&Evidence { run, trials: trials.to_vec(), contenders }),
    }
}

//! Runs that are in no figure: those that a signal ended, that took too long, or that failed where they must not.
//!
//! They are left out only with `--ignore-failure`; without it the first ends the comparison. A ratio of a run that was
//! cut off would be one of nothing. But how often each of two failed is a finding, too ([`failures`]): a bet on blocks
//! in which just one of them did. Where both fail as often, and independently of who comes first, each of these blocks
//! is a fair coin, so the bet may be looked at at any time, as those on ratios may. All functions here are pure.

use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

use kumite_process::TimedRun;
use kumite_record::{ComparedFailures, FailedRuns, FailureVerdict, LeftOut, LeftOutReason, OneFailed};
use kumite_stats::wealth;

use super::bench::Allowed;
use super::exit_code::exit_code;

/// The number of left-out runs of a command from which on they may be too many.
const MANY: usize = 10;

/// The standard signals. A shell gives 128 and one of them as the status of what it ran, if that was killed.
const SIGNALS: std::ops::RangeInclusive<i32> = 1..=31;

/// The outcome of a run that was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Counts(TimedRun),
    LeftOut {
        why: LeftOutReason,
        /// The figures of the run; `None` if it was ended from outside.
        run: Option<TimedRun>,
        /// The time that passed.
        took: Duration,
    },
}

impl Outcome {
    /// The run, if it counts.
    pub(crate) fn counted(&self) -> Option<&TimedRun> {
        match self {
            Outcome::Counts(run) => Some(run),
            Outcome::LeftOut { .. } => None,
        }
    }

    /// The run, also if it is left out; `None` if it was ended from outside, so that it has no figures.
    pub(crate) fn made(&self) -> Option<&TimedRun> {
        match self {
            Outcome::Counts(run) => Some(run),
            Outcome::LeftOut { run, .. } => run.as_ref(),
        }
    }

    pub(crate) fn took(&self) -> Duration {
        match self {
            Outcome::Counts(run) => run.wall,
            Outcome::LeftOut { took, .. } => *took,
        }
    }

    pub(crate) fn why_left_out(&self) -> Option<LeftOutReason> {
        match self {
            Outcome::Counts(_) => None,
            Outcome::LeftOut { why, .. } => Some(*why),
        }
    }

    fn has_failed(&self) -> bool {
        self.why_left_out().is_some_and(LeftOutReason::is_failure)
    }
}

/// The reason why a run does not count; `None` if it does. A status that the user has named always counts.
pub(crate) fn reason(run: &TimedRun, has_shell: bool, allowed: &Allowed) -> Option<LeftOutReason> {
    let exit_code = exit_code(run);
    if exit_code == 0 || matches!(allowed, Allowed::Codes(codes) if codes.contains(&exit_code)) {
        return None;
    }
    let by_shell = has_shell.then_some(exit_code - 128).filter(|signal| SIGNALS.contains(signal));
    if let Some(signal) = run.status.signal().or(by_shell) {
        return Some(LeftOutReason::Killed { signal });
    }
    (!allowed.allows(exit_code)).then_some(LeftOutReason::Failed { exit_code })
}

/// The number of runs that were left out, with the reason of the last, if going on is of no use: ten or more of these
/// runs of a command, and more than half of them, were left out. Else `None`.
pub(crate) fn too_often(outcomes: &[Outcome]) -> Option<(usize, LeftOutReason)> {
    let left_out: Vec<LeftOutReason> = outcomes.iter().filter_map(Outcome::why_left_out).collect();
    let (count, last) = (left_out.len(), *left_out.last()?);
    (count >= MANY && 2 * count > outcomes.len()).then_some((count, last))
}

/// The number of these runs of a command, with the reason of the last, if none of them counts. Else `None`.
pub(crate) fn always(outcomes: &[Outcome]) -> Option<(usize, LeftOutReason)> {
    let last = outcomes.last()?.why_left_out()?;
    outcomes.iter().all(|outcome| outcome.counted().is_none()).then_some((outcomes.len(), last))
}

/// The runs that are left out. `outcomes` are those of a command, by block; `is_second` is true for the second runs of
/// a control.
pub(crate) fn left_out(outcomes: &[Outcome], is_second: bool) -> impl Iterator<Item = LeftOut> {
    let why = outcomes.iter().map(Outcome::why_left_out).enumerate();
    why.filter_map(move |(block, why)| Some(LeftOut { block, is_second, why: why? }))
}

/// The numbers of failures of `a` and of `b`, with the verdict at this level for each direction. `b` has a list for
/// each of its runs in a block, and the verdict has to be shown against each list. `None` if nothing failed.
pub(crate) fn failures(a: &[Outcome], b: &[&[Outcome]], alpha: f64) -> Option<ComparedFailures> {
    let against: Vec<OneFailed> = b.iter().map(|b| one_failed(a, b)).collect();
    let is_shown = |of: fn(&OneFailed) -> usize| {
        let reaches = |blocks: &OneFailed| wealth(of(blocks), blocks.only_a + blocks.only_b) >= 1.0 / alpha;
        against.iter().all(reaches)
    };
    let verdict = match (is_shown(|blocks| blocks.only_a), is_shown(|blocks| blocks.only_b)) {
        (true, _) => FailureVerdict::More,
        (_, true) => FailureVerdict::Less,
        _ => FailureVerdict::Undecided,
    };
    let (a, b) = (failed([a]), failed(b.iter().copied()));
    (a.failed + b.failed > 0).then_some(ComparedFailures { verdict, alpha, a, b, against })
}

fn one_failed(a: &[Outcome], b: &[Outcome]) -> OneFailed {
    let mut found = OneFailed::default();
    for (a, b) in a.iter().zip(b) {
        found.only_a += usize::from(a.has_failed() && !b.has_failed());
        found.only_b += usize::from(b.has_failed() && !a.has_failed());
    }
    found
}

fn failed<'a>(runs: impl IntoIterator<Item = &'a [Outcome]>) -> FailedRuns {
    let outcomes: Vec<&Outcome> = runs.into_iter().flatten().collect();
    FailedRuns {
        failed: outcomes.iter().filter(|outcome| outcome.has_failed()).count(),
        runs: outcomes.len(),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::process::ExitStatus;

    use super::super::reading::tests::run;
    use super::*;

    const FAILED: LeftOutReason = LeftOutReason::Failed { exit_code: 1 };

    /// In each block a run that counts, or one that failed.
    pub(crate) fn outcomes(failed: &[bool]) -> Vec<Outcome> {
        let of = |failed: &bool| match failed {
            true => Outcome::LeftOut { why: FAILED, run: None, took: Duration::from_millis(1) },
            false => Outcome::Counts(run(1, 0, 0, 1)),
        };
        failed.iter().map(of).collect()
    }

    #[test]
    fn a_status_counts_if_the_user_says_so_and_a_signal_only_by_its_number() {
        let raw = |code: i32, signal: i32| TimedRun {
            status: ExitStatus::from_raw(code << 8 | signal),
            ..run(1, 0, 0, 1)
        };
        let codes = |codes: &[i32]| Allowed::Codes(codes.to_vec());
        let killed = |signal| Some(LeftOutReason::Killed { signal });
        let failed = |exit_code| Some(LeftOutReason::Failed { exit_code });
        for (run, has_shell, allowed, why) in [
            (raw(0, 0), false, Allowed::None, None),
            (raw(1, 0), false, Allowed::None, failed(1)),
            (raw(1, 0), false, Allowed::All, None),
            (raw(1, 0), false, codes(&[1, 2]), None),
            (raw(3, 0), false, codes(&[1, 2]), failed(3)),
            (raw(0, 9), false, Allowed::None, killed(9)),
            (raw(0, 9), false, Allowed::All, killed(9)),
            (raw(0, 9), false, codes(&[137]), None),
            // A shell says it of what it ran; a program says what it likes.
            (raw(139, 0), true, Allowed::All, killed(11)),
            (raw(139, 0), true, codes(&[139]), None),
            (raw(139, 0), false, Allowed::All, None),
            (raw(255, 0), true, Allowed::All, None),
        ] {
            assert_eq!(reason(&run, has_shell, &allowed), why, "{:?} {has_shell} {allowed:?}", run.status);
        }
    }

    #[test]
    fn it_is_too_often_from_ten_on_if_that_is_more_than_half() {
        let of = |failed: usize, counted: usize| {
            let runs = [vec![true; failed], vec![false; counted]].concat();
            too_often(&outcomes(&runs)).map(|(count, _)| count)
        };
        assert_eq!(
            [of(9, 0), of(10, 0), of(10, 9), of(10, 10), of(0, 10)],
            [None, Some(10), Some(10), None, None]
        );
        let never = |failed: &[bool]| always(&outcomes(failed)).map(|(count, _)| count);
        assert_eq!(
            [never(&[]), never(&[true]), never(&[false, true]), never(&[true; 3])],
            [None, Some(1), None, Some(3)]
        );
    }

    /// The level of a comparison of two: 5 %, for both directions together.
    const LEVEL: f64 = 0.025;

    #[test]
    fn one_that_fails_in_enough_blocks_in_which_the_other_does_not_fails_more_often() {
        let of = |a: &[bool], b: &[bool]| {
            failures(&outcomes(a), &[&outcomes(b)], LEVEL).map(|found| found.verdict)
        };
        use FailureVerdict::{Less, More, Undecided};
        assert_eq!(of(&[false; 9], &[false; 9]), None);
        assert_eq!(of(&[true; 5], &[false; 5]), Some(Undecided));
        assert_eq!(of(&[true; 6], &[false; 6]), Some(More));
        assert_eq!(of(&[false; 6], &[true; 6]), Some(Less));
        assert_eq!(of(&[true; 40], &[true; 40]), Some(Undecided), "both always fail");
        let in_turn: Vec<bool> = (0..40).map(|nth| nth % 2 == 0).collect();
        let other: Vec<bool> = in_turn.iter().map(|failed| !failed).collect();
        assert_eq!(of(&in_turn, &other), Some(Undecided));
    }

    #[test]
    fn it_has_to_be_shown_against_each_run_of_the_reference() {
        let (a, never, seldom) =
            (outcomes(&[true; 8]), outcomes(&[false; 8]), outcomes(&[[true; 4], [false; 4]].concat()));
        let of = |b: &[&[Outcome]]| failures(&a, b, LEVEL).unwrap();
        assert_eq!(of(&[&never, &never]).verdict, FailureVerdict::More);
        let found = of(&[&never, &seldom]);
        assert_eq!(found.verdict, FailureVerdict::Undecided);
        assert_eq!(
            (found.a, found.b),
            (FailedRuns { failed: 8, runs: 8 }, FailedRuns { failed: 4, runs: 16 })
        );
        assert_eq!(found.against, [OneFailed { only_a: 8, only_b: 0 }, OneFailed { only_a: 4, only_b: 0 }]);
    }

    #[test]
    fn of_two_at_once_of_which_one_took_too_long_none_is_known_to_have_failed() {
        let why = LeftOutReason::EitherTimedOut { seconds: 1.0 };
        let either = [Outcome::LeftOut { why, run: None, took: Duration::from_secs(1) }; 20];
        assert_eq!(failures(&either, &[&either], LEVEL), None);
        assert_eq!(too_often(&either), Some((20, why)), "it is left out all the same");
    }
}

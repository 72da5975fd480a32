//! Tests of the run loop with a scripted executor and a fake clock: order, budget, interruption, lost cells and void
//! blocks.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use jiff::Timestamp;
use kumite_record::{AxisValue, Machine, Mark, Outcome, Point, Probe, Run, Void, VoidCause, standing};

use super::*;
use crate::contender::Ready;
use crate::run::{TimeLimit, plan};

/// A clock that moves when a trial is executed.
struct FakeClock(Cell<Duration>);

impl Clock for FakeClock {
    fn now(&self) -> Duration {
        self.0.get()
    }

    fn timestamp(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + self.0.get()
    }
}

/// The script of a fake run.
#[derive(Clone, Default)]
struct Case {
    limit: Option<TimeLimit>,
    /// The number of the trial in which `stop` is set. None if it is never set.
    stop_in: Option<u32>,
    /// For each of the two points, the number of rounds after which no claim needs it any more. None if that never
    /// happens.
    decided_after: [Option<u32>; 2],
    /// The numbers of the trials that are void.
    void: Vec<u32>,
    /// The number of the trial before which wake-ups take ten times as long as before the others. None if there is
    /// none.
    dear_in: Option<u32>,
}

/// An executor whose trials take 2 s each. Contender "bad" fails in it.
struct Fake<'a> {
    clock: &'a FakeClock,
    case: Case,
    tried: Vec<(String, String)>,
}

impl Executor for Fake<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        self.clock.0.set(self.clock.0.get() + Duration::from_secs(2));
        self.tried.push((order.contender.name.clone(), order.point.to_string()));
        if self.case.stop_in == Some(order.seq) {
            stop.store(true, Ordering::Relaxed);
            return Err(Halt::Interrupted);
        }
        let mut measured = Measured::failed("it never answered".into());
        if self.case.void.contains(&order.seq) {
            measured.void =
                Some(Void { what: VoidCause::KumiteStopped, process: None, node: None, lasted_ms: 1200.0 });
        }
        measured.load_ms = Some(1000.0);
        if order.contender.name != "bad" {
            (measured.outcome, measured.reason) = (Outcome::Ok, None);
            measured.sample.metrics.insert("throughput_rps".into(), f64::from(order.seq));
            if let Some(dear) = self.case.dear_in {
                let wake_up_us = if order.seq == dear { 50.0 } else { 5.0 };
                measured.sample.metrics.insert(Probe::WakeUp.name().into(), wake_up_us);
            }
            measured.sample.series.columns.insert("ok".into(), vec![Some(1.0)]);
        }
        Ok(measured)
    }
}

struct Made {
    ended: RunEnded,
    tried: Vec<(String, String)>,
    trials: Vec<Trial>,
    notes: Vec<String>,
    /// For each call of the judge, the number of trials that it saw, and the number of those with a series.
    judged: Vec<(usize, usize)>,
}

fn run(names: &[&str], blocks: u32, case: Case) -> Made {
    let mut store = Store::in_memory().unwrap();
    let run = Run { id: "r".into(), ..Run::default() };
    store.begin(&run, &Machine::default(), &[]).unwrap();
    go_on(&mut store, names, blocks, case)
}

fn go_on(store: &mut Store, names: &[&str], blocks: u32, case: Case) -> Made {
    let ready = |name: &&str| Ready {
        name: (*name).into(),
        folder: "".into(),
        run: "".into(),
        env: Vec::new(),
        answers: None,
        reads: None,
        deps: None,
        origin: None,
        memory_mb: None,
        twin: None,
        drawn: None,
    };
    let contenders: Vec<Ready> = names.iter().map(ready).collect();
    let points: Vec<Point> =
        [1, 10].map(|value| Point([("n".to_owned(), AxisValue::Int(value))].into())).into();
    let everyone: Vec<usize> = (0..contenders.len()).collect();
    let plan = plan(&[everyone.clone(), everyone], &BTreeSet::new(), blocks, 5);
    let clock = FakeClock(Cell::new(Duration::from_secs(1000)));
    let mut executor = Fake { clock: &clock, case: case.clone(), tried: Vec::new() };
    let kept = store.trials("r").unwrap();
    let run = Run { id: "r".into(), points, min_blocks: 2, ..Run::default() };
    let judged = RefCell::new(Vec::new());
    let undecided = |trials: &[&Trial]| {
        judged.borrow_mut().push((trials.len(), with_series(trials.iter().copied())));
        let rounds = trials.iter().map(|trial| trial.block + 1).max().unwrap_or(0);
        let open = |point: &usize| case.decided_after[*point].is_none_or(|after| rounds < after);
        let cells = |point| names.iter().map(move |name| ((*name).to_owned(), point));
        (0..2).filter(open).flat_map(cells).collect()
    };
    let session = Session {
        run: &run,
        contenders: &contenders,
        plan: &plan,
        times: &[Some(Duration::from_secs(1)); 2],
        kept: &kept,
        limit: case.limit,
        undecided: &undecided,
    };
    let mut notes = Vec::new();
    let stop = AtomicBool::new(false);
    let ended = execute(&session, &mut executor, &clock, store, &stop, &mut |event| {
        if let Event::Note(note) = event {
            notes.push(note);
        }
    })
    .unwrap();
    Made {
        ended,
        tried: executor.tried,
        trials: store.trials("r").unwrap(),
        notes,
        judged: judged.into_inner(),
    }
}

fn with_series<'a>(trials: impl Iterator<Item = &'a Trial>) -> usize {
    trials.filter(|trial| !trial.sample.series.columns.is_empty()).count()
}

#[test]
fn a_judge_sees_figures_and_no_series_also_of_trials_of_before_and_the_store_keeps_all() {
    let mut store = Store::in_memory().unwrap();
    store.begin(&Run { id: "r".into(), ..Run::default() }, &Machine::default(), &[]).unwrap();
    go_on(&mut store, &["a", "b"], 4, Case { stop_in: Some(8), ..Case::default() });
    let made = go_on(&mut store, &["a", "b"], 4, Case::default());
    assert_eq!(made.judged, [(8, 0), (12, 0)], "eight of before, and four of each round");
    assert_eq!((made.trials.len(), with_series(made.trials.iter())), (16, 16));
}

#[test]
fn blocks_are_interleaved_and_paired() {
    let ended = run(&["a", "b", "c"], 3, Case::default());
    assert_eq!((&ended.ended, ended.trials.len()), (&RunEnded::default(), 18));
    for block in ended.trials.chunks(3) {
        let mut names: Vec<_> = block.iter().map(|trial| trial.contender.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c"], "a block has every contender once");
        assert!(block.iter().all(|trial| (&trial.point, trial.block) == (&block[0].point, block[0].block)));
    }
    let orders: std::collections::BTreeSet<Vec<_>> = ended
        .trials
        .chunks(3)
        .map(|block| block.iter().map(|trial| trial.contender.clone()).collect())
        .collect();
    assert!(orders.len() > 1, "not always in the same order");
    assert_eq!(ended.trials.iter().map(|trial| trial.seq).collect::<Vec<_>>(), (0..18).collect::<Vec<_>>());
}

#[test]
fn the_budget_ends_a_run_between_blocks_and_says_so_after_the_first() {
    let fifteen = Duration::from_secs(15);
    let within = |limit| run(&["a", "b"], 10, Case { limit: Some(limit), ..Case::default() });
    let ended = within(TimeLimit::Budget(fifteen));
    // A block takes 4 s: three fit into 15 s.
    assert_eq!(ended.trials.len(), 6);
    assert_eq!(ended.ended.cut_short.unwrap(), "the budget of 15 s was spent after 6 of at most 40 trials");
    assert_eq!(
        ended.notes,
        ["up to 40 trials will take about 80 s; the budget of 15 s is enough for about 7"]
    );
    let ended = within(TimeLimit::Job(fifteen));
    assert_eq!(
        ended.ended.cut_short.unwrap(),
        "the rest of the job's time limit, 15 s, was spent after 6 of at most 40 trials"
    );
}

#[test]
fn a_budget_too_small_for_a_block_still_gives_one() {
    assert_eq!(
        run(
            &["a", "b"],
            10,
            Case { limit: Some(TimeLimit::Budget(Duration::from_secs(1))), ..Case::default() }
        )
        .trials
        .len(),
        2
    );
}

#[test]
fn a_trial_in_flight_when_interrupted_is_not_kept() {
    let ended = run(&["a", "b"], 10, Case { stop_in: Some(5), ..Case::default() });
    assert_eq!((ended.trials.len(), ended.tried.len()), (5, 6));
    assert_eq!(ended.ended.cut_short.unwrap(), "it was interrupted after 5 trials");
}

#[test]
fn a_contender_that_keeps_failing_loses_its_cells_and_not_the_run() {
    let ended = run(&["bad", "good"], 5, Case::default());
    let count = |name: &str| ended.trials.iter().filter(|trial| trial.contender == name).count();
    assert_eq!((count("bad"), count("good")), (4, 10));
    assert_eq!(ended.ended, RunEnded::default());
    assert_eq!(
        ended.notes,
        [
            "up to 20 trials will take about 40 s",
            "bad at n=10 failed 2 times in a row and is not tried again: it never answered",
            "bad at n=1 failed 2 times in a row and is not tried again: it never answered"
        ]
    );
}

#[test]
fn a_run_that_is_taken_up_again_loses_and_doubles_nothing() {
    let case = Case { void: vec![7, 9, 12], decided_after: [Some(3), Some(5)], ..Case::default() };
    let whole = run(&["a", "b", "bad"], 6, case.clone());
    for stop_in in 0..whole.trials.len() as u32 {
        let mut store = Store::in_memory().unwrap();
        store.begin(&Run { id: "r".into(), ..Run::default() }, &Machine::default(), &[]).unwrap();
        let first = go_on(&mut store, &["a", "b", "bad"], 6, Case { stop_in: Some(stop_in), ..case.clone() });
        assert_eq!(first.trials.len(), stop_in as usize);
        let second = go_on(&mut store, &["a", "b", "bad"], 6, case.clone());
        assert_eq!(second.ended.cut_short, None);
        let order = |trials: &[Trial]| -> Vec<(u32, u32, u32, String, String)> {
            let of = |t: &Trial| (t.seq, t.block, t.attempt, t.contender.clone(), t.point.to_string());
            trials.iter().map(of).collect()
        };
        assert_eq!(order(&second.trials), order(&whole.trials));
    }
}

#[test]
fn what_no_claim_needs_is_not_tried_any_more() {
    let decided_after = [Some(3), Some(5)];
    let made = run(&["a", "b"], 8, Case { decided_after, ..Case::default() });
    let count = |n: &str| made.tried.iter().filter(|(_, point)| point == n).count();
    assert_eq!((count("n=1"), count("n=10")), (6, 10));
    // There would be 16 trials at each point; a trial takes 2 s.
    assert_eq!(made.ended.saved, Some(Saved { trials: 16, seconds: 32.0, decided: true }));
    assert_eq!(made.ended.cut_short, None);
    let made = run(&["a", "b"], 8, Case { decided_after: [Some(1), None], ..Case::default() });
    assert_eq!(
        made.ended.saved,
        Some(Saved { trials: 12, seconds: 24.0, decided: false }),
        "two rounds at least"
    );
}

#[test]
fn a_block_with_a_void_trial_is_measured_again_as_a_whole_and_newly_shuffled() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let made = run(&names, 1, Case { void: vec![3], ..Case::default() });
    let attempts: Vec<u32> = made.trials.iter().map(|trial| trial.attempt).collect();
    assert_eq!(attempts, [&[0; 4][..], &[1; 6], &[0; 6]].concat(), "at once, and from where it was void");
    assert!(made.trials[..10].iter().all(|trial| (&trial.point, trial.block) == (&made.trials[0].point, 0)));
    let order = |trials: &[Trial]| trials.iter().map(|trial| trial.contender.clone()).collect::<Vec<_>>();
    assert_ne!(order(&made.trials[..4]), order(&made.trials[4..8]));
    let stand: Vec<u32> = standing(&made.trials).map(|trial| trial.seq).collect();
    assert_eq!(stand, (4..16).collect::<Vec<_>>());
    let point = &made.trials[0].point;
    assert_eq!(
        made.notes[0],
        format!("block 1 at {point} is void: kumite was stopped for 1.2 s; measured again")
    );
}

#[test]
fn a_block_that_is_void_each_time_is_left_without_a_result() {
    let made = run(&["a", "b"], 1, Case { void: vec![0, 2, 3, 5], ..Case::default() });
    let attempts: Vec<u32> = made.trials.iter().map(|trial| trial.attempt).collect();
    assert_eq!(attempts, [0, 1, 1, 2, 3, 3, 0, 0]);
    let stand: Vec<u32> = standing(&made.trials).map(|trial| trial.seq).collect();
    assert_eq!(stand, [6, 7], "the other block goes on");
    assert_eq!(
        made.notes,
        [
            "block 1 at n=1 is void: kumite was stopped for 1.2 s; measured again",
            "block 1 at n=1 is void: kumite was stopped for 1.2 s; measured again",
            "block 1 at n=1 is void: kumite was stopped for 1.2 s; measured again",
            "block 1 at n=1 is void: kumite was stopped for 1.2 s; void in all 4 attempts, no result",
            "up to 8 trials will take about 15 s"
        ]
    );
}

#[test]
fn failures_of_a_void_attempt_count_for_nothing() {
    let first_of_each_attempt = run(&["bad"], 1, Case { void: vec![0, 1, 2], ..Case::default() });
    assert_eq!(
        first_of_each_attempt.notes,
        [
            "block 1 at n=1 is void: kumite was stopped for 1.2 s; measured again",
            "block 1 at n=1 is void: kumite was stopped for 1.2 s; measured again",
            "block 1 at n=1 is void: kumite was stopped for 1.2 s; measured again",
            "up to 5 trials will take about 9.2 s"
        ]
    );
    // Each of four rounds is void once at both points, so that there are four failures where two lose a cell.
    let made = run(&["bad"], 4, Case { void: vec![0, 2, 4, 6], ..Case::default() });
    let attempts: Vec<u32> = made.trials.iter().map(|trial| trial.attempt).collect();
    assert_eq!(attempts, [0, 1, 0, 1, 0, 1, 0, 1], "lost after two that count");
    assert_eq!(
        made.notes,
        [
            "block 1 at n=1 is void: kumite was stopped for 1.2 s; measured again",
            "up to 9 trials will take about 14 s",
            "block 1 at n=10 is void: kumite was stopped for 1.2 s; measured again",
            "block 2 at n=1 is void: kumite was stopped for 1.2 s; measured again",
            "bad at n=1 failed 2 times in a row and is not tried again: it never answered",
            "block 2 at n=10 is void: kumite was stopped for 1.2 s; measured again",
            "bad at n=10 failed 2 times in a row and is not tried again: it never answered"
        ]
    );
}

#[test]
fn what_a_trial_took_is_all_the_time_since_the_one_before() {
    let made = run(&["a", "b"], 2, Case::default());
    assert!(made.trials.iter().all(|trial| (trial.took_ms, trial.load_ms) == (Some(2000.0), Some(1000.0))));
}

#[test]
fn a_trial_before_which_the_machine_charged_more_is_marked_and_counts() {
    let made = run(&["a", "b"], 12, Case { dear_in: Some(40), ..Case::default() });
    let marked: Vec<(u32, &[Mark])> =
        made.trials.iter().filter(|it| !it.marks.is_empty()).map(|it| (it.seq, &*it.marks)).collect();
    assert_eq!(marked, [(40, &[Mark::MachineChanged][..])]);
    assert_eq!((made.trials.len(), standing(&made.trials).count()), (48, 48), "it voids nothing");
}

//! The progress of a run: the trials so far, those that are still to be made, and how long they will take.
//!
//! Nothing is executed or stored here. Trials are held without the courses of events within them. Times are estimates
//! for people and the time limit, never figures of the record.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use kumite_host::Clock;
use kumite_process::total;
use kumite_record::{Mark, Outcome, Saved, Series, Trial, judge_outputs, standing};

use super::machine_changed::machine_changed;
use super::plan::Block;
use super::session::Session;
use super::time_limit::humane;
use crate::driver::{Measured, TrialOrder};

/// The number of failures in a row by which a cell is lost: trying it again would only cost time.
pub(super) const LOST_AFTER: u32 = 2;

/// The progress of one execution.
pub(super) struct Progress<'a> {
    session: &'a Session<'a>,
    clock: &'a dyn Clock,
    began: Duration,
    last_ended: Duration,
    /// All trials that there are, those from before a resumption first.
    pub trials: Vec<Trial>,
    kept: BTreeMap<(usize, usize, u32, u32), usize>,
    pub seq: u32,
    /// The number of trials that this execution has made, and the time that they were expected to take.
    pub tried: usize,
    expected_of_tried: Duration,
    /// The times that the trials of each cell took, if they cannot be known before they are tried.
    took: BTreeMap<(usize, usize), Vec<Duration>>,
    /// The number of failures in a row of each cell.
    failures: BTreeMap<(usize, usize), u32>,
    /// The cells whose output is known to be unlike the others', and was reported.
    told: BTreeSet<(String, String)>,
    /// The cells that go on. None as long as all do.
    pub needed: Option<BTreeSet<(usize, usize)>>,
}

impl<'a> Progress<'a> {
    pub fn new(session: &'a Session<'a>, clock: &'a dyn Clock) -> Progress<'a> {
        let place = |(nth, trial): (usize, &Trial)| {
            let contender =
                session.contenders.iter().position(|ready| ready.recorded() == trial.contender)?;
            let point = session.run.points.iter().position(|point| *point == trial.point)?;
            Some(((contender, point, trial.block, trial.attempt), nth))
        };
        Progress {
            session,
            clock,
            began: clock.now(),
            last_ended: clock.now(),
            trials: session.kept.iter().cloned().map(for_judging).collect(),
            kept: session.kept.iter().enumerate().filter_map(place).collect(),
            seq: session.kept.iter().map(|trial| trial.seq + 1).max().unwrap_or(0),
            tried: 0,
            expected_of_tried: Duration::ZERO,
            took: BTreeMap::new(),
            failures: BTreeMap::new(),
            told: BTreeSet::new(),
            needed: None,
        }
    }

    /// The cells that further blocks might decide, judged by the rounds before `round`.
    pub fn look(&self, round: u32) -> BTreeSet<(usize, usize)> {
        let before = self.trials.iter().filter(|trial| trial.block < round);
        let standing: Vec<&Trial> = standing(before).collect();
        let cell = |(name, point): (String, usize)| {
            let contender = self.session.contenders.iter().position(|ready| ready.recorded() == name)?;
            // A cell that is lost stays undecided for ever.
            (!self.is_lost_at(contender, point)).then_some((contender, point))
        };
        (self.session.undecided)(&standing).into_iter().filter_map(cell).collect()
    }

    /// The trial of a contender in an attempt at a block, if the store has it already; else `None`.
    pub fn kept(&self, contender: usize, block: &Block, attempt: u32) -> Option<&Trial> {
        self.kept.get(&(contender, block.point, block.index, attempt)).map(|&nth| &self.trials[nth])
    }

    pub fn is_needed(&self, contender: usize, block: &Block) -> bool {
        self.needed.as_ref().is_none_or(|needed| needed.contains(&(contender, block.point)))
    }

    pub fn is_lost(&self, contender: usize, block: &Block) -> bool {
        self.is_lost_at(contender, block.point)
    }

    pub fn is_lost_at(&self, contender: usize, point: usize) -> bool {
        self.failures.get(&(contender, point)).is_some_and(|failed| *failed >= LOST_AFTER)
    }

    pub fn is_void(&self, block: &Block, attempt: u32) -> bool {
        let kept = |&contender: &usize| self.kept(contender, block, attempt);
        block.order.iter().filter_map(kept).any(|trial| trial.void.is_some())
    }

    /// Counts the failures of an attempt that is not void. Returns the trials by which a cell became lost.
    pub fn count_failures(&mut self, block: &Block, attempt: u32) -> Vec<&Trial> {
        let mut lost = Vec::new();
        for &contender in &block.order {
            let Some(outcome) = self.kept(contender, block, attempt).map(|trial| trial.outcome) else {
                continue;
            };
            let failed = self.failures.entry((contender, block.point)).or_default();
            *failed = if outcome == Outcome::Failed { *failed + 1 } else { 0 };
            if *failed == LOST_AFTER {
                lost.push(contender);
            }
        }
        lost.into_iter().filter_map(|contender| self.kept(contender, block, attempt)).collect()
    }

    /// Judges the outputs so far. Returns a trial of each cell whose output is found to be wrong for the first time.
    pub fn judge_outputs(&mut self) -> Vec<&Trial> {
        judge_outputs(&mut self.trials);
        let is_wrong =
            |trial: &&Trial| trial.sample.output.is_some() && trial.outcome == Outcome::Disqualified;
        let told = &mut self.told;
        let is_new = |trial: &&Trial| told.insert((trial.contender.clone(), trial.point.to_string()));
        self.trials.iter().filter(is_wrong).filter(is_new).collect()
    }

    /// The cells of the trials that will at most be made in this attempt at these blocks. Trials that are kept or not
    /// needed, and those of lost cells, are left out.
    pub fn to_try<'b>(
        &self,
        blocks: impl IntoIterator<Item = &'b Block>,
        attempt: u32,
    ) -> Vec<(usize, usize)> {
        let cells = |block: &Block| -> Vec<(usize, usize)> {
            let wanted = |&contender: &usize| {
                self.is_needed(contender, block)
                    && !self.is_lost(contender, block)
                    && self.kept(contender, block, attempt).is_none()
            };
            let contenders = block.order.iter().copied().filter(wanted);
            contenders.map(|contender| (contender, block.point)).collect()
        };
        blocks.into_iter().flat_map(cells).collect()
    }

    /// Adds the trials of these blocks that are not made because no verdict needs them.
    pub fn count_saved<'b>(&self, blocks: impl IntoIterator<Item = &'b Block>, saved: &mut Saved) {
        for block in blocks {
            let spared = |&contender: &usize| {
                (saved.decided || !self.is_needed(contender, block))
                    && !self.is_lost(contender, block)
                    && self.kept(contender, block, 0).is_none()
            };
            let contenders = block.order.iter().copied().filter(spared);
            let cells: Vec<_> = contenders.map(|contender| (contender, block.point)).collect();
            saved.trials += cells.len();
            saved.seconds += self.expected(&cells).as_secs_f64();
        }
    }

    pub fn trial(
        &self,
        order: &TrialOrder,
        block: &Block,
        attempt: u32,
        started: Timestamp,
        measured: Measured,
    ) -> Trial {
        let mut trial = Trial {
            seq: order.seq,
            block: block.index,
            attempt,
            void: measured.void,
            contender: order.contender.recorded().to_owned(),
            point: order.point.clone(),
            started,
            outcome: measured.outcome,
            reason: measured.reason,
            sample: measured.sample,
            marks: measured.marks,
            ready_ms: measured.ready_ms,
            load_ms: measured.load_ms,
            control: order.contender.twin.is_some(),
            took_ms: Some(self.clock.now().saturating_sub(self.last_ended).as_secs_f64() * 1e3),
            node: None,
            log: measured.log,
        };
        if machine_changed(self.session.run, &self.trials, &trial) {
            trial.marks.push(Mark::MachineChanged);
        }
        trial
    }

    /// Counts the time of a trial that was made. The time of a void one says nothing about others.
    pub fn tried(&mut self, contender: usize, block: &Block, is_void: bool) {
        let took = self.clock.now().saturating_sub(self.last_ended);
        self.last_ended += took;
        self.seq += 1;
        self.tried += 1;
        match self.session.times[block.point] {
            _ if is_void => self.expected_of_tried += took,
            Some(time) => self.expected_of_tried += time,
            None => {
                self.expected_of_tried += took;
                self.took.entry((contender, block.point)).or_default().push(took);
            }
        }
    }

    /// Adds a trial that is in the store now.
    pub fn keep(&mut self, contender: usize, block: &Block, trial: Trial) {
        self.kept.insert((contender, block.point, block.index, trial.attempt), self.trials.len());
        self.trials.push(for_judging(trial));
    }

    pub fn spent(&self) -> Duration {
        self.clock.now().saturating_sub(self.began)
    }

    /// The expected time of trials of these cells, with the time for starting and stopping. For each trial it is the
    /// time that is known for its point. If none is known, it is the mean of the trials so far: of the same cell, else
    /// of the same point, else of all.
    pub fn expected(&self, cells: &[(usize, usize)]) -> Duration {
        let added = self.spent().saturating_sub(self.expected_of_tried) / self.tried.max(1) as u32;
        let mean = |which: &dyn Fn(&(usize, usize)) -> bool| {
            let took = || self.took.iter().filter(|(cell, _)| which(cell)).flat_map(|(_, took)| took);
            Some(total(took().copied()) / u32::try_from(took().count()).ok().filter(|n| *n > 0)?)
        };
        let seen = |cell: (usize, usize)| {
            let at_point = || mean(&|other| other.1 == cell.1);
            mean(&|other| *other == cell).or_else(at_point).or_else(|| mean(&|_| true))
        };
        let known =
            |&cell: &(usize, usize)| self.session.times[cell.1].or_else(|| seen(cell)).unwrap_or_default();
        cells.iter().map(|cell| known(cell) + added).sum()
    }

    /// A sentence on the number of trials and the time that they will take. It is made when the real pace is known:
    /// after the first block or, if the length of a trial is not known in advance, after the first round.
    pub fn announcement<'b>(&self, rest: impl IntoIterator<Item = &'b Block>) -> String {
        let left = self.to_try(rest, 0);
        let expected = self.spent() + self.expected(&left);
        let (trials, time) = (self.tried + left.len(), humane(expected));
        let trials_will =
            if trials == 1 { "1 trial will".to_owned() } else { format!("up to {trials} trials will") };
        let mut note = format!("{trials_will} take about {time}");
        if let Some(limit) = self.session.limit.filter(|limit| limit.time() < expected) {
            let will_do = (limit.time().as_secs_f64() / expected.as_secs_f64() * trials as f64) as usize;
            note += &format!("; {limit} is enough for about {will_do}");
        }
        note
    }
}

/// A trial as judging needs it, without the course of events within it, which is most of it and is in the store.
/// Otherwise a run of thousands of trials would grow by all that they recorded.
fn for_judging(mut trial: Trial) -> Trial {
    let sample = &mut trial.sample;
    sample.series = Series::default();
    sample.histograms.clear();
    (sample.jobs, sample.events) = (Vec::new(), Vec::new());
    (sample.calls, sample.phases, sample.arrivals) = (Vec::new(), Vec::new(), Vec::new());
    trial
}

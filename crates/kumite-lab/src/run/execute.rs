//! The plan, trial by trial, each committed before the next.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_host::Clock;
use kumite_record::{Saved, Store, StoreError, Trial};

use super::common_fault::common_fault;
use super::plan::Block;
use super::session::Session;
use super::state::{LOST_AFTER, State, humane};
use crate::driver::{Executor, Measured, TrialOrder};
use crate::halt::Halt;

/// A block that is still void after this many times more is left without a result.
const MOST_REPETITIONS: u32 = 3;

/// How a run ended.
#[derive(Debug, Default, PartialEq)]
pub struct RunEnded {
    /// Why it ended before its end, if it did: the budget, `stop`, or a fault that is no contender's own.
    pub cut_short: Option<String>,
    /// What the verdicts that came early saved.
    pub saved: Option<Saved>,
}

/// What whoever watches is told.
pub enum Event<'a> {
    /// A trial was committed.
    Trial {
        /// Trials so far.
        done: usize,
        /// Trials in the plan.
        total: usize,
        /// Time the rest will take, at the pace so far.
        left: Duration,
        /// The trial.
        trial: &'a Trial,
    },
    /// Every point has had its first block: the trials so far.
    FirstRound(&'a [Trial]),
    /// Something that should be said at once.
    Note(String),
}

/// Executes the plan, until its verdicts are in. What was measured is in the store; a trial in flight when `stop` is set
/// is not.
pub fn execute(
    session: &Session,
    executor: &mut dyn Executor,
    clock: &dyn Clock,
    store: &mut Store,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Event),
) -> Result<RunEnded, StoreError> {
    let state = State::new(session, clock);
    let saved = Saved::default();
    let mut execution =
        Execution { session, executor, clock, store, stop, watch, state, saved, announced: false };
    let cut_short = execution.blocks()?;
    let saved = execution.saved;
    Ok(RunEnded { saved: (cut_short.is_none() && saved.trials > 0).then_some(saved), cut_short })
}

/// A run while it is executed.
struct Execution<'a> {
    session: &'a Session<'a>,
    executor: &'a mut dyn Executor,
    clock: &'a dyn Clock,
    store: &'a mut Store,
    stop: &'a AtomicBool,
    watch: &'a mut dyn FnMut(Event<'_>),
    state: State<'a>,
    saved: Saved,
    announced: bool,
}

impl Execution<'_> {
    /// Block after block. Why it ended before its end, if it did.
    fn blocks(&mut self) -> Result<Option<String>, StoreError> {
        for nth in 0..self.session.plan.blocks.len() {
            if self.is_decided_before(nth) {
                break;
            }
            let block = &self.session.plan.blocks[nth];
            self.state.count_saved(std::slice::from_ref(block), &mut self.saved);
            if let Some(why) = self.over_budget(nth) {
                return Ok(Some(why));
            }
            if self.block(nth)?.is_break() {
                return Ok(Some(format!("it was interrupted after {} trials", self.state.trials.len())));
            }
            self.compare_outputs();
            self.announce(nth);
            if self.ends_round(nth)
                && let Some(why) = common_fault(&self.state.trials)
            {
                return Ok(Some(why));
            }
            if self.ends_round(nth) && self.is_of_first_round(nth) {
                (self.watch)(Event::FirstRound(&self.state.trials));
            }
        }
        Ok(None)
    }

    /// Whether no claim needs this block or any after it. That is asked where a round begins.
    fn is_decided_before(&mut self, nth: usize) -> bool {
        let blocks = &self.session.plan.blocks;
        let (block, min_blocks) = (&blocks[nth], self.session.run.min_blocks);
        let begins_round = nth > 0 && blocks[nth - 1].index != block.index;
        if !begins_round || block.index < min_blocks {
            return false;
        }
        let needed = self.state.look(block.index);
        self.saved.decided = needed.is_empty();
        if self.saved.decided {
            self.state.count_saved(&blocks[nth..], &mut self.saved);
        } else {
            self.state.needed = Some(needed);
        }
        self.saved.decided
    }

    /// What to say if this block would likely end after the budget.
    fn over_budget(&self, nth: usize) -> Option<String> {
        let blocks = &self.session.plan.blocks;
        let to_try = self.state.to_try(&blocks[nth..=nth], 0);
        let budget = self.session.budget?;
        let fits = self.state.tried == 0 || self.state.spent() + self.state.expected(&to_try) <= budget;
        (!fits).then(|| {
            let (budget, tried) = (humane(budget), self.state.tried);
            let of = tried + self.state.to_try(&blocks[nth..], 0).len();
            format!("the budget of {budget} was spent after {tried} of at most {of} trials")
        })
    }

    /// A block, and again from its beginning as long as a trial of it is void. It breaks off if it is told to stop.
    fn block(&mut self, nth: usize) -> Result<ControlFlow<()>, StoreError> {
        for attempt in 0..=MOST_REPETITIONS {
            let block = self.session.plan.blocks[nth].attempt(attempt, self.session.run.seed);
            // That of a run that was taken up again may be.
            if !self.state.is_void(&block, attempt) && self.attempt(nth, &block, attempt)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            if !self.state.is_void(&block, attempt) {
                self.count_failures(&block, attempt);
                break;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Each contender of a block in its order, until a trial is void.
    fn attempt(&mut self, nth: usize, block: &Block, attempt: u32) -> Result<ControlFlow<()>, StoreError> {
        for (place, &contender) in block.order.iter().enumerate() {
            if self.state.kept(contender, block, attempt).is_some()
                || self.state.is_lost(contender, block)
                || !self.state.is_needed(contender, block)
            {
                continue;
            }
            let order = TrialOrder {
                seq: self.state.seq,
                contender: &self.session.contenders[contender],
                point: &self.session.run.points[block.point],
                at: block.point,
                block: block.index,
            };
            let started = self.clock.timestamp();
            let tried = Halt::if_set(self.stop).and_then(|()| self.executor.trial(&order, self.stop));
            let Ok(measured) = Measured::or_failed(tried) else { return Ok(ControlFlow::Break(())) };
            let trial = self.state.trial(&order, block, attempt, started, measured);
            self.store.commit(&self.session.run.id, &trial)?;
            let is_void = trial.void.is_some();
            self.state.tried(contender, block, is_void);
            let rest = match (is_void, attempt < MOST_REPETITIONS) {
                (false, _) => &block.order[place + 1..],
                (true, true) => &block.order[..],
                (true, false) => &[],
            };
            let rest = Block { order: rest.to_vec(), ..*block };
            self.tell(nth, rest, attempt + u32::from(is_void), &trial);
            self.state.keep(contender, block, trial);
            if is_void {
                break;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Says that a trial was committed, and whether it is void; `rest` is what comes after it in its block, at that attempt.
    fn tell(&mut self, nth: usize, rest: Block, attempt: u32, trial: &Trial) {
        let mut left = self.state.to_try(&self.session.plan.blocks[nth + 1..], 0);
        left.extend(self.state.to_try(&[rest], attempt));
        let done = self.state.trials.len() + 1;
        let (total, left) = (done + left.len(), self.state.expected(&left));
        let of_budget = self.session.budget.map(|budget| budget.saturating_sub(self.state.spent()));
        let left = of_budget.map_or(left, |of_budget| of_budget.min(left));
        (self.watch)(Event::Trial { done, total, left, trial });
        if let Some(void) = &trial.void {
            let block = self.session.run.cell(&format!("block {}", trial.block + 1), &trial.point);
            let then = match trial.attempt {
                MOST_REPETITIONS => format!("it was so {} times, and has no result", MOST_REPETITIONS + 1),
                _ => "measured again".to_owned(),
            };
            (self.watch)(Event::Note(format!("{block} is void: {void}; {then}")));
        }
    }

    /// What contenders wrote can be compared when a block is whole. Says of each cell once that its output is wrong.
    fn compare_outputs(&mut self) {
        for trial in self.state.judge_outputs() {
            let cell = self.session.run.cell(&trial.contender, &trial.point);
            (self.watch)(Event::Note(format!("{cell}: {}", trial.reason.as_deref().unwrap_or_default())));
        }
    }

    /// Counts the failures of an attempt that counts, and says which cells are lost.
    fn count_failures(&mut self, block: &Block, attempt: u32) {
        for trial in self.state.count_failures(block, attempt) {
            let cell = self.session.run.cell(&trial.contender, &trial.point);
            let why = trial.reason.as_deref().unwrap_or_default();
            (self.watch)(Event::Note(format!(
                "{cell} failed {LOST_AFTER} times in a row and is not tried again: {why}"
            )));
        }
    }

    /// A shard begins with another round than the first of its run.
    fn is_of_first_round(&self, nth: usize) -> bool {
        let blocks = &self.session.plan.blocks;
        blocks[nth].index == blocks[0].index
    }

    fn ends_round(&self, nth: usize) -> bool {
        let blocks = &self.session.plan.blocks;
        blocks.get(nth + 1).is_none_or(|next| next.index != blocks[nth].index)
    }

    /// Says once how long all will take, as soon as the real pace is known.
    fn announce(&mut self, nth: usize) {
        let blocks = &self.session.plan.blocks;
        // Where only trying tells, a point says little of the others.
        let is_known = self.ends_round(nth) || self.session.times.iter().all(Option::is_some);
        if !self.announced && self.state.tried > 0 && is_known {
            self.announced = true;
            (self.watch)(Event::Note(self.state.announcement(&blocks[nth + 1..])));
        }
    }
}

#[cfg(test)]
mod tests;

//! The plan, trial by trial, each committed before the next.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_host::Clock;
use kumite_record::{Mark, Saved, Store, StoreError, Trial};

use super::plan::Block;
use super::session::Session;
use super::state::{LOST_AFTER, State, humane};
use crate::driver::{Executor, Measured, TrialOrder};
use crate::halt::Halt;

/// A block that is still marked after this many times more is left as it is.
const MOST_ATTEMPTS: u32 = 3;

/// How a run ended.
#[derive(Debug, Default, PartialEq)]
pub struct RunEnded {
    /// Why it ended before its end, if it did: the budget, or `stop`.
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
            self.announce(nth);
            if self.ends_round(nth) && self.session.plan.blocks[nth].index == 0 {
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
        let to_try = self.state.to_try(&blocks[nth..=nth]);
        let budget = self.session.budget?;
        let fits = self.state.tried == 0 || self.state.spent() + self.state.expected(&to_try) <= budget;
        let (budget, of) = (humane(budget), blocks.len());
        (!fits).then(|| format!("the budget of {budget} was spent after {nth} of at most {of} blocks"))
    }

    /// A block, and once more as long as noise from outside marks it, if that is wanted. It breaks off if it is told to stop.
    fn block(&mut self, nth: usize) -> Result<ControlFlow<()>, StoreError> {
        let block = &self.session.plan.blocks[nth];
        for attempt in 0.. {
            let ControlFlow::Continue(is_marked) = self.attempt(nth, attempt)? else {
                return Ok(ControlFlow::Break(()));
            };
            if !is_marked || !self.session.rerun_marked || attempt >= MOST_ATTEMPTS {
                break;
            }
            let place = &self.session.run.points[block.point];
            (self.watch)(Event::Note(format!(
                "block {} at {place} is marked by noise from outside and is measured anew",
                block.index + 1
            )));
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Each contender of a block in its order; whether noise from outside marked any of the trials.
    fn attempt(&mut self, nth: usize, attempt: u32) -> Result<ControlFlow<(), bool>, StoreError> {
        let block = &self.session.plan.blocks[nth];
        let is_outside = |marks: &[Mark]| marks.iter().any(|mark| mark.is_outside());
        let mut is_marked = false;
        for (place, &contender) in block.order.iter().enumerate() {
            if let Some(kept) = self.state.kept(contender, block, attempt) {
                is_marked |= is_outside(&kept.marks);
                let outcome = kept.outcome;
                self.state.count(contender, block, outcome);
                continue;
            }
            if self.state.is_lost(contender, block) || !self.state.is_needed(contender, block) {
                continue;
            }
            let order = TrialOrder {
                seq: self.state.seq,
                contender: &self.session.contenders[contender],
                point: &self.session.run.points[block.point],
                block: block.index,
            };
            let started = self.clock.timestamp();
            let tried = Halt::if_set(self.stop).and_then(|()| self.executor.trial(&order, self.stop));
            let Ok(measured) = Measured::or_failed(tried) else { return Ok(ControlFlow::Break(())) };
            is_marked |= is_outside(&measured.marks);
            let trial = self.state.trial(&order, block, attempt, started, measured);
            self.store.commit(&self.session.run.id, &trial)?;
            let is_lost = self.state.tried(contender, block, &trial);
            self.tell(nth, place, &trial, is_lost);
            self.state.keep(trial);
        }
        Ok(ControlFlow::Continue(is_marked))
    }

    /// Says that a trial was committed, that of the contender at this place of the block.
    fn tell(&mut self, nth: usize, place: usize, trial: &Trial, is_lost: bool) {
        let blocks = &self.session.plan.blocks;
        let rest = Block { order: blocks[nth].order[place + 1..].to_vec(), ..blocks[nth] };
        let mut left = self.state.to_try(&blocks[nth + 1..]);
        left.extend(self.state.to_try(&[rest]));
        let done = self.state.trials.len() + 1;
        let (total, left) = (done + left.len(), self.state.expected(&left));
        (self.watch)(Event::Trial { done, total, left, trial });
        if is_lost {
            let cell = self.session.run.cell(&trial.contender, &trial.point);
            let why = trial.reason.as_deref().unwrap_or_default();
            (self.watch)(Event::Note(format!(
                "{cell} failed {LOST_AFTER} times in a row and is not tried again: {why}"
            )));
        }
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

//! The plan, trial by trial, each committed before the next.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Timestamp;
use kumite_host::Clock;
use kumite_record::{Mark, Outcome, Point, Run, Sample, Saved, Series, Store, StoreError, Trial, standing};

use crate::halt::Halt;
use crate::plan::{Block, Plan};
use crate::prepare::Ready;

/// A cell that failed this often in a row is lost: trying it again would only cost time.
const LOST_AFTER: u32 = 2;

/// A block that is still marked after this many times more is left as it is.
const MOST_ATTEMPTS: u32 = 3;

/// What executes a trial. Replaced in tests.
pub trait Executor {
    /// Starts the contender, measures it at the point, stops it. A failure is a trial that measured nothing.
    fn trial(&mut self, order: &Order, stop: &AtomicBool) -> Result<Measured, Halt>;
}

/// What is to be tried.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// Position of the trial in the run.
    pub seq: u32,
    /// Which contender.
    pub contender: &'a Ready,
    /// At which point.
    pub point: &'a Point,
    /// In which block of the point.
    pub block: u32,
}

impl Order<'_> {
    /// What its log is called, but for an ending.
    pub(crate) fn log_name(&self) -> String {
        format!("{:04}-{}", self.seq, self.contender.name)
    }
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How it ended.
    pub outcome: Outcome,
    /// Why, where it is not `ok`.
    pub reason: Option<String>,
    /// What was measured.
    pub sample: Sample,
    /// Doubts about it.
    pub marks: Vec<Mark>,
    /// Time from start until the contender was ready.
    pub ready_ms: Option<f64>,
    /// Time it was under load, warm-up and watching included.
    pub load_ms: Option<f64>,
    /// The contender's output, relative to the folder of the store.
    pub log: Option<String>,
}

impl Measured {
    /// A failure is a trial that measured nothing; an interruption is none.
    pub(crate) fn or_failed(tried: Result<Measured, Halt>) -> Result<Measured, Halt> {
        match tried {
            Err(Halt::Failed(why)) => Ok(Measured::failed(why)),
            tried => tried,
        }
    }

    /// A trial that measured nothing, and why.
    pub fn failed(reason: String) -> Measured {
        Measured { outcome: Outcome::Failed, ..Measured::answered(Some(reason)) }
    }

    /// A trial that measured nothing yet; disqualified if its answer is wrong.
    pub fn answered(wrong: Option<String>) -> Measured {
        Measured {
            outcome: if wrong.is_none() { Outcome::Ok } else { Outcome::Disqualified },
            reason: wrong,
            sample: Sample::default(),
            marks: Vec::new(),
            ready_ms: None,
            load_ms: None,
            log: None,
        }
    }
}

/// From the trials there are to cells, by contender and position of the point.
pub type Undecided<'a> = dyn Fn(&[&Trial]) -> BTreeSet<(String, usize)> + 'a;

/// A run that is about to be executed; the store has its beginning.
pub struct Session<'a> {
    /// The run, with its points.
    pub run: &'a Run,
    /// Contenders by position.
    pub contenders: &'a [Ready],
    /// The order.
    pub plan: &'a Plan,
    /// About how long a trial takes at each point; none if only trying it tells.
    pub times: &'a [Option<Duration>],
    /// Trials of the plan that are in the store already: they are not tried again.
    pub kept: &'a [Trial],
    /// No block is begun that would likely end after this time.
    pub budget: Option<Duration>,
    /// Which cells more blocks might decide a claim about. It is asked after each round from `min_blocks` on, and only
    /// these go on.
    pub undecided: &'a Undecided<'a>,
    /// Whether a block that noise from outside has marked is measured anew.
    pub rerun_marked: bool,
}

/// How a run ended.
#[derive(Debug, Default, PartialEq)]
pub struct Ended {
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
) -> Result<Ended, StoreError> {
    let blocks = &session.plan.blocks;
    let mut state = State::new(session, clock);
    let mut saved = Saved::default();
    let mut announced = false;
    for (nth, block) in blocks.iter().enumerate() {
        let begins_round = nth == 0 || blocks[nth - 1].index != block.index;
        if begins_round && nth > 0 && block.index >= session.run.min_blocks {
            let needed = state.look(block.index);
            if needed.is_empty() {
                saved.decided = true;
                state.count_saved(&blocks[nth..], &mut saved);
                break;
            }
            state.needed = Some(needed);
        }
        state.count_saved(std::slice::from_ref(block), &mut saved);
        let to_try = state.to_try(std::slice::from_ref(block));
        if let Some(budget) = session.budget
            && state.tried > 0
            && state.spent() + state.expected(&to_try) > budget
        {
            let (budget, of) = (humane(budget), blocks.len());
            let cut_short =
                Some(format!("the budget of {budget} was spent after {nth} of at most {of} blocks"));
            return Ok(Ended { cut_short, saved: None });
        }
        for attempt in 0.. {
            let mut is_marked = false;
            for (place, &contender) in block.order.iter().enumerate() {
                if let Some(kept) = state.kept(contender, block, attempt) {
                    is_marked |= kept.marks.iter().any(|mark| mark.is_outside());
                    state.count(contender, block, kept.outcome);
                    continue;
                }
                if state.is_lost(contender, block) || !state.is_needed(contender, block) {
                    continue;
                }
                let order = Order {
                    seq: state.seq,
                    contender: &session.contenders[contender],
                    point: &session.run.points[block.point],
                    block: block.index,
                };
                let started = clock.timestamp();
                let tried = Halt::if_set(stop).and_then(|()| executor.trial(&order, stop));
                let Ok(measured) = Measured::or_failed(tried) else {
                    return Ok(Ended { cut_short: Some(interrupted(state.trials.len())), saved: None });
                };
                is_marked |= measured.marks.iter().any(|mark| mark.is_outside());
                let trial = state.trial(&order, block, attempt, started, measured);
                store.commit(&session.run.id, &trial)?;
                let is_lost = state.tried(contender, block, &trial);
                let rest = Block { order: block.order[place + 1..].to_vec(), ..*block };
                let mut left = state.to_try(&blocks[nth + 1..]);
                left.extend(state.to_try(&[rest]));
                let done = state.trials.len() + 1;
                let left = Left { trials: left.len(), time: state.expected(&left) };
                watch(Event::Trial { done, total: done + left.trials, left: left.time, trial: &trial });
                if is_lost {
                    let place = session.run.cell(&trial.contender, order.point);
                    let why = trial.reason.as_deref().unwrap_or_default();
                    watch(Event::Note(format!(
                        "{place} failed {LOST_AFTER} times in a row and is not tried again: {why}"
                    )));
                }
                state.keep(trial);
            }
            if !is_marked || !session.rerun_marked || attempt >= MOST_ATTEMPTS {
                break;
            }
            let place = &session.run.points[block.point];
            watch(Event::Note(format!(
                "block {} at {place} is marked by noise from outside and is measured anew",
                block.index + 1
            )));
        }
        let ends_round = blocks.get(nth + 1).is_none_or(|next| next.index != block.index);
        // Where only trying tells, a point says little of the others.
        let is_known = ends_round || session.times.iter().all(Option::is_some);
        if !announced && state.tried > 0 && is_known {
            announced = true;
            watch(Event::Note(state.announcement(&blocks[nth + 1..])));
        }
    }
    let saved = (saved.trials > 0).then_some(saved);
    Ok(Ended { cut_short: None, saved })
}

/// What is left to do, at most.
struct Left {
    trials: usize,
    time: Duration,
}

/// How far a run has come.
struct State<'a> {
    session: &'a Session<'a>,
    clock: &'a dyn Clock,
    began: Duration,
    last_ended: Duration,
    /// All there are, those that were kept first.
    trials: Vec<Trial>,
    kept: BTreeMap<(usize, usize, u32, u32), usize>,
    seq: u32,
    /// How many were made now, and how long they were expected to take.
    tried: usize,
    expected_of_tried: Duration,
    /// How long each cell's took, where only trying it tells.
    took: BTreeMap<(usize, usize), Vec<Duration>>,
    /// How often each cell failed in a row.
    failures: BTreeMap<(usize, usize), u32>,
    /// The cells that go on, once only some do.
    needed: Option<BTreeSet<(usize, usize)>>,
}

impl<'a> State<'a> {
    fn new(session: &'a Session<'a>, clock: &'a dyn Clock) -> State<'a> {
        let place = |(nth, trial): (usize, &Trial)| {
            let contender = session.contenders.iter().position(|ready| ready.name == trial.contender)?;
            let point = session.run.points.iter().position(|point| *point == trial.point)?;
            Some(((contender, point, trial.block, trial.attempt), nth))
        };
        State {
            session,
            clock,
            began: clock.now(),
            last_ended: clock.now(),
            trials: session.kept.to_vec(),
            kept: session.kept.iter().enumerate().filter_map(place).collect(),
            seq: session.kept.iter().map(|trial| trial.seq + 1).max().unwrap_or(0),
            tried: 0,
            expected_of_tried: Duration::ZERO,
            took: BTreeMap::new(),
            failures: BTreeMap::new(),
            needed: None,
        }
    }

    /// The cells that might still decide something, judged by the rounds before this one.
    fn look(&self, round: u32) -> BTreeSet<(usize, usize)> {
        let before = self.trials.iter().filter(|trial| trial.block < round);
        let standing: Vec<&Trial> = standing(before).collect();
        let cell = |(name, point): (String, usize)| {
            let contender = self.session.contenders.iter().position(|ready| ready.name == name)?;
            // A cell that is lost stays undecided for ever.
            (!self.is_lost_at(contender, point)).then_some((contender, point))
        };
        (self.session.undecided)(&standing).into_iter().filter_map(cell).collect()
    }

    fn kept(&self, contender: usize, block: &Block, attempt: u32) -> Option<&Trial> {
        self.kept.get(&(contender, block.point, block.index, attempt)).map(|&nth| &self.trials[nth])
    }

    fn is_needed(&self, contender: usize, block: &Block) -> bool {
        self.needed.as_ref().is_none_or(|needed| needed.contains(&(contender, block.point)))
    }

    fn is_lost(&self, contender: usize, block: &Block) -> bool {
        self.is_lost_at(contender, block.point)
    }

    fn is_lost_at(&self, contender: usize, point: usize) -> bool {
        self.failures.get(&(contender, point)).is_some_and(|failed| *failed >= LOST_AFTER)
    }

    fn count(&mut self, contender: usize, block: &Block, outcome: Outcome) {
        let failed = self.failures.entry((contender, block.point)).or_default();
        *failed = if outcome == Outcome::Failed { *failed + 1 } else { 0 };
    }

    /// The cells of the trials that will be made in these blocks at most: not those that are kept or not needed, or
    /// whose cell is lost.
    fn to_try(&self, blocks: &[Block]) -> Vec<(usize, usize)> {
        let cells = |block: &Block| -> Vec<(usize, usize)> {
            let wanted = |&contender: &usize| {
                self.is_needed(contender, block)
                    && !self.is_lost(contender, block)
                    && self.kept(contender, block, 0).is_none()
            };
            let contenders = block.order.iter().copied().filter(wanted);
            contenders.map(|contender| (contender, block.point)).collect()
        };
        blocks.iter().flat_map(cells).collect()
    }

    /// Adds the trials of these blocks that are not made because nothing needs them.
    fn count_saved(&self, blocks: &[Block], saved: &mut Saved) {
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

    fn trial(
        &self,
        order: &Order,
        block: &Block,
        attempt: u32,
        started: Timestamp,
        measured: Measured,
    ) -> Trial {
        Trial {
            seq: order.seq,
            block: block.index,
            attempt,
            contender: order.contender.name.clone(),
            point: order.point.clone(),
            started,
            outcome: measured.outcome,
            reason: measured.reason,
            sample: measured.sample,
            marks: measured.marks,
            ready_ms: measured.ready_ms,
            load_ms: measured.load_ms,
            took_ms: Some((self.clock.now() - self.last_ended).as_secs_f64() * 1e3),
            log: measured.log,
        }
    }

    /// Counts a trial that was made; whether its cell is lost by it.
    fn tried(&mut self, contender: usize, block: &Block, trial: &Trial) -> bool {
        let took = self.clock.now() - self.last_ended;
        self.last_ended += took;
        self.seq += 1;
        self.tried += 1;
        match self.session.times[block.point] {
            Some(time) => self.expected_of_tried += time,
            None => {
                self.expected_of_tried += took;
                self.took.entry((contender, block.point)).or_default().push(took);
            }
        }
        self.count(contender, block, trial.outcome);
        self.failures[&(contender, block.point)] == LOST_AFTER
    }

    /// What judging needs of it: not the series, histograms and calls, which are most of it.
    fn keep(&mut self, mut trial: Trial) {
        trial.sample.series = Series::default();
        trial.sample.histograms.clear();
        trial.sample.calls.clear();
        trial.sample.phases.clear();
        self.trials.push(trial);
    }

    fn spent(&self) -> Duration {
        self.clock.now() - self.began
    }

    /// Of trials of these cells: what is expected at their points, and what starting and stopping adds; or what trials of the
    /// cell took, or those at its point, or any.
    fn expected(&self, cells: &[(usize, usize)]) -> Duration {
        let added = self.spent().saturating_sub(self.expected_of_tried) / self.tried.max(1) as u32;
        let mean = |which: &dyn Fn(&(usize, usize)) -> bool| {
            let took = || self.took.iter().filter(|(cell, _)| which(cell)).flat_map(|(_, took)| took);
            Some(took().sum::<Duration>() / u32::try_from(took().count()).ok().filter(|n| *n > 0)?)
        };
        let seen = |cell: (usize, usize)| {
            let at_point = || mean(&|other| other.1 == cell.1);
            mean(&|other| *other == cell).or_else(at_point).or_else(|| mean(&|_| true))
        };
        let known =
            |&cell: &(usize, usize)| self.session.times[cell.1].or_else(|| seen(cell)).unwrap_or_default();
        cells.iter().map(|cell| known(cell) + added).sum()
    }

    /// What is said after the first block, when the real pace is known.
    fn announcement(&self, rest: &[Block]) -> String {
        let left = self.to_try(rest);
        let expected = self.spent() + self.expected(&left);
        let (trials, time) = (self.tried + left.len(), humane(expected));
        let mut note = format!("{trials} trials will take about {time} if all of them are needed");
        if let Some(budget) = self.session.budget.filter(|budget| *budget < expected) {
            let blocks_left = rest.len() + 1;
            let will_do = (budget.as_secs_f64() / expected.as_secs_f64() * blocks_left as f64) as usize;
            let budget = humane(budget);
            note += &format!("; the budget of {budget} will do for about {will_do} of {blocks_left} blocks");
        }
        note
    }
}

fn interrupted(done: usize) -> String {
    format!("it was interrupted after {done} trials")
}

/// A duration to two digits or so.
pub fn humane(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    match seconds {
        s if s < 10.0 => format!("{s:.1} s"),
        s if s < 120.0 => format!("{s:.0} s"),
        s if s < 7200.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests;

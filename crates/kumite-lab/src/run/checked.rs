//! The check of each contender's answers before anything is timed, as `kumite check` makes it.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use kumite_record::{AxisValue, Contender, Point, Votes, unlike_the_others};

use super::prepare::{Choice, Prepared};
use crate::contender::Answers;
use crate::driver::{Answered, Driver};
use crate::error::{Fault, chain};
use crate::halt::Halt;
use crate::spec::Experiment;

/// The state of a contender that was checked.
#[derive(Debug)]
pub enum Checked {
    /// The contender answers as it should at each point at which it was checked. Has the outcome in a few words.
    Right(&'static str),
    /// The contender could not be made ready. Its record has the reason.
    NotReady,
    /// The contender does not answer as it should: it answers wrong or not at all, fails, ends badly, leaves files or
    /// processes behind, or answers right where it is there to answer wrong.
    Wrong {
        /// The parameter that chooses among the contender's code, with its value. `None` if the kind has no such
        /// parameter, or the parameter is no axis.
        code: Option<(&'static str, AxisValue)>,
        /// The fault of the contender.
        why: Fault,
    },
    /// The contender wrote this file into its build or into what its `[deps]` made, where the next user of the build
    /// would find it.
    Written(PathBuf),
}

/// A contender that was asked, with its answer at each point that it was checked at.
struct Asked<'a> {
    /// The deliberate answers of a contender that is there to show a fault. None if it has to answer right.
    known: Option<Answers>,
    at: Vec<(&'a Point, Result<Answered, Fault>)>,
    /// The outcome if it answers as it should: not ready, or a write into its build. None if there is neither.
    failed: Option<Checked>,
}

/// Checks every contender that is chosen, at points of `measurable`, and calls `tell` with the outcome. `tell` is not
/// called for a contender that is ready and has no point to be checked at. If all contenders have to write the same
/// output, it is called when all have answered. An error if `stop` is set, this machine lacks something, or a build
/// cannot be looked at.
pub fn check_each(
    experiment: &Experiment,
    choice: &Choice,
    prepared: &Prepared,
    driver: &mut dyn Driver,
    measurable: &[usize],
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&Contender, Checked),
) -> Result<(), Halt> {
    let chosen: Vec<&Contender> =
        prepared.contenders.iter().filter(|contender| choice.left_out(&contender.name).is_none()).collect();
    let at_once = if experiment.answer.same_output { chosen.len().max(1) } else { 1 };
    for together in chosen.chunks(at_once) {
        let mut all = Vec::new();
        for contender in together {
            all.push((*contender, ask(experiment, prepared, driver, contender, measurable, stop)?));
        }
        let votes: Vec<(&Point, Votes)> = points(&all).map(|point| (point, votes(point, &all))).collect();
        for (contender, asked) in all {
            if let Some(checked) = checked(experiment, asked, &votes) {
                tell(contender, checked);
            }
        }
    }
    Ok(())
}

fn ask<'a>(
    experiment: &'a Experiment,
    prepared: &Prepared,
    driver: &mut dyn Driver,
    contender: &Contender,
    measurable: &[usize],
    stop: &AtomicBool,
) -> Result<Asked<'a>, Halt> {
    let name = &contender.name;
    let Some(ready) = prepared.ready.iter().find(|ready| ready.name == *name) else {
        return Ok(Asked { known: None, at: Vec::new(), failed: Some(Checked::NotReady) });
    };
    let mut at = Vec::new();
    for position in experiment.checked_at(measurable, name) {
        let answered = match driver.check(ready, position, stop) {
            Err(Halt::Failed(why)) => Err(Fault::new(chain(&why))),
            answered => Ok(answered?),
        };
        at.push((&experiment.planned[position].point, answered));
    }
    Ok(Asked { known: ready.answers, at, failed: prepared.written(name)?.map(Checked::Written) })
}

/// The outcome for a contender. None if it is ready and at no point.
fn checked(experiment: &Experiment, asked: Asked, votes: &[(&Point, Votes)]) -> Option<Checked> {
    let mut right = None;
    for (point, answered) in asked.at {
        let as_it_should = answered.and_then(|mut answered| {
            let others = votes.iter().find(|(at, _)| *at == point);
            if let (Some(written), Some((_, others))) = (&answered.written, others) {
                let unlike = unlike_the_others(written, others);
                answered.wrong = unlike.map(|why| format!("its output is wrong: {why}"));
            }
            answered.as_it_should(asked.known)
        });
        match as_it_should {
            Ok(how) => right = Some(Checked::Right(how)),
            Err(why) => {
                let code = experiment.code(point).map(|(parameter, value)| (parameter, value.clone()));
                return Some(Checked::Wrong { code, why });
            }
        }
    }
    asked.failed.or(right)
}

fn points<'a>(all: &[(&Contender, Asked<'a>)]) -> impl Iterator<Item = &'a Point> {
    let mut points: Vec<&Point> = Vec::new();
    for (point, _) in all.iter().flat_map(|(_, asked)| &asked.at) {
        if !points.contains(point) {
            points.push(point);
        }
    }
    points.into_iter()
}

/// The outputs at a point, by contender. Each is a vote on the right one.
fn votes(point: &Point, all: &[(&Contender, Asked)]) -> Votes {
    let vote = |(contender, asked): &(&Contender, Asked)| {
        let (_, answered) = asked.at.iter().find(|(at, _)| *at == point)?;
        let written = answered.as_ref().ok().and_then(|answered| answered.written.clone());
        Some((contender.name.clone(), written))
    };
    all.iter().filter_map(vote).collect()
}

//! The attendance of trials of every kind: a trial during which this machine or another node stood still is void, and
//! no trial finds what the one before it wrote.
//!
//! It is wrapped around the drivers of all kinds, because none of them could tell: a contender that was starved
//! measures like a slow one. The machine is probed just before each trial, on the CPUs of the trial and on each node
//! that has a role. After several absences the void of the longest is kept, even if the contender failed because of it.
//! Files that a contender writes beside its program are moved away and reported; a trial that changed files which
//! others share has failed.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use kumite_host::Heartbeat;
use kumite_record::{Outcome, Role};

use super::own_folder::OwnFolder;
use super::own_home::OwnHome;
use super::probed::MachineProbe;
use super::{Answered, Driver, Executor, Measured, Opening, Short, TrialOrder, Wanted};
use crate::contender::Ready;
use crate::error::chain;
use crate::halt::Halt;
use crate::node::Remote;
use crate::work::ProbeMachine;

/// Any driver, with a heartbeat beside each of its trials, on this machine and on every node that has a role.
pub(super) struct Attended<'a> {
    driver: Box<dyn Driver + 'a>,
    /// The inputs that the driver was opened with.
    of: Opening<'a>,
    probe: MachineProbe,
}

/// The figures of the probes before a trial, by name.
#[derive(Debug, Default)]
struct Probed {
    /// The figures from the node that the contender is on.
    contender: BTreeMap<String, f64>,
    /// The figures from other nodes, with the role before their names.
    others: BTreeMap<String, f64>,
}

impl<'a> Attended<'a> {
    pub fn new(driver: Box<dyn Driver + 'a>, of: Opening<'a>) -> Attended<'a> {
        Attended { driver, of, probe: MachineProbe::default() }
    }

    /// Probes this machine and each node that has a role. An error if a node does not answer.
    fn probed(&mut self, contender: &Ready, at: usize, stop: &AtomicBool) -> Result<Probed, Halt> {
        let here = self.probe.figures(&self.cpus(contender, at), stop);
        let nodes = &self.of.conditions.nodes;
        let mut probed = Probed::default();
        match nodes.with_role(Role::Server) {
            Some(_) => probed.add(Role::Engine, here),
            None => probed.contender = here,
        }
        for (node, roles) in nodes.others() {
            let there = node.ask(ProbeMachine {}).map_err(|why| Halt::unless_stopped(why, stop))?;
            match roles.first() {
                _ if roles.contains(&Role::Server) => probed.contender = there,
                Some(role) => probed.add(*role, there),
                None => {}
            }
        }
        Ok(probed)
    }

    /// Moves away what a contender has written in its folders. Returns a sentence about one of the folders, and true
    /// if the trial cannot count because of it; one that keeps it from counting comes first. None if nothing was
    /// written.
    fn tidied(&self, own: &[OwnFolder], contender: &Ready) -> Option<(String, bool)> {
        let wrote = format!("{}-wrote", contender.name);
        let away = self.of.state.join("logs").join(self.of.run).join(wrote);
        let wrote: Vec<(String, bool)> = own.iter().filter_map(|folder| folder.tidied(&away)).collect();
        wrote.into_iter().max_by_key(|(_, is_fatal)| *is_fatal)
    }

    /// The CPUs of this machine that a trial of the contender at this point is measured on, and those of the engine.
    fn cpus(&self, contender: &Ready, at: usize) -> Vec<usize> {
        let cores = &contender.among(self.of.cores);
        if cores.apart {
            return cores.engine.clone();
        }
        let given = self.of.conditions.planned[at].workload.cores().given(cores);
        let mut cpus = given.map_or_else(|_| cores.contender.clone(), |given| given.cores);
        cpus.extend(&cores.engine);
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }
}

impl Probed {
    fn add(&mut self, role: Role, figures: BTreeMap<String, f64>) {
        self.others.extend(figures.into_iter().map(|(name, figure)| (format!("{role}_{name}"), figure)));
    }

    /// Adds the figures of the contender's node to the trial's metrics, and those of other nodes to its noise. Drops
    /// them unless the trial's outcome is `Ok`.
    fn put_into(self, measured: &mut Measured) {
        if measured.outcome == Outcome::Ok {
            measured.sample.metrics.extend(self.contender);
            measured.sample.noise.extend(self.others);
        }
    }
}

/// Adds a sentence about what the contender wrote to a trial whose outcome is `Ok`. If that is fatal, the trial
/// becomes a failed one; else a reason that the trial has already stays.
fn with_written(measured: Measured, wrote: Option<(String, bool)>) -> Measured {
    match wrote {
        Some((what, is_fatal)) if measured.outcome == Outcome::Ok => match is_fatal {
            true => Measured { log: measured.log, ..Measured::failed(what) },
            false => Measured { reason: measured.reason.or(Some(what)), ..measured },
        },
        _ => measured,
    }
}

impl Executor for Attended<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let made = OwnFolder::of_trial(order.contender, self.of.state)
            .and_then(|own| Ok((own, OwnHome::new(self.of.state)?)));
        let (own, home) = match made {
            Ok(made) => made,
            Err(why) => return Ok(Measured::failed(chain(&why))),
        };
        let contender = match home.given_to(order.contender) {
            Ok(contender) => contender,
            Err(why) => return Ok(Measured::failed(chain(&why))),
        };
        let probed = self.probed(order.contender, order.at, stop)?;
        let nodes: Vec<&Remote> =
            self.of.conditions.nodes.others().into_iter().map(|(node, _)| node).collect();
        nodes
            .iter()
            .try_for_each(|node| node.begin_trial())
            .map_err(|why| Halt::unless_stopped(why, stop))?;
        let heartbeat = Heartbeat::start(&self.cpus(order.contender, order.at));
        // A contender that fails because somebody was away has not failed.
        let tried =
            Measured::or_failed(self.driver.trial(&TrialOrder { contender: &contender, ..*order }, stop));
        let mut voids = vec![heartbeat.stop()];
        let wrote = self.tidied(&own, order.contender).or_else(|| {
            order.contender.origin?;
            Some((home.written()?, false))
        });
        let mut measured = with_written(tried?, wrote);
        probed.put_into(&mut measured);
        debug_assert_eq!(self.of.conditions.undeclared(&measured.sample), None);
        for node in nodes {
            voids.push(node.end_trial().map_err(|why| Halt::unless_stopped(why, stop))?);
        }
        voids.push(measured.void);
        // Only the longest absence is told.
        let void = voids.into_iter().flatten().max_by(|a, b| a.lasted_ms.total_cmp(&b.lasted_ms));
        Ok(Measured { void, ..measured })
    }
}

impl Driver for Attended<'_> {
    fn check(&mut self, contender: &Ready, at: usize, stop: &AtomicBool) -> Result<Answered, Halt> {
        let own = OwnFolder::of_check(contender, self.of.state)?;
        let checked = self.driver.check(&OwnHome::new(self.of.state)?.given_to(contender)?, at, stop);
        match (checked, self.tidied(&own, contender)) {
            (Ok(_), Some((what, _))) => Err(Halt::fault(what)),
            (checked, _) => checked,
        }
    }

    fn short(
        &mut self,
        contender: &Ready,
        at: usize,
        wanted: &[Wanted],
        stop: &AtomicBool,
    ) -> Result<Vec<Short>, Halt> {
        let own = OwnFolder::of_check(contender, self.of.state)?;
        let short = self.driver.short(contender, at, wanted, stop);
        // The check of this contender tells what it writes; here that is only moved away.
        self.tidied(own.as_ref(), contender);
        short
    }

    fn notices(&self) -> Vec<String> {
        self.driver.notices()
    }

    fn files(&self) -> Option<String> {
        self.driver.files()
    }
}

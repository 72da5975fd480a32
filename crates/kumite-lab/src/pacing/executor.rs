//! Trials of players that the lab starts itself.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_realtime::RealTime;
use kumite_record::{Cores, Point};

use super::busy::Busy;
use super::player::Player;
use super::sample::{Play, sample};
use super::workload::{Due, PacingWorkload};
use crate::cores::GivenCores;
use crate::execute::{Executor, Measured, Order};
use crate::halt::Halt;
use crate::prepare::Ready;
use crate::service::Running;
use crate::settle::settle;
use crate::spec::Experiment;
use crate::talking::Employed;
use crate::watch::watched;
use crate::workload::Workload;

/// Of a play that nothing is measured of.
const CHECKED_STATES: usize = 30;

/// Starts each player afresh, has it play, stamps what comes, and ends it.
pub struct PacingExecutor<'a> {
    experiment: &'a Experiment,
    cores: Cores,
    state: &'a Path,
    logs: PathBuf,
}

/// A player and what it is to play.
struct Started {
    workload: PacingWorkload,
    given: GivenCores,
    warm_up: Vec<Due>,
    states: Vec<Due>,
    player: Player,
}

impl<'a> PacingExecutor<'a> {
    /// `state` is the folder of the store; logs go below it. From now on this thread, and those it starts, stay on the
    /// engine's core.
    pub fn new(
        experiment: &'a Experiment,
        cores: Cores,
        state: &'a Path,
        run: &str,
    ) -> Result<PacingExecutor<'a>, String> {
        let logs = PathBuf::from("logs").join(run);
        settle(&state.join(&logs), &cores)?;
        Ok(PacingExecutor { experiment, cores, state, logs })
    }

    /// What this machine does not let the recorder do, in words.
    pub fn wanting(&self) -> Vec<String> {
        let wanting = "no SCHED_FIFO for the recorder, nor for a player that asks for it (that takes root, CAP_SYS_NICE, or \
                       a limit of rtprio): what comes may be stamped late";
        if RealTime::take().is_some() { Vec::new() } else { vec![wanting.to_owned()] }
    }

    /// Starts the contender and makes sure that it plays right.
    pub fn check(
        &mut self,
        contender: &Ready,
        point: &Point,
        stop: &AtomicBool,
    ) -> Result<&'static str, Halt> {
        let log = self.state.join(&self.logs).join(format!("{}.log", contender.name));
        let Started { workload, states, mut player, .. } = self.start(contender, point, &log)?;
        let mut play = || {
            player.ready(workload.ready, stop)?;
            let some = &states[..states.len().min(CHECKED_STATES)];
            player.play(workload.keeping, some, stop)
        };
        let played = play();
        let left = player.talking.end();
        Halt::if_set(stop)?;
        played??;
        left.map_or(Ok("plays right"), |why| Err(why.into()))
    }

    fn start(&self, contender: &Ready, point: &Point, log: &Path) -> Result<Started, String> {
        let workload = self.experiment.workload(point)?;
        let given = workload.given_cores(&self.cores)?;
        let Workload::Pacing(workload) = workload else { return Err("only players are paced".to_owned()) };
        let whole = workload.schedule(&self.experiment.folder)?;
        let warm_up = match workload.warm_up_frames {
            0 => Vec::new(),
            frames => workload.states(&whole, frames),
        };
        let states = workload.states(&whole, workload.frames);
        let player = Player::start(&Employed {
            command: &contender.run,
            dir: &contender.folder,
            env: &contender.env,
            cores: &given.cores,
            log,
        })?;
        Ok(Started { workload, given, warm_up, states, player })
    }

    fn tried(&self, order: &Order, log: &Path, stop: &AtomicBool) -> Result<Measured, Halt> {
        let mut started = self.start(order.contender, order.point, log)?;
        let measured = self.measure(&mut started, stop);
        let left = started.player.talking.end();
        Halt::if_set(stop)?;
        let measured = measured?;
        Ok(Measured { reason: measured.reason.or(left), ..measured })
    }

    fn measure(&self, started: &mut Started, stop: &AtomicBool) -> Result<Measured, Halt> {
        let Started { workload, given, warm_up, states, player } = started;
        let ready = player.ready(workload.ready, stop)?;
        let mut all_cores = given.cores.clone();
        all_cores.extend(self.cores.engine.iter().filter(|core| !given.cores.contains(core)));
        let began = Instant::now();
        let _busy = if workload.is_loaded { Some(Busy::on(&all_cores)?) } else { None };
        if !warm_up.is_empty()
            && let Err(wrong) = player.play(workload.keeping, warm_up, stop)?
        {
            return Ok(Measured::answered(Some(wrong)));
        }
        let tree = player.talking.tree();
        let mut window = Duration::ZERO;
        let (played, seen) = watched(&tree, &mut Running::default(), &all_cores, || {
            let began = Instant::now();
            let _real_time = RealTime::take();
            let played = player.play(workload.keeping, states, stop);
            window = began.elapsed();
            played
        });
        drop(tree);
        let under_load = began.elapsed();
        let stamps = match played? {
            Ok(stamps) => stamps,
            Err(wrong) => return Ok(Measured::answered(Some(wrong))),
        };
        if let Some(unasked) = player.talking.unasked() {
            return Ok(Measured::answered(Some(unasked)));
        }
        let (sample, marks) =
            sample(Play { states, stamps, fps: workload.fps, window, shared: given.shared, seen });
        Ok(Measured {
            sample,
            marks,
            ready_ms: Some(ready.as_secs_f64() * 1e3),
            load_ms: Some(under_load.as_secs_f64() * 1e3),
            ..Measured::answered(None)
        })
    }
}

impl Executor for PacingExecutor<'_> {
    fn trial(&mut self, order: &Order, stop: &AtomicBool) -> Result<Measured, Halt> {
        let log = self.logs.join(format!("{:04}-{}.log", order.seq, order.contender.name));
        let tried = self.tried(order, &self.state.join(&log), stop);
        Ok(Measured { log: Some(log.display().to_string()), ..Measured::or_failed(tried)? })
    }
}

//! Trials of players: each starts a player, has it play a macro, stamps each state as it comes, and ends it.
//!
//! The states have to be those of the macro, in their order; another state disqualifies. An error in time may be the
//! recorder's as well as the player's, so the recorder has a CPU of its own where there are enough, and its lateness
//! is a mark.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_host::GivenCores;
use kumite_limits::RealTime;
use kumite_process::Spawn;

use super::adapter::behind;
use super::busy::Busy;
use super::metrics::{Play, sample};
use super::player::Player;
use super::workload::{Due, PacingWorkload};
use crate::contender::Ready;
use crate::driver::watch::watched;
use crate::driver::workbench::Workbench;
use crate::driver::{Answered, Driver, Executor, Measured, Opening, TrialOrder, Workload};
use crate::error::Error;
use crate::halt::Halt;
use crate::service::Running;

/// The most states of a play that is only checked and not measured.
const CHECKED_STATES: usize = 30;

/// The driver of kind pacing. It starts each player afresh, has it play, stamps each state as it comes, and ends the
/// player.
pub(crate) struct PacingDriver<'a> {
    bench: Workbench<'a>,
}

/// A started player, with the states that it is to play.
struct StartedPlayer<'a> {
    workload: &'a PacingWorkload,
    given: GivenCores,
    warm_up: Vec<Due>,
    states: Vec<Due>,
    player: Player,
}

impl<'a> PacingDriver<'a> {
    pub fn open(of: &Opening<'a>) -> Result<PacingDriver<'a>, Halt> {
        Ok(PacingDriver { bench: Workbench::new(of)? })
    }

    fn start(&self, contender: &Ready, at: usize, log: &Path) -> Result<StartedPlayer<'a>, Error> {
        let workload = self.bench.conditions.planned[at].typed::<PacingWorkload>();
        let given = workload.cores().given(&contender.among(self.bench.cores))?;
        let whole = workload.schedule(self.bench.conditions.folder)?;
        let warm_up = match workload.warm_up_frames {
            0 => Vec::new(),
            frames => workload.states(&whole, frames),
        };
        let states = workload.states(&whole, workload.frames);
        let player = Player::start(&Spawn {
            command: &contender.run,
            dir: &contender.folder,
            env: &contender.env,
            keeps: None,
            cores: &given.cores,
            log,
            group: None,
        })?;
        Ok(StartedPlayer { workload, given, warm_up, states, player })
    }

    fn tried(&self, order: &TrialOrder, log: &Path, stop: &AtomicBool) -> Result<Measured, Halt> {
        let mut started = self.start(order.contender, order.at, log)?;
        let measured = self.measure(&mut started, stop);
        let left = started.player.process.end();
        Halt::if_set(stop)?;
        let measured = measured?;
        Ok(Measured { reason: measured.reason.or(left), ..measured })
    }

    fn measure(&self, started: &mut StartedPlayer, stop: &AtomicBool) -> Result<Measured, Halt> {
        let StartedPlayer { workload, given, warm_up, states, player } = started;
        let ready = player.ready(workload.ready, stop)?;
        let mut all_cores = given.cores.clone();
        all_cores.extend(self.bench.cores.engine.iter().filter(|core| !given.cores.contains(core)));
        let began = Instant::now();
        let _busy = if workload.is_loaded { Some(Busy::on(&all_cores)?) } else { None };
        if !warm_up.is_empty()
            && let Err(wrong) = player.play(workload.keeping, warm_up, stop)?
        {
            return Ok(Measured::answered(Some(wrong.into())));
        }
        let tree = player.process.tree();
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
            Ok(stamps) => behind(stamps, workload.adapter_jitter),
            Err(wrong) => return Ok(Measured::answered(Some(wrong.into()))),
        };
        if let Some(unasked) = player.process.unasked() {
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

impl Executor for PacingDriver<'_> {
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt> {
        let log = self.bench.trial_log(&(order.log_name() + ".log"));
        let tried = self.tried(order, &log.path, stop);
        log.of_trial(tried)
    }
}

impl Driver for PacingDriver<'_> {
    fn check(&mut self, contender: &Ready, at: usize, stop: &AtomicBool) -> Result<Answered, Halt> {
        let log = self.bench.check_log(contender);
        let StartedPlayer { workload, states, mut player, .. } = self.start(contender, at, &log)?;
        let mut play = || {
            player.ready(workload.ready, stop)?;
            let some = &states[..states.len().min(CHECKED_STATES)];
            player.play(workload.keeping, some, stop)
        };
        let played = play();
        let left = player.process.end();
        Halt::if_set(stop)?;
        played??;
        left.map_or(Ok(Answered { how: "plays right", ..Answered::RIGHT }), |why| Err(Halt::fault(why)))
    }

    fn notices(&self) -> Vec<String> {
        let notice = "no SCHED_FIFO for the recorder, nor for a player that asks for it (that takes root, CAP_SYS_NICE, or \
                       a limit of rtprio): what comes may be stamped late";
        if RealTime::take().is_some() { Vec::new() } else { vec![notice.to_owned()] }
    }
}

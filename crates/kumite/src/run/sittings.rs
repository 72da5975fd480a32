//! `kumite run --sittings`: several sittings of a run, one after the other. The lock of the machine is given back
//! between them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::Timestamp;
use kumite_lab::World;
use kumite_nodes::Driver;
use kumite_record::{Export, OutlookSittings};
use kumite_report::too_near;

use super::{Args, Planned};
use crate::again::{Added, More};
use crate::ending::fault;
use crate::exit::Failure;
use crate::sittings::{ROUNDS, sittings_elsewhere};
use crate::{duration, output, stop};

/// The time for which a later sitting waits for another kumite that began in between, unless --wait says how long.
const WAIT: Duration = Duration::from_secs(3600);

#[derive(clap::Args)]
pub struct Flags {
    /// Number of sittings to measure and judge together. A sitting has 10 blocks at most, or --blocks, and no verdict ends
    /// it; --budget is for each. `--sittings 1` makes a first one, for `kumite again` on another day
    #[arg(long = "sittings", id = "sittings", value_name = "N", conflicts_with_all = ["shard", "shards"], value_parser = clap::value_parser!(u32).range(1..=100))]
    number: Option<u32>,
    /// Time from the end of a sitting to the next; nearer than 1h they count as one
    #[arg(long, value_name = "TIME", value_parser = duration::parse, requires = "sittings", default_value = "1h")]
    apart: Duration,
}

impl Flags {
    pub fn are_given(&self) -> bool {
        self.number.is_some()
    }

    pub fn number(&self) -> u32 {
        self.number.unwrap_or(1)
    }

    /// The time from the end of a sitting to the beginning of the next; `None` if there is only one sitting.
    pub fn apart(&self) -> Option<Duration> {
        (self.number() > 1).then_some(self.apart)
    }

    /// The number of rounds of a run whose profile has `of_profile` rounds. With --sittings it is that of each sitting,
    /// and at most 10.
    pub fn rounds(&self, of_profile: u32) -> u32 {
        if self.are_given() { of_profile.min(ROUNDS) } else { of_profile }
    }

    /// The number of rounds of all sittings, each of which has `rounds`.
    pub fn in_all(&self, rounds: u32) -> u32 {
        rounds.saturating_mul(self.number())
    }

    /// An error if --sittings is given, and the run is executed on other nodes (`is_here` is false).
    pub fn check(&self, is_here: bool) -> Result<(), Failure> {
        if !self.are_given() || is_here {
            return Ok(());
        }
        Err(sittings_elsewhere("--on or --role engine"))
    }

    /// The sittings as a plan shows them; `None` if --sittings is not given.
    pub fn planned(&self) -> Option<OutlookSittings> {
        self.number.map(|number| OutlookSittings { number, apart: self.apart })
    }
}

/// Measures all sittings, or the whole run if no sittings are asked for. The text says why the run ended early and how
/// to go on; `None` if it did not end early. An error if the first sitting could not be measured; if a later one could
/// not, this is the reason of an early end.
pub fn measured(
    args: &Args,
    planned: &Planned,
    world: &dyn World,
    driver: &Driver,
) -> Result<(Export, Option<String>), Failure> {
    let flags = &args.sittings;
    flags.apart().and_then(too_near).iter().for_each(|doubt| output::note(doubt));
    let (mut export, mut early) = args.here(planned, world, driver, &|_| Ok(()))?;
    let Some(apart) = flags.apart() else { return Ok((export, early)) };
    let (db, of, first) = (args.ending.db.path(), flags.number(), export.run.id.clone());
    let more = More {
        world,
        db: &db,
        nodes: args.roles.at(&args.on, &args.slurm),
        budget: args.effort.budget,
        wait: args.effort.wait.or(WAIT),
        stop: &driver.stop,
    };
    for nth in 2..=of {
        let adds = |what: &str| format!("`kumite again {first}` adds {what}");
        if let Some(early) = early {
            let (last, next) = (nth - 1, adds("the next"));
            return Ok((export, Some(format!("sitting {last} of {of}: {early}, and then {next}"))));
        }
        if fault(&export).is_some() {
            break;
        }
        stop::end_in_order();
        let ended = export.run.finished.unwrap_or_else(|| world.clock().timestamp());
        let begins = begins(ended, apart);
        output::note(&format!(
            "sitting {nth} of {of} begins at {}; Ctrl-C until then ends the run, and loses nothing",
            begins.strftime("%Y-%m-%d %H:%M:%S UTC")
        ));
        world.wait(begins, &driver.stop);
        if driver.stop.load(Ordering::Relaxed) {
            let last = nth - 1;
            return Ok((
                export,
                Some(format!("it was interrupted after sitting {last} of {of}; {}", adds("the next"))),
            ));
        }
        match more.add(&first) {
            Ok(added) => Added { joined: export, early } = added,
            Err(why) => return Ok((export, Some(format!("sitting {nth} of {of}: {why}; {}", adds("it"))))),
        }
    }
    let early = early.map(|early| format!("sitting {of} of {of}: {early}"));
    Ok((export, early))
}

fn begins(ended: Timestamp, apart: Duration) -> Timestamp {
    ended.checked_add(apart).unwrap_or(Timestamp::MAX)
}

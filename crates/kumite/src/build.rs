//! `kumite build`: everything that a run would build, and nothing else.

use clap::Parser;
use kumite_lab::{Choice, Experiment, Origin, prepare};
use kumite_record::{ContenderStatus, Store};

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::measure::begin_measuring;
use crate::store::Db;
use crate::wait::Wait;
use crate::{output, stop};

#[derive(Parser)]
pub struct Args {
    #[command(flatten)]
    contenders: Contenders,
    /// Build everything anew, and replace what the cache has
    #[arg(long)]
    no_cache: bool,
    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    db: Db,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let experiment = Experiment::load(&args.contenders.experiment, "quick")?;
    let choice = Choice { anew: args.no_cache, ..args.contenders.choice() };
    choice.check(&experiment)?;
    if experiment.variants().iter().all(|(_, variant)| choice.left_out(&variant.name).is_some()) {
        return Err(Failure::Usage("--only and --skip leave no contender to build".to_owned()));
    }
    let stop = stop::flag()?;
    let state = Store::open(&args.db.path())?.folder().to_owned();
    let _lock = begin_measuring(args.wait, &stop)?;
    let prepared = prepare(&experiment, &choice, &state, &stop, &mut output::note)?;
    let mut failing = 0;
    for contender in prepared.contenders.iter().filter(|contender| choice.left_out(&contender.name).is_none())
    {
        let (version, reason) = (contender.version.as_deref(), contender.reason.as_deref());
        output::print(&match contender.status {
            ContenderStatus::Ran => {
                let origin = match prepared.origin(&contender.name) {
                    Some(Origin::Built) => " built",
                    Some(Origin::Found) => " found",
                    Some(Origin::InPlace) | None => "",
                };
                format!("✓ {}{origin}: {}\n", contender.name, version.unwrap_or_default())
            }
            status => {
                failing += 1;
                format!("✗ {} {}: {}\n", contender.name, status.as_str(), reason.unwrap_or_default())
            }
        })?;
    }
    output::note(&format!("builds are kept in {}", prepared.cache.display()));
    match failing {
        0 => Ok(()),
        n => Err(Failure::Gate(format!("{n} contenders of {} cannot run", experiment.name))),
    }
}

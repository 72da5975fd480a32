//! The flags on how much of an experiment is measured, of `run` and `manifest`.

use kumite_lab::{Choice, Experiment};

use crate::contenders::Contenders;
use crate::exit::Failure;
use crate::output;

#[derive(clap::Args)]
pub struct Planning {
    /// Profile: quick (minutes), standard (up to about 30 minutes), full (the scale of the source), or another of the
    /// experiment
    #[arg(long, default_value = "standard")]
    profile: String,
    #[command(flatten)]
    pub contenders: Contenders,
}

#[derive(Clone, clap::Args)]
pub struct Extent {
    /// Most blocks at each point [default: the profile's]; --dry-run shows how many each claim takes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    blocks: Option<u32>,
    /// Seed of the order and of resampling: an earlier run's repeats both [default: a fresh one; of shards, one derived
    /// from the experiment]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl Planning {
    /// Reads the experiment, as it is to be measured, and the contenders that take part. Without --blocks, `rounds`
    /// makes the number of blocks from that of the profile.
    pub fn read(
        &self,
        extent: &Extent,
        rounds: impl FnOnce(u32) -> u32,
    ) -> Result<(Experiment, Choice), Failure> {
        let load = |name: &str, profile: &str| Ok(Experiment::load(name, profile)?);
        self.read_by(extent, rounds, load)
    }

    /// The same of an experiment that `load` reads, by its name and profile.
    pub fn read_by(
        &self,
        extent: &Extent,
        rounds: impl FnOnce(u32) -> u32,
        load: impl FnOnce(&str, &str) -> Result<Experiment, Failure>,
    ) -> Result<(Experiment, Choice), Failure> {
        let mut experiment = load(&self.contenders.experiment, &self.profile)?;
        experiment.doubts.iter().for_each(|what| output::note(what));
        experiment.blocks = extent.blocks.unwrap_or_else(|| rounds(experiment.blocks));
        let choice = Choice { unplanned: experiment.unplanned(), ..self.contenders.choice() };
        choice.check(&experiment)?;
        Ok((experiment, choice))
    }

    /// The contenders and the blocks, as words of a command line.
    pub fn words(&self, extent: &Extent) -> Vec<String> {
        let mut words = self.contenders.words();
        words.extend(extent.blocks.map(|blocks| format!("--blocks={blocks}")));
        words
    }
}

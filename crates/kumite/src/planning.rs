//! The flags on how much of an experiment is measured, of `run` and `manifest`.

use kumite_lab::{Choice, Experiment};
use kumite_record::Control;

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
    /// Contender that stands in each block twice, so that the run shows how far equal things seem to be apart in it
    /// [default: the first that takes part]
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true)]
    control: Option<Option<String>>,
}

#[derive(Clone, clap::Args)]
pub struct Extent {
    /// Most blocks at each point [default: the profile's]; --dry-run shows how many each claim takes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    blocks: Option<u32>,
    /// Seed of the order and of resampling: an earlier run's repeats both. Of several sittings it is the first's; each
    /// later one has a fresh one [default: a fresh one; of shards, one derived from the experiment]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl Planning {
    /// Reads the experiment, as it is to be measured, and the choice of contenders. Without --blocks, `rounds` makes
    /// the number of blocks from that of the profile. Notes the doubts about the experiment. An error if the experiment
    /// is wrong, or if an argument names something that the experiment does not have.
    pub fn read(
        &self,
        extent: &Extent,
        rounds: impl FnOnce(u32) -> u32,
    ) -> Result<(Experiment, Choice), Failure> {
        let load = |name: &str, profile: &str| Ok(Experiment::load(name, profile)?);
        self.read_by(extent, rounds, load)
    }

    /// Reads as [`read`](Planning::read) does, but takes the experiment from `load`, which is called with the
    /// experiment's name and profile.
    pub fn read_by(
        &self,
        extent: &Extent,
        rounds: impl FnOnce(u32) -> u32,
        load: impl FnOnce(&str, &str) -> Result<Experiment, Failure>,
    ) -> Result<(Experiment, Choice), Failure> {
        let mut experiment = load(&self.contenders.experiment, &self.profile)?;
        experiment.doubts.iter().for_each(|what| output::note(what));
        experiment.blocks = extent.blocks.unwrap_or_else(|| rounds(experiment.blocks));
        let mut choice = Choice { unplanned: experiment.unplanned(), ..self.contenders.choice() };
        choice.check(&experiment)?;
        if let Some(name) = &self.control {
            experiment.control = Some(choice.control(&experiment, name.as_deref())?);
        }
        choice.check_control(&experiment)?;
        choice.control = experiment.control.as_deref().map(Control::of);
        Ok((experiment, choice))
    }

    /// The chosen contenders, the blocks and the control, as words of a command line that repeats them. A control that
    /// the experiment's file names is left out.
    pub fn words(&self, extent: &Extent, experiment: &Experiment) -> Vec<String> {
        let mut words = self.contenders.words();
        let control = experiment.control.as_ref().filter(|_| self.control.is_some());
        words.extend(control.map(|name| format!("--control={name}")));
        words.extend(extent.blocks.map(|blocks| format!("--blocks={blocks}")));
        words
    }
}

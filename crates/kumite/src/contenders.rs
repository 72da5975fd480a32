//! The flags for an experiment and the contenders that take part, of `run`, `check` and `build`.

use kumite_lab::Choice;

#[derive(clap::Args)]
pub struct Contenders {
    /// Experiment: a name below experiments/, or a folder with an experiment.toml
    pub experiment: String,
    #[command(flatten)]
    pub chosen: Chosen,
}

/// The flags for the contenders of an experiment that take part.
#[derive(Clone, clap::Args)]
pub struct Chosen {
    /// Take only these contenders, separated by commas or in several flags
    #[arg(long, value_name = "CONTENDER", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Leave out these contenders
    #[arg(long, value_name = "CONTENDER", value_delimiter = ',')]
    skip: Vec<String>,
    /// Install missing tools through the system's package manager
    #[arg(long)]
    install: bool,
}

impl Contenders {
    /// The flags `--only`, `--skip` and `--install` as they were given, as words of a command line.
    pub fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        let Chosen { only, skip, install } = &self.chosen;
        for (flag, names) in [("--only", only), ("--skip", skip)] {
            words.extend(names.iter().flat_map(|name| [flag.to_owned(), name.clone()]));
        }
        words.extend(install.then(|| "--install".to_owned()));
        words
    }

    pub fn choice(&self) -> Choice {
        let Chosen { only, skip, install } = self.chosen.clone();
        Choice { only, skip, install, ..Choice::default() }
    }
}

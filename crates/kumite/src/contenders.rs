//! Which contenders take part: flags that `run`, `check` and `build` share.

use kumite_lab::Choice;

#[derive(clap::Args)]
pub struct Contenders {
    /// Only these contenders (may be given several times, or separated by commas)
    #[arg(long, value_name = "CONTENDER", value_delimiter = ',')]
    only: Vec<String>,
    /// Not these contenders
    #[arg(long, value_name = "CONTENDER", value_delimiter = ',')]
    skip: Vec<String>,
    /// Install tools that contenders need and that are missing, through the system's package manager
    #[arg(long)]
    install: bool,
}

impl Contenders {
    pub fn choice(&self) -> Choice {
        Choice {
            only: self.only.clone(),
            skip: self.skip.clone(),
            install: self.install,
            ..Choice::default()
        }
    }
}

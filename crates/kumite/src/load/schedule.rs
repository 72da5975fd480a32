//! The flags on when `kumite load` sends.

use std::path::PathBuf;

use kumite_load::{Arrivals, Gaps, Pace};

use super::request::unreadable;
use crate::exit::Failure;

#[derive(clap::Args)]
#[group(skip)]
#[command(next_help_heading = "Open loop")]
pub struct Args {
    /// Requests a second, sent on time even if answers are late: 500, or steps and ramps as 100@5s,100..500@30s,500@10s
    #[arg(short = 'R', visible_short_alias = 'q', long, value_name = "RATE")]
    rate: Option<String>,
    /// Send at random times (Poisson) with that rate, not evenly
    #[arg(long)]
    poisson: bool,
    /// Requests sent at once, at the same rate on average [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    burst: Option<u32>,
    /// Seed of random arrivals
    #[arg(long, value_name = "N", default_value_t = 0, requires = "poisson")]
    seed: u64,
    /// File with the times to send at, in seconds, one on each line
    #[arg(long, value_name = "FILE", conflicts_with = "rate")]
    replay: Option<PathBuf>,
    /// Save CPU: wake once a millisecond, for all requests that are due
    #[arg(long)]
    economy: bool,
}

impl Args {
    pub fn arrivals(&self, searching: bool) -> Result<Option<Arrivals>, Failure> {
        let usage = |error: kumite_load::ArrivalsError| Failure::Usage(error.to_string());
        if let Some(file) = &self.replay {
            let text =
                std::fs::read_to_string(file).map_err(|error| unreadable("the recording", file, &error))?;
            return Arrivals::recorded(&text)
                .map(Some)
                .map_err(|error| Failure::Usage(format!("{}: {error}", file.display())));
        }
        let rate = match &self.rate {
            Some(rate) => rate,
            None if !self.poisson && self.burst.is_none() => return Ok(None),
            // The search has its own.
            None if searching => "1",
            None => {
                return Err(Failure::Usage("--poisson and --burst are for --rate or --find-rate".to_owned()));
            }
        };
        let gaps = if self.poisson { Gaps::Poisson { seed: self.seed } } else { Gaps::Even };
        let pieces = Arrivals::pieces(rate).map_err(usage)?;
        Ok(Some(Arrivals::Rate { pieces, gaps, burst: self.burst.unwrap_or(1) }))
    }

    pub fn is_rate_given(&self) -> bool {
        self.rate.is_some()
    }

    /// The pace of the engine. It stays awake between requests only if it has CPUs of its own, and without `--economy`.
    pub fn pace(&self, own_cores: bool) -> Pace {
        match (self.economy, own_cores) {
            (true, _) => Pace::Economical,
            (false, true) => Pace::Precise,
            (false, false) => Pace::Sleeping,
        }
    }
}

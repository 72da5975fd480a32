//! The CPUs that a contender is given.

use kumite_record::Cores;
use thiserror::Error;

/// The number of CPUs that a contender is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedCores {
    /// This number of CPUs.
    Count(usize),
    /// All CPUs of the contender's machine. If the engine is there, too, its CPUs are then shared.
    All,
}

/// The CPUs of a contender in one trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenCores {
    /// The kernel's numbers of the CPUs; empty only if a count of 0 was asked for, or if no CPU is available.
    pub cores: Vec<usize>,
    /// True if some of the CPUs are also the load engine's.
    pub shared: bool,
}

/// The error that more CPUs were asked for than kumite may give.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{param} = {asked} cannot be had: {}kumite may use {there} here", if *beside_engine { "beside the load engine's, " } else { "" })]
pub struct CoresError {
    /// The name of the parameter that asks for the CPUs.
    pub param: &'static str,
    /// The number of CPUs that was asked for.
    pub asked: usize,
    /// The number of CPUs that kumite may give.
    pub there: usize,
    /// True if the contender may not have the load engine's CPU as well. Then `there` does not count that CPU, unless
    /// it is the only one.
    pub beside_engine: bool,
}

/// The CPUs that a workload asks for its contender.
#[derive(Clone, Copy, Debug)]
pub struct WantedCores {
    /// The name of the parameter that asks for the CPUs.
    pub param: &'static str,
    /// The number of CPUs that the parameter asks for.
    pub asked: AskedCores,
    /// True if the engine's CPUs may be given, too, even if not all CPUs are asked for: a driver that gives jobs or
    /// calls a function waits while the contender works. A load engine does not wait, and keeps a CPU of its own.
    pub may_share: bool,
}

impl WantedCores {
    /// Chooses the contender's CPUs: the first of the available ones that it may have. An error if more are asked for
    /// than may be given.
    pub fn given(self, available: &Cores) -> Result<GivenCores, CoresError> {
        let WantedCores { param, asked, may_share } = self;
        let apart = available.apart;
        let mut cores = available.contender.clone();
        let engine = available.engine.iter().filter(|core| !available.contender.contains(core));
        if !apart && (may_share || asked == AskedCores::All) {
            cores.extend(engine);
        }
        if let AskedCores::Count(count) = asked {
            if count > cores.len() {
                let beside_engine = !may_share && !apart;
                return Err(CoresError { param, asked: count, there: cores.len(), beside_engine });
            }
            cores.truncate(count);
        }
        let shared = !apart && cores.iter().any(|core| available.engine.contains(core));
        Ok(GivenCores { cores, shared })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(count: usize, may_share: bool) -> Result<GivenCores, CoresError> {
        let available = Cores { contender: vec![0], engine: vec![1], apart: false };
        WantedCores { param: "cores", asked: AskedCores::Count(count), may_share }.given(&available)
    }

    #[test]
    fn the_engine_s_cpus_are_given_only_to_those_that_may_share_them() {
        assert_eq!(given(1, false), Ok(GivenCores { cores: vec![0], shared: false }));
        assert_eq!(given(2, true), Ok(GivenCores { cores: vec![0, 1], shared: true }));
        let refused = given(2, false).unwrap_err().to_string();
        assert_eq!(refused, "cores = 2 cannot be had: beside the load engine's, kumite may use 1 here");
    }
}

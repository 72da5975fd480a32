//! The mark of a trial before which the machine was slower than it is when it is calm.
//!
//! `kumite selfcheck` measures the limits for a machine. Without them a trial is compared with those before it at its
//! point, on the same CPUs: a disturbance that lasts from the first trial to the last is not seen then. A probe makes
//! no trial void.

use kumite_record::{Probe, Role, Run, Trial};
use kumite_stats::median;

/// The fewest earlier trials from which the usual price is taken, if no self-check has measured it.
const FEWEST_BEFORE: usize = 10;
/// The limit as a multiple of the usual price. Beside programs that compile, a calm trial reaches it now and then.
const MOST_TIMES: f64 = 2.0;

/// True if a probe before this trial is beyond its limit. `earlier` has the trials before it in its run.
pub(super) fn machine_changed(run: &Run, earlier: &[Trial], trial: &Trial) -> bool {
    let is_beyond = |probe: Probe| {
        let charged = probe.of(&trial.sample.metrics)?;
        Some(charged > calm_limit(run, probe).or_else(|| usual_limit(earlier, trial, probe))?)
    };
    Probe::ALL.into_iter().any(|probe| is_beyond(probe) == Some(true))
}

/// The limit of a probe that the self-check of this machine found. None without one, and if the contender is on
/// another node, about which the self-check says nothing.
fn calm_limit(run: &Run, probe: Probe) -> Option<f64> {
    let is_here = run.roles.iter().all(|other| other.role != Role::Server);
    probe.of(&run.noise_floor.as_ref().filter(|_| is_here)?.probe_limits)
}

fn usual_limit(earlier: &[Trial], trial: &Trial, probe: Probe) -> Option<f64> {
    let here = earlier.iter().filter(|other| other.point == trial.point);
    let charged: Vec<f64> = here.filter_map(|other| probe.of(&other.sample.metrics)).collect();
    Some(MOST_TIMES * median(&charged).filter(|_| charged.len() >= FEWEST_BEFORE)?)
}

#[cfg(test)]
mod tests {
    use kumite_record::{AxisValue, Machine, Node, NoiseFloor, Point, RoleElsewhere, Sample};

    use super::*;

    fn trial(n: i64, wake_up_us: f64) -> Trial {
        let metrics = [(Probe::WakeUp.name().to_owned(), wake_up_us)].into();
        Trial {
            contender: "a".to_owned(),
            point: Point([("n".to_owned(), AxisValue::Int(n))].into()),
            sample: Sample { metrics, ..Sample::default() },
            ..Trial::default()
        }
    }

    fn checked(limit: f64) -> Run {
        let probe_limits = [(Probe::WakeUp.name().to_owned(), limit)].into();
        Run { noise_floor: Some(NoiseFloor { probe_limits, ..NoiseFloor::default() }), ..Run::default() }
    }

    #[test]
    fn what_the_check_of_the_machine_found_is_the_limit_from_the_first_trial_on() {
        let run = checked(8.0);
        assert!(!machine_changed(&run, &[], &trial(1, 8.0)));
        assert!(machine_changed(&run, &[], &trial(1, 8.1)));
        let usual: Vec<Trial> = (0..20).map(|_| trial(1, 100.0)).collect();
        assert!(machine_changed(&run, &usual, &trial(1, 100.0)), "as it always was, and not calm");
    }

    #[test]
    fn of_a_machine_that_nobody_checked_twice_what_was_usual_at_the_point_is_the_limit() {
        let usual: Vec<Trial> = (0..10).map(|_| trial(1, 5.0)).collect();
        assert!(!machine_changed(&Run::default(), &usual, &trial(1, 10.0)));
        assert!(machine_changed(&Run::default(), &usual, &trial(1, 10.1)));
        assert!(!machine_changed(&Run::default(), &usual[1..], &trial(1, 99.0)), "too few to tell");
        assert!(!machine_changed(&Run::default(), &usual, &trial(2, 99.0)), "none at its point");
    }

    #[test]
    fn a_node_is_not_held_to_the_limits_of_this_machine() {
        let node = Node { name: "far".to_owned(), machine: Machine::default() };
        let run = Run { roles: vec![RoleElsewhere { role: Role::Server, node }], ..checked(8.0) };
        assert!(!machine_changed(&run, &[], &trial(1, 99.0)));
    }

    #[test]
    fn a_trial_without_probes_is_not_marked() {
        let mut trial = trial(1, 0.0);
        trial.sample.metrics.clear();
        assert!(!machine_changed(&checked(8.0), &[], &trial));
    }
}

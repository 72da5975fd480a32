//! Findings on a command that is compared with no other: its warm-up, and runs that are far from the others.

use kumite_process::TimedRun;
use kumite_record::{Alone, Outlier, SteadyClass};
use kumite_stats::{Better, Class, median, steady};

/// The distance from the median, in standard deviations, beyond which a run is an outlier. A smaller one would call
/// the tail of every machine's times outliers.
const FAR: f64 = 10.0;
/// The factor from the median absolute deviation of normal values to their standard deviation.
const BY_MEDIAN: f64 = 1.4826;

pub(crate) fn alone(runs: &[TimedRun]) -> Alone {
    let walls: Vec<f64> = runs.iter().map(|run| run.wall.as_secs_f64()).collect();
    let found = steady(&walls, Better::Smaller);
    let outliers = far(&walls).into_iter().map(|run| Outlier {
        run,
        wall_s: walls[run],
        involuntary_switches: runs[run].involuntary_switches,
    });
    Alone {
        steadiness: found.as_ref().map(|found| match found.class {
            Class::Flat => SteadyClass::Flat,
            Class::WarmUp => SteadyClass::WarmUp,
            Class::Slowdown => SteadyClass::Slowdown,
            Class::NoSteadyState => SteadyClass::NoSteadyState,
        }),
        warm_up_runs: found.and_then(|found| found.since),
        outliers: outliers.collect(),
    }
}

fn far(walls: &[f64]) -> Vec<usize> {
    let Some(middle) = median(walls) else { return Vec::new() };
    let distances: Vec<f64> = walls.iter().map(|wall| (wall - middle).abs()).collect();
    let limit = FAR * BY_MEDIAN * median(&distances).unwrap_or(0.0);
    (0..walls.len()).filter(|run| limit > 0.0 && distances[*run] > limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ten_deviations_away_is_far() {
        let mut walls: Vec<f64> = (0..20).map(|nth| 1.0 + f64::from(nth % 5) * 0.01).collect();
        assert_eq!(far(&walls), Vec::<usize>::new());
        walls[7] = 1.5;
        walls[9] = 0.5;
        assert_eq!(far(&walls), [7, 9]);
        assert_eq!((far(&[]), far(&[1.0, 1.0, 1.0, 9.0])), (vec![], vec![]));
    }
}

//! The outlook of a run before it is begun, from its experiment and the user's choice. `kumite run --dry-run` shows
//! it.

use kumite_record::{Cores, Outlook, OutlookContender, OutlookPoint, OutlookSittings, Shard};

use super::begin::{begin, prospects};
use super::prepare::Choice;
use crate::spec::Experiment;

/// The outlook of a run of the chosen contenders with these CPUs. `shard` and `sittings` are taken over; with
/// `sittings`, no verdict ends the run before its largest number of blocks.
pub fn outlook(
    mut experiment: Experiment,
    choice: &Choice,
    cores: &Cores,
    shard: Option<Shard>,
    sittings: Option<OutlookSittings>,
) -> Outlook {
    let unavailable = experiment.unavailable(cores);
    experiment.planned.retain(|planned| unavailable.iter().all(|other| other.point != planned.point));
    let contenders = experiment.variants().into_iter().map(|(contender, variant)| OutlookContender {
        name: variant.name.clone(),
        model: variant.model.clone(),
        needs: contender.needs.iter().map(ToString::to_string).collect(),
        left_out: choice.left_out(&variant.name).map(str::to_owned),
    });
    let contenders: Vec<OutlookContender> = contenders.collect();
    let taking_part: Vec<&str> =
        contenders.iter().filter(|of| of.left_out.is_none()).map(|of| of.name.as_str()).collect();
    let points = experiment.planned.iter().map(|planned| OutlookPoint {
        point: planned.point.clone(),
        contenders: taking_part
            .iter()
            .filter(|name| planned.contenders.iter().any(|other| other == *name))
            .map(ToString::to_string)
            .collect(),
    });
    let (trials, time) = experiment.extent(&taking_part);
    let (points, prospects) = (points.collect(), prospects(&experiment, cores, &taking_part));
    let most = experiment.blocks;
    // No verdict ends a sitting.
    let least = if sittings.is_some() { most } else { begin(&experiment, cores).min_blocks.min(most) };
    Outlook {
        requests: experiment.scenario.outlook(),
        points,
        unavailable,
        trials,
        time,
        blocks: [least, most],
        prospects,
        checks: experiment.checks.into_iter().map(|check| check.says.id).collect(),
        contenders,
        experiment: experiment.name,
        question: experiment.question.text,
        profile: experiment.profile,
        not_judged: experiment.not_judged,
        sittings,
        shard,
    }
}

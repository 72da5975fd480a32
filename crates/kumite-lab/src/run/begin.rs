//! The record of a run before its first trial, made from its experiment.

use kumite_judge::{ClaimSpec, Reference};
use kumite_record::{AxisValue, Contender, ContenderStatus, Control, Cores, Prospects, Run};

use crate::measures::MEASURES;
use crate::spec::{Asked, Experiment};

/// The record of a run before its first trial: the parts that come from the experiment and these CPUs. If the
/// experiment has a control, the smallest number of blocks is raised to what the control needs, but not above the
/// largest.
pub fn begin(experiment: &Experiment, cores: &Cores) -> Run {
    let run = Run {
        experiment: experiment.name.clone(),
        kind: experiment.kind(),
        profile: experiment.profile.clone(),
        measures: Some(MEASURES),
        question: experiment.question.clone(),
        workload: experiment.fixed.clone(),
        labels: experiment.labels.clone(),
        files: experiment.scenario.files.clone(),
        points: experiment.points(),
        contenders_at: experiment.contenders_at(),
        unavailable: experiment.unavailable(cores),
        within: experiment.within(),
        within_at: experiment.within_at(),
        metrics: experiment.metrics.clone(),
        part_metrics: experiment.part_metrics.clone(),
        blocks: experiment.blocks,
        min_blocks: experiment.min_blocks,
        margin_percent: experiment.margin_percent,
        control: experiment.control.as_deref().map(Control::of),
        not_judged: experiment.not_judged.clone(),
        revisions: experiment.revisions.clone(),
        spec: experiment.text.clone(),
        published: experiment.published.clone(),
        ..Run::default()
    };
    // In fewer blocks a control could show nothing, so no verdict ends the run before.
    let fewest = kumite_judge::fewest_control_blocks(&run).map_or(0, |fewest| fewest as u32);
    Run { min_blocks: run.min_blocks.max(fewest.min(run.blocks)), ..run }
}

/// The seed of a run in shards for which no seed was given. It follows from the experiment, so that all shards have the
/// same, wherever they are executed.
pub fn seed_of(experiment: &Experiment) -> u64 {
    let mut hasher = blake3::Hasher::new();
    let asked = Asked::new(&experiment.text, &experiment.profile).expect("it was read before").canonical();
    for text in [&experiment.name, &experiment.profile, &asked] {
        hasher.update(text.as_bytes()).update(&[0]);
    }
    let [a, b, c, d, ..] = *hasher.finalize().as_bytes();
    u32::from_le_bytes([a, b, c, d]).into()
}

/// The number of blocks that it takes to decide each claim in a run of the contenders in `taking_part`. It is found
/// without a trial.
pub fn prospects(experiment: &Experiment, cores: &Cores, taking_part: &[&str]) -> Prospects {
    let contenders = contenders(experiment, taking_part);
    kumite_judge::prospects(&begin(experiment, cores), &contenders, &experiment.claims)
}

/// The metrics that claims and checks compare, as far as they are of a contender in `taking_part`. Each is a tuple of
/// the id of the claim or check, the metric with its cell, and the value of the axis within trials; `None` stands for a
/// metric of whole trials. A comparison has no metrics here if one of its cells is not measured.
pub fn references(
    experiment: &Experiment,
    cores: &Cores,
    taking_part: &[&str],
) -> Vec<(String, Reference, Option<AxisValue>)> {
    let (run, contenders) = (begin(experiment, cores), contenders(experiment, taking_part));
    let checks = experiment.checks.iter().map(|check| &check.says);
    let of_one = |spec: &ClaimSpec| {
        let whole = kumite_judge::references(&run, &contenders, spec).into_iter().map(|of| (of, None));
        let parts = kumite_judge::part_references(&run, &contenders, spec).into_iter();
        let all = whole.chain(parts.map(|(of, value)| (of, Some(value))));
        let wanted = all.filter(|(of, _)| taking_part.contains(&of.contender.as_str()));
        wanted.map(|(of, part)| (spec.id.clone(), of, part)).collect::<Vec<_>>()
    };
    experiment.claims.iter().chain(checks).flat_map(of_one).collect()
}

fn contenders(experiment: &Experiment, taking_part: &[&str]) -> Vec<Contender> {
    let contender = |name: &String, model: &String| Contender {
        name: name.clone(),
        model: model.clone(),
        status: match taking_part.contains(&name.as_str()) {
            true => ContenderStatus::Ran,
            false => ContenderStatus::Skipped,
        },
        ..Contender::default()
    };
    let variants = experiment.variants().into_iter();
    variants.map(|(_, variant)| contender(&variant.name, &variant.model.to_string())).collect()
}

//! `kumite run --dry-run`.

use kumite_lab::{Experiment, humane};
use kumite_record::{Shard, Unavailable};

use super::Planned;
use crate::prospects;

/// The plan of a run, and about how long it would take.
pub fn text(planned: &mut Planned) -> String {
    let Planned { experiment, choice, available, shard } = planned;
    let unavailable = experiment.unavailable(available);
    experiment.planned.retain(|planned| unavailable.iter().all(|other| other.point != planned.point));
    let mut text = format!("{}: {}\n\n", experiment.name, experiment.question.text);
    let mut taking_part = Vec::new();
    for (contender, variant) in experiment.variants() {
        let needs: Vec<String> = contender.needs.iter().map(ToString::to_string).collect();
        let what = match choice.left_out(&variant.name) {
            Some(why) => why.to_owned(),
            None => {
                taking_part.push(variant.name.as_str());
                format!(
                    "{}; needs {}",
                    variant.model,
                    if needs.is_empty() { "nothing".into() } else { needs.join(", ") }
                )
            }
        };
        text += &format!("  {:24} {what}\n", variant.name);
    }
    text += "\npoints:\n";
    for planned in &experiment.planned {
        let all = taking_part.iter().all(|name| planned.contenders.iter().any(|other| other == name));
        let here: Vec<&str> = taking_part
            .iter()
            .copied()
            .filter(|name| planned.contenders.iter().any(|other| other == name))
            .collect();
        let point =
            if planned.point.0.is_empty() { "the only one".to_owned() } else { planned.point.to_string() };
        let who = if all { "all".to_owned() } else { here.join(", ") };
        text += &format!("  {point}: {who}\n");
    }
    for Unavailable { point, why } in unavailable {
        text += &format!("  {point}: cannot be measured here: {why}\n");
    }
    let (trials, time) = experiment.extent(&taking_part);
    let points = match experiment.planned.len() {
        1 => "1 point".to_owned(),
        n => format!("{n} points"),
    };
    let (most, least) = (experiment.blocks, experiment.min_blocks.min(experiment.blocks));
    let range = |least: String, most: String| if least == most { most } else { format!("{least} to {most}") };
    let blocks = range(least.to_string(), most.to_string());
    let of_all = range((trials * least as usize).to_string(), (trials * most as usize).to_string());
    let time = match time {
        Some([shortest, longest]) => {
            let time = range(humane(shortest * least), humane(longest * most));
            format!("{time} under load, starting and stopping not counted")
        }
        None => "duration unknown until the first round has run".to_owned(),
    };
    text += &prospects::table(&kumite_lab::prospects(experiment, available, &taking_part), experiment.blocks);
    text += &beside_the_table(experiment);
    text += &format!(
        "\nprofile {}: {points}, {blocks} blocks each, {of_all} trials; {time}\n",
        experiment.profile,
    );
    if let Some(shard) = shard {
        let rounds = (0..experiment.blocks).filter(|round| shard.has(*round)).count();
        let Shard { nth, of, node } = shard;
        text += &format!(
            "shard {nth} of {of}, on {node}: {rounds} of {} blocks; `kumite merge` judges all of them\n",
            experiment.blocks
        );
    }
    text
}

/// The claims that the profile does not judge, and the checks.
fn beside_the_table(experiment: &Experiment) -> String {
    let checks = experiment.checks.iter().map(|check| check.says.id.clone()).collect();
    let lines = [("not judged by this profile", experiment.not_judged.clone()), ("checks", checks)];
    let lines = lines.iter().filter(|(_, ids)| !ids.is_empty());
    lines.map(|(what, ids): &(&str, Vec<String>)| format!("\n{what}: {}\n", ids.join(", "))).collect()
}

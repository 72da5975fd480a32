//! `kumite run --dry-run`.

use std::time::Duration;

use kumite_lab::{Experiment, humane};
use kumite_record::{Shard, Unavailable};

use super::{Planned, sittings};
use crate::prospects;

/// The plan of a run, and about how long it would take.
pub fn text(planned: &mut Planned, sittings: &sittings::Flags, near_ties: &str) -> String {
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
    let (most, least) = (experiment.blocks, kumite_lab::begin(experiment, available).min_blocks);
    let least = if sittings.are_given() { most } else { least.min(most) };
    let range = |least: String, most: String| if least == most { most } else { format!("{least} to {most}") };
    let blocks = range(least.to_string(), most.to_string());
    let of_all = range((trials * least as usize).to_string(), (trials * most as usize).to_string());
    let times = time.map(|[shortest, longest]| [shortest * least, longest * most]);
    let time = match times {
        Some([shortest, longest]) => {
            let time = range(humane(shortest), humane(longest));
            format!("{time} under load, starting and stopping not counted")
        }
        None => "duration unknown until the first round has run".to_owned(),
    };
    let prospects = kumite_lab::prospects(experiment, available, &taking_part);
    text += &prospects::table(&prospects, sittings.in_all(experiment.blocks));
    text += &beside_the_table(experiment);
    if !near_ties.is_empty() {
        text += &format!("\n{near_ties}");
    }
    text += &format!(
        "\nprofile {}: {points}, {blocks} blocks each, {of_all} trials; {time}\n",
        experiment.profile,
    );
    text += &of_sittings(sittings, times);
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

/// How long all sittings take.
fn of_sittings(sittings: &sittings::Flags, of_one: Option<[Duration; 2]>) -> String {
    let Some(apart) = sittings.apart() else { return String::new() };
    let number = sittings.number();
    let between = apart.saturating_mul(number - 1);
    let all = |of_one: Duration| humane(of_one.saturating_mul(number).saturating_add(between));
    let time = match of_one.map(|of_one| of_one.map(all)) {
        Some([shortest, longest]) if shortest == longest => format!("{longest} in all"),
        Some([shortest, longest]) => format!("{shortest} to {longest} in all"),
        None => format!("more than {} in all", humane(between)),
    };
    let near = sittings.too_near().map_or(String::new(), |doubt| format!("{doubt}\n"));
    format!("{number} sittings of that, {} apart: {time}\n{near}", humane(apart))
}

/// The claims that the profile does not judge, and the checks.
fn beside_the_table(experiment: &Experiment) -> String {
    let checks = experiment.checks.iter().map(|check| check.says.id.clone()).collect();
    let lines = [("not judged by this profile", experiment.not_judged.clone()), ("checks", checks)];
    let lines = lines.iter().filter(|(_, ids)| !ids.is_empty());
    lines.map(|(what, ids): &(&str, Vec<String>)| format!("\n{what}: {}\n", ids.join(", "))).collect()
}

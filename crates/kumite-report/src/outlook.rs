//! The text of a run before it begins: its plan, and what its blocks can decide.

use std::fmt::Display;
use std::time::Duration;

use kumite_record::{
    Contender, NearTies, Outlook, OutlookContender, OutlookPoint, OutlookRequest, OutlookSittings,
    SITTINGS_APART, Shard, Unavailable,
};

use crate::words::near_tie::near_ties;
use crate::words::number::plural;
use crate::words::prospects;
use crate::words::quantity::length;
use crate::words::text::one_line;

/// The text of `kumite run --dry-run`, with the near-ties of an earlier run if there is one.
pub fn outlook(of: &Outlook, earlier: Option<&NearTies>) -> String {
    let mut text = format!("{}: {}\n\n", of.experiment, of.question);
    text += &of.contenders.iter().map(contender).collect::<String>();
    if !of.requests.is_empty() {
        text += "\nrequests:\n";
        text += &of.requests.iter().map(request).collect::<String>();
    }
    text += "\npoints:\n";
    let all: Vec<&str> = of.taking_part().collect();
    text += &of.points.iter().map(|at| point(at, &all)).collect::<String>();
    for Unavailable { point, why } in &of.unavailable {
        text += &format!("  {point}: cannot be measured here: {why}\n");
    }
    text += &prospects::table(&of.prospects, of.blocks_in_all());
    for (what, ids) in [("not judged by this profile", &of.not_judged), ("checks", &of.checks)] {
        if !ids.is_empty() {
            text += &format!("\n{what}: {}\n", ids.join(", "));
        }
    }
    text += &earlier.map_or(String::new(), |earlier| format!("\n{}", near_ties(earlier)));
    text += &extent(of);
    text += &of.sittings.map_or(String::new(), |sittings| in_all(of, sittings));
    text + &of.shard.as_ref().map_or(String::new(), |shard| share(shard, of.blocks[1]))
}

fn contender(of: &OutlookContender) -> String {
    let needs = if of.needs.is_empty() { "nothing".to_owned() } else { of.needs.join(", ") };
    let what = of.left_out.clone().unwrap_or_else(|| format!("{}; needs {needs}", of.model));
    format!("  {:24} {what}\n", of.name)
}

fn request(of: &OutlookRequest) -> String {
    let OutlookRequest { name, what, session, turns: [own, all] } = of;
    // A name that was not given is what is sent.
    let name =
        if name == what { one_line(name) } else { format!("{:24} {}", one_line(name), one_line(what)) };
    let session = session.as_ref().map_or(String::new(), |session| format!(" of {}", one_line(session)));
    format!("  {name}{session}; {own} of {all} turns\n")
}

fn point(of: &OutlookPoint, all: &[&str]) -> String {
    let who = if of.contenders == all { "all".to_owned() } else { of.contenders.join(", ") };
    match of.point.0.is_empty() {
        true => format!("  the only one: {who}\n"),
        false => format!("  {}: {who}\n", of.point),
    }
}

/// The line on the size of a run: points, blocks, trials and time.
fn extent(of: &Outlook) -> String {
    let [least, most] = of.blocks;
    let trials = |blocks: u32| of.trials * blocks as usize;
    let time = match time(of) {
        None => "duration unknown until the first round has run".to_owned(),
        Some(times) => {
            format!("{} under load, starting and stopping not counted", range(times.map(time_text)))
        }
    };
    let (points, blocks) = (plural(of.points.len(), "point"), range(of.blocks));
    let trials = range([trials(least), trials(most)]);
    format!("\nprofile {}: {points}, {blocks} blocks each, {trials} trials; {time}\n", of.profile)
}

/// The least and the most time under load of a run, or of each sitting; none if it is not known in advance.
fn time(of: &Outlook) -> Option<[Duration; 2]> {
    of.time.map(|[shortest, longest]| [shortest * of.blocks[0], longest * of.blocks[1]])
}

fn time_text(time: Duration) -> String {
    length(time.as_secs_f64())
}

/// The lines on the time of all sittings; empty if there is one.
fn in_all(of: &Outlook, OutlookSittings { number, apart }: OutlookSittings) -> String {
    if number == 1 {
        return String::new();
    }
    let between = apart.saturating_mul(number - 1);
    let all = |of_one: Duration| time_text(of_one.saturating_mul(number).saturating_add(between));
    let time = match time(of) {
        Some(of_one) => format!("{} in all", range(of_one.map(all))),
        None => format!("more than {} in all", time_text(between)),
    };
    let near = too_near(apart).map_or(String::new(), |doubt| format!("{doubt}\n"));
    format!("{number} sittings of that, {} apart: {time}\n{near}", time_text(apart))
}

/// The doubt that sittings `apart` from each other are judged as one; none if they are far enough apart.
pub fn too_near(apart: Duration) -> Option<String> {
    let is_near = Duration::try_from(SITTINGS_APART).is_ok_and(|enough| apart < enough);
    is_near.then(|| {
        format!(
            "sittings that are {} apart will count as one, for they share what the machine is like: leave out --apart",
            time_text(apart)
        )
    })
}

fn range<T: Display + PartialEq>([least, most]: [T; 2]) -> String {
    if least == most { most.to_string() } else { format!("{least} to {most}") }
}

fn share(shard: &Shard, blocks: u32) -> String {
    let Shard { nth, of, node } = shard;
    let here = (0..blocks).filter(|round| shard.has(*round)).count();
    format!("shard {nth} of {of}, on {node}: {here} of {blocks} blocks; `kumite merge` judges all of them\n")
}

/// The contenders that have a reason not to take part in a run, with a line for each reason. The lines have no line
/// feed.
pub fn absent(contenders: &[Contender]) -> Vec<String> {
    let mut by_reason: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for contender in contenders {
        let (Some(reason), status) = (contender.reason.as_deref(), contender.status.as_str()) else {
            continue;
        };
        match by_reason.iter_mut().find(|(of, why, _)| (*of, *why) == (status, reason)) {
            Some((_, _, names)) => names.push(&contender.name),
            None => by_reason.push((status, reason, vec![&contender.name])),
        }
    }
    let line =
        |(status, reason, names): (&str, &str, Vec<&str>)| format!("{status} {}: {reason}", names.join(", "));
    by_reason.into_iter().map(line).collect()
}

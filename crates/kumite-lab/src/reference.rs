//! The parameters and metrics of each kind of workload, as a document: docs/reference.md.

use kumite_record::{Better, Metric, Probe};

use crate::driver::{KINDS, Registration};
use crate::metrics::Metrics;
use crate::parameter::{MOST_CORES, Param, Takes};

const HEAD: &str = "# Reference: parameters and metrics of each kind

Made from the declarations in the code by `cargo run -p kumite-lab --example reference`; `cargo xtask tidy` sees that it
is theirs. How contenders of each kind are spoken with is in the [contract](contract.md).

The end of a name says its unit: `_ns`, `_us`, `_ms`, `_s`, `_bytes`, `_rps` and `_per_s` (a second), `_cores`,
`_share` (a ratio). A metric that is *apart* stands in the table of details.
";

const MACHINE: &str =
    "Every trial of every kind has these figures, where the machine could be probed ([noise](noise.md)).
They say nothing of the contender: no claim and no metric of an experiment's own may name one, and no table of
contenders has one. On a node with a role they are among its noise, after the role: `services_probe_wake_up_us`.
";

/// The text of `docs/reference.md`, made from what is declared.
pub fn reference() -> String {
    KINDS.iter().fold(HEAD.to_owned(), |text, kind| text + &of_kind(kind)) + &of_machine()
}

/// The section on the figures that every trial has, whatever its kind.
fn of_machine() -> String {
    let probes = Metrics { results: Probe::ALL.map(Probe::metric).into(), costs: Vec::new() };
    format!("\n## The machine before a trial\n\n{MACHINE}{}", table("Probes", probes))
}

fn of_kind(kind: &Registration) -> String {
    let name = kind.name.as_str();
    let mut text = format!("\n## Kind `{name}`\n\n### Parameters\n\n");
    text += "| parameter | default | allowed | what it is |\n| --- | --- | --- | --- |\n";
    for param in kind.params {
        let (default, allowed) = (default(param), allowed(&param.takes));
        text += &format!("| `{}` | {default} | {allowed} | {} |\n", param.name, cell(param.about));
    }
    if kind.takes_others {
        text += "\nAll others are the contender's own.\n";
    }
    text += &table("Metrics of a trial", (kind.metrics)());
    text += &table("Metrics of its parts", (kind.part_metrics)());
    text += &table("Metrics of a trial with sessions", (kind.session_metrics)());
    text + &table("Metrics of each request, of several", (kind.request_metrics)())
}

fn default(param: &Param) -> String {
    if let Some(other) = param.like {
        return format!("that of `{other}`");
    }
    match &param.takes {
        Takes::Count { default, .. } => default.to_string(),
        Takes::Number { default, .. } | Takes::Steps { default, .. } => default.to_string(),
        Takes::Text { default: "" } => "nothing".to_owned(),
        Takes::Text { default } => format!("`{default}`"),
        Takes::Word(words) => format!("`{}`", words[0]),
        Takes::Flag => "no".to_owned(),
        Takes::Cores => "1".to_owned(),
    }
}

fn allowed(takes: &Takes) -> String {
    match takes {
        Takes::Count { least, most, .. } => format!("{least} to {most}"),
        Takes::Number { least, most, .. } => format!("{least} to {most}"),
        Takes::Steps { least, most, .. } => format!("{least} to {most}, or steps"),
        Takes::Text { .. } => "text".to_owned(),
        Takes::Word(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", "),
        Takes::Flag => "`true` or `false`".to_owned(),
        Takes::Cores => format!("1 to {MOST_CORES}, or `all`"),
    }
}

fn table(title: &str, metrics: Metrics) -> String {
    let metrics = metrics.around([]);
    if metrics.is_empty() {
        return String::new();
    }
    let mut text = format!("\n### {title}\n\n| metric | counted in | better | what it is |\n");
    text += "| --- | --- | --- | --- |\n";
    for Metric { name, unit, better, about, is_detail, .. } in &metrics {
        let better = match better {
            Some(Better::Higher) => "higher",
            Some(Better::Lower) => "lower",
            None => "",
        };
        let apart = if *is_detail { " *apart*" } else { "" };
        text += &format!("| `{name}`{apart} | {unit} | {better} | {} |\n", cell(about));
    }
    text
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_and_metric_of_every_kind_is_in_it_with_a_sentence() {
        let text = reference();
        for kind in KINDS {
            assert!(text.contains(&format!("## Kind `{}`", kind.name)));
            let metrics = [(kind.metrics)(), (kind.part_metrics)()].map(|metrics| metrics.around([]));
            let metrics =
                metrics.iter().flatten().map(|metric| (metric.name.as_str(), metric.about.as_str()));
            let params = kind.params.iter().map(|param| (param.name, param.about));
            for (name, about) in params.chain(metrics) {
                assert!(text.contains(&format!("| `{name}`")), "{name}");
                assert!(about.ends_with('.'), "{name}: {about}");
            }
        }
    }
}

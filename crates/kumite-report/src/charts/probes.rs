//! Charts of what the machine took for the probes before each trial, in the order of the run. Each probe has one
//! chart of all trials, since it measures the machine and no contender.

use kumite_record::{Export, Metric, Probe};

use super::frame::{end_ticks, ticks_apart};
use super::scale::Scale;
use super::timeline::{PLOT, Timeline, path};
use crate::words::number::{count, plural};
use crate::words::quantity::Measured;

/// A chart for each probe that has a finite figure in some trial.
pub fn probe_charts(export: &Export) -> Vec<Timeline> {
    Probe::ALL.into_iter().filter_map(|probe| chart(export, probe)).collect()
}

fn chart(export: &Export, probe: Probe) -> Option<Timeline> {
    let figure = |trial: &kumite_record::Trial| probe.of(&trial.sample.metrics).filter(|it| it.is_finite());
    let mut trials: Vec<_> = export.trials.iter().collect();
    trials.sort_by_key(|trial| trial.seq);
    let figures: Vec<Option<f64>> = trials.into_iter().map(figure).collect();
    let mut known: Vec<f64> = figures.iter().flatten().copied().collect();
    known.sort_by(f64::total_cmp);
    let (least, most) = (known.first()?, known.last()?);
    let metric: Metric = probe.metric();
    let (x, y) = (Scale::linear(0.0, figures.len() as f64, PLOT.x()), Scale::linear(0.0, *most, PLOT.y()));
    let middle = metric.text(known[known.len() / 2]);
    let (least, most) = (metric.text(*least), metric.text(*most));
    Some(Timeline {
        id: format!("probe-{}", probe.name().replace('_', "-")),
        title: format!("{probe}: {middle} ({least} to {most})"),
        description: format!(
            "{probe} before {}: half of them at most {middle}, all of them {least} to {most}.",
            plural(known.len(), "trial")
        ),
        frame: PLOT
            .upright(ticks_apart(&x, count), end_ticks(&y, |value| metric.tick(value)))
            .titled("trials of the run"),
        shades: Vec::new(),
        color: 0,
        answers: path(&figures, |nth| x.at(nth as f64 + 0.5), &y),
        failures: String::new(),
        recovered: None,
        one_frame: None,
    })
}

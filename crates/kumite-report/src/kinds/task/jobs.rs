//! Charts of the jobs of one trial in their order, which show the warm-up.

use kumite_record::{Export, Job, Trial, Unit};

use crate::charts::frame::{end_ticks, ticks};
use crate::charts::scale::Scale;
use crate::charts::timeline::{PLOT, Shade, path};
use crate::charts::{Look, Timeline, Timelines, tenth};
use crate::kinds::chapter::PageChapter;
use crate::metric::Named;
use crate::record::Record;
use crate::tables::group::Groups;
use crate::tables::trials::median_trials;
use crate::words::number::{count, plural};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// The least number of measured jobs that make a chart.
const LEAST: usize = 6;
/// The most jobs in a chart. They are the first ones, where a warm-up is seen.
const MOST: usize = 1_000;

/// The chapter on jobs for a page: one trial of each contender, at each point without a disturbance. None if no trial
/// has enough jobs.
pub fn page(record: &Record, groups: &Groups) -> Option<PageChapter> {
    let point = |(nth, (place, point))| {
        let (by, trials) = median_trials(record, point, None, has_jobs);
        let charts = trials.iter().enumerate();
        let charts =
            charts.map(|(trial, of)| jobs(record.export, format!("jobs-{nth}-{trial}"), of)).collect();
        Timelines { place, by: by.words(), charts }
    };
    let points = groups.calm().flat_map(|group| groups.points_of(group)).enumerate().map(point);
    let shown: Vec<Timelines> = points.filter(|point| !point.charts.is_empty()).collect();
    PageChapter::new("jobs", "Job by job", "jobs.html", &shown)
}

fn has_jobs(trial: &Trial) -> bool {
    trial.sample.jobs.iter().filter(|job| !job.warm_up).count() >= LEAST
}

/// The chart of the elapsed times of a trial's jobs.
fn jobs(export: &Export, id: String, trial: &Trial) -> Timeline {
    let all = &trial.sample.jobs;
    let drawn = &all[..all.len().min(MOST)];
    let elapsed: Vec<Option<f64>> =
        drawn.iter().map(|job| Some(job.elapsed_ms).filter(|ms| ms.is_finite())).collect();
    let x_scale = Scale::linear(0.5, drawn.len() as f64 + 0.5, PLOT.x());
    let y_scale = Scale::linear(0.0, elapsed.iter().flatten().copied().fold(0.0, f64::max), PLOT.y());
    let warm_up = drawn.iter().take_while(|job| job.warm_up).count();
    let x = |nth: usize| x_scale.at(nth as f64 + 1.0);
    let shade = Shade {
        x: PLOT.left,
        width: tenth(x_scale.at(warm_up as f64 + 0.5) - PLOT.left),
        kind: "warm-up",
        label: "warm-up".to_owned(),
    };
    let cut = match all.len() > drawn.len() {
        true => format!(", the first {} of {} jobs", count(drawn.len() as f64), count(all.len() as f64)),
        false => String::new(),
    };
    Timeline {
        id,
        title: one_line(&format!("{}, block {}{cut}", trial.contender, trial.block + 1)),
        description: described(all),
        frame: PLOT
            .upright(ticks(&x_scale, count), end_ticks(&y_scale, |ms| Unit::Milliseconds.tick(ms)))
            .titled("job"),
        shades: (warm_up > 0).then_some(shade).into_iter().collect(),
        color: Look::of_contender(export, &trial.contender).color,
        answers: path(&elapsed, x, &y_scale),
        failures: String::new(),
        recovered: steady_from(trial).map(|jobs| x_scale.at(jobs as f64 + 0.5)),
        one_frame: None,
    }
}

/// The number of jobs before the steady ones; none if jobs were steady from the start, never, or only after the jobs
/// drawn, or if that is not known.
fn steady_from(trial: &Trial) -> Option<usize> {
    let since_ms = trial.sample.steadiness.as_ref()?.since_ms.filter(|since_ms| *since_ms > 0)?;
    let mut began_ms = 0.0;
    let before = trial.sample.jobs.iter().take_while(|job| {
        let is_before = began_ms < since_ms as f64;
        began_ms += job.elapsed_ms;
        is_before
    });
    Some(before.count()).filter(|before| *before < trial.sample.jobs.len().min(MOST))
}

fn described(jobs: &[Job]) -> String {
    let mut measured: Vec<f64> = jobs.iter().filter(|job| !job.warm_up).map(|job| job.elapsed_ms).collect();
    measured.sort_by(f64::total_cmp);
    let at = |nth: usize| measured.get(nth).map_or(String::new(), |ms| Unit::Milliseconds.text(*ms));
    format!(
        "Elapsed time of each of {}, {} of them to warm up: the first took {}; of the measured ones the shortest {}, the one \
         in the middle {}, the longest {}.",
        plural(jobs.len(), "job"),
        count((jobs.len() - measured.len()) as f64),
        jobs.first().map_or(String::new(), |job| Unit::Milliseconds.text(job.elapsed_ms)),
        at(0),
        at(measured.len() / 2),
        at(measured.len().saturating_sub(1)),
    )
}

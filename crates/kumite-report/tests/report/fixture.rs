//! Records as `kumite export` and `--json` write them: five contenders of a chat bot at four points with every verdict,
//! and one of each other kind. The files below `records/` are read by each test, which may change what was read. Their
//! figures are invented, so that everything that can go wrong is in them.
//!
//! A record's form may get another field. Then `RENEW_RECORDS=1 cargo test -p kumite-report the_present_form` writes all
//! files anew from what was read of them; what another value is to be is edited in the file (`gzip -d`, edit, renew).

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use kumite_record::{
    AxisValue, Call, Cell, Check, Export, LoadResult, Phase, PhaseKind, SelfCheck, Trial, TrialPart,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

const RUNS: [&str; 7] = [
    "chatbot.json",
    "sparse.json.gz",
    "overload.json.gz",
    "task.json.gz",
    "sweep.json.gz",
    "function.json.gz",
    "pacing.json.gz",
];

fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report/records").join(file)
}

fn text(file: &str) -> String {
    let bytes = fs::read(path(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut text = String::new();
    match file.ends_with(".gz") {
        true => GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
        false => (&bytes[..]).read_to_string(&mut text).unwrap(),
    };
    text
}

fn read<T: DeserializeOwned>(file: &str) -> T {
    serde_json::from_str(&text(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// A run as it could have been: every verdict, and everything that can go wrong.
pub fn export() -> Export {
    read("chatbot.json")
}

/// A run that ended before anything was measured.
pub fn empty() -> Export {
    let mut export = export();
    export.run.cut_short = Some("interrupted before the first trial ended".into());
    export.run.points.clear();
    export.cells.clear();
    export.claims.clear();
    export.contenders.clear();
    export.warnings.clear();
    export.trials.clear();
    export
}

/// Several axes of which few points were planned, disturbances, time series and published figures.
pub fn sparse() -> Export {
    read("sparse.json.gz")
}

/// Loads in steps, beyond what servers can do.
pub fn overload() -> Export {
    read("overload.json.gz")
}

/// Workers with jobs, their events and checks.
pub fn task() -> Export {
    read("task.json.gz")
}

/// Many workers over an axis.
pub fn sweep() -> Export {
    read("sweep.json.gz")
}

/// Functions with cold and warm calls, one that is cut off, one that is killed, one that is refused.
pub fn function() -> Export {
    read("function.json.gz")
}

/// Players idle and under load: one that spins, some that wait, two that drift, one that is early, one that does not start.
pub fn pacing() -> Export {
    read("pacing.json.gz")
}

/// A load with a few failures.
pub fn load() -> LoadResult {
    read("load.json")
}

/// A self-check of which nearly all is as promised.
pub fn selfcheck() -> SelfCheck {
    read("selfcheck.json")
}

/// One of each outcome.
pub fn checks() -> Vec<Check> {
    read("checks.json")
}

/// Makes it a run of the other's kind, which measures what that does.
pub fn of_kind(export: &mut Export, other: &Export) {
    let (run, other) = (&mut export.run, other.run.clone());
    (run.kind, run.metrics, run.part_metrics) = (other.kind, other.metrics, other.part_metrics);
    for (name, estimate) in
        export.cells.iter_mut().chain(&mut export.parts).flat_map(|cell| &mut cell.metrics)
    {
        estimate.unit = run.unit(name);
    }
}

/// The play of two players, so many times one after the other.
pub fn played(times: u32) -> Export {
    const FRAMES: f64 = 601.0;
    let mut export = pacing();
    export.contenders.truncate(2);
    let names: Vec<String> = export.contenders.iter().map(|contender| contender.name.clone()).collect();
    export.cells.retain(|cell| names.contains(&cell.contender));
    export.trials.retain(|trial| names.contains(&trial.contender));
    for trial in &mut export.trials {
        let once = std::mem::take(&mut trial.sample.arrivals);
        for nth in 0..times {
            let later = f64::from(nth) * FRAMES / 59.94 * 1e3;
            trial.sample.arrivals.extend(once.iter().map(|of| {
                let mut of = *of;
                of.due_ms += later;
                of
            }));
        }
    }
    export
}

/// Two functions with more calls than can be drawn one by one, one on each of so many instances in turn.
pub fn called(calls: usize, instances: usize) -> Export {
    let mut export = function();
    let point = export.run.points[0].clone();
    let is_kept = |contender: &str| ["java", "go"].contains(&contender);
    export.contenders.retain(|contender| is_kept(&contender.name));
    export.cells.retain(|cell| is_kept(&cell.contender) && cell.point == point);
    export.trials.retain(|trial| is_kept(&trial.contender) && trial.point == point && trial.block < 2);
    let parts = std::mem::take(&mut export.parts);
    let parts: Vec<Cell> = parts
        .into_iter()
        .filter(|cell| is_kept(&cell.contender) && cell.point.0["handler"] == point.0["handler"])
        .collect();
    for contender in &export.contenders {
        let of_one: Vec<&Cell> = parts.iter().filter(|cell| cell.contender == contender.name).collect();
        for nth in 0..calls {
            let mut cell = of_one[if nth < instances { 0 } else { of_one.len() - 1 }].clone();
            cell.point.0.insert("call".to_owned(), AxisValue::Int(nth as i64 + 1));
            export.parts.push(cell);
        }
    }
    export.trials.iter_mut().for_each(|trial| call_often(trial, calls, instances));
    let run = &mut export.run;
    (run.points, run.blocks, run.published) = (vec![point], 2, None);
    run.workload.insert("calls".to_owned(), AxisValue::Int(calls as i64));
    run.workload.insert("max_instances".to_owned(), AxisValue::Int(instances as i64));
    run.within.as_mut().unwrap().values = (1..=calls as i64).map(AxisValue::Int).collect();
    export
}

fn call_often(trial: &mut Trial, calls: usize, instances: usize) {
    let sample = &mut trial.sample;
    let (cold, warm) = (sample.calls[0].clone(), sample.calls[sample.calls.len() - 1].clone());
    let (cold_part, warm_part) = (sample.parts[0].clone(), sample.parts[sample.parts.len() - 1].clone());
    let mut idle_since: Vec<f64> = Vec::new();
    let mut now_ms = 0.0;
    (sample.calls, sample.phases, sample.parts) = (Vec::new(), Vec::new(), Vec::new());
    for nth in 0..calls {
        let instance = nth % instances;
        let phase = |kind, from_ms, to_ms| Phase {
            instance: instance as u32 + 1,
            kind,
            from_ms,
            to_ms,
            ending: None,
        };
        let is_cold = nth < instances;
        let (call, part) = if is_cold { (&cold, &cold_part) } else { (&warm, &warm_part) };
        let invoked_ms = now_ms + call.init_ms;
        let ended_ms = invoked_ms + call.duration_ms;
        sample.phases.push(match is_cold {
            true => phase(PhaseKind::Init, now_ms, invoked_ms),
            false => phase(PhaseKind::Frozen, idle_since[instance], now_ms),
        });
        sample.phases.push(phase(PhaseKind::Invoke, invoked_ms, ended_ms));
        match idle_since.get_mut(instance) {
            Some(since) => *since = ended_ms,
            None => idle_since.push(ended_ms),
        }
        let call = Call { offered_ms: now_ms, instance: Some(instance as u32 + 1), ..call.clone() };
        now_ms += call.wall_ms + 1.0;
        sample.calls.push(call);
        sample.parts.push(TrialPart { at: AxisValue::Int(nth as i64 + 1), ..part.clone() });
    }
    for (nth, since) in idle_since.into_iter().enumerate() {
        let instance = nth as u32 + 1;
        let end = |kind, from_ms, to_ms| Phase { instance, kind, from_ms, to_ms, ending: None };
        sample.phases.push(end(PhaseKind::Frozen, since, now_ms));
        sample.phases.push(end(PhaseKind::Killed, now_ms, now_ms + 6.0));
    }
}

#[test]
fn each_file_is_in_the_present_form() {
    fn is_present<T: Serialize + for<'de> Deserialize<'de>>(file: &str) {
        let is_packed = file.ends_with(".gz");
        let value: T = read(file);
        let now = match is_packed {
            true => serde_json::to_string(&value).unwrap(),
            false => serde_json::to_string_pretty(&value).unwrap() + "\n",
        };
        if std::env::var_os("RENEW_RECORDS").is_none() {
            assert!(now == text(file), "{file}: renew it, as fixture.rs says");
            return;
        }
        let bytes = match is_packed {
            true => {
                let mut packed = GzEncoder::new(Vec::new(), Compression::best());
                packed.write_all(now.as_bytes()).unwrap();
                packed.finish().unwrap()
            }
            false => now.into_bytes(),
        };
        fs::write(path(file), bytes).unwrap();
    }
    RUNS.into_iter().for_each(is_present::<Export>);
    is_present::<LoadResult>("load.json");
    is_present::<SelfCheck>("selfcheck.json");
    is_present::<Vec<Check>>("checks.json");
}

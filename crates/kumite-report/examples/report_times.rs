//! How long reports of one contender at very many points take to make, in each format.
//!
//! `cargo run --release -p kumite-report --example report_times -- 1000 2500 5000`

use std::time::Instant;

use kumite_record::{
    AxisValue, Cell, Contender, Estimate, Export, Machine, Metric, Needs, Point, Run, SCHEMA, Sample, Series,
    Trial, Unit,
};
use kumite_report::{Style, csv, html, markdown, terminal};

type Format = fn(&Export) -> String;

const BLOCKS: u32 = 2;
const CONTENDER: &str = "rust-axum";

/// Name, value, role; the last ones are details.
const METRICS: [(&str, f64, &str); 12] = [
    ("throughput_rps", 63_140.0, "throughput"),
    ("response_mean_us", 812.0, "response-mean"),
    ("response_p50_us", 741.0, "response-p50"),
    ("response_p99_us", 2_870.0, "response-p99"),
    ("failures", 0.0, "failures"),
    ("cpu_cores", 0.97, "cpu"),
    ("warm_up_ms", 100.0, "warm-up"),
    ("response_p90_us", 1_190.0, "response-p90"),
    ("response_p99_9_us", 9_100.0, "response-p99-9"),
    ("response_max_us", 31_200.0, "response-max"),
    ("received", 63_140.0, "received"),
    ("finished", 63_140.0, "finished"),
];
const MAIN: usize = 6;

fn main() {
    let points: Vec<i64> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    let formats: [(&str, Format); 4] = [
        ("terminal", |export| terminal(export, &Style { color: false, width: 120 })),
        ("HTML", html),
        ("Markdown", markdown),
        ("CSV", csv),
    ];
    for points in points {
        let export = export(points);
        for (name, format) in formats {
            let began = Instant::now();
            let length = format(&export).len();
            println!("{points} points, {name}: {:.3} s, {length} bytes", began.elapsed().as_secs_f64());
        }
    }
}

fn export(points: i64) -> Export {
    let point = |n| Point([("connections".to_owned(), AxisValue::Int(n))].into());
    let points: Vec<Point> = (1..=points).map(point).collect();
    let trials = points.iter().flat_map(|point| (0..BLOCKS).map(move |block| (point, block)));
    Export {
        schema: SCHEMA,
        machine: Machine::default(),
        contenders: vec![Contender {
            name: CONTENDER.to_owned(),
            model: "native-async".to_owned(),
            ..Contender::default()
        }],
        cells: points.iter().map(cell).collect(),
        parts: Vec::new(),
        claims: Vec::new(),
        checks: Vec::new(),
        gate: None,
        warnings: Vec::new(),
        trials: (0..).zip(trials).map(|(seq, (point, block))| trial(seq, point, block)).collect(),
        run: Run {
            kind: "http".into(),
            experiment: "very-many-points".to_owned(),
            metrics: metrics(),
            points,
            blocks: BLOCKS,
            ..Run::default()
        },
    }
}

fn metrics() -> Vec<Metric> {
    let metric = |(nth, (name, _, role)): (usize, &(&str, f64, &str))| {
        let is_detail = nth >= MAIN;
        Metric { is_detail, ..Metric::new(name, "").role(role) }
    };
    METRICS.iter().enumerate().map(metric).collect()
}

fn cell(point: &Point) -> Cell {
    let estimate = |estimate| Estimate {
        estimate,
        low: None,
        high: None,
        unit: Unit::Number,
        n: BLOCKS as usize,
        lower_bounds: 0,
    };
    Cell {
        contender: CONTENDER.to_owned(),
        point: point.clone(),
        trials: BLOCKS,
        disqualified: 0,
        failed: 0,
        marked: 0,
        metrics: METRICS.map(|(name, value, _)| (name.to_owned(), estimate(value))).into(),
        needs: Needs::new(),
        steadiness: None,
    }
}

fn trial(seq: u32, point: &Point, block: u32) -> Trial {
    let column = |value: f64| (0..20).map(|nth| Some(value + f64::from(nth))).collect::<Vec<_>>();
    let columns = [("ok", 6_300.0), ("errors", 0.0), ("response_p50_us", 741.0), ("cpu_cores", 0.9)];
    let sample = Sample {
        metrics: METRICS.map(|(name, value, _)| (name.to_owned(), value)).into(),
        noise: [("others_cpu_cores".to_owned(), 0.006)].into(),
        series: Series {
            interval_ms: 100,
            start_ms: -1_000,
            window_ms: 1_000.0,
            columns: columns.map(|(name, value)| (name.to_owned(), column(value))).into(),
        },
        ..Sample::default()
    };
    Trial {
        seq,
        block,
        contender: CONTENDER.to_owned(),
        point: point.clone(),
        started: "2026-11-20T09:30:00Z".parse().expect("it is a time"),
        sample,
        ready_ms: Some(12.5),
        load_ms: Some(2_000.0),
        took_ms: Some(2_100.0),
        ..Trial::default()
    }
}

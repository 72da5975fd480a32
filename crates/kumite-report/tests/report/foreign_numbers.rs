//! A record is somebody else's: whatever numbers it has, every form of a report comes to an end, and is of a size.

use std::sync::mpsc::channel;
use std::time::Duration;

use kumite_record::Export;
use kumite_report::Style;
use serde_json::Value;

use crate::fixture;

/// Far beyond what any of them takes; only one that runs for ever reaches it.
const LIMIT: Duration = Duration::from_secs(120);
const MOST_BYTES: usize = 20 << 20;
const ROUNDS: u64 = 12;

const ODD: [f64; 14] = [
    5e-324,
    1e-320,
    -1e-320,
    1e-308,
    1e-300,
    1e-30,
    -0.0,
    1e15,
    9_007_199_254_740_993.0,
    1e30,
    1e300,
    f64::MAX,
    f64::MIN,
    -1.0,
];

/// Replaces a part of the numbers that are no counts by odd ones.
fn spoiled(value: &mut Value, next: &mut dyn FnMut() -> u64) {
    match value {
        Value::Number(number) if number.is_f64() && next().is_multiple_of(3) => {
            *value = ODD[next() as usize % ODD.len()].into();
        }
        Value::Array(all) => all.iter_mut().for_each(|value| spoiled(value, next)),
        Value::Object(all) => all.values_mut().for_each(|value| spoiled(value, next)),
        _ => {}
    }
}

fn in_all_forms(export: &Export) -> Vec<String> {
    let style = Style { color: false, width: 100 };
    vec![
        kumite_report::html(export),
        kumite_report::terminal(export, &style),
        kumite_report::summary(export, &style),
        kumite_report::markdown(export),
        kumite_report::forest_svg(export),
        kumite_report::csv(export),
    ]
}

#[test]
fn every_form_of_a_report_ends_whatever_the_numbers_are() {
    let records = [
        ("http", fixture::export()),
        ("overload", fixture::overload()),
        ("sparse", fixture::sparse()),
        ("task", fixture::task()),
        ("function", fixture::function()),
        ("pacing", fixture::pacing()),
    ];
    for (kind, record) in records {
        let whole = serde_json::to_value(&record).unwrap();
        for seed in 1..=ROUNDS {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state >> 11
            };
            let mut record = whole.clone();
            spoiled(&mut record, &mut next);
            let export: Export = serde_json::from_value(record).unwrap();
            let (done, ended) = channel();
            let worker = std::thread::spawn(move || done.send(in_all_forms(&export)));
            let texts = ended.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("{kind}, seed {seed}: no end"));
            worker.join().unwrap().unwrap();
            for text in texts {
                assert!(text.len() < MOST_BYTES, "{kind}, seed {seed}: {} bytes", text.len());
            }
        }
    }
}

//! Stores records in Tkrzw's hash database, a batch at a time, on as many threads as there are processors.

mod tkrzw;

use std::ops::Range;
use std::{env, fs, thread};

use kumite_kit::{Answer, Failure, Job};
use serde_json::json;
use tkrzw::{Dbm, Status};

/// Their numbers have eight digits.
const RECORDS_MAX: u64 = 100_000_000;

fn main() {
    if env::args().nth(1).as_deref() == Some("--version") {
        println!("{}, Tkrzw {}", kumite_kit::RUNTIME, tkrzw::version());
        return;
    }
    let path = format!("{}/records.tkh", env::var("SCRATCH").expect("SCRATCH is not set"));
    kumite_kit::serve("rust-threads", |job: &Job| {
        let (records, batch_size) = (job.number("records")?, job.number("batch_size")?);
        if !(1..=RECORDS_MAX).contains(&records) || batch_size < 1 {
            return Err(format!("records is 1 to {RECORDS_MAX}, and batch_size at least 1").into());
        }
        let dbm = Dbm::open(&path, true, &format!("truncate=true,num_buckets={}", 2 * records))?;
        let stored = store(&dbm, records, batch_size);
        let path = path.clone();
        let after = move || {
            dbm.close()?;
            check(&path, records, stored)
        };
        Ok(Answer { after: Some(Box::new(after)), ..Answer::default() })
    });
}

/// Ends with the first batch that has a failure. Gives how many records are in batches of which every status said
/// success.
fn store(dbm: &Dbm, records: u64, batch_size: u64) -> u64 {
    let mut stored = 0;
    while stored < records {
        let batch = stored..records.min(stored + batch_size);
        if let Err(status) = store_batch(dbm, batch.clone()) {
            eprintln!("records {} to {}: {status}", batch.start, batch.end - 1);
            break;
        }
        stored = batch.end;
    }
    stored
}

/// Each thread stores its part of the batch and looks at its statuses.
fn store_batch(dbm: &Dbm, batch: Range<u64>) -> Result<(), Status> {
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get()) as u64;
    let part = (batch.end - batch.start).div_ceil(threads);
    thread::scope(|scope| {
        let parts = batch.clone().step_by(part as usize).map(|from| from..batch.end.min(from + part));
        let threads: Vec<_> = parts.map(|part| scope.spawn(|| store_part(dbm, part))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).fold(Ok(()), Result::and)
    })
}

fn store_part(dbm: &Dbm, part: Range<u64>) -> Result<(), Status> {
    part.map(|n| dbm.set(&digits(n), &digits(n))).fold(Ok(()), Result::and)
}

/// The key and the value of a record: its number in eight digits.
fn digits(mut n: u64) -> [u8; 8] {
    let mut text = *b"00000000";
    for digit in text.iter_mut().rev() {
        *digit += (n % 10) as u8;
        n /= 10;
    }
    text
}

/// Reads the file: how many records it has, and 1,000 of them, evenly spread, the first and the last included.
fn check(path: &str, records: u64, stored: u64) -> Result<Answer, Failure> {
    let dbm = Dbm::open(path, false, "")?;
    let sample = records.min(1000);
    let numbers = (0..sample).map(|i| digits(i * (records - 1) / (sample - 1).max(1)));
    let (mut missing, mut wrong) = (0, 0);
    for key in numbers {
        match dbm.get(&key) {
            None => missing += 1,
            Some(value) if value != key => wrong += 1,
            Some(_) => {}
        }
    }
    // A record that is missing in the sample is one of those that the count lacks, unless another came in its place.
    let lost = records.saturating_sub(dbm.count()).max(missing);
    let garbled = dbm.count().saturating_sub(records) + wrong;
    dbm.close()?;
    let file_bytes = fs::metadata(path)?.len();
    fs::remove_file(path)?;
    Ok(Answer {
        result: json!({"stored": stored, "lost": lost, "garbled": garbled}),
        metrics: vec![
            ("file_bytes", file_bytes as f64),
            ("lost_records", lost as f64),
            ("garbled_records", garbled as f64),
        ],
        after: None,
    })
}

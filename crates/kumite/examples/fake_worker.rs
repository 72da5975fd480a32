//! A worker for the tests: `fake_worker MODE` speaks the task protocol, or misbehaves.

#![allow(clippy::disallowed_methods, reason = "no tree is started in another thread")]

use std::io::{BufRead, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio, exit};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long who hangs does so: longer than any test.
const FOREVER: Duration = Duration::from_secs(600);

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        "crash" => {
            eprintln!("fake: no configuration found");
            exit(7);
        }
        "mute" => only_reads(),
        "leaver" => {
            // A shell and its sleep, away from the group and session, and from our output.
            let marked = std::env::args().nth(2).unwrap_or_default();
            let script =
                format!("exec 2>&- <&-; sleep 300 >&- & echo both are there; exec >&-; wait; : {marked}");
            let mut detached = Command::new("setsid");
            detached.args(["--fork", "sh", "-c", &script]).stdout(Stdio::piped());
            let mut detached = detached.spawn().expect("setsid is there");
            let mut said = String::new();
            detached.stdout.take().expect("it has a pipe").read_to_string(&mut said).expect("it can be read");
            assert!(detached.wait().is_ok_and(|status| status.success()) && !said.is_empty());
        }
        _ => {}
    }
    match mode.strip_prefix("kit") {
        Some(faults) => kit(&faults.split(',').filter(|fault| !fault.is_empty()).collect::<Vec<_>>()),
        None => worker(&mode),
    }
}

/// Says nothing any more, and ends with its input.
fn only_reads() -> ! {
    // Standard input itself is locked by who reads requests.
    let mut input = std::fs::File::open("/dev/stdin").expect("it has an input");
    while input.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {}
    exit(0);
}

fn say(answer: &Value) {
    write(&format!("{answer}\n"));
}

fn write(text: &str) {
    // Ends quietly if nobody listens any more.
    if std::io::stdout().write_all(text.as_bytes()).and_then(|()| std::io::stdout().flush()).is_err() {
        exit(0);
    }
}

fn ms(params: &Value, name: &str) -> Duration {
    Duration::from_secs_f64(params[name].as_f64().unwrap_or(0.0) / 1e3)
}

/// Each line of standard input.
fn requests() -> impl Iterator<Item = Value> {
    std::io::stdin().lock().lines().map(|line| {
        let line = line.expect("standard input can be read");
        serde_json::from_str(&line).unwrap_or_else(|error| {
            eprintln!("fake: no request: {error}");
            exit(2);
        })
    })
}

/// A contender, or a checker, of the tests of tasks: it adds up the numbers to `params.n`.
fn worker(mode: &str) {
    let mut hellos = 0;
    let mut kept = Vec::new();
    for request in requests() {
        if request["hello"] == 1 {
            hellos += 1;
            // After those that measure the pipe, and before the first job.
            if mode == "deaf" && hellos == 22 {
                thread::spawn(|| say(&hello()));
                sleep(FOREVER);
            }
            if mode == "shy" && hellos == 2 {
                only_reads();
            }
            say(&hello());
            continue;
        }
        let job = request["job"].as_u64().expect("a job has a number");
        let params = &request["params"];
        match mode {
            // It takes its time to make the answer.
            "done" => {
                let answer = done(mode, job, params);
                say(&json!({ "done": job }));
                sleep(Duration::from_millis(100));
                say(&answer);
            }
            // Those that were given together are answered in the other order.
            "reversed" => {
                kept.push(done(mode, job, params));
                if kept.len() as u64 == params["concurrency"].as_u64().unwrap_or(1) {
                    kept.drain(..).rev().for_each(|answer| say(&answer));
                }
            }
            "garbage" => write("hello, world\n"),
            "renumbered" => say(&done(mode, job + 100, params)),
            "twice" => {
                let answer = done(mode, job, params);
                write(&format!("{answer}\n{answer}\n"));
            }
            "die" => {
                eprintln!("fake: out of luck");
                exit(9);
            }
            "hang" => {
                eprintln!("fake: thinking");
                only_reads();
            }
            // Until it is let go on, by a file beside the experiments.
            "waits" => {
                write_file("begun");
                while !Path::new(HOME).join("go").exists() {
                    sleep(Duration::from_millis(10));
                }
                say(&done(mode, job, params));
            }
            "flood" => write(&"x".repeat(17 << 20)),
            "flood-lines" => loop {
                write(&"x\n".repeat(1000));
            },
            "error" => say(&json!({ "job": job, "error": "no such luck" })),
            "checker" | "checker-crash" | "checker-garbage" => check(mode, job, params),
            _ => say(&done(mode, job, params)),
        }
    }
    match mode {
        "stubborn" => sleep(FOREVER),
        "late" => write("one more thing\n"),
        _ => {}
    }
}

/// From a contender's folder.
const HOME: &str = "../../../..";

fn write_file(name: &str) {
    std::fs::write(Path::new(HOME).join(name), "").expect("its home can be written");
}

fn hello() -> Value {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    json!({ "hello": 1, "name": "fake", "runtime": "rust", "pid": std::process::id(), "cores": cores })
}

fn done(mode: &str, job: u64, params: &Value) -> Value {
    let began = Instant::now();
    sleep(ms(params, "ms"));
    let n = params["n"].as_u64().unwrap_or(0);
    let sum = n * (n + 1) / 2 + u64::from(mode == "wrong");
    let events = if params["events"] == true { json!([[5, "main", "next", "sum"]]) } else { json!([]) };
    let elapsed = began.elapsed().as_nanos() as f64;
    let claims = match mode {
        "claims-an-hour" => 72_000.0,
        "claims-half" => 0.5,
        _ => 1.0,
    };
    let metrics = match mode {
        "undeclared" => json!({ "speed": 1 }),
        _ => json!({ "added_bytes": n * 8 }),
    };
    json!({
        "job": job,
        "elapsed_ns": (elapsed * claims) as u64,
        "result": { "sum": sum, "n": n },
        "metrics": metrics,
        "events": events,
    })
}

/// Says whether the sum is right.
fn check(mode: &str, job: u64, params: &Value) {
    let n = params["params"]["n"].as_u64().expect("a checker is given the parameters of the job");
    let folder = params["folder"].as_str().expect("and where its contender runs");
    let file = std::path::Path::new(folder).join("contender.toml");
    assert!(file.is_absolute() && file.is_file(), "{folder}");
    let (sum, expected) = (&params["result"]["sum"], n * (n + 1) / 2);
    let verdict = match mode {
        "checker-crash" => {
            eprintln!("fake: cannot add");
            exit(5);
        }
        "checker-garbage" => json!("perhaps"),
        _ if *sum == expected => json!({ "right": true }),
        _ => json!({ "right": false, "why": format!("the sum to {n} is {expected}, not {sum}") }),
    };
    say(&json!({ "job": job, "elapsed_ns": 0, "result": verdict }));
}

/// A kit's conformance worker, with these faults.
fn kit(faults: &[&str]) {
    let has: Arc<[String]> = faults.iter().map(|fault| (*fault).to_owned()).collect();
    let has = move |fault: &str| has.iter().any(|one| one == fault);
    let (jobs, taken) = mpsc::channel::<(Option<Instant>, Value)>();
    let worker = {
        let has = has.clone();
        thread::spawn(move || taken.iter().for_each(|(began, request)| kit_answer(&has, began, &request)))
    };
    let mut stdin = std::io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let before = Instant::now();
        if stdin.read_until(b'\n', &mut line).expect("standard input can be read") == 0 {
            break;
        }
        let long = line.len() > 1 << 20;
        let began = (has("times-reading") && long).then_some(before);
        if line.last() != Some(&b'\n') {
            if has("half-a-line") {
                exit(2);
            }
            break;
        }
        let request: Value = match serde_json::from_slice(&line) {
            Ok(request) if is_request(&request) && !(has("short-lines") && long) => request,
            Ok(_) if has("lenient-of-requests") => continue,
            Err(_) if has("lenient-of-json") => exit(0),
            _ => {
                if !has("without-message") {
                    eprintln!("fake: no request");
                }
                exit(2);
            }
        };
        let too_strict = has("key-order") && !line.starts_with(b"{\"job\"") && request["job"].is_u64();
        let known = ["job", "params", "hello"];
        let unknown =
            request.as_object().is_some_and(|it| it.keys().any(|key| !known.contains(&key.as_str())));
        if too_strict || has("no-unknown-keys") && unknown {
            eprintln!("fake: I will not have that");
            exit(1);
        }
        jobs.send((began, request)).expect("the worker works");
    }
    if has("drops-jobs") {
        exit(0);
    }
    drop(jobs);
    worker.join().expect("the worker has worked");
    exit(if has("exits-with-1") { 1 } else { 0 });
}

fn is_request(request: &Value) -> bool {
    request["hello"] == 1 || request["job"].is_u64() && request["params"].is_object()
}

fn kit_answer(has: &impl Fn(&str) -> bool, began: Option<Instant>, request: &Value) {
    if request["hello"] == 1 {
        let mut hello = hello();
        for (fault, key, value) in [("no-cores", "cores", json!(null)), ("wrong-pid", "pid", json!(1))] {
            if has(fault) {
                hello[key] = value;
            }
        }
        return say(&hello);
    }
    let (job, params) = (request["job"].as_u64().unwrap_or(0), &request["params"]);
    let began = began.unwrap_or_else(Instant::now);
    let mut events = Vec::new();
    let mut metrics = json!({});
    let mut event = |kind, id| {
        let thread = if has("no-thread") { "" } else { "main" };
        if params["events"] == true || has("events-always") {
            events.push(json!([began.elapsed().as_nanos() as u64, thread, kind, id]));
        }
    };
    let result = match params["do"].as_str().unwrap_or_default() {
        "echo" => Ok(params["value"].clone()),
        "fail" if has("vague-errors") => Err("it failed".to_owned()),
        "fail" if has("fails-for-good") => exit(3),
        "fail" => Err(format!("error: {}", params["message"].as_str().unwrap_or_default())),
        "sleep" => {
            if !(has("does-not-sleep") && params["ms"] == 50) {
                sleep(ms(params, "ms"));
            }
            Ok(Value::Null)
        }
        "events" => {
            event("next", "one");
            sleep(Duration::from_millis(2));
            event("complete", "two");
            Ok(Value::Null)
        }
        "metrics" => {
            if !has("no-metrics") {
                metrics = json!({ "answer_count": 42 });
            }
            Ok(Value::Null)
        }
        _ => Ok(Value::Null),
    };
    let late =
        if has("claims-more") && params["do"] == "empty" { Duration::from_secs(1) } else { Duration::ZERO };
    let elapsed_ns = (began.elapsed() + late).as_nanos() as u64;
    let job = if has("small-numbers") { u64::from(job as u32) } else { job };
    say(&json!({ "done": job }));
    let mut answer = match result {
        Err(error) => json!({ "job": job, "error": error }).to_string(),
        Ok(result) => json!({
            "job": job, "elapsed_ns": elapsed_ns, "result": result, "metrics": metrics, "events": events,
        })
        .to_string(),
    };
    if has("no-kanji") {
        answer.retain(|c| c != '数');
    }
    if has("echoes-twice") && params["do"] == "sleep" && params["ms"] == 20 {
        answer = format!("{answer}\n{answer}");
    }
    write(&format!("{answer}\n"));
}

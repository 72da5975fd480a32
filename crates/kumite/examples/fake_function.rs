//! A function for tests: a client of the Runtime API that can do everything wrong.
//!
//! Its initialization does what `INIT` says, in words that are separated by spaces; each call what `do` says in its event,
//! or `DO` where the event has none:
//!
//! - `sleep=MS`; `burn=MS`, of CPU time; `leak`: memory until it is killed; `fork`: a child in a session of its own
//! - `exit=STATUS`; `hang`; `error`: says that it failed, as runtimes do; `flood`: writes to its log without end
//! - `twice`, `other`, `garbage`, `close`, `early`: answers twice, answers another request first, sends what is no HTTP
//!   first, closes the connection in the middle of an answer and tries again, asks for the next event first
//! - `forget`: answers, and closes the connection on which it asked for the next event once that is there, unread
//! - `stream=WHAT`: answers `half` and streams, then an error of type `WHAT` in the trailers; `stream`: breaks off
//! - `silent`: answers, and never asks for the next event; `bytes=N`: an answer of that length; `env=NAME`: what that
//!   variable is; `log=N`: writes `a` and so many `ü`
//!
//! An answer is `{"handler":…,"count":…,"pid":…,"event":…}`, with `"elapsed_ms"` beside them.

#![allow(clippy::disallowed_methods, reason = "no tree is started in another thread")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

fn main() {
    let host =
        std::env::var("AWS_LAMBDA_RUNTIME_API").expect("AWS_LAMBDA_RUNTIME_API tells where the host is");
    let mut runtime = Runtime { host, connection: None };
    let handler = std::env::var("_HANDLER").unwrap_or_default();
    println!("initialization of {handler}");
    for word in std::env::var("INIT").unwrap_or_default().split(' ') {
        if word == "error" {
            runtime.post("init/error", r#"{"errorType":"Init.Failed","errorMessage":"as told"}"#);
            std::process::exit(1);
        }
        common(word);
    }
    let mut count = 0;
    loop {
        let (id, event) = runtime.next();
        count += 1;
        let began = Instant::now();
        let told = event.get("do").and_then(Value::as_str).map(str::to_owned);
        let told = told.or_else(|| std::env::var("DO").ok()).unwrap_or_default();
        println!("call {count} of {handler}");
        let response = format!("invocation/{id}/response");
        let mut answer =
            json!({ "handler": handler, "count": count, "pid": std::process::id(), "event": event });
        let (mut answered, mut silent, mut forgets) = (false, false, false);
        for word in told.split(' ') {
            match word.split_once('=').unwrap_or((word, "")) {
                ("error", _) => {
                    runtime.post(
                        &format!("invocation/{id}/error"),
                        r#"{"errorType":"Told","errorMessage":"as told","stackTrace":["here"]}"#,
                    );
                    answered = true;
                }
                ("twice", _) => {
                    runtime.post(&response, "\"the first\"");
                    answer = json!("the second");
                }
                ("other", _) => runtime.post("invocation/another/response", "{}"),
                ("early", _) => {
                    runtime.ask("GET", "invocation/next", "");
                    runtime.answer();
                }
                ("garbage", _) => {
                    let mut stream = TcpStream::connect(&runtime.host).expect("the host listens");
                    let _ = stream.write_all(b"\x00\x01 what? \r\n\r\n");
                    let _ = stream.read(&mut [0; 1024]);
                }
                ("close", _) => {
                    let mut stream = TcpStream::connect(&runtime.host).expect("the host listens");
                    let host = &runtime.host;
                    let head = format!(
                        "POST /2018-06-01/runtime/{response} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 1000\r\n\r\n"
                    );
                    let _ = stream.write_all(head.as_bytes());
                    let _ = stream.write_all(b"{\"half\":");
                    drop(stream);
                }
                ("stream", kind) => {
                    runtime.stream(&response, kind);
                    answered = true;
                }
                ("forget", _) => forgets = true,
                ("silent", _) => silent = true,
                ("env", name) => answer = json!(std::env::var(name).ok()),
                ("log", count) => println!("a{}", "ü".repeat(count.parse().expect("log=N"))),
                ("bytes", length) => answer = json!("x".repeat(length.parse().expect("bytes=N"))),
                _ => common(word),
            }
        }
        if !answered {
            if let Some(answer) = answer.as_object_mut() {
                answer.insert("elapsed_ms".to_owned(), json!(began.elapsed().as_secs_f64() * 1e3));
            }
            runtime.post(&response, &answer.to_string());
        }
        if forgets {
            runtime.forget();
        }
        if silent {
            common("hang");
        }
    }
}

/// Does what any payload can ask for.
fn common(word: &str) {
    let (what, how) = word.split_once('=').unwrap_or((word, ""));
    let ms = || Duration::from_millis(how.parse().expect("a number of milliseconds"));
    match what {
        "" => {}
        "sleep" => std::thread::sleep(ms()),
        "burn" => {
            // CPU time, not time: it may be throttled.
            let until = cpu() + ms();
            while cpu() < until {}
        }
        "leak" => {
            let mut all = Vec::new();
            loop {
                all.push(vec![1u8; 1 << 20]);
            }
        }
        "fork" => {
            let script = "setsid sleep 1000 & echo child $!";
            Command::new("sh").args(["-c", script]).status().expect("sh is there");
        }
        "exit" => std::process::exit(how.parse().expect("exit=STATUS")),
        "hang" => loop {
            std::thread::sleep(Duration::from_secs(1000));
        },
        "flood" => loop {
            println!("{}", "flood ".repeat(10_000));
        },
        _ => panic!("the fake function does not know '{word}'"),
    }
}

/// CPU time of this process, in the kernel's clock ticks of 10 ms.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("/proc is there");
    let after = stat.rsplit_once(')').expect("a name in parentheses").1;
    let fields: Vec<u64> =
        after.split_whitespace().skip(11).take(2).map(|n| n.parse().expect("ticks")).collect();
    Duration::from_millis(fields.iter().sum::<u64>() * 10)
}

struct Runtime {
    host: String,
    connection: Option<BufReader<TcpStream>>,
}

impl Runtime {
    /// The next event and its id.
    fn next(&mut self) -> (String, Value) {
        self.ask("GET", "invocation/next", "");
        let (headers, body) = self.answer();
        let id = headers.iter().find_map(|line| line.strip_prefix("lambda-runtime-aws-request-id: "));
        (id.expect("an event has an id").to_owned(), serde_json::from_slice(&body).expect("an event is JSON"))
    }

    /// Asks for the next event, and gives that up when it is there.
    fn forget(&self) {
        let mut stream = TcpStream::connect(&self.host).expect("the host listens");
        let request =
            format!("GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nhost: {}\r\n\r\n", self.host);
        stream.write_all(request.as_bytes()).expect("the host reads");
        stream.peek(&mut [0]).expect("an event");
    }

    /// Streams half an answer, and then an error; without a kind of error it breaks off.
    fn stream(&self, path: &str, kind: &str) {
        let mut stream = TcpStream::connect(&self.host).expect("the host listens");
        let trailer = "Lambda-Runtime-Function-Error-Type";
        let head = format!(
            "POST /2018-06-01/runtime/{path} HTTP/1.1\r\nhost: {}\r\nlambda-runtime-function-response-mode: streaming\r\ntransfer-encoding: chunked\r\ntrailer: {trailer}\r\n\r\n4\r\nhalf\r\n",
            self.host
        );
        stream.write_all(head.as_bytes()).expect("the host reads");
        if !kind.is_empty() {
            let rest = format!("0\r\n{trailer}: {kind}\r\n\r\n");
            stream.write_all(rest.as_bytes()).expect("the host reads");
            let _ = stream.read(&mut [0; 1024]);
        }
    }

    fn post(&mut self, path: &str, body: &str) {
        self.ask("POST", path, body);
        let (headers, body) = self.answer();
        println!("POST {path}: {} {}", headers[0], String::from_utf8_lossy(&body));
    }

    fn ask(&mut self, method: &str, path: &str, body: &str) {
        let stream = self.connection.get_or_insert_with(|| {
            let stream = TcpStream::connect(&self.host).expect("the host listens");
            stream.set_nodelay(true).expect("a TCP socket");
            BufReader::new(stream)
        });
        let length = body.len();
        let host = &self.host;
        let request = format!(
            "{method} /2018-06-01/runtime/{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.get_mut().write_all(request.as_bytes()).expect("the host reads");
    }

    /// Lines of the head, in lower case, and the body.
    fn answer(&mut self) -> (Vec<String>, Vec<u8>) {
        let stream = self.connection.as_mut().expect("it was asked");
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).unwrap_or(0) == 0 {
                // The host is gone, or wants no more of us.
                std::process::exit(99);
            }
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_lowercase()),
            }
        }
        let length = head.iter().find_map(|line| line.strip_prefix("content-length: "));
        let mut body = vec![0; length.map_or(0, |length| length.parse().expect("a length"))];
        stream.read_exact(&mut body).expect("a whole body");
        (head, body)
    }
}

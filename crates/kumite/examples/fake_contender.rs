//! A contender for the tests: `fake_contender MODE`, a server on $HOST:$PORT that answers `pong`, or misbehaves. HOST is
//! 127.0.0.1 if it is not given; where PORT is 0 it takes a free one, and says which.

#![allow(clippy::disallowed_methods, reason = "no tree is started in another thread")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How long who hangs does so: longer than any test.
const FOREVER: Duration = Duration::from_secs(600);

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    match mode.as_str() {
        "crash" => {
            eprintln!("fake: no configuration found");
            std::process::exit(7);
        }
        "stubborn" => {
            // A shell can ignore SIGTERM, and what it starts inherits that.
            let me = std::env::current_exe().expect("a program knows where it is");
            exec(Command::new("sh").args(["-c", r#"trap "" TERM; exec "$0" pong"#]).arg(me));
        }
        "leaver" => {
            // A shell and its sleep, away from the group and session.
            let marked = std::env::args().nth(2).unwrap_or_default();
            let script = format!("sleep 300 >&- & echo both are there; exec >&-; wait; : {marked}");
            let mut detached = Command::new("setsid");
            detached.args(["--fork", "sh", "-c", &script]).stdout(Stdio::piped());
            let mut detached = detached.spawn().expect("setsid is there");
            let mut said = String::new();
            detached.stdout.take().expect("it has a pipe").read_to_string(&mut said).expect("it can be read");
            assert!(detached.wait().is_ok_and(|status| status.success()) && !said.is_empty());
            serve("pong");
        }
        "mute" => std::thread::sleep(FOREVER),
        // It takes a port, but not the one it was given.
        "elsewhere" => {
            let _listener = TcpListener::bind(("127.0.0.1", 0)).expect("there is a free port");
            std::thread::sleep(FOREVER);
        }
        // It tells its port to somebody else and does not take it.
        "decoy" => {
            let port = std::env::var("PORT").expect("PORT is given");
            std::fs::write("port.new", port).expect("its folder can be written");
            std::fs::rename("port.new", "port").expect("its folder can be written");
            std::thread::sleep(FOREVER);
        }
        _ => serve(&mode),
    }
}

fn exec(command: &mut Command) -> ! {
    panic!("cannot start: {}", command.exec());
}

fn serve(mode: &str) {
    let port = std::env::var("PORT").expect("PORT is given").parse().expect("PORT is a number");
    let host = match mode {
        "loopback" => "127.0.0.1".to_owned(),
        "anywhere" => "0.0.0.0".to_owned(),
        _ => std::env::var("HOST").unwrap_or_else(|_| "127.0.0.1".to_owned()),
    };
    let listener = TcpListener::bind((host.as_str(), port)).expect("PORT is free");
    if port == 0 {
        println!("{}", listener.local_addr().expect("it listens").port());
    }
    let answered = Arc::new(AtomicU64::new(0));
    if mode == "chatty" {
        std::thread::spawn(|| {
            let line = "fake: all is well, all is well, all is well\n".repeat(1000);
            // The part before it takes no room, and no time.
            let log = std::io::stderr().as_fd().try_clone_to_owned().expect("stderr is open");
            let _ = File::from(log).seek(SeekFrom::Start(60 << 20));
            while std::io::stderr().write_all(line.as_bytes()).is_ok() {}
        });
    }
    for stream in listener.incoming().flatten() {
        let (mode, answered) = (mode.to_owned(), Arc::clone(&answered));
        std::thread::spawn(move || answer(stream, &mode, &answered));
    }
}

fn answer(stream: TcpStream, mode: &str, answered: &AtomicU64) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut length = 0;
        let mut head = String::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line == "\r\n" {
                break;
            }
            head += &line;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let nth = answered.fetch_add(1, Ordering::Relaxed);
        if let "shop" | "odd-shop" = mode {
            stream.write_all(of_shop(&head, mode == "odd-shop").as_bytes()).ok()?;
            continue;
        }
        let word = match mode {
            "liar" => "pang",
            "json" => "{\"b\": 2, \"a\": [1]}\n",
            // The first answer, which says that it is ready, is right.
            "slip" if nth % 20 == 19 => "pang",
            _ => "pong",
        };
        match mode {
            "slow" => std::thread::sleep(Duration::from_millis(20)),
            // When it has been ready, and has answered some under load.
            "hang" if nth >= 4 => std::thread::sleep(FOREVER),
            "die" if nth == 10 => {
                eprintln!("fake: out of luck");
                std::process::exit(9);
            }
            _ => {}
        }
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{word}", word.len());
        stream.write_all(answer.as_bytes()).ok()?;
    }
}

/// The answer of a shop to a request with this head: `/login` gives a token, without which there is no `/me`; anything
/// else is answered by its path and its header `x-shop`. An odd shop calls everybody `you`.
fn of_shop(head: &str, is_odd: bool) -> String {
    let path = head.split(' ').nth(1).unwrap_or_default();
    let header = |name: &str| {
        let found = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        found.unwrap_or_default()
    };
    let (status, body) = match path {
        "/login" => ("200 OK", r#"{"token": "t7"}"#.to_owned()),
        "/me" if header("authorization") != "Bearer t7" => ("403 Forbidden", "who?".to_owned()),
        "/me" if is_odd => ("200 OK", "you".to_owned()),
        "/me" => ("200 OK", "me".to_owned()),
        other => ("200 OK", format!("{other}{}", header("x-shop"))),
    };
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

//! `kumite play --serve`, on the log device.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::browser::PATIENCE;

pub struct Server {
    child: Child,
    pub link: String,
    lines: Receiver<String>,
}

impl Server {
    pub fn start(arguments: &[&str]) -> Server {
        let mut child = Command::new(env!("CARGO_BIN_EXE_kumite"))
            .args(["play", "--serve", "--port", "0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pipe = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in pipe.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let first = lines.recv_timeout(PATIENCE).expect("it says where it listens");
        let link = first.strip_prefix("listening on ").unwrap_or_else(|| panic!("{first:?}")).to_owned();
        Server { child, link, lines }
    }

    /// These states are what comes next.
    #[track_caller]
    pub fn has_played(&mut self, states: &[&str]) {
        let next = |_| {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| "nothing".to_owned());
            line.split_whitespace().last().unwrap_or_default().to_owned()
        };
        let played: Vec<String> = states.iter().map(next).collect();
        assert_eq!(played, states);
    }

    /// By SIGTERM.
    pub fn end(&mut self) {
        kill(Pid::from_raw(self.child.id() as i32), Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Server {
    /// None is left behind, also where a test fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

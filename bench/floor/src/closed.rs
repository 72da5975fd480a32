use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::counted::Counted;

/// Sends on each connection whenever its answer is complete; the number of answers.
pub fn run(sockets: &[TcpStream], answer_bytes: usize, length: Duration, drain: Duration) -> Result<u64> {
    let mut counted = Counted::new(sockets, answer_bytes)?;
    let began = Instant::now();
    for index in 0..sockets.len() {
        counted.send(index)?;
    }
    loop {
        let now = began.elapsed();
        if counted.in_flight == 0 || now > length + drain {
            return Ok(counted.answers);
        }
        let left = (length + drain - now).try_into().context("too long")?;
        counted.receive(left, |counted, index| if now < length { counted.send(index) } else { Ok(()) })?;
    }
}

use std::collections::VecDeque;
use std::net::TcpStream;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::counted::Counted;

/// Sends one request at each multiple of 1/`rate` on a connection that is free, the longest free first, and sleeps in
/// between; the number of answers.
pub fn run(
    sockets: &[TcpStream],
    answer_bytes: usize,
    length: Duration,
    drain: Duration,
    rate: u32,
) -> Result<u64> {
    // The kernel may otherwise let a sleeper oversleep by 50 µs.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1))?;
    let mut counted = Counted::new(sockets, answer_bytes)?;
    let mut free: VecDeque<usize> = (0..sockets.len()).collect();
    let due = |request: u64| Duration::from_nanos(request * 1_000_000_000 / u64::from(rate));
    let mut sent = 0;
    let began = Instant::now();
    loop {
        let mut now = began.elapsed();
        while due(sent) <= now
            && due(sent) < length
            && let Some(index) = free.pop_front()
        {
            counted.send(index)?;
            sent += 1;
            now = began.elapsed();
        }
        let all_sent = due(sent) >= length;
        if (all_sent && counted.in_flight == 0) || now > length + drain {
            return Ok(counted.answers);
        }
        let until = if all_sent || free.is_empty() { length + drain } else { due(sent) };
        // Of nanoseconds, where epoll_wait knows only milliseconds: rustix takes epoll_pwait2 for those.
        let left = until.saturating_sub(now).try_into().context("too long")?;
        counted.receive(left, |_, index| {
            free.push_back(index);
            Ok(())
        })?;
    }
}

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{Bench, Generator, Load, Said, Server, Shape};

/// How long the server is stopped.
pub const STALL: Duration = Duration::from_secs(1);

/// One load of one generator on a fresh server.
#[derive(Debug, Clone, PartialEq)]
pub struct Trial {
    /// Requests that the server has answered.
    pub requests: u64,
    /// The most connections that were open at once.
    pub connections: u64,
    /// The generator's own account of it.
    pub said: Said,
    /// The generator's user and system time, from its start to its end.
    pub cpu: Duration,
    /// From the generator's start to its end.
    pub wall: Duration,
    /// The server's user and system time.
    pub server_cpu: Duration,
    /// CPU time of the whole machine that neither took: other programs, the hypervisor, and a little of this one.
    pub others_cpu: Duration,
    /// The generator's, as seen four times a second.
    pub peak_rss_bytes: u64,
    /// When the server read each request; empty in a closed loop.
    pub stamps_ns: Vec<u64>,
}

impl Trial {
    /// Runs one, `under` another program if that is not empty.
    pub(crate) fn run(
        bench: &Bench,
        generator: &Generator,
        (connections, shape, seconds): (u32, Shape, u64),
        under: &str,
    ) -> Result<Trial> {
        let (Some(&first), Some(&last)) = (bench.cores.contender.first(), bench.cores.engine.last()) else {
            bail!("the system does not tell which CPUs there are");
        };
        let before = MachineTime::now()?;
        let mut server = Server::start(&bench.program, &[first], bench.dir, shape != Shape::Closed)?;
        let url = format!("http://127.0.0.1:{}/", server.port());
        let load = Load { url, connections, seconds, shape };
        let command = (generator.command)(&load).context("it does not offer such a load")?;
        let run = || generator.run(&command, (&load, under), last, bench.dir, bench.stop);
        let (ended, said) = match shape {
            Shape::Stalled(_) => thread::scope(|scope| {
                let stall = scope
                    .spawn(|| server.stall(Duration::from_secs(seconds).saturating_sub(STALL) / 2, STALL));
                let done = run();
                stall.join().expect("a stall does not panic")?;
                done
            }),
            _ => run(),
        }?;
        let served = server.stop()?;
        if served.requests == 0 {
            bail!("it ended well, but the server has answered nothing");
        }
        let ours = ended.user + ended.system + served.cpu;
        Ok(Trial {
            others_cpu: MachineTime::now()?.busy_since(&before).saturating_sub(ours),
            requests: served.requests,
            connections: served.connections,
            said,
            cpu: ended.user + ended.system,
            wall: ended.wall,
            server_cpu: served.cpu,
            peak_rss_bytes: ended.usage.peak_rss_bytes,
            stamps_ns: served.stamps_ns,
        })
    }

    /// The generator's CPU time for each request that the server has answered.
    pub fn cpu_us_per_request(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.requests as f64
    }

    /// Requests answered, over the generator's whole life.
    pub fn requests_per_s(&self) -> f64 {
        self.requests as f64 / self.wall.as_secs_f64()
    }

    /// The generator's peak of memory.
    pub fn peak_rss_mib(&self) -> f64 {
        self.peak_rss_bytes as f64 / f64::from(1 << 20)
    }

    /// By how much the server has answered more than the generator says it was.
    pub fn miscount(&self) -> i128 {
        i128::from(self.requests) - i128::from(self.said.answers)
    }
}
/// The machine's CPU time since it was started, in the kernel's ticks.
struct MachineTime {
    at: Instant,
    busy: u64,
    all: u64,
    cpus: usize,
}

impl MachineTime {
    fn now() -> Result<MachineTime> {
        let text = std::fs::read_to_string("/proc/stat")?;
        MachineTime::parse(&text, Instant::now()).context("cannot understand /proc/stat")
    }

    fn parse(text: &str, at: Instant) -> Option<MachineTime> {
        let mut cpus = text.lines().take_while(|line| line.starts_with("cpu"));
        let sum = cpus.next()?.split_ascii_whitespace().skip(1);
        // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user already
        let ticks: Vec<u64> = sum.take(8).map(|ticks| ticks.parse().ok()).collect::<Option<_>>()?;
        let all = ticks.iter().sum();
        Some(MachineTime { at, busy: all - ticks.get(3)? - ticks.get(4)?, all, cpus: cpus.count() })
    }

    /// CPU time, the hypervisor's included. Made of shares, so that the length of a tick does not matter.
    fn busy_since(&self, before: &MachineTime) -> Duration {
        let ticks = |now: u64, before: u64| now.saturating_sub(before) as f64;
        let share = ticks(self.busy, before.busy) / ticks(self.all, before.all).max(1.0);
        self.at.duration_since(before.at).mul_f64(share * self.cpus as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_all_but_idle_and_waiting_for_io() {
        let began = Instant::now();
        let before =
            MachineTime::parse("cpu  10 0 10 70 10 0 0 0 5 0\ncpu0 1\ncpu1 1\nintr 5", began).unwrap();
        let later = began + Duration::from_secs(2);
        let after =
            MachineTime::parse("cpu  40 10 20 110 20 0 0 0 9 0\ncpu0 1\ncpu1 1\nintr 5", later).unwrap();
        // Half of two CPUs' two seconds.
        assert_eq!(after.busy_since(&before), Duration::from_secs(2));
        assert!(MachineTime::parse("cpu  1 2 x", began).is_none());
    }
}

//! A load on every CPU, by threads that never wait.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use kumite_process::pin_thread;

use crate::error::Error;

/// Busy threads, one on each of the given CPUs. They have the priority of the thread that started them, so start them
/// before that thread becomes real-time. When the value is dropped, it ends the threads and waits for them.
pub struct Busy {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    /// Starts a busy thread on each of these CPUs. An error if a thread cannot be started, or cannot be pinned to its
    /// CPU.
    pub fn on(cores: &[usize]) -> Result<Busy, Error> {
        let mut busy = Busy { stop: Arc::default(), threads: Vec::new() };
        for core in cores.iter().copied() {
            let stop = Arc::clone(&busy.stop);
            let (say, said) = std::sync::mpsc::channel();
            let work = move || {
                let pinned = pin_thread(&[core]);
                let goes_on = pinned.is_ok();
                let _ = say.send(pinned);
                while goes_on && !stop.load(Ordering::Relaxed) {
                    black_box(
                        (0..1000_u64).fold(1, |product: u64, n| product.wrapping_mul(black_box(n | 1))),
                    );
                }
            };
            let thread = thread::Builder::new().name(format!("busy-{core}")).spawn(work);
            busy.threads.push(thread.map_err(Error::step("cannot start a busy thread"))?);
            said.recv().map_err(Error::step("a busy thread ended"))??;
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    use kumite_process::available_cores;

    use super::*;

    /// The folders in which the kernel describes this process's threads of that name.
    fn threads(name: &str) -> Vec<PathBuf> {
        let all = fs::read_dir("/proc/self/task").unwrap().map(|entry| entry.unwrap().path());
        all.filter(|task| fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim() == name))
            .collect()
    }

    #[test]
    fn a_busy_thread_works_on_its_cpu_until_it_is_dropped() {
        let core = *available_cores().last().unwrap();
        let busy = Busy::on(&[core]).unwrap();
        let name = format!("busy-{core}");
        let [task] = &threads(&name)[..] else { panic!("one thread is called {name}") };
        let status = fs::read_to_string(task.join("status")).unwrap();
        assert!(status.contains(&format!("Cpus_allowed_list:\t{core}\n")), "{status}");
        let ran_ns = || {
            let times = fs::read_to_string(task.join("schedstat")).unwrap();
            times.split(' ').next().unwrap().parse::<u64>().unwrap()
        };
        let began = Instant::now();
        while ran_ns() < 50_000_000 {
            assert!(began.elapsed() < Duration::from_secs(60), "it ran for {} ns", ran_ns());
            thread::sleep(Duration::from_millis(5));
        }
        drop(busy);
        // The kernel wakes whoever joins a thread before it takes the thread off its list.
        let began = Instant::now();
        while !threads(&name).is_empty() {
            assert!(began.elapsed() < Duration::from_secs(60), "it has not ended");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error() {
        assert!(Busy::on(&[100_000]).is_err());
    }
}

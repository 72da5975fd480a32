//! A watch on a worker or a player while it is measured.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use kumite_host::{Noise, Ours, Watch};

use crate::driver::line_process::SharedTree;
use crate::service::Running;

/// The time between two looks: short enough to see most threads, and long enough to cost the engine's CPU some
/// thousandths.
const LOOK: Duration = Duration::from_millis(50);

/// The CPU time, threads and noise from outside between two moments, and the highest memory until the second.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    pub cpu: Duration,
    /// The CPU time that the services used meanwhile.
    pub services_cpu: Duration,
    pub peak_rss_bytes: u64,
    /// The largest number of threads at any look.
    pub peak_threads: u64,
    /// The number of context switches of the threads that were there at the end.
    pub switches: u64,
    pub noise: Noise,
}

/// Does `work` on this thread while another thread looks at the processes of `tree`. `cores` are all CPUs that are
/// measured on.
pub(crate) fn watched<T>(
    tree: &SharedTree,
    services: &mut Running,
    cores: &[usize],
    work: impl FnOnce() -> T,
) -> (T, Usage) {
    let look = || {
        let mut tree = tree.lock();
        let usage = tree.usage();
        (usage, tree.waits())
    };
    let services_before = services.cpu();
    let watch = Watch::begin(cores);
    let (before, waits_before) = look();
    let (done, peak_threads) = thread::scope(|scope| {
        let (end, ended) = mpsc::channel::<()>();
        let watcher = scope.spawn(move || peak_threads(tree, &ended));
        let done = work();
        drop(end);
        (done, watcher.join().expect("looking does not panic"))
    });
    let (after, waits) = look();
    let cpu = after.cpu.saturating_sub(before.cpu);
    let services_cpu = services.cpu().saturating_sub(services_before);
    let waited = waits.since(&waits_before);
    let seen = Usage {
        cpu,
        services_cpu,
        peak_rss_bytes: after.peak_rss_bytes,
        peak_threads: peak_threads.max(before.threads).max(after.threads),
        switches: waited.switches,
        noise: watch.end(&Ours { cpu: Some(cpu + services_cpu), waited: Some(waited) }),
    };
    (done, seen)
}

fn peak_threads(tree: &SharedTree, ended: &mpsc::Receiver<()>) -> u64 {
    let mut most = 0;
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        most = most.max(tree.lock().usage().threads);
    }
    most
}
